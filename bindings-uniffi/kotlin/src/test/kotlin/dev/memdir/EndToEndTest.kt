package dev.memdir

import com.anthropic.client.AnthropicClient
import com.anthropic.client.okhttp.AnthropicOkHttpClient
import com.anthropic.models.beta.messages.BetaMemoryTool20250818
import com.anthropic.models.beta.messages.MessageCreateParams
import com.anthropic.models.beta.messages.ToolRunnerCreateParams
import com.fasterxml.jackson.databind.JsonNode
import com.fasterxml.jackson.databind.ObjectMapper
import com.fasterxml.jackson.databind.node.ObjectNode
import dev.memdir.conformance.Content
import dev.memdir.conformance.root
import dev.memdir.conformance.text
import dev.memdir.conformance.tree
import java.net.URI
import java.net.http.HttpClient
import java.net.http.HttpRequest
import java.net.http.HttpResponse
import java.nio.file.Files
import java.nio.file.Path
import java.util.concurrent.TimeUnit
import kotlin.io.path.createParentDirectories
import kotlin.io.path.readText
import kotlin.io.path.writeText
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.io.TempDir

/**
 * Conversations through the real tool runner of Anthropic's Java SDK. The other side is the stand-in of
 * `examples/standin`, which compares all that reaches it with the script.
 */
class EndToEndTest {
    private val json = ObjectMapper()

    @Test
    fun `two sessions, the second of which knows only what the first one left`(@TempDir place: Path) =
        play("release-notes", place)

    @Test
    fun `many tool uses in one turn`(@TempDir place: Path) = play("parallel", place)

    @Test
    fun `a store that breaks is told to the developer and not to the model`(@TempDir place: Path) {
        val secret = "jdbc://user:hunter2@host"
        val broken = object : Store by MapStore() { override fun read(path: String) = error(secret) }
        val sentence = Memory(broken).use { it.execute("""{"command":"view","path":"/memories"}""").content }
        val script = json.readTree(
            """{"about": "x", "sessions": [{"user": "u", "turns": [
                {"calls": [{"input": {"command": "view", "path": "/memories"}, "is_error": true}]},
                {"text": "Oh."}]}]}"""
        )
        (script.at("/sessions/0/turns/0/calls/0") as ObjectNode).put("result", sentence)
        val told = mutableListOf<MemdirException>()
        Standin(script, place).use { standin ->
            converse(standin.client, MemdirHandler(Memory(broken), told::add), "u")
            standin.finish()
        }
        assertTrue(secret in told.single().message!!)
        assertFalse(secret in sentence)
    }

    private fun play(name: String, place: Path) {
        val script = json.readTree(root.resolve("examples/conversations/$name.json").toFile())
        asTheSdkSends(script)
        val beside = script.path("beside").properties().associate { (file, value) -> place.resolve("memory/$file") to text(value) }
        beside.forEach { (file, content) -> file.createParentDirectories().writeText(content) }

        val store = place.resolve("memory").toString()
        Standin(script, place).use { standin ->
            for (session in script["sessions"]) {
                Memory(store).use { memory ->
                    val messages = ask(standin.client, memory, session["user"].textValue())
                    assertEquals(session["turns"].size(), messages.size)
                }
            }
            standin.finish()
        }
        val expected = script["then"].properties().associate { (path, value) -> path to Content(text(value).toByteArray()) }
        assertEquals(expected.toSortedMap(), tree(openStore(store)).toSortedMap())
        beside.forEach { (file, content) -> assertEquals(content, file.readText()) }
    }

    /** The SDK's runner has no flag for an error that does not start with `Error: ` (see MemdirHandler). */
    private fun asTheSdkSends(script: JsonNode) {
        for (call in script.findValues("calls").flatten()) {
            if (!text(call["result"]).startsWith("Error: ")) (call as ObjectNode).put("is_error", false)
        }
    }

    private fun converse(client: AnthropicClient, handler: MemdirHandler, user: String) {
        val first =
            MessageCreateParams.builder()
                .model("claude-stand-in")
                .maxTokens(1024)
                .addTool(BetaMemoryTool20250818.builder().build())
                .addUserMessage(user)
                .build()
        val runner =
            client.beta().messages().toolRunner(
                ToolRunnerCreateParams.builder().betaMemoryToolHandler(handler).initialMessageParams(first).build()
            )
        assertTrue(runner.toList().isNotEmpty())
    }

    /** The stand-in as a process of its own. */
    private inner class Standin(script: JsonNode, place: Path) : AutoCloseable {
        private val errors = place.resolve("errors")
        private val process =
            ProcessBuilder(
                    "python3",
                    root.resolve("examples/standin/standin.py").toString(),
                    Files.writeString(place.resolve("script.json"), script.toString()).toString(),
                )
                .redirectError(errors.toFile())
                .apply { environment()["PYTHONDONTWRITEBYTECODE"] = "1" }
                .start()
        private val address: String =
            process.inputStream.bufferedReader().readLine() ?: throw IllegalStateException(errors.readText())

        val client: AnthropicClient = AnthropicOkHttpClient.builder().baseUrl(address).apiKey("none").build()

        /** All was played, and nothing that reached the other side was other than expected. */
        fun finish() {
            val request = HttpRequest.newBuilder(URI("$address/standin/finish")).POST(HttpRequest.BodyPublishers.noBody()).build()
            val report = json.readTree(HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString()).body())
            assertTrue(report["complete"].booleanValue(), report.toPrettyString())
            assertEquals(report["tool_results"], report["tool_results_checked"])
            assertTrue(report["failures"].isEmpty, report.toPrettyString())
            println("end to end: ${report["turns_played"]} turns, ${report["tool_results_checked"]} tool results")
            assertTrue(process.waitFor(10, TimeUnit.SECONDS))
            assertEquals(0, process.exitValue(), errors.readText())
        }

        override fun close() {
            client.close()
            process.destroy()
        }
    }
}

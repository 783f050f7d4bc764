package dev.memdir

import com.anthropic.client.AnthropicClient
import com.anthropic.client.okhttp.AnthropicOkHttpClient
import com.anthropic.helpers.BetaToolRunner
import com.anthropic.models.beta.messages.BetaMemoryTool20250818
import com.anthropic.models.beta.messages.MessageCreateParams
import com.anthropic.models.beta.messages.ToolRunnerCreateParams
import com.fasterxml.jackson.annotation.JsonClassDescription
import com.fasterxml.jackson.databind.JsonNode
import com.fasterxml.jackson.databind.ObjectMapper
import com.fasterxml.jackson.databind.node.ObjectNode
import dev.memdir.conformance.Content
import dev.memdir.conformance.root
import dev.memdir.conformance.text
import dev.memdir.conformance.tree
import com.sun.net.httpserver.HttpServer
import java.net.InetAddress
import java.net.InetSocketAddress
import java.net.URI
import java.net.http.HttpClient
import java.net.http.HttpRequest
import java.net.http.HttpResponse
import java.nio.file.Files
import java.nio.file.Path
import java.util.Base64
import java.util.Optional
import java.util.concurrent.TimeUnit
import java.util.function.Supplier
import java.util.logging.Level
import kotlin.io.path.createParentDirectories
import kotlin.io.path.readBytes
import kotlin.io.path.readText
import kotlin.io.path.writeText
import kotlinx.coroutines.delay
import kotlinx.coroutines.runBlocking
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows
import org.junit.jupiter.api.io.TempDir

/**
 * Conversations through the real tool runner of Anthropic's Java SDK. The other side is the stand-in of
 * `examples/standin`, which compares every request with the script.
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
        for (answers in listOf(true, false)) {
            Standin(script, place).use { standin ->
                converse(standin.client, MemdirHandler(Memory(broken)) { told += it }, "u", answers)
                standin.finish()
            }
            val error = told.last() as MemdirException.Store
            assertTrue(secret in error.message)
            assertEquals(secret, (error.cause as IllegalStateException).message)
        }
        assertEquals(2, told.size)
        assertFalse(secret in sentence)
    }

    @Test
    fun `a broken store is logged unless the app wants to know of it`() {
        val broken = object : Store by MapStore() { override fun list(path: String) = error("no disk") }
        val record =
            logged { assertThrows<RuntimeException> { MemdirHandler(Memory(broken)).view("/memories", Optional.empty()) } }.single()
        assertEquals(Level.WARNING, record.level)
        assertEquals("no disk", record.thrown.cause!!.message)
    }

    /** Input that the SDK's types would reject or change before memdir gets it, and errors without a prefix. */
    @Test
    fun `the input goes to the memory as it was sent, and every error has its flag`(@TempDir place: Path) {
        val calls =
            listOf(
                call("""{"command": "create", "path": "/memories/a.md", "file_text": "one\ntwo\n"}""", "File created successfully at: /memories/a.md"),
                call("""{"command": "view", "path": "/memories/b.md"}""", "The path /memories/b.md does not exist. Please provide a valid path.", true),
                call(
                    """{"command": "str_replace", "path": "/memories/a.md", "old_str": "one\n"}""",
                    "The memory file has been edited. Here is the snippet showing the change (with line numbers):\n     1\ttwo",
                ),
                call("""{"command": "insert", "path": "/memories/a.md", "insert_line": 1, "new_str": "three\n"}""", "The file /memories/a.md has been edited."),
                call("""{"command": "paint", "path": "/memories/a.md"}""", null, true),
            )
        Memory("memory:").use { twin ->
            // One call per turn, because the second depends on the first.
            for (made in calls) {
                val reply = twin.execute(made["input"].toString())
                if (made["result"].isNull) made.put("result", reply.content)
                assertEquals(made["result"].textValue() to made["is_error"].booleanValue(), reply.content to reply.isError)
            }
        }
        val turns = calls.map { """{"calls": [$it]}""" } + """{"text": "Done."}"""
        val script = json.readTree("""{"about": "x", "sessions": [{"user": "u", "turns": [${turns.joinToString()}]}]}""")
        for (thread in listOf(true, false)) {
            Standin(script, place).use { standin ->
                Memory("memory:").use { memory ->
                    converse(standin.client, MemdirHandler(memory), "u", answers = true, thread)
                    assertTrue(memory.view("/memories/a.md").endsWith("1\ttwo\n     2\tthree"))
                }
                standin.finish()
            }
        }
    }

    private fun call(input: String, result: String?, isError: Boolean = false): ObjectNode =
        json.createObjectNode().apply {
            set<JsonNode>("input", json.readTree(input))
            put("result", result)
            put("is_error", isError)
        }

    @Test
    fun `a hook that suspends is awaited while the runner waits`(@TempDir place: Path) {
        val sentence = "Error: The user does not want this to be deleted. Nothing was changed."
        val calls =
            listOf(
                call("""{"command": "create", "path": "/memories/a.md", "file_text": "one\n"}""", "File created successfully at: /memories/a.md"),
                call("""{"command": "delete", "path": "/memories/a.md"}""", sentence, true),
            )
        val script = json.readTree("""{"about": "x", "sessions": [{"user": "u", "turns": [{"calls": $calls}, {"text": "Done."}]}]}""")
        val hooks = object : SuspendingMemoryHooks {
            override suspend fun before(command: Command, call: SuspendingHookCall): HookDecision {
                delay(1)
                return if (command is Command.Delete) HookDecision.Deny(sentence) else HookDecision.Allow
            }
        }
        Standin(script, place).use { standin ->
            Memory("memory:", hooks = hooks).use { memory ->
                val handler = MemdirHandler(memory)
                val answered = runBlocking {
                    val runner = runner(standin.client, handler, "u")
                    runner.map { handler.answerSuspending(runner, it) }
                }
                assertEquals(listOf(true, false), answered)
                assertEquals("one\n", memory.read("/memories/a.md"))
            }
            standin.finish()
        }
    }

    @Test
    fun `an image is an image's block`(@TempDir place: Path) {
        val png = root.resolve("bindings-uniffi/tests/plan.png").readBytes()
        val shown = """{"${'$'}image": "image/png", "${'$'}base64": "${Base64.getEncoder().encodeToString(png)}"}"""
        val script = json.readTree(
            """{"about": "x", "sessions": [{"user": "u", "turns": [
                {"calls": [{"input": {"command": "view", "path": "/memories/plan.png"}, "result": $shown, "is_error": false}]},
                {"text": "Nice."}]}]}"""
        )
        val store = openStore("memory:")
        store.write("/memories/plan.png", png, false)
        Standin(script, place).use { standin ->
            converse(standin.client, MemdirHandler(Memory(store, MemoryOptions(maxImageBytes = 1000))), "u", answers = true)
            standin.finish()
        }
    }

    @Test
    fun `a turn that uses another tool as well is the runner's`() {
        val turns =
            listOf(
                """[{"type": "tool_use", "id": "a", "name": "memory", "input": {"command": "view", "path": "/memories/b.md"}},
                    {"type": "tool_use", "id": "b", "name": "clock", "input": {"zone": "UTC"}}]""",
                """[{"type": "tool_use", "id": "c", "name": "memory", "input": {"command": "view", "path": "/memories/b.md"}}]""",
            )
        val asked = mutableListOf<JsonNode>()
        val server = HttpServer.create(InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0)
        server.createContext("/v1/messages") { exchange ->
            asked.add(json.readTree(exchange.requestBody.readBytes()))
            val content = turns.getOrNull(asked.size - 1) ?: """[{"type": "text", "text": "Done."}]"""
            val reason = if (asked.size <= turns.size) "tool_use" else "end_turn"
            val message =
                """{"id": "m${asked.size}", "type": "message", "role": "assistant", "model": "m", "content": $content,
                    "stop_reason": "$reason", "stop_sequence": null, "container": {"id": "box", "expires_at": "2030-01-01T00:00:00Z", "skills": null},
                    "usage": {"input_tokens": 1, "output_tokens": 1}}""".toByteArray()
            exchange.responseHeaders["content-type"] = "application/json"
            exchange.sendResponseHeaders(200, message.size.toLong())
            exchange.responseBody.use { it.write(message) }
        }
        server.start()
        val client = AnthropicOkHttpClient.builder().baseUrl("http://127.0.0.1:${server.address.port}").apiKey("none").build()
        try {
            Memory("memory:").use { memory ->
                val first =
                    MessageCreateParams.builder().model("m").maxTokens(9).addTool(BetaMemoryTool20250818.builder().build())
                        .addTool(Clock::class.java).addUserMessage("u").build()
                val handler = MemdirHandler(memory)
                val params =
                    ToolRunnerCreateParams.builder().betaMemoryToolHandler(handler).initialMessageParams(first).thread(false).build()
                val runner = client.beta().messages().toolRunner(params)
                val answered = runner.map { handler.answer(runner, it) }
                assertEquals(listOf(false, true, false), answered)
            }
        } finally {
            client.close()
            server.stop(0)
        }
        val results = asked.map { request -> request["messages"].last()["content"] }
        assertEquals(listOf("a", "b"), results[1].map { it["tool_use_id"].textValue() })
        assertEquals("It is noon.", results[1][1].at("/content/0/text").textValue() ?: results[1][1]["content"].textValue())
        val missing = "The path /memories/b.md does not exist. Please provide a valid path."
        assertTrue(missing in results[1][0].toString() && !results[1][0].path("is_error").booleanValue())
        assertTrue(missing in results[2][0].toString() && results[2][0]["is_error"].booleanValue())
        assertEquals(listOf(null, "box", "box"), asked.map { it["container"]?.textValue() })
    }

    @JsonClassDescription("What time it is")
    class Clock : Supplier<String> {
        @JvmField var zone: String? = null

        override fun get() = "It is noon."
    }

    /** With the runner's own loop, which answers through the methods of the handler. */
    @Test
    fun `without the helper every text is the same, and some errors have no flag`(@TempDir place: Path) {
        val script = json.readTree(root.resolve("examples/conversations/release-notes.json").toFile())
        asTheSdkSends(script)
        Standin(script, place).use { standin ->
            for (session in script["sessions"]) {
                Memory(place.resolve("memory")).use { converse(standin.client, MemdirHandler(it), session["user"].textValue(), answers = false) }
            }
            standin.finish()
        }
    }

    private fun play(name: String, place: Path) {
        val script = json.readTree(root.resolve("examples/conversations/$name.json").toFile())
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

    private fun converse(client: AnthropicClient, handler: MemdirHandler, user: String, answers: Boolean, thread: Boolean? = null) {
        val runner = runner(client, handler, user, thread)
        assertTrue((if (answers) handler.messages(runner) else runner).toList().isNotEmpty())
    }

    private fun runner(client: AnthropicClient, handler: MemdirHandler, user: String, thread: Boolean? = null): BetaToolRunner {
        val first =
            MessageCreateParams.builder()
                .model("claude-stand-in")
                .maxTokens(1024)
                .addTool(BetaMemoryTool20250818.builder().build())
                .addUserMessage(user)
                .build()
        val params = ToolRunnerCreateParams.builder().betaMemoryToolHandler(handler).initialMessageParams(first)
        thread?.let(params::thread)
        return client.beta().messages().toolRunner(params.build())
    }

    /** The stand-in in its own process. */
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

        /** Asserts that the whole script was played, and that every request was as expected. */
        fun finish() {
            val request = HttpRequest.newBuilder(URI("$address/standin/finish")).POST(HttpRequest.BodyPublishers.noBody()).build()
            val report = json.readTree(HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString()).body())
            assertTrue(report["complete"].booleanValue(), report.toPrettyString())
            assertEquals(report["tool_results"], report["tool_results_checked"])
            assertTrue(report["failures"].isEmpty, report.toPrettyString())
            println("end to end: ${report["turns_played"]} turns, ${report["tool_results_checked"]} tool results")
            assertTrue(process.waitFor(2, TimeUnit.MINUTES))
            assertEquals(0, process.exitValue(), errors.readText())
        }

        override fun close() {
            client.close()
            process.destroy()
        }
    }
}

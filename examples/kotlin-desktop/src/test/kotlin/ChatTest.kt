import com.anthropic.client.okhttp.AnthropicOkHttpClient
import com.fasterxml.jackson.databind.JsonNode
import com.fasterxml.jackson.databind.ObjectMapper
import dev.memdir.Memory
import java.net.URI
import java.net.http.HttpClient
import java.net.http.HttpRequest
import java.net.http.HttpResponse.BodyHandlers
import java.nio.file.Path
import java.util.concurrent.TimeUnit
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.io.TempDir

/** The chat with the stand-in, which compares every received text and flag with the script. */
class ChatTest {
    private val json = ObjectMapper()
    private val examples = Path.of(System.getProperty("memdir.root"), "examples")

    @Test
    fun `a conversation goes on where the last one ended`(@TempDir place: Path) = play("release-notes", place)

    @Test
    fun `many tool uses in one turn`(@TempDir place: Path) = play("parallel", place)

    private fun play(name: String, place: Path) {
        val file = examples.resolve("conversations/$name.json")
        val standin =
            ProcessBuilder("python3", examples.resolve("standin/standin.py").toString(), file.toString())
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .apply { environment()["PYTHONDONTWRITEBYTECODE"] = "1" }
                .start()
        try {
            val address = standin.inputStream.bufferedReader().readLine()
            val client = AnthropicOkHttpClient.builder().baseUrl(address).apiKey("none").build()
            for (session in json.readTree(file.toFile())["sessions"]) {
                Memory(place.toString()).use { memory ->
                    val answer = Chat(client, memory, "claude-stand-in").say(session["user"].textValue())
                    assertEquals(session["turns"].last()["text"].textValue(), answer)
                }
            }
            client.close()
            val report = finish(address)
            assertTrue(report["complete"].booleanValue() && report["failures"].isEmpty, report.toPrettyString())
            assertTrue(standin.waitFor(10, TimeUnit.SECONDS))
            assertEquals(0, standin.exitValue())
        } finally {
            standin.destroy()
        }
    }

    private fun finish(address: String): JsonNode {
        val request = HttpRequest.newBuilder(URI("$address/standin/finish")).POST(HttpRequest.BodyPublishers.noBody()).build()
        return json.readTree(HttpClient.newHttpClient().send(request, BodyHandlers.ofString()).body())
    }
}

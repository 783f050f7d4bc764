package start

import com.sun.net.httpserver.HttpServer
import java.io.ByteArrayInputStream
import java.io.ByteArrayOutputStream
import java.io.File
import java.io.PrintStream
import java.net.InetAddress
import java.net.InetSocketAddress
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.BeforeEach
import org.junit.jupiter.api.Test

/** Runs the programs of `docs/start/kotlin.md`, which quotes them. */
class StartTest {
    private val page = File(System.getProperty("memdir.root"), "docs/start/kotlin.md").readText()

    @BeforeEach
    fun `there is no memory yet`() {
        assertTrue(File("memory").deleteRecursively())
    }

    @Test
    fun `the first program prints what the page says, and in a second run that the file exists`() {
        val printed = page.substringAfter("<!-- printed -->\n```text\n").substringBefore("```")
        assertEquals(printed, run { start.first.main() })
        val again = run { start.first.main() }
        val refused = "refused: Error: File /memories/notes.md already exists"
        assertEquals(refused, again.lines().first())
        assertTrue("`$refused`" in page)
        assertTrue(again.contains("     2\t- lives in Lisbon\n     3\t- lives in Lisbon\n"), again)
    }

    @Test
    fun `the agent remembers, in Kotlin`() = remembers { start.agent.main() }

    @Test
    fun `the agent remembers, in Java`() = remembers { Agent.main(arrayOf()) }

    @Test
    fun `the versions are those of the tests`() {
        val project = File(System.getProperty("memdir.root"), "bindings-uniffi/kotlin/consumer/pom.xml").readText()
        val declared = Regex("<dependency>\\s*<groupId>(.*)</groupId>\\s*<artifactId>(.*)</artifactId>\\s*<version>(.*)</version>")
        val onPage = declared.findAll(page).map { it.groupValues.drop(1) }.toList()
        assertEquals(onPage, declared.findAll(project).map { it.groupValues.drop(1) }.take(2).toList())
        for (dependency in onPage) assertTrue("implementation(\"${dependency.joinToString(":")}\")" in page, "$dependency")
    }

    /** Runs the agent twice. Each run has two turns, of which the first uses the memory. */
    private fun remembers(agent: () -> Unit) {
        val create = """{"command": "create", "path": "/memories/tea.md", "file_text": "- green\n"}"""
        val view = """{"command": "view", "path": "/memories/tea.md"}"""
        val requests = converse("I like green tea.\nThank you.\n", agent, use(create), text("Noted."), text("You are welcome."))
        assertTrue("File created successfully at: /memories/tea.md" in requests[1], requests[1])
        // The API has the conversation, so the second turn sends only the new message.
        assertTrue("Thank you." in requests[2] && "I like green tea." !in requests[2], requests[2])
        assertTrue(Regex(""""previous_message_id"\s*:\s*"m2"""") in requests[2], requests[2])
        assertEquals("- green\n", File("memory/memories/tea.md").readText())
        val later = converse("What do I like?\n", agent, use(view), text("Green tea."))
        assertTrue("1\\t- green" in later[1], later[1])
    }

    private fun use(input: String) = """[{"type": "tool_use", "id": "toolu_1", "name": "memory", "input": $input}]"""

    private fun text(text: String) = """[{"type": "text", "text": "$text"}]"""

    /** Runs the program against a stand-in for the API, which answers with [contents], and returns the requests. */
    private fun converse(questions: String, agent: () -> Unit, vararg contents: String): List<String> {
        val requests = mutableListOf<String>()
        val server = HttpServer.create(InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0)
        server.createContext("/v1/messages") { exchange ->
            requests += exchange.requestBody.readBytes().decodeToString()
            val content = contents[requests.size - 1]
            val reason = if ("tool_use" in content) "tool_use" else "end_turn"
            val message =
                """{"id": "m${requests.size}", "type": "message", "role": "assistant", "model": "m", "content": $content,
                    "stop_reason": "$reason", "stop_sequence": null, "usage": {"input_tokens": 1, "output_tokens": 1}}""".toByteArray()
            exchange.responseHeaders["content-type"] = "application/json"
            exchange.sendResponseHeaders(200, message.size.toLong())
            exchange.responseBody.use { it.write(message) }
        }
        server.start()
        // `fromEnv` also reads these.
        System.setProperty("anthropic.baseUrl", "http://127.0.0.1:${server.address.port}")
        System.setProperty("anthropic.apiKey", "none")
        try {
            val said = contents.filter { "tool_use" !in it }.joinToString("") { it.substringAfter("\"text\": \"").substringBefore('"') + "\n" }
            assertEquals(said, run(questions, agent))
        } finally {
            server.stop(0)
        }
        assertEquals(contents.size, requests.size)
        return requests
    }

    /** Runs a program with this input, and returns its output. */
    private fun run(input: String = "", program: () -> Unit): String {
        val (typed, shown) = System.`in` to System.out
        val output = ByteArrayOutputStream()
        System.setIn(ByteArrayInputStream(input.toByteArray()))
        System.setOut(PrintStream(output, true, Charsets.UTF_8))
        try {
            program()
        } finally {
            System.setIn(typed)
            System.setOut(shown)
        }
        return output.toString(Charsets.UTF_8)
    }
}

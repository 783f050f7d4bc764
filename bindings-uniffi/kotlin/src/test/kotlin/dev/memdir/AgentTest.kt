package dev.memdir

import com.anthropic.client.AnthropicClient
import com.anthropic.client.okhttp.AnthropicOkHttpClient
import com.anthropic.models.beta.messages.BetaMemoryTool20250818
import com.anthropic.models.beta.messages.MessageCreateParams
import com.anthropic.models.beta.messages.ToolRunnerCreateParams
import com.sun.net.httpserver.HttpServer
import dev.memdir.*
import java.net.InetAddress
import java.net.InetSocketAddress
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Test

/** Tests of an agent, as `docs/guides/testing.md` explains them. The page quotes this file. */
class AgentTest {
    private val tea = "/memories/tea.md"

    // Blocks of a real conversation, as the API sent them.
    private val look =
        """{"type": "tool_use", "id": "toolu_1", "name": "memory", "input": {"command": "view", "path": "/memories/tea.md"}}"""
    private val edit =
        """{"type": "tool_use", "id": "toolu_2", "name": "memory",
            "input": {"command": "str_replace", "path": "/memories/tea.md", "old_str": "green", "new_str": "black"}}"""

    /** A new memory with one file. */
    private fun filled() = Memory("memory:", MemoryOptions(history = true)).also { it.write(tea, "- green\n") }

    @Test
    fun `a preference is corrected`() = filled().use { memory ->
        for (block in listOf(look, edit)) {
            val reply = memory.execute(block)
            assertFalse(reply.isError, reply.content)
        }

        assertEquals("- black\n", memory.read(tea))
        val operations = memory.history(tea).map { it.operation }
        assertEquals(listOf(HistoryOperation.MODIFIED, HistoryOperation.CREATED), operations)
    }

    @Test
    fun `an existing file is not replaced`() = filled().use { memory ->
        val reply = memory.execute("""{"command": "create", "path": "/memories/tea.md", "file_text": "- none\n"}""")
        assertEquals(ErrorKind.EXISTS, reply.kind)
        assertEquals("- green\n", memory.read(tea))
    }

    @Test
    fun `nothing is saved while the reviewer is away`() {
        val hooks = object : MemoryHooks {
            override fun before(command: Command, call: HookCall): HookDecision = error("the reviewer does not answer")
        }
        Memory("memory:", hooks = hooks).use { memory ->
            val reply = memory.execute("""{"command": "create", "path": "/memories/tea.md", "file_text": "- green\n"}""")
            assertEquals(ErrorKind.HOOK_FAILED, reply.kind)
            assertFalse(memory.exists(tea))
        }
    }

    /** A stand-in for the API, and its client. It answers with these contents, one after the other. */
    private fun standIn(vararg contents: String, test: (AnthropicClient) -> Unit) {
        val answers = ArrayDeque(contents.toList())
        val server = HttpServer.create(InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0)
        server.createContext("/v1/messages") { exchange ->
            val content = answers.removeFirst()
            val reason = if (answers.isEmpty()) "end_turn" else "tool_use"
            val message = """{"id": "msg_${answers.size}", "type": "message", "role": "assistant", "content": $content,
                "stop_reason": "$reason", "usage": {}}"""
            exchange.responseHeaders["content-type"] = "application/json"
            exchange.sendResponseHeaders(200, 0)
            exchange.responseBody.use { it.write(message.toByteArray()) }
        }
        server.start()
        try {
            test(AnthropicOkHttpClient.builder().baseUrl("http://127.0.0.1:${server.address.port}").apiKey("none").build())
        } finally {
            server.stop(0)
        }
    }

    /** Stands for the agent of your program. */
    private fun agent(client: AnthropicClient, memory: Memory, message: String): String {
        val request =
            MessageCreateParams.builder()
                .model("claude-sonnet-5-5")
                .maxTokens(2048)
                .addTool(BetaMemoryTool20250818.builder().build())
                .addUserMessage(message)
                .build()
        val handler = MemdirHandler(memory)
        val tools = ToolRunnerCreateParams.builder().betaMemoryToolHandler(handler).initialMessageParams(request).build()
        val last = handler.messages(client.beta().messages().toolRunner(tools)).last()
        return last.content().joinToString("") { block -> block.text().map { it.text() }.orElse("") }
    }

    @Test
    fun `a whole conversation`() = filled().use { memory ->
        standIn("[$look]", "[$edit]", """[{"type": "text", "text": "Noted."}]""") { client ->
            assertEquals("Noted.", agent(client, memory, "I like black tea better."))
        }
        assertEquals("- black\n", memory.read(tea))
    }
}

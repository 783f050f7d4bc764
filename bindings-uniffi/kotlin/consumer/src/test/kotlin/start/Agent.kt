package start.agent

import com.anthropic.client.okhttp.AnthropicOkHttpClient
import com.anthropic.models.beta.messages.BetaMemoryTool20250818
import com.anthropic.models.beta.messages.BetaMessageParam
import com.anthropic.models.beta.messages.ThreadCreateParams
import dev.memdir.MemdirHandler
import dev.memdir.Memory

fun main() {
    // Reads the key from ANTHROPIC_API_KEY.
    val client = AnthropicOkHttpClient.fromEnv()
    val conversation =
        ThreadCreateParams.builder()
            .model("claude-sonnet-5-5")
            .maxTokens(2048)
            .addTool(BetaMemoryTool20250818.builder().build())
            .build()
    Memory("./memory").use { memory ->
        val handler = MemdirHandler(memory)
        val thread = client.beta().messages().thread(conversation)
        for (question in generateSequence(::readlnOrNull)) {
            thread.append(BetaMessageParam.ofUser(question))
            for (message in handler.messages(thread.toolRunner { it.betaMemoryToolHandler(handler) })) {
                for (block in message.content()) block.text().ifPresent { println(it.text()) }
            }
        }
    }
}

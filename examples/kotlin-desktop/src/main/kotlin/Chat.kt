import com.anthropic.client.AnthropicClient
import com.anthropic.core.JsonValue
import com.anthropic.core.jsonMapper
import com.anthropic.models.beta.messages.BetaContentBlockParam
import com.anthropic.models.beta.messages.BetaMemoryTool20250818
import com.anthropic.models.beta.messages.BetaToolResultBlockParam
import com.anthropic.models.beta.messages.BetaToolUseBlock
import com.anthropic.models.beta.messages.MessageCreateParams
import dev.memdir.Memory
import kotlin.jvm.optionals.getOrNull

/**
 * A conversation with Claude, who has a [memory]. Its messages are kept here as long as it lasts;
 * the files that Claude wrote into the memory stay.
 *
 * [log] gets Claude's memory commands, and their results.
 */
class Chat(
    private val client: AnthropicClient,
    private val memory: Memory,
    model: String,
    private val log: (String) -> Unit = {},
) {
    /** The next request, with all messages so far. */
    private val request =
        MessageCreateParams.builder()
            .model(model)
            .maxTokens(2048)
            .addTool(BetaMemoryTool20250818.builder().build())

    /** Sends [text] to Claude, executes Claude's memory commands, and returns the answer. */
    fun say(text: String): String {
        request.addUserMessage(text)
        while (true) {
            val message = client.beta().messages().create(request.build())
            request.addMessage(message)
            val uses = message.content().mapNotNull { it.toolUse().getOrNull() }
            if (uses.isEmpty()) {
                return message.content().mapNotNull { it.text().getOrNull()?.text() }.joinToString("\n")
            }
            request.addUserMessageOfContentBlockParams(
                uses.map { BetaContentBlockParam.ofToolResult(result(it)) }
            )
        }
    }

    private fun result(use: BetaToolUseBlock): BetaToolResultBlockParam {
        val input = json(use._input())
        val reply = memory.execute(input)
        log("$input\n${reply.content}")
        reply.cause?.let { log("The memory is broken: $it") }
        return BetaToolResultBlockParam.builder()
            .toolUseId(use.id())
            .content(reply.content)
            .isError(reply.isError)
            .build()
    }

    private fun json(input: JsonValue): String = jsonMapper().writeValueAsString(input)
}

package dev.memdir

import com.anthropic.core.jsonMapper
import com.anthropic.errors.AnthropicException
import com.anthropic.helpers.BetaMemoryToolHandler
import com.anthropic.helpers.BetaToolRunner
import com.anthropic.models.beta.messages.BetaBase64ImageSource
import com.anthropic.models.beta.messages.BetaContentBlockParam
import com.anthropic.models.beta.messages.BetaMessage
import com.anthropic.models.beta.messages.BetaStopReason
import com.anthropic.models.beta.messages.BetaToolResultBlockParam
import com.anthropic.models.beta.messages.BetaToolUseBlock
import com.anthropic.models.beta.messages.MessageCreateParams
import java.util.Base64
import java.util.Optional
import java.util.function.Consumer
import java.util.logging.Level
import java.util.logging.Logger
import kotlin.jvm.optionals.getOrNull

/**
 * A [Memory] as the memory tool of Anthropic's Java SDK (`com.anthropic:anthropic-java`):
 *
 * ```kotlin
 * val handler = MemdirHandler(memory)
 * val tools = ToolRunnerCreateParams.builder().betaMemoryToolHandler(handler).initialMessageParams(request).build()
 * for (message in handler.messages(client.beta().messages().toolRunner(tools))) { … }
 * ```
 *
 * With [messages], or with [answer] in a loop of your own, the model reads the exact texts of the tool's documentation,
 * with `is_error` on every error. Claude's input goes to [Memory.execute] unchanged, so memdir can repair invalid input
 * where possible. With the option `maxImageBytes`, images are shown, too.
 *
 * The runner itself answers the turns that also use other tools, through the methods of this handler. It sends an exception
 * as `"Error: "` and its message, with `is_error`; it sends a returned text without that flag. So this handler throws a
 * text that starts with `Error: `, and returns the documented errors that start differently. Every text arrives unchanged,
 * but the returned errors arrive without the flag. The SDK itself refuses input without a required field, with its own
 * message.
 *
 * The handler does not close the memory.
 *
 * @param onBroken Called when the store itself or a hook fails. The model reads only that the memory is out of reach. By
 *   default it logs a warning with the logger `dev.memdir` (`java.util.logging`). It is not called for a cancelled call,
 *   because that is not a failure.
 */
public class MemdirHandler
@JvmOverloads
constructor(
    private val memory: Memory,
    private val onBroken: Consumer<MemdirException> = LOG,
) : BetaMemoryToolHandler {
    /**
     * The messages of [runner], one after the other. After each message, its tool uses are answered as by
     * [answer].
     *
     * A loop that calls [BetaToolRunner.setNextParams] itself, or that reads a stream, must call [answer]
     * instead.
     */
    public fun messages(runner: BetaToolRunner): Iterable<BetaMessage> = Iterable {
        val messages = runner.iterator()
        object : Iterator<BetaMessage> {
            private var last: BetaMessage? = null

            override fun hasNext(): Boolean {
                last?.let { answer(runner, it) }
                last = null
                return messages.hasNext()
            }

            override fun next(): BetaMessage = if (hasNext()) messages.next().also { last = it } else throw NoSuchElementException()
        }
    }

    /**
     * Answers a turn whose tool uses are all `memory`: executes them in order, and passes [runner] its next request.
     * Call it after the runner has returned the message and before you request the next one.
     *
     * @return true if it did. Otherwise nothing was executed, and the runner answers the turn itself: the turn has no
     * tool use, a use of another tool, or a block that this version of the SDK does not know.
     */
    public fun answer(runner: BetaToolRunner, message: BetaMessage): Boolean =
        answer(runner, message) { memory.execute(it) }

    /**
     * Like [answer], but with [Memory.suspending]: for a memory with [SuspendingMemoryHooks], such as hooks that ask
     * a person.
     *
     * If the coroutine is cancelled, [runner] gets no next request. Tool uses that were already executed are not
     * undone.
     */
    public suspend fun answerSuspending(runner: BetaToolRunner, message: BetaMessage): Boolean =
        memory.suspending.let { suspending -> answer(runner, message) { suspending.execute(it) } }

    private inline fun answer(runner: BetaToolRunner, message: BetaMessage, execute: (String) -> Reply): Boolean {
        if (message.stopReason().getOrNull() != BetaStopReason.TOOL_USE) return false
        // Blocks before a fallback belong to an abandoned attempt.
        val blocks = message.content().run { drop(indexOfLast { it.isFallback() } + 1) }
        val uses = blocks.mapNotNull { it.toolUse().getOrNull() }
        if (uses.isEmpty() || uses.any { it.name() != TOOL }) return false
        val request = runner.params()
        val next =
            try {
                request.toBuilder().addMessage(message).inContainer(request, message)
            } catch (_: AnthropicException) {
                return false
            }
        val results = uses.map { result(it, execute(jsonMapper().writeValueAsString(it._input()))) }
        runner.setNextParams(next.addUserMessageOfContentBlockParams(results).build())
        return true
    }

    private fun result(use: BetaToolUseBlock, reply: Reply): BetaContentBlockParam {
        reply.cause?.let { if (reply.kind != ErrorKind.CANCELLED) onBroken.accept(broken(it, reply)) }
        val result = BetaToolResultBlockParam.builder().toolUseId(use.id()).isError(reply.isError)
        val image = reply.image ?: return BetaContentBlockParam.ofToolResult(result.content(reply.content).build())
        val source =
            BetaBase64ImageSource.builder()
                .mediaType(BetaBase64ImageSource.MediaType.of(image.mediaType))
                .data(Base64.getEncoder().encodeToString(image.bytes))
                .build()
        val block = BetaToolResultBlockParam.Content.Block.ofImage(source)
        return BetaContentBlockParam.ofToolResult(result.contentOfBlocks(listOf(block)).build())
    }

    /** The exception that a call with plain arguments would have thrown. */
    private fun broken(cause: String, reply: Reply): MemdirException {
        val kind = reply.kind ?: ErrorKind.UNAVAILABLE
        val error =
            if (kind == ErrorKind.HOOK_FAILED) MemdirException.Hook(cause) else MemdirException.Store(cause, reply.content, kind)
        return error.withCause()
    }

    override fun view(path: String, viewRange: Optional<List<Long>>): String =
        answer { memory.view(path, viewRange.orElse(null)) }

    override fun create(path: String, fileText: String): String =
        answer { memory.create(path, fileText) }

    override fun strReplace(path: String, oldStr: String, newStr: String): String =
        answer { memory.strReplace(path, oldStr, newStr) }

    override fun insert(path: String, insertLine: Long, insertText: String): String =
        answer { memory.insert(path, insertLine, insertText) }

    override fun delete(path: String): String = answer { memory.delete(path) }

    override fun rename(oldPath: String, newPath: String): String =
        answer { memory.rename(oldPath, newPath) }

    private fun answer(call: () -> String): String =
        try {
            call()
        } catch (error: MemdirException) {
            val reply = error.reply()
            val text = reply.content
            if (error !is MemdirException.Refused && reply.kind != ErrorKind.CANCELLED) onBroken.accept(error)
            if (!text.startsWith(PREFIX)) text else throw Refusal(text.removePrefix(PREFIX), error)
        }

    /** An error. The SDK adds its prefix to the message. */
    private class Refusal(message: String, cause: Throwable) : RuntimeException(message, cause)

    private companion object {
        const val TOOL = "memory"
        const val PREFIX = "Error: "
        val LOG = Consumer<MemdirException> { Logger.getLogger("dev.memdir").log(Level.WARNING, "the memory is out of reach", it) }
    }
}

/**
 * Keeps the turn's container for the next request, unless the request names another one. The runner does the same.
 */
private fun MessageCreateParams.Builder.inContainer(request: MessageCreateParams, message: BetaMessage): MessageCreateParams.Builder {
    val id = message.container().getOrNull()?.id() ?: return this
    val pinned = request.container().getOrNull() ?: return container(id)
    val params = pinned.betaContainerParams().getOrNull() ?: return this
    return if (params.id().isPresent) this else container(params.toBuilder().id(id).build())
}

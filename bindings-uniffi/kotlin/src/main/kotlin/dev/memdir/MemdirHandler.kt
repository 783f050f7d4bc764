package dev.memdir

import com.anthropic.helpers.BetaMemoryToolHandler
import java.util.Optional

/**
 * A [Memory] as the memory tool of Anthropic's Java SDK (`com.anthropic:anthropic-java`, 2.16 or newer):
 *
 * ```kotlin
 * ToolRunnerCreateParams.builder().betaMemoryToolHandler(MemdirHandler(memory))
 * ```
 *
 * The SDK sends what a handler throws as `"Error: "` and the exception's message with `is_error`, and
 * what it returns without that flag. Every text reaches the model to the letter all the same: what
 * starts with `Error: ` is thrown, and the documented errors that do not are returned. To have the flag
 * on these as well, answer tool calls with [Memory.execute] instead of the SDK's runner.
 *
 * Closing the memory stays with whoever opened it.
 *
 * @param onBroken is told when the store itself fails, for the developer's log: the model learns only
 *   that the memory is out of reach.
 */
public class MemdirHandler
@JvmOverloads
constructor(
    private val memory: Memory,
    private val onBroken: (MemdirException) -> Unit = {},
) : BetaMemoryToolHandler {
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
            if (error !is MemdirException.Refused) onBroken(error)
            val text = error.reply().content
            if (!text.startsWith(PREFIX)) text else throw Refusal(text.removePrefix(PREFIX), error)
        }

    /** What the SDK puts its prefix before. */
    private class Refusal(message: String, cause: Throwable) : RuntimeException(message, cause)

    private companion object {
        const val PREFIX = "Error: "
    }
}

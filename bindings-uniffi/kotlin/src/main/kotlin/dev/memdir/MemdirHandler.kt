package dev.memdir

import com.anthropic.helpers.BetaMemoryToolHandler
import java.util.Optional

/**
 * A [Memory] as the memory tool of Anthropic's Java SDK (`com.anthropic:anthropic-java`, 2.16.1 or newer):
 *
 * ```kotlin
 * ToolRunnerCreateParams.builder().betaMemoryToolHandler(MemdirHandler(memory))
 * ```
 *
 * The SDK sends an exception of a handler as `"Error: "` and its message, with `is_error`. It sends a returned text
 * without that flag. Every text reaches the model word for word: a text that starts with `Error: ` is thrown, and the
 * documented errors that do not start so are returned. To have the flag on these as well, answer tool calls with
 * [Memory.execute] instead of the SDK's runner.
 *
 * The handler does not close the memory.
 *
 * @param onBroken is called when the store itself fails, for your log. The model reads only that the memory is out of
 *   reach.
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

    /** An error whose message gets the SDK's prefix. */
    private class Refusal(message: String, cause: Throwable) : RuntimeException(message, cause)

    private companion object {
        const val PREFIX = "Error: "
    }
}

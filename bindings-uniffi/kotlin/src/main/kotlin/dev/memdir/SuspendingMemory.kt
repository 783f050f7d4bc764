package dev.memdir

import java.time.Duration
import kotlinx.coroutines.CoroutineDispatcher
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.suspendCancellableCoroutine
import kotlinx.coroutines.withContext

/** The commands of this memory for coroutines, on threads of [Dispatchers.IO]. Closing stays with the memory. */
public val Memory.suspending: SuspendingMemory
    get() = SuspendingMemory(this)

/** Shows the lines [lines] of a file (1-based, inclusive; a last line of -1 is the end). */
public fun Memory.view(path: String, lines: IntRange): String = view(path, lines.asViewRange())

/**
 * A [Memory] whose methods suspend instead of blocking. Views run on [viewDispatcher]. Changes run on [dispatcher],
 * where they may have to wait for other writers.
 *
 * If the coroutine is cancelled before a command begins to write, the command does not happen. If the command has
 * begun, it goes on to its end.
 */
public class SuspendingMemory
@JvmOverloads
constructor(
    private val memory: Memory,
    private val dispatcher: CoroutineDispatcher = CHANGES,
    private val viewDispatcher: CoroutineDispatcher = if (dispatcher === CHANGES) VIEWS else dispatcher,
) {
    /** As [Memory.execute]. */
    public suspend fun execute(json: String): Reply =
        replying({ it }) { off(viewDispatcher) { it.executeView(json) } ?: off { it.execute(json) } }

    /** As [Memory.view]. */
    public suspend fun view(path: String, viewRange: List<Long>? = null): String =
        off(viewDispatcher) { it.view(path, viewRange) }

    /** As [Memory.view]. */
    public suspend fun view(path: String, lines: IntRange): String =
        off(viewDispatcher) { it.view(path, lines.asViewRange()) }

    /** As [Memory.create]. */
    public suspend fun create(path: String, fileText: String): String =
        off { it.create(path, fileText) }

    /** As [Memory.strReplace]. */
    public suspend fun strReplace(path: String, oldStr: String, newStr: String = ""): String =
        off { it.strReplace(path, oldStr, newStr) }

    /** As [Memory.insert]. */
    public suspend fun insert(path: String, insertLine: Long, insertText: String): String =
        off { it.insert(path, insertLine, insertText) }

    /** As [Memory.delete]. */
    public suspend fun delete(path: String): String = off { it.delete(path) }

    /** As [Memory.rename]. */
    public suspend fun rename(oldPath: String, newPath: String): String =
        off { it.rename(oldPath, newPath) }

    /** As [Memory.expire]. */
    public suspend fun expire(olderThan: Duration, dryRun: Boolean = false, watch: ExpiryWatch? = null): List<Expired> =
        off { it.expire(olderThan, dryRun, watch) }

    /** As [Memory.clear]. */
    public suspend fun clear(): Unit = off { it.clear() }

    private suspend fun <T> off(on: CoroutineDispatcher = dispatcher, call: (Memory) -> T): T {
        var hasBegun = false
        try {
            return withContext(on) {
                hasBegun = true
                suspendCancellableCoroutine { continuation ->
                    val cancellation = Cancellation()
                    continuation.invokeOnCancellation { cancellation.cancel() }
                    continuation.resumeWith(runCatching { memory.cancelledBy(cancellation).use(call) })
                }
            }
        } catch (error: OutOfMemoryError) {
            // The JVM reports in this way that the system cannot start a thread.
            throw if (hasBegun) error else noThread(error)
        }
    }

    private companion object {
        // Each dispatcher has its own threads, which are started when they are needed.
        const val MOST = 64
        val VIEWS = Dispatchers.IO.limitedParallelism(MOST)
        val CHANGES = Dispatchers.IO.limitedParallelism(MOST)
    }
}

private fun IntRange.asViewRange(): List<Long> = listOf(first.toLong(), last.toLong())

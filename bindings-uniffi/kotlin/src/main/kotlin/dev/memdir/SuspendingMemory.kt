package dev.memdir

import java.time.Duration
import kotlinx.coroutines.CoroutineDispatcher
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.withContext

/** The commands of this memory for coroutines, on [Dispatchers.IO]. Closing stays with the memory. */
public val Memory.suspending: SuspendingMemory
    get() = SuspendingMemory(this)

/** Shows the lines [lines] of a file (1-based, inclusive; a last line of -1 is the end). */
public fun Memory.view(path: String, lines: IntRange): String = view(path, lines.asViewRange())

/**
 * A [Memory] whose methods suspend instead of blocking: each runs on [dispatcher].
 *
 * A command that has begun is carried out, also when the coroutine is cancelled meanwhile.
 */
public class SuspendingMemory
@JvmOverloads
constructor(
    private val memory: Memory,
    private val dispatcher: CoroutineDispatcher = Dispatchers.IO,
) {
    /** As [Memory.execute]. */
    public suspend fun execute(json: String): Reply = off { it.execute(json) }

    /** As [Memory.view]. */
    public suspend fun view(path: String, viewRange: List<Long>? = null): String =
        off { it.view(path, viewRange) }

    /** As [Memory.view]. */
    public suspend fun view(path: String, lines: IntRange): String =
        off { it.view(path, lines.asViewRange()) }

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

    private suspend fun <T> off(call: (Memory) -> T): T = withContext(dispatcher) { call(memory) }
}

private fun IntRange.asViewRange(): List<Long> = listOf(first.toLong(), last.toLong())

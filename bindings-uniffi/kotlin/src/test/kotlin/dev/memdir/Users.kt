/** The functions of a server for many users, which `docs/guides/many-users.md` quotes. */
package dev.memdir

import dev.memdir.ErrorKind
import dev.memdir.Memory
import dev.memdir.MemoryOptions
import dev.memdir.Erased
import java.nio.file.Path
import java.security.MessageDigest
import java.time.Duration
import java.util.HexFormat

fun memoryOf(memories: Path, user: String): Memory {
    // A digest is a safe name of a directory, whatever the user is called.
    val digest = MessageDigest.getInstance("SHA-256").digest(user.toByteArray())
    val options = MemoryOptions(maxFiles = 200, maxTotalBytes = 1_000_000, lockTimeout = Duration.ofSeconds(2))
    return Memory(memories.resolve(HexFormat.of().formatHex(digest)), options)
}

/** One tool call, for a conversation that runs elsewhere: the status, and the text for the model. */
fun tool(memory: Memory, call: String): Pair<Int, String> {
    val reply = memory.execute(call)
    return if (reply.cause == null) 200 to reply.content else failed(reply.kind)
}

/** Only a request that changed nothing is worth another try. */
fun failed(kind: ErrorKind?): Pair<Int, String> =
    when (kind) {
        ErrorKind.BUSY, ErrorKind.CANCELLED, ErrorKind.UNAVAILABLE -> 503 to "The memory cannot be used now."
        else -> 500 to "The change may or may not have been made."
    }

/** The HTTP status for each kind of error. */
fun statusOf(kind: ErrorKind): Int =
    when (kind) {
        ErrorKind.INVALID, ErrorKind.NO_MATCH, ErrorKind.SEVERAL_MATCHES -> 400
        ErrorKind.READ_ONLY, ErrorKind.PERMISSION_DENIED, ErrorKind.FIXED, ErrorKind.SENSITIVE, ErrorKind.DENIED -> 403
        ErrorKind.NOT_FOUND -> 404
        ErrorKind.EXISTS, ErrorKind.IS_A_DIRECTORY, ErrorKind.NOT_A_DIRECTORY, ErrorKind.STALE, ErrorKind.CHANGED -> 409
        ErrorKind.TOO_LARGE -> 413
        ErrorKind.NOT_TEXT -> 415
        ErrorKind.OUTCOME_UNKNOWN, ErrorKind.HOOK_FAILED, ErrorKind.CONFIG -> 500
        ErrorKind.BUSY, ErrorKind.CANCELLED, ErrorKind.UNAVAILABLE -> 503
        ErrorKind.FULL -> 507
    }

/** Erases everything of a user, including the history, at the user's request. */
fun forget(memories: Path, user: String): Erased = memoryOf(memories, user).use { it.erase() }

/**
 * Conversions of values that the library may have to refuse: a text with half a surrogate pair, a negative duration. They
 * cross as they are; the library validates them and answers with a reply or a [MemdirException]. `uniffi.toml` and
 * `scripts/generate` put this into the generated code.
 */
package dev.memdir

import java.time.Duration
import java.time.Instant

/** Half a surrogate pair becomes a byte that is not valid UTF-8, so the text is refused and not changed. */
internal fun toUtf8(text: String): ByteArray {
    val bytes = text.toByteArray(Charsets.UTF_8)
    return if (text.isWellFormed()) bytes else bytes + NO_TEXT
}

internal fun fromUtf8(bytes: ByteArray): String = bytes.toString(Charsets.UTF_8)

internal fun inSeconds(duration: Duration): Double = duration.seconds + duration.nano / NANOS

internal fun ofSeconds(seconds: Double): Duration = Duration.ofNanos((seconds * NANOS).toLong())

internal fun inSeconds(time: Instant): Double = time.epochSecond + time.nano / NANOS

internal fun sinceEpoch(seconds: Double): Instant = Instant.EPOCH.plus(ofSeconds(seconds))

/** The text without halves of surrogate pairs: the message of an exception may contain anything. */
internal fun String.wellFormed(): String =
    if (isWellFormed()) this else toByteArray(Charsets.UTF_8).toString(Charsets.UTF_8)

/** Whether each half of a surrogate pair has the other one. */
internal fun String.isWellFormed(): Boolean {
    var at = 0
    while (at < length) {
        val char = this[at]
        if (char.isSurrogate()) {
            if (!char.isHighSurrogate() || at + 1 == length || !this[at + 1].isLowSurrogate()) return false
            at += 1
        }
        at += 1
    }
    return true
}

/** The exception of a closed [Memory]. */
internal fun closed(): MemdirException = outOfReach(closedReply())

/** The exception of a call that gets no thread, with the JVM's message. */
internal fun noThread(error: OutOfMemoryError): MemdirException =
    outOfReach(noThreadReply(error.message.orEmpty().wellFormed()))

private fun outOfReach(reply: Reply): MemdirException =
    MemdirException.Store(reply.cause.orEmpty(), reply.content, reply.kind ?: ErrorKind.UNAVAILABLE)

/** The reply of the call, or that of a closed memory. */
internal inline fun <T> replying(otherwise: (Reply) -> T, call: () -> T): T =
    try {
        call()
    } catch (error: MemdirException) {
        otherwise(error.reply())
    }

/**
 * What a store or a hook of the host's threw last on this thread, and the text that stands for it in the library. An
 * exception that the library then reports with this text has it as its cause. The library calls on the thread of its caller.
 */
private val thrown = ThreadLocal<Pair<Throwable, String>>()

/** Keeps an exception of the host's, which crosses as [text] only. */
internal fun crossing(error: Throwable, text: String) {
    if (text.isNotEmpty()) thrown.set(error to text)
}

/** The exception with what the host's own code threw, if it comes from that. */
internal fun <E : MemdirException> E.withCause(): E {
    val (error, text) = thrown.get() ?: return this
    thrown.remove()
    if (cause == null && message.orEmpty().contains(text)) initCause(error)
    return this
}

private const val NO_TEXT: Byte = -1
private const val NANOS = 1e9

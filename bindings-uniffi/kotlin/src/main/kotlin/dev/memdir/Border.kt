/**
 * Conversions of values that the library may have to reject: a text with an unpaired surrogate, a negative duration. They
 * cross unchanged; the library validates them and answers with a reply or a [MemdirException]. `uniffi.toml` and
 * `scripts/generate` put these functions into the generated code.
 */
package dev.memdir

import java.time.Duration
import java.time.Instant

/**
 * Appends an invalid UTF-8 byte if the text has an unpaired surrogate, so the text is rejected and not
 * changed silently.
 */
internal fun toUtf8(text: String): ByteArray {
    val bytes = text.toByteArray(Charsets.UTF_8)
    return if (text.isWellFormed()) bytes else bytes + NO_TEXT
}

internal fun fromUtf8(bytes: ByteArray): String = bytes.toString(Charsets.UTF_8)

internal fun inSeconds(duration: Duration): Double = duration.seconds + duration.nano / NANOS

internal fun ofSeconds(seconds: Double): Duration = Duration.ofNanos((seconds * NANOS).toLong())

internal fun inSeconds(time: Instant): Double = time.epochSecond + time.nano / NANOS

internal fun sinceEpoch(seconds: Double): Instant = Instant.EPOCH.plus(ofSeconds(seconds))

/** The text with unpaired surrogates replaced: the message of an exception may contain any text. */
internal fun String.wellFormed(): String =
    if (isWellFormed()) this else toByteArray(Charsets.UTF_8).toString(Charsets.UTF_8)

/** True if the text has no unpaired surrogate. */
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

/** The exception of a call for which no thread could be started, with the JVM's message. */
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
 * The last exception that a store or a hook of the host threw on this thread, and the text that represents it in the
 * library. If the library then reports an error with this text, the exception becomes its cause. This works because the
 * library calls back on its caller's thread.
 */
private val thrown = ThreadLocal<Pair<Throwable, String>>()

/** Keeps an exception of the host. Only its [text] crosses. */
internal fun crossing(error: Throwable, text: String) {
    if (text.isNotEmpty()) thrown.set(error to text)
}

/** Sets the cause of the exception, if the host's own code caused it. */
internal fun <E : MemdirException> E.withCause(): E {
    val (error, text) = thrown.get() ?: return this
    thrown.remove()
    if (cause == null && message.orEmpty().contains(text)) initCause(error)
    return this
}

private const val NO_TEXT: Byte = -1
private const val NANOS = 1e9

/**
 * Waits for changes on the JVM's side. A wait inside the library occupies a system thread until the call returns: a virtual
 * thread would block its carrier thread, and so all other virtual threads. Here the thread sleeps, and regularly checks
 * whether the next poll is due. `scripts/edit-generated` inserts these calls into the generated code.
 */
package dev.memdir

import java.time.Duration

/**
 * Calls [look], which polls once, whenever a poll is due and at the end. Null if the watch is cancelled or closed
 * meanwhile.
 */
internal inline fun Watch.waiting(wait: Duration, look: (Duration) -> List<Change>?): List<Change>? {
    // The library reports the error.
    if (wait.isNegative) return look(wait)
    val most = if (wait.seconds < FOREVER_SECONDS) wait.toNanos() else Long.MAX_VALUE
    val begun = System.nanoTime()
    while (true) {
        val left = most - (System.nanoTime() - begun)
        val found =
            try {
                if (left <= 0) return look(Duration.ZERO)
                if (isDue()) look(Duration.ZERO) else emptyList()
            } catch (closed: IllegalStateException) {
                if (uniffiIsDestroyed) return null
                throw closed
            }
        if (found == null || found.isNotEmpty()) return found
        val pause = minOf(left, PAUSE_NANOS)
        Thread.sleep(pause / NANOS_PER_MILLI, (pause % NANOS_PER_MILLI).toInt())
    }
}

/** The interval between checks. A check costs next to nothing. */
@PublishedApi internal const val PAUSE_NANOS: Long = 50_000_000

private const val NANOS_PER_MILLI: Long = 1_000_000
private const val FOREVER_SECONDS: Long = 9_000_000_000

/**
 * Waiting for changes on the JVM's side. A thread that waits in the library is one of the system's until the call returns:
 * a virtual thread would keep its carrier, and with it all others. Here it sleeps, and asks now and then whether it is time
 * to look. `scripts/edit-generated` puts this into the generated code.
 */
package dev.memdir

import java.time.Duration

/** Calls [look], which looks once, when it is due and at the end; null if the watch is cancelled or closed meanwhile. */
internal inline fun Watch.waiting(wait: Duration, look: (Duration) -> List<Change>?): List<Change>? {
    // The library says what is wrong with it.
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

/** How long it sleeps until it asks again. To ask costs next to nothing. */
@PublishedApi internal const val PAUSE_NANOS: Long = 50_000_000

private const val NANOS_PER_MILLI: Long = 1_000_000
private const val FOREVER_SECONDS: Long = 9_000_000_000

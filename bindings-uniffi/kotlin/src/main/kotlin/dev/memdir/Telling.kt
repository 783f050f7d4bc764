/**
 * Callbacks without a result: the hook `after`, and listeners of changes. An exception there changes nothing, so it is logged.
 * `scripts/edit-generated` puts this into the generated code.
 */
package dev.memdir

import java.util.logging.Level
import java.util.logging.Logger

/** Tells the host's [method] something by [call]. */
internal inline fun telling(method: String, call: () -> Unit) {
    try {
        call()
    } catch (error: Throwable) {
        logFailure(method, error)
    }
}

/** Logs what the host's [method] threw. */
internal fun logFailure(method: String, error: Throwable) {
    Logger.getLogger("dev.memdir").log(Level.WARNING, "`$method` failed", error)
}

/**
 * Callbacks without a result: the hook `after`, and listeners of changes. An exception there has no effect, so it is
 * logged. `scripts/edit-generated` inserts these calls into the generated code.
 */
package dev.memdir

import java.util.logging.Level
import java.util.logging.Logger

/** Notifies the host's [method] with [call]. */
internal inline fun telling(method: String, call: () -> Unit) {
    try {
        call()
    } catch (error: Throwable) {
        logFailure(method, error)
    }
}

/** Logs an exception of the host's [method]. */
internal fun logFailure(method: String, error: Throwable) {
    Logger.getLogger("dev.memdir").log(Level.WARNING, "`$method` failed", error)
}

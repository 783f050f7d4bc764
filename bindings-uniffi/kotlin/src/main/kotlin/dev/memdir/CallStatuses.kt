package dev.memdir

/**
 * Keeps the structures by which a call tells whether it succeeded: making one takes longer than
 * the call, and each command makes several calls. `scripts/generate` puts this into the generated
 * code.
 *
 * A thread has a few of its own, since calls nest. One that tells of a failure is not kept: all
 * that are here say success.
 */
internal object CallStatuses {
    private const val MOST = 4

    private val kept = ThreadLocal.withInitial { ArrayDeque<UniffiRustCallStatus>(MOST) }

    fun take(): UniffiRustCallStatus =
        kept.get().removeLastOrNull()
            ?: UniffiRustCallStatus().apply {
                // Its memory says success already, and stays so as long as it is kept here.
                write()
                autoWrite = false
            }

    fun giveBack(status: UniffiRustCallStatus) {
        val kept = kept.get()
        if (kept.size < MOST) kept.addLast(status)
    }
}

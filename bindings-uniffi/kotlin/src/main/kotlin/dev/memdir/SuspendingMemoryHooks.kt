/**
 * Hooks that suspend. The library decodes a call and later executes its command; nothing waits in between. So a hook is
 * awaited here, in the coroutine of its call, and holds no thread meanwhile.
 */
package dev.memdir

import kotlin.coroutines.AbstractCoroutineContextElement
import kotlin.coroutines.CoroutineContext
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.NonCancellable
import kotlinx.coroutines.async
import kotlinx.coroutines.coroutineScope
import kotlinx.coroutines.currentCoroutineContext
import kotlinx.coroutines.ensureActive
import kotlinx.coroutines.isActive
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.withContext

/**
 * Your own code before and after each command of a memory. It may suspend, to ask a person or another service. Pass it as
 * the argument `hooks` of [Memory]; the methods of [suspending] await it. It holds no thread while it waits, so all other
 * calls continue.
 *
 * A hook runs in the coroutine of its call, and several may run concurrently. Commands that a hook issues on the same
 * memory run without hooks. Commands that it issues in a coroutine of another scope run with them.
 *
 * The blocking methods of such a memory cannot await its hooks: they refuse every command with [MemdirException.Hook].
 */
public interface SuspendingMemoryHooks {
    /**
     * Called with each command before the store is touched, as [MemoryHooks.before].
     *
     * If it throws, it has failed: the command is not executed, and the model reads only that it could not be checked. If the
     * coroutine is cancelled meanwhile, nothing is changed. By default it allows every command.
     */
    public suspend fun before(command: Command, call: SuspendingHookCall): HookDecision = HookDecision.Allow

    /**
     * Called after each call, when its reply is ready, as [MemoryHooks.after]. Also called for a call whose coroutine was
     * cancelled; it then cannot be cancelled itself. An exception is logged and has no other effect, because the command is
     * already executed. By default it does nothing.
     */
    public suspend fun after(event: Event) {}
}

/** A call, as the hook [SuspendingMemoryHooks.before] gets it: the actor, the session, the id of the tool use, and the diff. */
public class SuspendingHookCall internal constructor(private val call: HookCall) {
    /** As [HookCall.actor]. */
    public val actor: String? = call.actor()

    /** As [HookCall.session]. */
    public val session: String = call.session()

    /** As [HookCall.toolUseId]. */
    public val toolUseId: String? = call.toolUseId()

    /** As [HookCall.diff], on a thread of [Dispatchers.IO]. It ends if the coroutine is cancelled. */
    public suspend fun diff(): String =
        Cancellation().use { cancellation ->
            coroutineScope {
                val diff = async(Dispatchers.IO) { call.diffUnless(cancellation) }
                try {
                    diff.await()
                } catch (cancelled: CancellationException) {
                    cancellation.cancel()
                    throw cancelled
                }
            }
        }
}

/** The coroutine of the sync that this thread does. */
private val syncing = ThreadLocal<CoroutineContext>()

/** Does a sync on this thread. Hooks that suspend run in the coroutine of [context], and the thread waits for them. */
internal fun <T> awaitingHooks(context: CoroutineContext, sync: () -> T): T {
    val outer = syncing.get()
    syncing.set(context)
    try {
        return sync()
    } finally {
        if (outer == null) syncing.remove() else syncing.set(outer)
    }
}

/**
 * The object that the library holds for the hooks. It is called directly only by a sync, and for a call that cannot await the
 * hooks.
 */
internal class Awaited(private val hooks: SuspendingMemoryHooks) : MemoryHooks {
    override fun before(command: Command, call: HookCall): HookDecision {
        val context =
            syncing.get()
                ?: throw HookException.Failed("the hooks of this memory suspend, so its commands are those of `memory.suspending`")
        return inSync(context) { hooks.before(command, SuspendingHookCall(call)) }?.wellFormed() ?: HookDecision.Allow
    }

    override fun after(event: Event) {
        val context = syncing.get() ?: return
        try {
            inSync(context) { hooks.after(event) }
        } catch (error: Throwable) {
            if (context.isActive || error !is CancellationException) logFailure("after", error)
        }
    }

    /** Runs a hook of a sync, unless one of these hooks has issued the sync: then it returns null. */
    private fun <T : Any> inSync(context: CoroutineContext, hook: suspend () -> T): T? {
        if (context[Running]?.hooks.orEmpty().any { it === hooks }) return null
        // Caught within, because an exception would also cancel the coroutine of the sync.
        return runBlocking(context) { runCatching { marked(hook) } }.getOrThrow()
    }

    /**
     * Awaits `before`, executes the command with [finish], and awaits `after`. After that the call has its
     * reply.
     *
     * @return the exception of `before`; null if it did not fail.
     */
    suspend fun carryOut(call: PendingCall, finish: suspend (HookDecision) -> Unit): Throwable? {
        if (areRunning()) {
            finish(HookDecision.Allow)
            return null
        }
        val failure =
            try {
                decided(call, finish)
            } catch (gone: Throwable) {
                // Has no effect if a thread has already executed the command.
                call.cancel()
                withContext(NonCancellable) { tell(call) }
                throw gone
            }
        tell(call)
        return failure
    }

    private suspend fun decided(call: PendingCall, finish: suspend (HookDecision) -> Unit): Throwable? {
        val decision =
            try {
                val known = call.hookCall()?.let(::SuspendingHookCall)
                call.command()?.let { command -> known?.let { marked { hooks.before(command, it) } } }?.wellFormed()
            } catch (error: Throwable) {
                // If this coroutine was cancelled, the cancellation is rethrown. Any other cancellation is a
                // failure of the hook.
                currentCoroutineContext().ensureActive()
                call.failHook(error.text())
                return error
            }
        finish(decision ?: HookDecision.Allow)
        return null
    }

    private suspend fun tell(call: PendingCall) {
        val event = call.event() ?: return
        var isTold = false
        val after = suspend {
            isTold = true
            hooks.after(event)
        }
        try {
            try {
                marked(after)
            } catch (cancelled: CancellationException) {
                // A coroutine that was cancelled just now does not even begin the hook.
                if (isTold) throw cancelled
                withContext(NonCancellable) { marked(after) }
            }
        } catch (error: Throwable) {
            // If this coroutine was cancelled, the cancellation is rethrown.
            val context = currentCoroutineContext()
            if (context.isActive || error !is CancellationException) logFailure("after", error)
            context.ensureActive()
        }
    }

    /** True if one of these hooks runs in this coroutine, or in one that started it. */
    private suspend fun areRunning(): Boolean = running().any { it === hooks }

    /** Marks that a hook runs, so its own commands run without hooks. */
    private suspend fun <T> marked(hook: suspend () -> T): T = withContext(Running(running() + hooks)) { hook() }

    private suspend fun running(): List<SuspendingMemoryHooks> = currentCoroutineContext()[Running]?.hooks.orEmpty()
}

/** The hooks that a coroutine runs in. A thread-local would not work, because the thread also runs other coroutines. */
private class Running(val hooks: List<SuspendingMemoryHooks>) : AbstractCoroutineContextElement(Key) {
    companion object Key : CoroutineContext.Key<Running>
}

/** Text that is not valid Unicode cannot cross. */
private fun HookDecision.wellFormed(): HookDecision = also {
    val text =
        when (this) {
            is HookDecision.Allow -> ""
            is HookDecision.Replace -> text
            is HookDecision.Deny -> reason
        }
    require(text.isWellFormed()) { "the hook returned text that is not valid Unicode" }
}

/** The text that the library reports, as for hooks that do not suspend. */
private fun Throwable.text(): String = if (this is HookException) message.orEmpty() else stackTraceToString()

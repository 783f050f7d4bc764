package dev.memdir

import java.nio.file.Path
import java.time.Duration
import java.time.Instant
import java.util.concurrent.atomic.AtomicBoolean
import java.util.concurrent.atomic.AtomicReference
import kotlin.coroutines.EmptyCoroutineContext
import kotlin.coroutines.cancellation.CancellationException
import kotlin.coroutines.resume
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.CoroutineDispatcher
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.NonCancellable
import kotlinx.coroutines.channels.Channel
import kotlinx.coroutines.currentCoroutineContext
import kotlinx.coroutines.delay
import kotlinx.coroutines.ensureActive
import kotlinx.coroutines.flow.Flow
import kotlinx.coroutines.flow.flow
import kotlinx.coroutines.suspendCancellableCoroutine
import kotlinx.coroutines.withContext

/** The methods of this memory for coroutines, on threads of [Dispatchers.IO]. Close the memory itself, not this object. */
public val Memory.suspending: SuspendingMemory
    get() = SuspendingMemory(this)

/** Shows the lines [lines] of a file (1-based, inclusive; a last line of -1 is the end). */
public fun Memory.view(path: String, lines: IntRange): String = view(path, lines.asViewRange())

/**
 * A [Memory] whose methods suspend instead of blocking. Views run on [viewDispatcher]. Changes run on [dispatcher],
 * where they may have to wait for other writers.
 *
 * If the coroutine is cancelled before a command begins to write, the command is not executed. While the call waits for
 * a thread or for [suspending hooks][SuspendingMemoryHooks], cancellation ends it at once. A command that has begun
 * continues to its end.
 */
public class SuspendingMemory
private constructor(
    private val memory: Memory,
    private val dispatcher: CoroutineDispatcher,
    private val viewDispatcher: CoroutineDispatcher,
    private val actor: String?,
) {
    @JvmOverloads
    public constructor(
        memory: Memory,
        dispatcher: CoroutineDispatcher = CHANGES,
        viewDispatcher: CoroutineDispatcher = if (dispatcher === CHANGES) VIEWS else dispatcher,
    ) : this(memory, dispatcher, viewDispatcher, null)

    private val awaited: Awaited? by lazy(LazyThreadSafetyMode.PUBLICATION) { memory.ownHooks() as? Awaited }

    /** As [Memory.execute]. */
    public suspend fun execute(json: String): Reply =
        replying({ it }) {
            awaiting({ it.beginExecute(json) }) { it.reply() }
                ?: telling({ it.execute(json) }) { isTaken ->
                    off(viewDispatcher) { memory -> memory.executeView(json)?.also { isTaken.set(true) } }
                        ?: off { memory ->
                            isTaken.set(true)
                            memory.execute(json)
                        }
                }
        }

    /** As [Memory.executeSearch]. */
    public suspend fun executeSearch(json: String): Reply =
        replying({ it }) { off(viewDispatcher) { it.executeSearch(json) } }

    /** As [Memory.view]. */
    public suspend fun view(path: String, viewRange: List<Long>? = null): String =
        command("view", mapOf("path" to path), viewRange = viewRange, on = viewDispatcher) { it.view(path, viewRange) }

    /** As [Memory.view]. */
    public suspend fun view(path: String, lines: IntRange): String = view(path, lines.asViewRange())

    /** As [Memory.create]. */
    public suspend fun create(path: String, fileText: String): String =
        command("create", mapOf("path" to path, "file_text" to fileText)) { it.create(path, fileText) }

    /** As [Memory.strReplace]. */
    public suspend fun strReplace(path: String, oldStr: String, newStr: String = ""): String =
        command("str_replace", mapOf("path" to path, "old_str" to oldStr, "new_str" to newStr)) {
            it.strReplace(path, oldStr, newStr)
        }

    /** As [Memory.insert]. */
    public suspend fun insert(path: String, insertLine: Long, insertText: String): String =
        command("insert", mapOf("path" to path, "insert_text" to insertText), insertLine = insertLine) {
            it.insert(path, insertLine, insertText)
        }

    /** As [Memory.delete]. */
    public suspend fun delete(path: String): String = command("delete", mapOf("path" to path)) { it.delete(path) }

    /** As [Memory.rename]. */
    public suspend fun rename(oldPath: String, newPath: String): String =
        command("rename", mapOf("old_path" to oldPath, "new_path" to newPath)) { it.rename(oldPath, newPath) }

    /** As [Memory.expire]. */
    public suspend fun expire(olderThan: Duration, dryRun: Boolean = false, watch: ExpiryWatch? = null): List<Expired> =
        off { it.expire(olderThan, dryRun, watch) }

    /**
     * As [Memory.sync]. A cancellation of the coroutine stops it. The changes that were made before stay. Hooks that suspend run in
     * this coroutine, while a thread waits for them.
     */
    public suspend fun sync(
        other: Memory,
        onConflict: OnConflict? = null,
        merger: SyncMerger? = null,
        oneWay: Boolean = false,
        dryRun: Boolean = false,
        delete: Boolean = false,
        redactions: Boolean = false,
        exclude: List<String> = emptyList(),
        maxFileBytes: Long? = null,
        names: List<String>? = null,
        watch: SyncWatch? = null,
    ): Synced {
        val context = currentCoroutineContext()
        return off {
            awaitingHooks(context) {
                it.sync(other, onConflict, merger, oneWay, dryRun, delete, redactions, exclude, maxFileBytes, names, watch)
            }
        }
    }

    /** As [Memory.read]. */
    public suspend fun read(path: String): String = off(viewDispatcher) { it.read(path) }

    /** As [Memory.readShown]. */
    public suspend fun readShown(path: String): String = off(viewDispatcher) { it.readShown(path) }

    /** As [Memory.write]. */
    public suspend fun write(path: String, text: String, ifUnchanged: String? = null): Unit =
        off { it.write(path, text, ifUnchanged) }

    /** As [Memory.list]. */
    public suspend fun list(path: String? = null, depth: Long? = 1): List<Entry> =
        off(viewDispatcher) { it.list(path, depth) }

    /** As [Memory.exists]. */
    public suspend fun exists(path: String): Boolean = off(viewDispatcher) { it.exists(path) }

    /** As [Memory.grep]. */
    public suspend fun grep(
        query: String,
        regex: Boolean = false,
        ignoreCase: Boolean = false,
        path: String? = null,
        limit: Long = 100,
    ): List<GrepMatch> = off(viewDispatcher) { it.grep(query, regex, ignoreCase, path, limit) }

    /** As [Memory.search]. */
    public suspend fun search(
        query: String,
        path: String? = null,
        limit: Long = 10,
    ): SearchResults = off(viewDispatcher) { it.search(query, path, limit) }

    /** As [Memory.findSensitive]. */
    public suspend fun findSensitive(path: String? = null, limit: Long = 100): List<SensitiveMatch> =
        off(viewDispatcher) { it.findSensitive(path, limit) }

    /** As [Memory.stats]. */
    public suspend fun stats(): Stats = off(viewDispatcher) { it.stats() }

    /**
     * The changes by all processes at [path] and below it, from the start of collection: as [Memory.watch]. It holds no
     * thread while it waits. Collection ends with its coroutine.
     */
    public fun watch(path: String? = null, every: Duration? = null): Flow<Change> = flow {
        off(viewDispatcher) { it.watch(path, every) }.use { watch ->
            while (true) {
                if (watch.isDue()) off(viewDispatcher) { watch.changes(Duration.ZERO) }?.forEach { emit(it) }
                else delay(PAUSE)
            }
        }
    }

    /** As [Memory.index]. */
    public suspend fun index(maxChars: Long = 2000): String = off(viewDispatcher) { it.index(maxChars) }

    /** As [Memory.bootstrap]. */
    public suspend fun bootstrap(about: String, features: List<String>, init: String? = null): List<String> =
        off { it.bootstrap(about, features, init) }

    /** As [Memory.history]. */
    public suspend fun history(
        path: String? = null,
        limit: Long? = null,
        before: String? = null,
        actor: String? = null,
        change: String? = null,
        since: Instant? = null,
    ): List<Version> = off(viewDispatcher) { it.history(path, limit, before, actor, change, since) }

    /** As [Memory.resolveId]. */
    public suspend fun resolveId(part: String): String = off(viewDispatcher) { it.resolveId(part) }

    /** As [Memory.exportHistory]. */
    public suspend fun exportHistory(): ByteArray = off(viewDispatcher) { it.exportHistory() }

    /** As [Memory.grepHistory]. */
    public suspend fun grepHistory(
        query: String,
        regex: Boolean = false,
        ignoreCase: Boolean = false,
        path: String? = null,
        limit: Long = 100,
    ): List<HistoryMatch> = off(viewDispatcher) { it.grepHistory(query, regex, ignoreCase, path, limit) }

    /** As [Memory.filesAt]. */
    public suspend fun filesAt(at: Instant): List<PastFile> = off(viewDispatcher) { it.filesAt(at) }

    /** As [Memory.blame]. */
    public suspend fun blame(path: String): List<BlamedLine> = off(viewDispatcher) { it.blame(path) }

    /** As [Memory.readAt]. */
    public suspend fun readAt(path: String, at: Instant): ByteArray? = off(viewDispatcher) { it.readAt(path, at) }

    /** As [Memory.readVersion]. */
    public suspend fun readVersion(id: String): ByteArray = off(viewDispatcher) { it.readVersion(id) }

    /** As [Memory.diff]. */
    public suspend fun diff(id: String, other: String? = null): String = off(viewDispatcher) { it.diff(id, other) }

    /** As [Memory.restore]. */
    public suspend fun restore(id: String, overwrite: Boolean = false): Restored = off { it.restore(id, overwrite) }

    /** As [Memory.undo]. */
    public suspend fun undo(
        change: String? = null,
        since: Instant? = null,
        actor: String? = null,
        dryRun: Boolean = false,
        skipConflicts: Boolean = false,
        merge: Boolean = false,
    ): Restored = off { it.undo(change, since, actor, dryRun, skipConflicts, merge) }

    /** As [Memory.restoreAll]. */
    public suspend fun restoreAll(at: Instant, dryRun: Boolean = false): Restored = off { it.restoreAll(at, dryRun) }

    /** As [Memory.redact]. */
    public suspend fun redact(id: String, reason: String): String? = off { it.redact(id, reason) }

    /** As [Memory.redactText]. */
    public suspend fun redactText(
        query: String,
        reason: String,
        regex: Boolean = false,
        ignoreCase: Boolean = false,
        dryRun: Boolean = false,
    ): RedactedText = off { it.redactText(query, reason, regex, ignoreCase, dryRun) }

    /** As [Memory.trimHistory]. */
    public suspend fun trimHistory(): Long = off { it.trimHistory() }

    /** As [Memory.actingAs], which does not block. The result need not be closed. */
    public fun actingAs(actor: String): SuspendingMemory =
        SuspendingMemory(memory, dispatcher, viewDispatcher, actor)

    /** As [Memory.forgetViews], which does not block. */
    public fun forgetViews(): Unit = memory.forgetViews()

    /** As [Memory.clear]. */
    public suspend fun clear(): Unit = off { it.clear() }

    /** As [Memory.erase]. */
    public suspend fun erase(dryRun: Boolean = false): Erased = off { it.erase(dryRun) }

    /** Runs a command with plain arguments: through the suspending hooks if there are any, otherwise with [call]. */
    private suspend fun command(
        name: String,
        texts: Map<String, String>,
        viewRange: List<Long>? = null,
        insertLine: Long? = null,
        on: CoroutineDispatcher = dispatcher,
        call: (Memory) -> String,
    ): String = awaiting({ it.beginCommand(name, texts, viewRange, insertLine) }) { it.text() }
        ?: telling(call) { isTaken ->
            off(on) {
                isTaken.set(true)
                call(it)
            }
        }

    /** [execute] makes a [call] whose hooks are plain, if it has any. If it is cancelled before a thread has taken it, `after` is told. */
    private suspend fun <T> telling(call: (Memory) -> Any, execute: suspend (AtomicBoolean) -> T): T {
        val isTaken = AtomicBoolean()
        try {
            return execute(isTaken)
        } catch (gone: CancellationException) {
            // On any other thread, and not waited for: those of this memory may all be taken.
            if (!isTaken.get()) Dispatchers.IO.dispatch(EmptyCoroutineContext) { runCatching { tellOfCancelled(call) } }
            throw gone
        }
    }

    private fun tellOfCancelled(call: (Memory) -> Any) {
        if (memory.ownHooks() == null) return
        Cancellation().use { cancellation ->
            cancellation.cancel()
            memory.cancelledBy(cancellation).use { acting(it, call) }
        }
    }

    /** Runs a call whose hooks suspend; null if this memory has no such hooks. */
    private suspend fun <T : Any> awaiting(begin: (Memory) -> PendingCall, answer: (PendingCall) -> T?): T? {
        val hooks = awaited ?: return null
        return acting(memory, begin).use { call ->
            val failure =
                hooks.carryOut(call) { decision ->
                    val on = if (call.isView()) viewDispatcher else dispatcher
                    onThread(on, { call.noThread(it.message.orEmpty()) }) { call.finish(decision, it) }
                }
            try {
                checkNotNull(answer(call))
            } catch (error: MemdirException.Hook) {
                if (failure != null && error.cause == null) error.initCause(failure)
                throw error
            }
        }
    }

    private suspend fun <T> off(on: CoroutineDispatcher = dispatcher, call: (Memory) -> T): T =
        onThread(on, { throw noThread(it) }) { cancellation -> memory.cancelledBy(cancellation).use { acting(it, call) } }

    /** Runs [work] on a thread, or [without] if the system cannot provide one. */
    private suspend fun <T> onThread(
        on: CoroutineDispatcher,
        without: (OutOfMemoryError) -> T,
        work: (Cancellation) -> T,
    ): T {
        val context = currentCoroutineContext()
        context.ensureActive()
        val state = AtomicReference(State.WAITS)
        val finished = CompletableDeferred<Unit>()
        val cancellation = Cancellation()
        try {
            return suspendCancellableCoroutine { continuation ->
                continuation.invokeOnCancellation {
                    if (!state.compareAndSet(State.WAITS, State.GIVEN_UP)) cancellation.cancel()
                }
                val turn = Runnable {
                    if (!state.compareAndSet(State.WAITS, State.RUNS)) return@Runnable
                    val outer = executing.get()
                    executing.set(true)
                    val result = runCatching { work(cancellation) }
                    executing.set(outer)
                    finished.complete(Unit)
                    continuation.resume(result)
                }
                try {
                    if (executing.get() != true && on.isDispatchNeeded(context)) on.dispatch(context, turn) else turn.run()
                } catch (error: OutOfMemoryError) {
                    // The JVM reports in this way that the system cannot start a thread.
                    if (state.compareAndSet(State.WAITS, State.GIVEN_UP)) continuation.resume(runCatching { without(error) })
                }
            }.getOrThrow()
        } finally {
            if (state.get() == State.RUNS && !finished.isCompleted) withContext(NonCancellable) { finished.join() }
            cancellation.close()
        }
    }

    private fun <T> acting(memory: Memory, call: (Memory) -> T): T =
        if (actor == null) call(memory) else memory.actingAs(actor).use(call)

    /** The call waits for a thread, is executed by one, or was abandoned by its caller. */
    private enum class State { WAITS, RUNS, GIVEN_UP }

    private companion object {
        // Each dispatcher has its own threads, which are started on demand.
        const val MOST = 64

        // In milliseconds: the delay until a watch notices a change of this process.
        const val PAUSE = 50L
        val VIEWS = Dispatchers.IO.limitedParallelism(MOST)
        val CHANGES = Dispatchers.IO.limitedParallelism(MOST)

        /**
         * True if this thread executes a call. If a plain hook or a store makes calls on this thread with `runBlocking`,
         * they run here, because all other threads may be waiting for the same.
         */
        val executing = ThreadLocal<Boolean>()
    }
}

/**
 * Opens a memory as its constructor does, without blocking: on a thread of [Dispatchers.IO]. If the coroutine is
 * cancelled meanwhile, the memory is closed again.
 */
public suspend fun Memory.Companion.open(
    store: String? = "./memory",
    options: MemoryOptions = MemoryOptions(),
    hooks: MemoryHooks? = null,
): Memory = opened { Memory(store, options, hooks) }

/** Opens a directory: as the other [open]. */
public suspend fun Memory.Companion.open(
    directory: Path,
    options: MemoryOptions = MemoryOptions(),
    hooks: MemoryHooks? = null,
): Memory = opened { Memory(directory, options, hooks) }

/** Opens a memory on a store: as the other [open]. With a key, the store is read. */
public suspend fun Memory.Companion.open(
    store: Store,
    options: MemoryOptions = MemoryOptions(),
    hooks: MemoryHooks? = null,
): Memory = opened { Memory(store, options, hooks) }

/** Opens a memory with suspending hooks: as the other [open]. */
public suspend fun Memory.Companion.open(
    store: String = "./memory",
    options: MemoryOptions = MemoryOptions(),
    hooks: SuspendingMemoryHooks,
): Memory = opened { Memory(store, options, hooks) }

/** Opens a directory, with suspending hooks: as the other [open]. */
public suspend fun Memory.Companion.open(
    directory: Path,
    options: MemoryOptions = MemoryOptions(),
    hooks: SuspendingMemoryHooks,
): Memory = opened { Memory(directory, options, hooks) }

/** Opens a memory on a store, with suspending hooks: as the other [open]. */
public suspend fun Memory.Companion.open(
    store: Store,
    options: MemoryOptions = MemoryOptions(),
    hooks: SuspendingMemoryHooks,
): Memory = opened { Memory(store, options, hooks) }

private suspend fun opened(open: () -> Memory): Memory {
    var opened: Memory? = null
    try {
        return withContext(Dispatchers.IO) { open().also { opened = it } }
    } catch (gone: CancellationException) {
        opened?.close()
        throw gone
    }
}

/**
 * The changes that memories of this process make on this store, from the start of collection: commands, `clear` and
 * `expire`. This includes other memories on the same open store, or on the same directory or database.
 *
 * It does not include changes by other processes, direct writes to the store, or changes by another memory on your own
 * store. Slow collectors miss nothing. Collection ends with its coroutine.
 */
public val Memory.changes: Flow<Change>
    get() = flow {
        val changes = Channel<Change>(Channel.UNLIMITED)
        observe { changes.trySend(it) }
            .use { subscription ->
                try {
                    for (change in changes) emit(change)
                } finally {
                    subscription.cancel()
                }
            }
    }

private fun IntRange.asViewRange(): List<Long> = listOf(first.toLong(), last.toLong())

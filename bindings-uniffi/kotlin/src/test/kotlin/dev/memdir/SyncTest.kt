package dev.memdir

import java.nio.file.Path
import java.util.concurrent.CountDownLatch
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.awaitCancellation
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.isActive
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.yield
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertSame
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows
import org.junit.jupiter.api.io.TempDir

/** Syncs of two memories. */
class SyncTest {
    @TempDir lateinit var place: Path

    private val tea = "/memories/tea.md"

    /** Two memories with the same file. */
    private fun withTea(): Pair<Memory, Memory> {
        val (a, b) = Memory("memory:") to Memory("memory:")
        a.write(tea, "green\nherbal\nblack\n")
        a.sync(b)
        return a to b
    }

    private fun equal(a: Memory, b: Memory, path: String, text: String) {
        for (memory in listOf(a, b)) assertEquals(text, memory.read(path))
    }

    private fun failed(kind: SyncErrorKind, call: () -> Synced): MemdirException.Sync {
        val error = assertThrows<MemdirException.Sync> { call() }
        assertEquals(kind, error.kind)
        assertEquals(error.reason, error.message)
        return error
    }

    @Test
    fun `changes of both memories are merged, on stores of every kind`() {
        val options = MemoryOptions(history = true)
        for ((a, b) in listOf(
            Memory(MapStore(), options) to Memory(MapStore(), options),
            Memory("$place/a", options) to Memory("sqlite:$place/b.db", options),
        )) {
            a.write(tea, "green\nherbal\nblack\n")
            val told = mutableListOf<SyncProgress>()
            val first = a.sync(b) { told.add(it) }
            assertEquals(listOf(SyncChange(tea, SyncSide.B, SyncAction.CREATED, null)), first.changes)
            assertEquals(1L to false, first.equal to first.hasBaseline)
            assertEquals(listOf(SyncProgress(SyncPhase.CHANGING, tea, 0, 1)), told)
            a.write(tea, "jasmine\nherbal\nblack\n")
            b.write(tea, "green\nherbal\noolong\n")
            val second = runBlocking { a.suspending.sync(b) { told.add(it) } }
            assertEquals(setOf(SyncAction.MERGED), second.changes.map { it.action }.toSet())
            assertTrue(second.hasBaseline)
            assertEquals(setOf(SyncPhase.COMPARING, SyncPhase.CHANGING), told.map { it.phase }.toSet())
            equal(a, b, tea, "jasmine\nherbal\noolong\n")
            assertEquals(2, b.history(actor = "sync").size)
        }
    }

    @Test
    fun `a conflict keeps both contents, unless one memory wins`() {
        for ((wins, text) in mapOf(null to "a\n", OnConflict.KEEP_BOTH to "a\n", OnConflict.A to "a\n", OnConflict.B to "b\n")) {
            val (a, b) = withTea()
            a.write(tea, "a\n")
            b.write(tea, "b\n")
            val synced = a.sync(b, onConflict = wins, names = listOf("laptop", "server"))
            equal(a, b, tea, text)
            if (wins == OnConflict.A || wins == OnConflict.B) {
                assertEquals(emptyList<SyncConflict>(), synced.conflicts)
                continue
            }
            val conflict = synced.conflicts.single()
            assertEquals(tea to SyncSide.B, conflict.path to conflict.side)
            assertTrue(conflict.copyPath.contains("conflict from server"), conflict.copyPath)
            equal(a, b, conflict.copyPath, "b\n")
        }
    }

    @Test
    fun `a function merges a conflict`() {
        val (a, b) = withTea()
        a.write(tea, "a\n")
        b.write(tea, "b\n")
        val asked = mutableListOf<SyncMerge>()
        val gone = IllegalStateException("no model")
        assertSame(gone, assertThrows<MemdirException.Store> { a.sync(b, merger = { throw gone }) }.cause)
        val half = assertThrows<MemdirException.Store> { a.sync(b, merger = { "\ud800" }) }
        assertTrue(half.message.contains("utf-8"), half.message)
        assertThrows<MemdirException.Config> { a.sync(b, onConflict = OnConflict.A, merger = { it.a }) }
        assertEquals("b\n", b.read(tea))
        // It may use both memories.
        a.sync(b, merger = { asked.add(it); it.a + b.read(it.path) })
        equal(a, b, tea, "a\nb\n")
        val file = asked.single()
        assertEquals(listOf(tea, "a\n", "b\n", "green\nherbal\nblack\n"), listOf(file.path, file.a, file.b, file.base))
        a.write(tea, "c\n")
        b.write(tea, "d\n")
        assertEquals(1, runBlocking { a.suspending.sync(b, merger = { null }) }.conflicts.size)
        equal(a, b, tea, "c\n")
        a.write(tea, "e\n")
        b.write(tea, "f\n")
        a.sync(b, SyncOptions().merger { it.b })
        equal(a, b, tea, "f\n")
    }

    @Test
    fun `options say what a sync leaves as it is`() {
        val (a, b) = withTea()
        a.write("/memories/large.md", "larger\n")
        a.write("/memories/private/a.md", "a\n")
        a.write("/memories/a.md", "a\n")
        b.write("/memories/b.md", "b\n")
        fun sync(dryRun: Boolean) =
            a.sync(b, oneWay = true, dryRun = dryRun, exclude = listOf("/memories/private"), maxFileBytes = 6)
        val planned = sync(dryRun = true)
        assertFalse(b.exists("/memories/a.md"))
        val synced = sync(dryRun = false)
        assertEquals(planned.changes, synced.changes)
        assertEquals(listOf(SyncChange("/memories/a.md", SyncSide.B, SyncAction.CREATED, null)), synced.changes)
        assertEquals(SyncReason.TOO_LARGE, synced.leftOut.single { it.path == "/memories/large.md" }.reason)
        assertFalse(a.exists("/memories/b.md"))
    }

    @Test
    fun `a sync takes redactions over`() {
        val (a, b) = List(2) { Memory("memory:", MemoryOptions(history = true)) }
        a.write(tea, "hunter2\n")
        a.sync(b)
        a.write(tea, "green\n")
        a.redactText("hunter2", "a password")
        val done = a.sync(b, redactions = true).redactions.single()
        assertEquals(listOf(tea, SyncSide.B, "a password", true), listOf(done.path, done.side, done.redacted, done.isDone))
    }

    @Test
    fun `an error has a kind`() {
        val (a, b) = withTea()
        b.delete(tea)
        val error = failed(SyncErrorKind.TOO_MANY_DELETIONS) { a.sync(b) }
        assertTrue(error.reason.startsWith("1 of the 1 files of a would be deleted"), error.reason)
        assertTrue(error.reply().isError)
        assertEquals(SyncAction.DELETED, a.sync(b, delete = true).changes.single().action)
        failed(SyncErrorKind.OVERLAPPING) { a.sync(a) }
        failed(SyncErrorKind.READ_ONLY) { a.sync(Memory("memory:", MemoryOptions(readOnly = true))) }
        val (one, other) = withTea()
        one.write(tea, "white\n")
        failed(SyncErrorKind.STOPPED) { one.sync(other) { false } }
    }

    @Test
    fun `a wrong option is named`() {
        val (a, b) = withTea()
        for ((option, call) in mapOf<String, () -> Synced>(
            "exclude" to { a.sync(b, exclude = listOf("notes")) },
            "maxFileBytes" to { a.sync(b, maxFileBytes = -1) },
            "names" to { a.sync(b, names = listOf("laptop")) },
        )) {
            val error = assertThrows<MemdirException.Config> { call() }
            assertEquals(option, error.option, error.reason)
            assertTrue(error.reason.startsWith(option), error.reason)
        }
        assertThrows<MemdirException.Config> { a.sync(b, exclude = listOf("/memories/\uD800")) }
    }

    @Test
    fun `what a watch or a store throws is the cause`() {
        val gone = IllegalStateException("no more")
        val (a, b) = withTea()
        a.write(tea, "white\n")
        val thrown = assertThrows<MemdirException.Store> { a.sync(b) { throw gone } }
        assertSame(gone, thrown.cause)
        val map = MapStore()
        val broken = Memory(object : Store by map {
            override fun read(path: String): ByteArray = throw gone
        })
        broken.write(tea, "black\n")
        for (sync in listOf({ a.sync(broken) }, { broken.sync(a) })) {
            val error = assertThrows<MemdirException.Store> { sync() }
            assertSame(gone, error.cause, error.reason)
        }
    }

    @Test
    fun `a cancelled sync is continued by the next one`() {
        val (begun, released) = CountDownLatch(1) to CountDownLatch(1)
        val (a, map) = Memory("memory:") to MapStore()
        var waits = false
        val b = Memory(object : Store by map {
            override fun update(path: String, edit: Edit) {
                if (waits) {
                    begun.countDown()
                    released.await()
                }
                map.update(path, edit)
            }
        })
        val paths = List(3) { "/memories/$it.md" }
        for (path in paths) a.write(path, "old\n")
        a.sync(b)
        for (path in paths) a.write(path, "new\n")
        waits = true
        runBlocking {
            val sync = launch(Dispatchers.Default) { a.suspending.sync(b) }
            begun.await()
            sync.cancel()
            released.countDown()
            sync.cancelAndJoin()
        }
        assertTrue(paths.any { b.read(it) == "old\n" })
        a.sync(b)
        for (path in paths) equal(a, b, path, "new\n")
    }

    @Test
    fun `a store may use another memory during a sync, also with suspending calls`() {
        val (log, map) = Memory("memory:") to MapStore()
        log.write("/memories/log.md", "")
        val b = Memory(object : Store by map {
            override fun list(path: String): List<Entry> {
                runBlocking { log.suspending.write("/memories/log.md", path) }
                return map.list(path)
            }
        })
        val a = Memory("memory:").also { it.write(tea, "green\n") }
        runBlocking { a.suspending.sync(b) }
        equal(a, b, tea, "green\n")
    }

    @Test
    fun `a memory that was closed cannot be synced`() {
        val (a, closed) = Memory("memory:") to Memory("memory:")
        closed.close()
        assertThrows<MemdirException.Store> { a.sync(closed) }
        assertThrows<MemdirException.Store> { closed.sync(a) }
        val store = openStore("memory:")
        (store as AutoCloseable).close()
        assertThrows<IllegalStateException> { Memory(store) }
    }

    /** Hooks that allow everything but one file, and change another one. */
    private inner class Reviewing(private val told: MutableList<String>) : MemoryHooks {
        override fun before(command: Command, call: HookCall): HookDecision {
            assertEquals("sync", call.actor())
            assertTrue(call.diff().startsWith("--- /dev/null\n+++ /memories/"))
            return decided(command)
        }

        override fun after(event: Event) {
            told += "${event.path} ${event.outcome}"
        }
    }

    private fun decided(command: Command): HookDecision =
        when (val path = (command as Command.Create).path) {
            "/memories/no.md" -> HookDecision.Deny("Not this one.")
            tea -> HookDecision.Replace("${command.fileText}reviewed\n")
            else -> HookDecision.Allow.also { assertEquals("/memories/yes.md", path) }
        }

    private fun toReview(): Memory =
        Memory("memory:").apply { for (path in listOf(tea, "/memories/no.md", "/memories/yes.md")) write(path, "green\n") }

    private fun reviewed(b: Memory, synced: Synced, told: List<String>) {
        assertEquals(listOf("/memories/no.md" to "Not this one."), synced.leftOut.map { it.path to it.details })
        assertEquals("green\nreviewed\n", b.read(tea))
        assertEquals(listOf("/memories/no.md DENIED", "$tea OK", "/memories/yes.md OK"), told)
    }

    @Test
    fun `hooks review what a sync writes`() {
        val told = mutableListOf<String>()
        val b = Memory("memory:", hooks = Reviewing(told))
        reviewed(b, toReview().sync(b), told)
        val fails = Memory("memory:", hooks = object : MemoryHooks {
            override fun before(command: Command, call: HookCall): HookDecision = throw IllegalStateException("away")
        })
        val failed = assertThrows<MemdirException.Hook> { toReview().sync(fails) }
        assertTrue(failed.message!!.contains("away"), failed.message)
        assertEquals(emptyList<Entry>(), fails.list("/memories"))
    }

    @Test
    fun `hooks that suspend review what a sync writes`() = runBlocking {
        val told = mutableListOf<String>()
        lateinit var b: Memory
        b = Memory("memory:", hooks = object : SuspendingMemoryHooks {
            override suspend fun before(command: Command, call: SuspendingHookCall): HookDecision {
                yield()
                // Its own commands run without hooks.
                b.suspending.view("/memories")
                assertTrue(call.diff().startsWith("--- /dev/null\n+++ /memories/"))
                return decided(command)
            }

            override suspend fun after(event: Event) {
                yield()
                told += "${event.path} ${event.outcome}"
            }
        })
        assertThrows<MemdirException.Hook> { toReview().sync(b) }
        told.clear()
        reviewed(b, toReview().suspending.sync(b), told)

        // Its failure ends the sync, and not the coroutine.
        val fails = Memory("memory:", hooks = object : SuspendingMemoryHooks {
            override suspend fun before(command: Command, call: SuspendingHookCall): HookDecision = error("away")
        })
        assertThrows<MemdirException.Hook> { runBlocking { toReview().suspending.sync(fails) } }
        assertTrue(isActive)

        // A cancellation ends it.
        val begun = CompletableDeferred<Unit>()
        val waits = Memory("memory:", hooks = object : SuspendingMemoryHooks {
            override suspend fun before(command: Command, call: SuspendingHookCall): HookDecision {
                begun.complete(Unit)
                awaitCancellation()
            }
        })
        val sync = launch(Dispatchers.Default) { toReview().suspending.sync(waits) }
        begun.await()
        sync.cancelAndJoin()
        assertEquals(emptyList<Entry>(), waits.list("/memories"))
    }
}

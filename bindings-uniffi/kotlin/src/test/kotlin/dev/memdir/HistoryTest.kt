package dev.memdir

import java.nio.file.Path
import java.time.Duration
import java.time.Instant
import java.util.concurrent.ConcurrentLinkedQueue
import kotlinx.coroutines.runBlocking
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertNotEquals
import org.junit.jupiter.api.Assertions.assertNotNull
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows
import org.junit.jupiter.api.io.TempDir

/** The history of a memory: every method, on a directory, on a store that is already open, and on one in Kotlin. */
class HistoryTest {
    @TempDir lateinit var place: Path

    private val a = "/memories/a"

    /** Runs [test] with a function that opens memories with history on one store. */
    private fun onEachStore(test: (open: (MemoryOptions) -> Memory) -> Unit) {
        val (shared, own) = openStore("memory:") to MapStore()
        val kinds =
            listOf<(MemoryOptions) -> Memory>(
                { Memory(place.resolve("plain"), it) },
                { Memory(shared, it) },
                { Memory(own, it) },
            )
        for (open in kinds) test { options -> open(options.copy(history = true, durability = Durability.RELAXED)) }
    }

    private fun onEach(test: (Memory) -> Unit) = onEachStore { open -> open(MemoryOptions()).use(test) }

    private fun failed(kind: HistoryErrorKind, call: () -> Any?): MemdirException.History {
        val error = assertThrows<MemdirException.History> { call() }
        assertEquals(kind, error.kind)
        assertEquals(error.reason, error.message)
        assertTrue(error.reply().isError)
        return error
    }

    /** A time after all earlier changes and before all later ones. */
    private fun now(): Instant {
        Thread.sleep(2)
        return Instant.now().also { Thread.sleep(2) }
    }

    @Test
    fun `every command makes a version with its content`() = onEach { memory ->
        val begun = now()
        memory.actingAs("session 1").use { session ->
            session.create(a, "one\n")
            session.strReplace(a, "one", "two")
            session.insert(a, 1, "three\n")
            session.rename(a, "/memories/b/c")
        }
        val versions = memory.history()
        val expected = listOf("RENAMED /memories/b/c 10 true", "MODIFIED /memories/a 10 false", "MODIFIED /memories/a 4 false", "CREATED /memories/a 4 false")
        assertEquals(expected, versions.map { "${it.operation} ${it.path} ${it.size} ${it.isCurrent}" })
        assertEquals(listOf("two\nthree\n", "two\nthree\n", "two\n", "one\n"), versions.map { memory.readVersion(it.id).decodeToString() })
        assertEquals(setOf<String?>("session 1"), versions.map { it.actor }.toSet())
        assertEquals(a, versions[0].oldPath)
        assertEquals(versions, versions.sortedByDescending { it.id })
        assertTrue(begun <= versions[3].time && versions[0].time <= now())
        // The `sha256sum` of the line.
        assertEquals("2c8b08da5ce60398e1f19af0e5dccc744df274b826abe585eaba68c525434806", versions[3].sha256)
        assertEquals("--- /memories/a\n+++ /memories/a\n@@ -1 +1 @@\n-one\n+two\n", memory.diff(versions[2].id))
        assertTrue(memory.diff(versions[3].id, versions[0].id).endsWith("@@ -1 +1,2 @@\n-one\n+two\n+three\n"))
        memory.delete("/memories/b")
        val deleted = memory.history(limit = 1).single()
        assertEquals(HistoryOperation.DELETED, deleted.operation)
        assertNull(deleted.actor)
        assertNull(deleted.size)
    }

    @Test
    fun `a query selects versions and pages through them`() = onEach { memory ->
        for (number in 0 until 6) {
            memory.actingAs(if (number % 2 == 0) "even" else "odd").use { it.write(a, "$number") }
        }
        val since = now()
        memory.write("/memories/d/b", "b")
        memory.write("/memories/d/c", "c")
        val all = memory.history()
        val pages = generateSequence(memory.history(limit = 5)) { memory.history(limit = 5, before = it.last().id) }
            .takeWhile { it.isNotEmpty() }.toList()
        assertEquals(listOf(5, 3), pages.map { it.size })
        assertEquals(all, pages.flatten())
        assertEquals(all.drop(2), memory.history(a))
        assertEquals(all.take(2), memory.history("/memories/d"))
        assertEquals(all.take(2), memory.history(since = since))
        // A version has the time of its change.
        assertEquals(all.take(2), memory.history(since = all[1].time))
        assertEquals(listOf(all[3]), memory.history(change = all[3].change))
        assertEquals(listOf("5", "3"), memory.history(actor = "odd", limit = 2).map { memory.readVersion(it.id).decodeToString() })
        assertEquals(listOf<Version>(), memory.history(limit = 0))
    }

    @Test
    fun `changes are undone unless others stand on them`() = onEach { memory ->
        memory.write(a, "one")
        memory.write(a, "two")
        val (second, first) = memory.history()
        val would = memory.undo(second.change, dryRun = true)
        assertEquals(Restored(null, listOf(RestoredFile(HistoryOperation.MODIFIED, a, null))), would)
        assertEquals("two", memory.read(a))
        val done = memory.undo(second.id)
        assertEquals("one", memory.read(a))
        assertEquals(HistoryOperation.RESTORED, memory.history(change = done.change).single().operation)
        memory.undo(done.change!!)
        val error = failed(HistoryErrorKind.CONFLICT) { memory.restore(first.id) }
        assertEquals(listOf(a), error.paths)
        assertTrue(error.reason.startsWith("changed since, so nothing was restored: /memories/a by "))
        memory.restore(first.id, overwrite = true)
        assertEquals("one", memory.read(a))

        for (name in listOf("x", "y")) memory.write("/memories/d/$name", name)
        memory.delete("/memories/d")
        val deletion = memory.history(limit = 1).single().change
        assertEquals(listOf("/memories/d/x", "/memories/d/y"), memory.restore(deletion).files.map { it.path })
        assertEquals("y", memory.read("/memories/d/y"))
    }

    @Test
    fun `what an actor did since a time is undone, and everything becomes what it was`() = onEach { memory ->
        memory.write(a, "a\nb\n")
        val begun = now()
        memory.actingAs("me").use { it.strReplace(a, "b", "B") }
        memory.actingAs("other").use { it.write("/memories/theirs", "theirs") }
        assertEquals(listOf(a), memory.undo(since = begun, actor = "me", dryRun = true).files.map { it.path })
        memory.undo(since = begun, actor = "me")
        assertEquals("a\nb\n", memory.read(a))
        assertTrue(memory.exists("/memories/theirs"))
        assertEquals(1, memory.restoreAll(begun, dryRun = true).files.size)
        memory.restoreAll(begun)
        assertFalse(memory.exists("/memories/theirs"))
        assertEquals(listOf<RestoredFile>(), memory.undo(since = now()).files)
    }

    @Test
    fun `content is redacted for good`() = onEach { memory ->
        memory.write(a, "secret-4711\n")
        val secret = memory.history().single()
        assertEquals(listOf(a), failed(HistoryErrorKind.IS_CURRENT) { memory.redact(secret.id, "a password") }.paths)
        memory.write(a, "end\n")
        assertNotNull(memory.redact(secret.id, "a password"))
        assertNull(memory.redact(secret.id, "again"))
        assertEquals("a password", memory.history().last().redacted)
        assertEquals("the content was redacted: a password", failed(HistoryErrorKind.REDACTED) { memory.readVersion(secret.id) }.reason)
    }

    @Test
    fun `a text is redacted in all versions that have it`() = onEachStore { open ->
        open(MemoryOptions()).use { memory ->
            memory.write(a, "key: hunter2")
            memory.write(a, "key: Hunter2")
            val dry = memory.redactText("hunter2", "a key", ignoreCase = true, dryRun = true)
            assertEquals(listOf(null, 2, listOf(a)), listOf(dry.change, dry.versions.size, dry.current))
            val error = failed(HistoryErrorKind.IS_CURRENT) { memory.redactText("(?i)HUNTER2", "a key", regex = true) }
            assertEquals(listOf(a), error.paths)
            memory.delete(a)
            assertEquals(2, memory.redactText("hunter2", "a key", ignoreCase = true).versions.size)
            assertEquals("a key", memory.history().last().redacted)
            memory.write("/memories/acme/deal", "one")
            memory.delete("/memories/acme")
            memory.write("/memories/b-acme", "two")
            val named = memory.redactText("acme", "a client")
            assertEquals(listOf("/memories/acme/deal"), named.names)
            assertEquals(listOf("/memories/b-acme"), named.keptNames)
        }
    }

    @Test
    fun `erase removes the files and the history`() = onEachStore { open ->
        open(MemoryOptions()).use { memory ->
            memory.write(a, "one")
            memory.clear()
            memory.write(a, "two")
            val counted = memory.erase(dryRun = true)
            assertEquals(listOf(1L, 3L, 3L), listOf(counted.files, counted.bytes, counted.versions))
            assertEquals(counted, memory.erase())
            assertEquals(listOf<Version>(), memory.history())
            memory.write(a, "new")
            assertEquals(1, memory.history().size)
        }
    }

    @Test
    fun `old versions are trimmed after thirty days, or never`() = onEachStore { open ->
        assertEquals(Duration.ofDays(30), MemoryOptions().historyMaxAge)
        open(MemoryOptions(historyMaxAge = Duration.ofNanos(1000))).use { memory ->
            val begun = now()
            for (number in 0 until 12) memory.write(a, "$number")
            memory.trimHistory()
            assertEquals(10, memory.history().size)
            assertEquals(0, memory.trimHistory())
            assertEquals(listOf(a), failed(HistoryErrorKind.TRIMMED) { memory.restoreAll(begun) }.paths)
        }
        // Both keep new versions.
        for (options in listOf(MemoryOptions(), MemoryOptions(historyMaxAge = null))) {
            open(options).use { memory ->
                memory.write("/memories/b", "1")
                memory.delete("/memories/b")
                memory.trimHistory()
                assertEquals(2, memory.history("/memories/b", limit = 2).size)
            }
        }
        open(MemoryOptions(historyMaxAge = null, historyMaxVersions = 3, historyMaxBytes = 1)).use { it.trimHistory() }
    }

    @Test
    fun `what is no id, no path or no history is a history's error`() = onEachStore { open ->
        val nobody = "01990a3c-7c00-7123-8456-789abc000001"
        open(MemoryOptions()).use { memory ->
            memory.write(a, "one")
            for ((kind, id) in listOf(HistoryErrorKind.UNKNOWN to nobody, HistoryErrorKind.NO_ID to "yesterday")) {
                failed(kind) { memory.readVersion(id) }
                failed(kind) { memory.diff(id) }
                failed(kind) { memory.diff(nobody, id) }
                failed(kind) { memory.restore(id) }
                failed(kind) { memory.undo(id) }
                failed(kind) { memory.redact(id, "") }
            }
            failed(HistoryErrorKind.NO_ID) { memory.history(before = "") }
            failed(HistoryErrorKind.NO_ID) { memory.history(change = "1") }
            failed(HistoryErrorKind.PATH) { memory.history("/etc") }
            memory.delete(a)
            failed(HistoryErrorKind.NO_CONTENT) { memory.readVersion(memory.history()[0].id) }
        }
        open(MemoryOptions(readOnly = true)).use { memory ->
            assertEquals("one", memory.readVersion(memory.history().last().id).decodeToString())
            failed(HistoryErrorKind.READ_ONLY) { memory.undo(nobody) }
            failed(HistoryErrorKind.READ_ONLY) { memory.trimHistory() }
        }
        Memory("memory:").use { memory -> failed(HistoryErrorKind.OFF) { memory.history() } }
    }

    @Test
    fun `a wrong argument is named`() =
        Memory("memory:", MemoryOptions(history = true)).use { memory ->
            val half = "\ud800"
            val wrong =
                listOf<Pair<String, () -> Any?>>(
                    "change or since must be given" to { memory.undo() },
                    "change or since must be given" to { memory.undo(actor = "me") },
                    "since must not be given together with change" to { memory.undo(change = "x", since = Instant.EPOCH) },
                    "actor must be given together with since" to { memory.undo(change = "x", actor = "me") },
                    "limit must be a whole number from 0 on, or null, got -1" to { memory.history(limit = -1) },
                    "path must be a string of valid Unicode, got text that is not valid Unicode" to { memory.history(half) },
                    "before must be a string of valid Unicode, got text that is not valid Unicode" to { memory.history(before = half) },
                    "actor must be a string of valid Unicode, got text that is not valid Unicode" to { memory.actingAs(half) },
                    "actor must be a string of valid Unicode, got text that is not valid Unicode" to { runBlocking { memory.suspending.actingAs(half).history() } },
                    "reason must be a string of valid Unicode, got text that is not valid Unicode" to { memory.redact("01990a3c-7c00-7123-8456-789abc000001", half) },
                )
            for ((sentence, call) in wrong) {
                val error = assertThrows<MemdirException.Config>(sentence) { call() }
                assertEquals(sentence.substringBefore(' '), error.option)
                assertTrue(sentence == error.reason || sentence.startsWith("limit"), error.reason)
            }
            for (time in listOf(Instant.EPOCH, Instant.MIN, Instant.parse("-9999-01-01T00:00:00Z"))) {
                assertEquals(listOf<RestoredFile>(), memory.undo(since = time).files)
            }
            for (time in listOf(Instant.MAX, Instant.parse("9999-12-31T23:59:59.999999999Z"))) {
                assertEquals(listOf<Version>(), memory.history(since = time))
            }
        }

    @Test
    fun `a store of one's own that fails is a store's error, and in the middle a history's`() {
        var isGone: (String) -> Boolean = { false }
        val inner = MapStore()
        val broken =
            object : Store by inner {
                private fun <T> unlessGone(path: String, call: () -> T): T =
                    if (isGone(path)) error("the table is gone") else call()

                override fun write(path: String, content: ByteArray, overwrite: Boolean) =
                    unlessGone(path) { inner.write(path, content, overwrite) }

                override fun update(path: String, edit: Edit) = unlessGone(path) { inner.update(path, edit) }
            }
        Memory(broken, MemoryOptions(history = true)).use { memory ->
            memory.write(a, "one")
            memory.write("/memories/b", "one")
            val begun = now()
            memory.write(a, "two")
            memory.write("/memories/b", "two")
            isGone = { it == "/memories/b" }
            val partly = failed(HistoryErrorKind.PARTLY) { memory.restoreAll(begun) }
            assertTrue("the table is gone" in partly.reason, partly.reason)
            assertEquals("one", memory.read(a))
            isGone = { true }
            val error = assertThrows<MemdirException.Store> { memory.restoreAll(begun) }
            assertTrue("the table is gone" in error.reason, error.reason)
        }
    }

    @Test
    fun `an event has the change of its command`() {
        val events = ConcurrentLinkedQueue<Event>()
        val hooks = object : MemoryHooks { override fun after(event: Event) { events += event } }
        Memory("memory:", MemoryOptions(history = true, actor = "option"), hooks).use { memory ->
            memory.create(a, "one")
            memory.view(a)
            val version = memory.history().single()
            assertEquals("option", version.actor)
            assertEquals(listOf(version.change, null), events.map { it.change })
            memory.actingAs("me").use { it.strReplace(a, "one", "two") }
            // The session has the same hooks.
            assertEquals(memory.history(actor = "me").single().change, events.last().change)
        }
        Memory("memory:", hooks = hooks).use { it.create(a, "one") }
        assertNull(events.last().change)
    }

    @Test
    fun `every method has a variant that suspends`() = runBlocking {
        Memory("memory:", MemoryOptions(history = true)).use { blocking ->
            val memory = blocking.suspending
            val session = memory.actingAs("session 1")
            session.write(a, "one")
            session.create("/memories/b", "b")
            session.write(a, "two")
            val (second, _, first) = memory.history(actor = "session 1")
            assertEquals("two", memory.readVersion(second.id).decodeToString())
            assertNotEquals("", memory.diff(first.id, second.id))
            memory.undo(second.change)
            assertEquals("one", memory.read(a))
            assertNull(memory.history(limit = 1).single().actor)
            memory.restore(second.id, overwrite = true)
            assertEquals("two", memory.read(a))
            memory.undo(since = Instant.EPOCH, actor = "nobody", dryRun = true)
            memory.restoreAll(Instant.now(), dryRun = true)
            assertNotNull(memory.redact(first.id, "test"))
            assertEquals(0, memory.trimHistory())
            assertEquals(listOf<Version>(), memory.redactText("none of it", "test").versions)
            assertEquals(2, memory.erase().files)
            // Closing the memory also closes its sessions.
            blocking.close()
            assertThrows<MemdirException.Store> { session.history() }
        }
        Unit
    }
}

package dev.memdir

import java.nio.file.Path
import kotlin.io.path.createDirectories
import kotlin.io.path.createSymbolicLinkPointingTo
import kotlin.io.path.readText
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows
import org.junit.jupiter.api.io.TempDir

/** Copies from store to store, and verifies a store. */
class CopyTest {
    @TempDir lateinit var place: Path

    private fun filled(): Store =
        openStore("memory:").also {
            it.write("/memories/a.md", "tea".toByteArray(), false)
            it.write("/memories/b/c.md", "milk".toByteArray(), false)
        }

    @Test
    fun `everything is copied, once, between stores of every kind`() {
        for (destination in listOf(openStore("$place/a"), openStore("sqlite:$place/a.db"), MapStore())) {
            val progress = mutableListOf<CopyProgress>()
            val copied = copy(filled(), destination) { progress.add(it) }
            assertEquals(listOf(2L, 7L, 0L), listOf(copied.files, copied.bytes, copied.equal))
            assertEquals("milk", destination.read("/memories/b/c.md").decodeToString())
            assertEquals(setOf(CopyPhase.COMPARING, CopyPhase.COPYING), progress.map { it.phase }.toSet())
            assertEquals(2L, copy(filled(), destination).equal)
        }
    }

    @Test
    fun `the history is copied`() {
        val options = MemoryOptions(history = true)
        val memory = Memory("$place/source", options)
        memory.create("/memories/a.md", "one")
        memory.strReplace("/memories/a.md", "one", "two")
        val (source, destination) = listOf(openStore("$place/source"), openStore("sqlite:$place/a.db"))
        assertEquals(2L, copy(source, destination).changes)
        val copied = Memory("sqlite:$place/a.db", options)
        assertEquals(memory.history(), copied.history())
        copied.create("/memories/b.md", "three")
        memory.delete("/memories/a.md")
        assertThrows<MemdirException.Copy> { copy(source, destination) }
        assertEquals(null, copy(source, destination, withoutHistory = true).changes)
    }

    @Test
    fun `another content is replaced only where that is said`() {
        val destination = openStore("$place/a")
        destination.write("/memories/a.md", "coffee".toByteArray(), false)
        val error = assertThrows<MemdirException.Copy> { copy(filled(), destination) }
        assertEquals(listOf("/memories/a.md"), error.paths)
        assertEquals(error.reason, error.message)
        assertThrows<StoreException.NotFound> { destination.read("/memories/b/c.md") }
        copy(filled(), destination, overwrite = true)
        assertEquals("tea", place.resolve("a/memories/a.md").readText())
    }

    @Test
    fun `a copy can be stopped, and failures are told`() {
        val stopped = assertThrows<MemdirException.Copy> { copy(filled(), MapStore()) { false } }
        assertEquals(emptyList<String>(), stopped.paths)
        val told = assertThrows<MemdirException.Store> { copy(filled(), MapStore()) { error("no more") } }
        assertTrue(told.reason.contains("no more"), told.reason)
        val readOnly = openStore("$place/a".also { openStore(it) }, MemoryOptions(readOnly = true))
        val refused = assertThrows<MemdirException.Store> { copy(filled(), readOnly) }
        assertTrue(refused.reason.startsWith("writing /memories/"), refused.reason)
    }

    @Test
    fun `a check reads every file and names what is wrong`() {
        val store = openStore("$place/a")
        copy(filled(), store)
        val checked = check(store)
        assertEquals(listOf(2L, 2L, 7L), listOf(checked.directories, checked.files, checked.bytes))
        assertEquals(emptyList<Problem>(), checked.problems)
        place.resolve("a/memories/link").createSymbolicLinkPointingTo(place.createDirectories())
        val problem = check(store).problems.single()
        assertEquals(ProblemKind.LINK to "/memories/link", problem.kind to problem.path)
        assertTrue(problem.isBeside)
    }
}

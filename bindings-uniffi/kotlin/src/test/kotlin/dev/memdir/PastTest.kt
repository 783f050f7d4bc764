package dev.memdir

import java.time.Instant
import kotlinx.coroutines.runBlocking
import org.junit.jupiter.api.Assertions.assertArrayEquals
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows

/** Past states of a memory: the history is searched, and shows the files at a time. */
class PastTest {
    private val path = "/memories/tea.md"

    private fun now(): Instant {
        Thread.sleep(2)
        return Instant.now().also { Thread.sleep(2) }
    }

    @Test
    fun `the history is searched for what is there no more`() =
        Memory("memory:", MemoryOptions(history = true)).use { memory ->
            memory.write(path, "green tea\nblack tea\nwater\n")
            memory.strReplace(path, "green tea\n", "")
            memory.write("/memories/gone/pot.md", "a Teapot\n")
            memory.delete("/memories/gone")
            val found = memory.grepHistory("tea", ignoreCase = true)
            val shown = found.map { listOf(it.version.path, it.version.operation, it.line, it.text) }
            val created = HistoryOperation.CREATED
            val expected =
                listOf(listOf("/memories/gone/pot.md", created, 1L, "a Teapot"), listOf(path, created, 1L, "green tea"))
            assertEquals(expected, shown)
            assertEquals(memory.history(path).last(), found[1].version)
            assertEquals(found.take(1), memory.grepHistory("tea", ignoreCase = true, limit = 1))
            assertEquals(found.drop(1), memory.grepHistory("^g", regex = true))
            assertEquals(found.drop(1), memory.grepHistory("tea", path = path))
            assertThrows<MemdirException.Config> { memory.grepHistory("(", regex = true) }
            val wrong = assertThrows<MemdirException.History> { memory.grepHistory("tea", path = "elsewhere") }
            assertEquals(HistoryErrorKind.PATH, wrong.kind)
            Memory("memory:").use { off ->
                val error = assertThrows<MemdirException.History> { off.grepHistory("tea") }
                assertEquals(HistoryErrorKind.OFF, error.kind)
            }
        }

    @Test
    fun `the files of a time are shown, and what one held`() =
        Memory("memory:", MemoryOptions(history = true)).use { memory ->
            memory.write(path, "green\n")
            val before = now()
            memory.write(path, "black tea\n")
            memory.delete(path)
            val file = memory.filesAt(before).single()
            assertEquals(listOf(path, 6L, memory.history().last().id), listOf(file.path, file.size, file.version))
            assertTrue(file.modified!! <= before)
            assertEquals(listOf<PastFile>(), memory.filesAt(now()))
            assertArrayEquals("green\n".toByteArray(), memory.readAt(path, before))
            assertNull(memory.readAt(path, now()))
            assertThrows<MemdirException.History> { memory.readAt("elsewhere", before) }
            Memory("memory:").use { off -> assertThrows<MemdirException.History> { off.filesAt(before) } }
            Unit
        }

    @Test
    fun `each line has the version that brought it`() =
        Memory("memory:", MemoryOptions(history = true)).use { memory ->
            memory.actingAs("Ann").use { it.write(path, "green\nblack\r\n") }
            memory.actingAs("Ben").use { it.strReplace(path, "green", "white") }
            val expected =
                memory.history().zip(listOf("white", "black\r")).mapIndexed { at, (version, text) ->
                    BlamedLine(
                        at + 1L,
                        text,
                        version.id,
                        version.change,
                        version.operation,
                        version.actor,
                        version.time,
                        false,
                    )
                }
            assertEquals(expected, memory.blame(path))
            val error = assertThrows<MemdirException.History> { memory.blame("/memories/none") }
            assertEquals(HistoryErrorKind.NO_FILE, error.kind)
            Memory("memory:").use { off -> assertThrows<MemdirException.History> { off.blame(path) } }
            Unit
        }

    @Test
    fun `an undo names, leaves out or merges what was changed since`() =
        Memory("memory:", MemoryOptions(history = true)).use { memory ->
            memory.write(path, "1\n2\n3\n")
            memory.actingAs("Ann").use { it.write(path, "one\n2\n3\n") }
            val change = memory.history().first().change
            memory.actingAs("Ben").use { it.write(path, "one\n2\nthree\n") }
            val later = memory.history().first()
            val conflicts = listOf(Conflict(path, false, later.change, "Ben", later.time))
            val error = assertThrows<MemdirException.History> { memory.undo(change) }
            assertEquals(conflicts, error.conflicts)
            val skipped = memory.undo(change, skipConflicts = true)
            assertEquals(Restored(null, listOf(), conflicts), skipped)
            val merged = "1\n2\nthree\n"
            val would = memory.undo(change, dryRun = true, merge = true)
            val file = RestoredFile(HistoryOperation.MODIFIED, path, null, merged)
            assertEquals(Restored(null, listOf(file), listOf()), would)
            memory.undo(change, merge = true)
            assertEquals(merged, memory.read(path))
        }

    @Test
    fun `a part of an id is resolved, and the history is exported`() =
        Memory("memory:", MemoryOptions(history = true, actor = "ann")).use { memory ->
            memory.write(path, "green\n")
            memory.write(path, "black\n")
            val id = memory.history().first().id
            assertEquals(id, memory.resolveId(id.takeLast(12).uppercase()))
            val kinds =
                mapOf(
                    id.take(6) to HistoryErrorKind.AMBIGUOUS,
                    "01990a3c-7c00-7123-8456-789abc000000" to HistoryErrorKind.UNKNOWN,
                    "tea" to HistoryErrorKind.NO_ID,
                )
            for ((part, kind) in kinds) {
                assertEquals(kind, assertThrows<MemdirException.History> { memory.resolveId(part) }.kind)
            }
            val stream = String(memory.exportHistory())
            assertTrue(stream.startsWith("feature done\n") && stream.endsWith("done\n"))
            assertTrue("committer ann <>" in stream)
            Memory("memory:").use { off -> assertThrows<MemdirException.History> { off.exportHistory() } }
            Unit
        }

    @Test
    fun `a file is read as a model may see it, and images are recognised`() =
        Memory("memory:", MemoryOptions(sensitiveOnView = true)).use { memory ->
            memory.write(path, "url: postgres://app:t7Kq-9zLw2@db/app\n")
            assertTrue("t7Kq-9zLw2" in memory.read(path))
            assertEquals("url: postgres://app:[REDACTED:url-password]@db/app\n", memory.readShown(path))
            assertThrows<MemdirException.Refused> { memory.readShown("/memories/none") }
            val header = byteArrayOf(-119, 80, 78, 71, 13, 10, 26, 10, 0, 0, 0, 13, 73, 72, 68, 82, 0, 0, 0, 1, 0, 0, 0, 1)
            val cut = header + byteArrayOf(8, 2, 0, 0, 0, 1, 2, 3, 4)
            assertEquals("image/png", imageType(cut + byteArrayOf(0, 0, 0, 0, 73, 69, 78, 68, 1, 2, 3, 4)))
            assertNull(imageType(cut))
            assertNull(imageType(ByteArray(0)))
        }

    @Test
    fun `sensitive text is found and not shown, and files are counted`() {
        val rules = mapOf("project" to "Bluebird-[0-9]+")
        Memory("memory:", MemoryOptions(history = true, sensitiveRules = rules)).use { memory ->
            memory.write("/memories/a.md", "one\nBluebird-7\n")
            memory.write("/memories/Bluebird-8/b.md", "nothing\n")
            val found = memory.findSensitive()
            val expected =
                listOf(
                    SensitiveMatch("/memories/Bluebird-8", null, "project"),
                    SensitiveMatch("/memories/a.md", 2, "project"),
                )
            assertEquals(expected, found)
            assertEquals(found.drop(1), memory.findSensitive("/memories/a.md"))
            assertEquals(found.take(1), memory.findSensitive(limit = 1))
            assertThrows<MemdirException.Refused> { memory.findSensitive("/memories/none") }
            assertThrows<MemdirException.Config> { memory.findSensitive(limit = -1) }

            val stats = memory.stats()
            assertEquals(listOf(2L, 1L, 23L), listOf(stats.files, stats.directories, stats.bytes))
            assertEquals(SizedPath("/memories/a.md", 15), stats.largest)
            assertEquals("/memories/a.md", stats.oldest?.path)
            assertTrue(stats.oldest!!.time <= stats.newest!!.time)
            assertEquals(stats.oldest, stats.leastRecentlyUsed)
            assertEquals(2L, stats.history?.versions)
        }
        Memory("memory:").use { memory ->
            val stats = memory.stats()
            assertEquals(Stats(0, 0, 0, null, null, null, null, null), stats)
        }
    }

    @Test
    fun `every method has a variant that suspends`() = runBlocking {
        Memory("memory:", MemoryOptions(history = true)).use { blocking ->
            val memory = blocking.suspending
            memory.write(path, "green\n")
            val before = now()
            memory.write(path, "black\n")
            assertEquals(listOf("green"), memory.grepHistory("green").map { it.text })
            assertEquals(listOf(path), memory.filesAt(before).map { it.path })
            assertArrayEquals("green\n".toByteArray(), memory.readAt(path, before))
            assertEquals(listOf<SensitiveMatch>(), memory.findSensitive())
            assertEquals(1L, memory.stats().files)
        }
        Unit
    }
}

package dev.memdir

import java.nio.file.Path
import kotlin.io.path.createDirectories
import kotlin.io.path.exists
import kotlin.io.path.listDirectoryEntries
import kotlin.io.path.readText
import kotlin.io.path.writeText
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows
import org.junit.jupiter.api.io.TempDir

/** Several stores mounted into one tree, and stores that are read-only. */
class MountsTest {
    @TempDir lateinit var place: Path

    private fun docs(): String {
        val docs = place.resolve("docs").createDirectories()
        docs.resolve("style.md").writeText("Be brief.\n")
        return docs.toString()
    }

    @Test
    fun `stores of every kind make one tree`() {
        val shared = openStore("memory:")
        val own = MapStore()
        val stores =
            openMounts(
                listOf(
                    Mount("/memories", "memory:"),
                    Mount("/memories/handbook", docs(), readOnly = true),
                    Mount("/memories/own", own),
                    Mount("/memories/shared", shared),
                ),
            )
        Memory(stores).use { memory ->
            memory.create("/memories/a.md", "a")
            memory.create("/memories/shared/b.md", "b")
            memory.rename("/memories/shared/b.md", "/memories/own/b.md")
            assertEquals("b", own.read("/memories/b.md").decodeToString())
            assertTrue(
                memory.view("/memories").endsWith(
                    "\n4.0K\t/memories\n1B\t/memories/a.md\n4.0K\t/memories/handbook\n10B\t/memories/handbook/style.md" +
                        "\n4.0K\t/memories/own\n1B\t/memories/own/b.md\n4.0K\t/memories/shared",
                ),
            )
            val error = assertThrows<MemdirException.Refused> { memory.insert("/memories/handbook/style.md", 0, "x") }
            assertEquals("Error: /memories/handbook/style.md is read-only: it can be viewed but not changed", error.reason)
            assertThrows<MemdirException.Refused> { memory.delete("/memories/own") }
        }
        assertThrows<StoreException.MountPoint> { stores.delete("/memories/own") }
        assertThrows<StoreException.ReadOnly> { stores.delete("/memories/handbook/style.md") }
    }

    @Test
    fun `a store of one's own can be read-only and a mount point itself`() {
        val refusing =
            object : Store by MapStore() {
                override fun delete(path: String) = throw if (path == "/memories/a") StoreException.ReadOnly() else StoreException.MountPoint()
            }
        Memory(refusing).use { memory ->
            assertTrue(assertThrows<MemdirException.Refused> { memory.delete("/memories/a") }.reason.contains("is read-only"))
            assertTrue(assertThrows<MemdirException.Refused> { memory.delete("/memories/b") }.reason.contains("fixed directory"))
        }
    }

    @Test
    fun `what cannot be mounted is the developer's mistake`() {
        for (mounts in listOf(listOf(), listOf(Mount("/memories/a", "memory:")), listOf(Mount("/tmp", "memory:")))) {
            assertThrows<MemdirException.Config> { openMounts(mounts) }
        }
    }

    @Test
    fun `read-only makes nothing and changes nothing`() {
        val missing = place.resolve("none")
        assertThrows<MemdirException.Store> { Memory("$missing", MemoryOptions(readOnly = true)) }
        assertFalse(missing.exists())
        Memory("dir:${docs()}", MemoryOptions(readOnly = true)).use { memory ->
            assertThrows<MemdirException.Refused> { memory.create("/memories/a.md", "a") }
            assertTrue(memory.view("/memories/style.md").endsWith("Be brief."))
        }
        val docs = place.resolve("docs")
        assertEquals(listOf("style.md"), docs.listDirectoryEntries().map { it.fileName.toString() })
        assertEquals("Be brief.\n", docs.resolve("style.md").readText())
    }
}

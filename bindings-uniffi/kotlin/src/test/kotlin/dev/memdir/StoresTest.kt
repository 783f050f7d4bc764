package dev.memdir

import dev.memdir.examples.RoomStore
import java.nio.file.Path
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.DynamicTest
import org.junit.jupiter.api.DynamicTest.dynamicTest
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.TestFactory
import org.junit.jupiter.api.assertThrows
import org.junit.jupiter.api.io.TempDir

/**
 * Every kind of store can be opened and used. The core's tests run all conformance cases on all stores;
 * [dev.memdir.conformance.ConformanceTest] runs them on two.
 */
class StoresTest {
    private val relaxed = MemoryOptions(durability = Durability.RELAXED)
    private val path = "/memories/team/tea.md"

    @TestFactory
    fun `every kind of store does what a session asks for`(@TempDir place: Path): List<DynamicTest> {
        val encrypted = relaxed.copy(encryptionKey = EncryptionKey(ByteArray(32) { it.toByte() }))
        val (shared, own, room) = Triple(openStore("memory:"), MapStore(), RoomStore(MapDao()))
        val kinds =
            mapOf<String, () -> Memory>(
                "a directory" to { Memory(place.resolve("local"), relaxed) },
                "a directory by its address" to { Memory("dir:${place.resolve("plain")}", relaxed) },
                "a directory with a history" to { Memory(place.resolve("history"), relaxed.copy(history = true)) },
                "an encrypted directory" to { Memory(place.resolve("encrypted"), encrypted.copy(encryptNames = true)) },
                "SQLite" to { Memory("sqlite:${place.resolve("agent.db")}", relaxed) },
                "encrypted SQLite" to { Memory("sqlite:${place.resolve("encrypted.db")}", encrypted) },
                "in the process" to { Memory(shared, relaxed) },
                "a map in Kotlin" to { Memory(own) },
                "an encrypted map in Kotlin" to { Memory(MapStore(), encrypted) },
                "a table of Room's kind" to { Memory(room) },
            )
        return kinds.map { (name, open) -> dynamicTest(name) { open().use(::session) } }
    }

    private fun session(memory: Memory) {
        assertEquals("File created successfully at: $path", memory.create(path, "green\nblack\n"))
        memory.strReplace(path, "green", "white")
        memory.insert(path, 2, "mint\n")
        assertTrue(memory.view(path).endsWith("\n     1\twhite\n     2\tblack\n     3\tmint"), memory.view(path))
        assertTrue(memory.view("/memories").endsWith("\t$path"), memory.view("/memories"))
        val refused = assertThrows<MemdirException.Refused> { memory.strReplace(path, "green", "red") }
        assertTrue("did not appear verbatim" in refused.reason, refused.reason)
        val reply = memory.execute("""{"command": "delete", "path": "/memories/none"}""")
        assertEquals("Error: The path /memories/none does not exist", reply.content)
        assertTrue(reply.isError && reply.cause == null)
        memory.rename("/memories/team", "/memories/group")
        assertEquals("white\nblack\nmint\n", memory.read("/memories/group/tea.md"))
        memory.delete("/memories/group")
        assertFalse(memory.exists("/memories/group"))
    }

    @Test
    fun `what was written is there when a store is opened again`(@TempDir place: Path) {
        for (address in listOf("${place.resolve("local")}", "dir:${place.resolve("plain")}", "sqlite:${place.resolve("agent.db")}")) {
            Memory(address, relaxed).use { it.create(path, "green\n") }
            Memory(address, relaxed).use { assertEquals("green\n", it.read(path), address) }
        }
    }

    @Test
    fun `a store that cannot be opened is an error that says why`(@TempDir place: Path) {
        for (address in listOf("/dev/null/memory", "dir:/dev/null/memory", "sqlite:$place")) {
            val error = assertThrows<MemdirException.Store>(address) { Memory(address) }
            assertTrue(error.reason.isNotEmpty() && error.reply().isError, address)
        }
        val unknown = assertThrows<MemdirException.Config> { Memory("redis://localhost") }
        assertTrue("redis" in unknown.reason, unknown.reason)
    }
}

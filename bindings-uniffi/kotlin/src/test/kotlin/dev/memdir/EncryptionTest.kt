package dev.memdir

import dev.memdir.examples.RoomStore
import java.nio.file.Files
import java.nio.file.Path
import kotlin.io.path.readBytes
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertNotEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows
import org.junit.jupiter.api.io.TempDir

/** Encrypted stores: directories, databases and Kotlin stores, with every kind of key. */
class EncryptionTest {
    private fun key(number: Int) = EncryptionKey(ByteArray(32) { (it * 7 + number).toByte() })

    private fun encrypted(store: String, key: EncryptionKey, names: Boolean = false) =
        Memory(store, MemoryOptions(encryptionKey = key, encryptNames = names, durability = Durability.RELAXED))

    /** The names and contents of all files below a directory. */
    private fun onDisk(place: Path): String =
        Files.walk(place).use { all ->
            all.map { "$it ${if (Files.isRegularFile(it)) String(it.readBytes(), Charsets.ISO_8859_1) else ""}" }.toList().joinToString()
        }

    @Test
    fun `an encrypted directory shows nothing on the disk, and is opened by its key alone`(@TempDir place: Path) {
        val store = place.resolve("memory").toString()
        val key = key(1)
        encrypted(store, key, names = true).use { it.create("/memories/tea.md", "Anna likes tea.\n") }
        assertFalse("Anna" in onDisk(place) || "tea.md" in onDisk(place))
        encrypted(store, key).use { assertTrue("Anna likes tea." in it.view("/memories/tea.md")) }
        assertEquals("encryptionKey", assertThrows<MemdirException.Config> { Memory(store) }.option)
        assertThrows<MemdirException> { encrypted(store, key(2)) }
    }

    @Test
    fun `rekey changes the key, of an address and of a store of one's own`(@TempDir place: Path) {
        val (old, new) = key(1) to EncryptionKey("correct horse battery staple")
        val store = "sqlite:${place.resolve("agent.db")}"
        encrypted(store, old).use { it.create("/memories/a", "one") }
        assertEquals(1, rekey(store, old, new))
        encrypted(store, new).use { assertTrue(it.view("/memories/a").endsWith("1\tone")) }
        assertThrows<MemdirException> { encrypted(store, old) }

        val own = RoomStore(MapDao())
        Memory(own, MemoryOptions(encryptionKey = old)).use { it.create("/memories/a", "Anna likes tea") }
        assertFalse("Anna" in String(own.read("/memories/a"), Charsets.ISO_8859_1))
        assertEquals(1, rekey(own, old, new))
        Memory(own, MemoryOptions(encryptionKey = new)).use { assertTrue(it.view("/memories/a").endsWith("Anna likes tea")) }
        assertEquals("oldKey", assertThrows<MemdirException.Config> { rekey(own, EncryptionKey(ByteArray(3)), new) }.option)
    }

    @Test
    fun `a key is validated and shown nowhere`() {
        val digits = "ab".repeat(32)
        val same = listOf(EncryptionKey("hex:$digits"), EncryptionKey("hex:${digits.uppercase()}"))
        val store = MapStore()
        for (key in same) Memory(store, MemoryOptions(encryptionKey = key)).close()
        for (wrong in listOf(EncryptionKey(ByteArray(31)), EncryptionKey("hex:abcd"), EncryptionKey(""), EncryptionKey("\ud800"))) {
            val error = assertThrows<MemdirException.Config> { Memory("memory:", MemoryOptions(encryptionKey = wrong)) }
            assertEquals("encryptionKey", error.option)
            assertFalse("abcd" in error.message)
        }
        val options = MemoryOptions(encryptionKey = EncryptionKey("hunter2"))
        assertTrue("EncryptionKey(…)" in "$options" && "hunter2" !in "$options")
        assertEquals(options, MemoryOptions(encryptionKey = EncryptionKey("hunter2")))
        assertNotEquals(EncryptionKey("hunter2"), EncryptionKey("hunter2".toByteArray()))
    }
}

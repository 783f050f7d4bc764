package dev.memdir.conformance

import dev.memdir.EncryptionKey
import dev.memdir.MapDao
import dev.memdir.MapStore
import dev.memdir.Memory
import dev.memdir.MemoryOptions
import dev.memdir.examples.RoomStore
import dev.memdir.openStore
import java.nio.file.Files
import java.nio.file.Path
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.io.TempDir

/** Every case of `tests/cases`, on each kind of store. */
class ConformanceTest {
    @Test
    fun `kotlin-memory`() =
        runCases("kotlin-memory") { options, hooks ->
            val store = openStore("memory:")
            Opened(Memory(store, options, hooks), store)
        }

    @Test
    fun `kotlin-store`() =
        runCases("kotlin-store") { options, hooks ->
            val store = MapStore()
            Opened(Memory(store, options, hooks), store)
        }

    @Test
    fun `kotlin-room`() =
        runCases("kotlin-room") { options, hooks ->
            val store = RoomStore(MapDao())
            Opened(Memory(store, options, hooks), store)
        }

    @Test
    fun `kotlin-local`(@TempDir temporary: Path) =
        runCases("kotlin-local") { options, hooks ->
            val place = Files.createTempDirectory(temporary, "case")
            val memory = Memory(place.toString(), options, hooks)
            Opened(memory, openStore(place.toString(), options), place)
        }

    /** What the model reads is the same with a history. */
    @Test
    fun `kotlin-history`(@TempDir temporary: Path) =
        runCases("kotlin-history") { options, hooks ->
            val place = Files.createTempDirectory(temporary, "case").toString()
            Opened(Memory(place, options.copy(history = true), hooks), openStore(place, options))
        }

    @Test
    fun `kotlin-sqlite`(@TempDir temporary: Path) =
        runCases("kotlin-sqlite") { options, hooks ->
            val address = "sqlite:${Files.createTempDirectory(temporary, "case").resolve("agent.db")}"
            // A database keeps limits itself, and a case may give it more than they allow.
            Opened(Memory(address, options, hooks), openStore(address))
        }

    @Test
    fun `kotlin-encrypted`(@TempDir temporary: Path) =
        runCases("kotlin-encrypted") { options, hooks ->
            val key = EncryptionKey(ByteArray(32) { it.toByte() })
            val place = Files.createTempDirectory(temporary, "case")
            val store = openStore(place, MemoryOptions(encryptionKey = key))
            Opened(Memory(store, options, hooks), store)
        }
}

package dev.memdir.conformance

import dev.memdir.MapStore
import dev.memdir.Memory
import dev.memdir.openStore
import java.nio.file.Files
import java.nio.file.Path
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.io.TempDir

/**
 * Every case of `tests/cases`, on one of memdir's stores and on one in Kotlin. [dev.memdir.StoresTest] tests the
 * others.
 */
class ConformanceTest {
    @Test
    fun `kotlin-store`() =
        runCases("kotlin-store") { options, hooks ->
            val store = MapStore()
            Opened(Memory(store, options, hooks), store)
        }

    @Test
    fun `kotlin-local`(@TempDir temporary: Path) =
        runCases("kotlin-local") { options, hooks ->
            val place = Files.createTempDirectory(temporary, "case")
            val memory = Memory(place.toString(), options, hooks)
            Opened(memory, openStore(place.toString(), options), place)
        }

    @Test
    fun `hooks that suspend`() = runSuspendingCases { options, hooks ->
        val store = MapStore()
        Opened(Memory(store, options, hooks), store)
    }
}

package consumer

import dev.memdir.EncryptionKey
import dev.memdir.Memory
import dev.memdir.MemoryOptions
import dev.memdir.StoreFactory
import dev.memdir.changes
import dev.memdir.checkContract
import dev.memdir.open
import dev.memdir.openStore
import dev.memdir.suspending
import dev.memdir.view
import kotlinx.coroutines.CoroutineStart
import kotlinx.coroutines.async
import kotlinx.coroutines.flow.first
import kotlinx.coroutines.runBlocking
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** Checks that the oldest supported Kotlin can compile against the jar. */
class KotlinTest {
    @Test
    fun `this is the oldest Kotlin, with the library that memdir brings`() =
        assertTrue(KotlinVersion.CURRENT.toString().startsWith("2.2."), "${KotlinVersion.CURRENT}")

    @Test
    fun `a memory is used as in any other Kotlin`() = runBlocking {
        Memory.open("memory:", MemoryOptions(encryptionKey = EncryptionKey("a passphrase"))).use { memory ->
            val change = async(start = CoroutineStart.UNDISPATCHED) { memory.changes.first() }
            memory.suspending.create("/memories/a", "one\ntwo\n")
            assertEquals("/memories/a", change.await().path)
            assertTrue(memory.view("/memories/a", 2..2).endsWith("2\ttwo"))
        }
        assertNull(checkContract(StoreFactory { openStore("memory:") }))
    }
}

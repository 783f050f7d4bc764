package dev.memdir

import java.nio.file.Path
import java.time.Duration
import kotlinx.coroutines.CoroutineStart
import kotlinx.coroutines.async
import kotlinx.coroutines.flow.take
import kotlinx.coroutines.flow.toList
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.withTimeout
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.io.TempDir

/** Changes by any memory of this process are reported. */
class ChangesTest {
    @Test
    fun `a flow has the changes of commands, expiry, clearing and other memories`(@TempDir place: Path) = runBlocking {
        val options = MemoryOptions(recordAccess = true)
        Memory(place, options).use { memory ->
            val changes = async(start = CoroutineStart.UNDISPATCHED) { memory.changes.take(5).toList() }
            memory.create("/memories/a", "one")
            memory.execute("""{"command": "rename", "old_path": "/memories/a", "new_path": "/memories/b"}""")
            memory.view("/memories/b")
            memory.expire(Duration.ZERO)
            Memory("$place").use { it.create("/memories/c", "") }
            memory.clear()
            val expected =
                listOf(
                    Change(ChangeKind.WRITTEN, "/memories/a"),
                    Change(ChangeKind.RENAMED, "/memories/b", "/memories/a"),
                    Change(ChangeKind.DELETED, "/memories/b"),
                    Change(ChangeKind.WRITTEN, "/memories/c"),
                    Change(ChangeKind.CLEARED, "/memories"),
                )
            assertEquals(expected, withTimeout(30_000) { changes.await() })
        }
    }

    @Test
    fun `a listener is called until it is cancelled, and what it throws is logged`() =
        Memory("memory:").use { memory ->
            val told = mutableListOf<String>()
            val subscription = memory.observe {
                told += it.path
                error("no")
            }
            val records = logged { memory.create("/memories/a", "") }
            assertEquals(listOf("`changed` failed" to "no"), records.map { it.message to it.thrown.message })
            subscription.cancel()
            subscription.cancel()
            memory.create("/memories/b", "")
            assertEquals(listOf("/memories/a"), told)
        }
}

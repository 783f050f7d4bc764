package dev.memdir

import java.nio.file.Path
import java.time.Duration
import java.util.concurrent.CompletableFuture
import java.util.concurrent.ExecutionException
import java.util.concurrent.Executors
import java.util.concurrent.TimeUnit
import kotlin.concurrent.thread
import kotlin.io.path.createDirectory
import kotlin.io.path.deleteExisting
import kotlin.io.path.writeText
import kotlinx.coroutines.async
import kotlinx.coroutines.awaitAll
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.delay
import kotlinx.coroutines.flow.first
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.withTimeout
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertInstanceOf
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows
import org.junit.jupiter.api.io.TempDir

/** Changes by any process are reported, and waiting callers can stop. */
class WatchTest {
    private val soon: Duration = Duration.ofSeconds(60)
    private val often: Duration = Duration.ofMillis(20)

    @Test
    fun `what this process changes is told at once`() =
        Memory("memory:").use { memory ->
            memory.watch("/memories/team", Duration.ofHours(1)).use { watch ->
                assertEquals(listOf<Change>(), watch.changes(Duration.ZERO))
                memory.write("/memories/a.md", "one\n")
                memory.write("/memories/team/a.md", "one\n")
                assertTrue(watch.isDue())
                assertEquals(listOf(Change(ChangeKind.WRITTEN, "/memories/team/a.md")), watch.changes(soon))
                memory.rename("/memories/team", "/memories/group")
                assertEquals(listOf(Change(ChangeKind.DELETED, "/memories/team/a.md")), watch.changes(soon))
                assertFalse(watch.isDue())
            }
        }

    @Test
    fun `a plain write into the directory is told`(@TempDir place: Path) =
        Memory("dir:$place").use { memory ->
            memory.watch(every = often).use { watch ->
                val directory = place.resolve("more").createDirectory()
                directory.resolve("plain.md").writeText("one\n")
                assertEquals(listOf(Change(ChangeKind.WRITTEN, "/memories/more/plain.md")), watch.changes(soon))
                directory.resolve("plain.md").deleteExisting()
                assertEquals(listOf(Change(ChangeKind.DELETED, "/memories/more/plain.md")), watch.changes(soon))
            }
        }

    @Test
    fun `a thread that waits is told that the watch is cancelled`() =
        Memory("memory:").use { memory ->
            memory.watch(every = Duration.ofHours(1)).use { watch ->
                val threads = Executors.newSingleThreadExecutor()
                val waiting = threads.submit<List<Change>?> { watch.changes(soon) }
                Thread.sleep(50)
                watch.cancel()
                assertNull(waiting.get(60, TimeUnit.SECONDS))
                threads.shutdown()
                watch.cancel()
                assertNull(watch.changes(soon))
            }
        }

    @Test
    fun `threads that wait are not in the library, and are woken by an interrupt or by closing`() =
        Memory("memory:").use { memory ->
            val watch = memory.watch(every = Duration.ofHours(1))
            val ends = List(4) { CompletableFuture<List<Change>?>() }
            val threads = ends.map { end ->
                thread { runCatching { watch.changes(Duration.ofSeconds(Long.MAX_VALUE)) }.fold(end::complete, end::completeExceptionally) }
            }
            for (thread in threads) {
                // A thread that waits inside the library would be in the state RUNNABLE.
                while (thread.state != Thread.State.TIMED_WAITING) Thread.sleep(1)
            }
            threads[0].interrupt()
            val interrupted = assertThrows<ExecutionException> { ends[0].get(60, TimeUnit.SECONDS) }
            assertInstanceOf(InterruptedException::class.java, interrupted.cause)
            watch.close()
            for (end in ends.drop(1)) assertNull(end.get(60, TimeUnit.SECONDS))
        }

    @Test
    fun `a wrong argument is named, and a cancellation ends the waiting`() =
        Memory("memory:").use { memory ->
            val wrong =
                mapOf<String, () -> Any?>(
                    "path" to { memory.watch("/memories/\ud800") },
                    "every" to { memory.watch(every = Duration.ofSeconds(-1)) },
                    "wait" to { memory.watch().use { it.changes(Duration.ofSeconds(-1)) } },
                )
            for ((option, call) in wrong) assertEquals(option, assertThrows<MemdirException.Config> { call() }.option)
            assertThrows<MemdirException.Refused> { memory.watch("elsewhere") }
            Cancellation().use { cancellation ->
                memory.cancelledBy(cancellation).use { cancellable ->
                    cancellable.watch().use { watch ->
                        cancellation.cancel()
                        assertThrows<MemdirException.Store> { watch.changes(soon) }
                    }
                }
            }
            Unit
        }

    @Test
    fun `a flow has the changes of anybody, and ends with its coroutine`(@TempDir place: Path) = runBlocking {
        Memory("dir:$place").use { memory ->
            val flow = memory.suspending.watch(every = often)
            val expected = setOf("/memories/plain.md", "/memories/zebra.md")
            val seen = mutableSetOf<String>()
            // A flow starts when it is collected, and does not report its start.
            val writing = launch {
                for (number in generateSequence(0) { it + 1 }) {
                    place.resolve("plain.md").writeText("$number\n")
                    memory.suspending.write("/memories/zebra.md", "$number\n")
                    delay(50)
                }
            }
            withTimeout(60_000) { flow.first { seen.add(it.path) && seen.containsAll(expected) } }
            writing.cancelAndJoin()
            assertEquals(expected, seen)
            val endless = launch { flow.collect {} }
            delay(100)
            withTimeout(60_000) { endless.cancelAndJoin() }
            assertThrows<MemdirException.Refused> { memory.suspending.watch("elsewhere").first() }
        }
        Unit
    }

    @Test
    fun `many who wait hold no thread`() = runBlocking {
        Memory("memory:").use { memory ->
            val waiting = List(200) { async { withTimeout(60_000) { memory.suspending.watch().first() } } }
            delay(500)
            assertEquals(listOf<Entry>(), memory.suspending.list())
            val writing = launch {
                for (number in generateSequence(0) { it + 1 }) {
                    memory.suspending.write("/memories/a.md", "$number\n")
                    delay(50)
                }
            }
            assertEquals(setOf(Change(ChangeKind.WRITTEN, "/memories/a.md")), waiting.awaitAll().toSet())
            writing.cancelAndJoin()
        }
    }
}

package dev.memdir

import java.util.concurrent.Executors
import java.util.concurrent.LinkedBlockingQueue
import java.util.concurrent.Semaphore
import java.util.concurrent.TimeUnit
import java.util.concurrent.locks.ReentrantLock
import kotlin.concurrent.withLock
import kotlin.coroutines.EmptyCoroutineContext
import kotlinx.coroutines.CoroutineStart
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.asCoroutineDispatcher
import kotlinx.coroutines.async
import kotlinx.coroutines.awaitAll
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.flow.first
import kotlinx.coroutines.joinAll
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.withContext
import kotlinx.coroutines.withTimeout
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/**
 * Calls that are cancelled before they begin to write are not executed; views do not wait behind writers.
 */
class CancellationTest {
    /** A store whose writers wait for its lock. */
    private class Held(private val map: MapStore = MapStore()) : Store by map {
        val turn = ReentrantLock()
        val waiting = Semaphore(0)

        override fun update(path: String, edit: Edit) {
            waiting.release()
            turn.withLock { map.update(path, edit) }
        }
    }

    private fun insert(text: String) =
        "{\"command\": \"insert\", \"path\": \"/memories/log\", \"insert_line\": 0, \"insert_text\": \"$text\"}"

    private fun held(): Pair<Held, Memory> {
        val store = Held()
        val memory = Memory(store)
        memory.create("/memories/log", "")
        return store to memory
    }

    @Test
    fun `edits of coroutines that were cancelled are not applied`() = runBlocking {
        val (store, memory) = held()
        store.turn.lock()
        val calls = List(100) { launch(Dispatchers.Default) { memory.suspending.execute(insert("given up $it")) } }
        val typed = launch(Dispatchers.Default) { memory.suspending.insert("/memories/log", 0, "given up") }
        // Some calls wait for the store, the others for a thread.
        withContext(Dispatchers.IO) { store.waiting.acquire(10) }
        (calls + typed).forEach { it.cancel() }
        val kept = async(Dispatchers.Default) { memory.suspending.execute(insert("kept")) }
        store.turn.unlock()
        (calls + typed).forEach { it.cancelAndJoin() }
        assertFalse(kept.await().isError)
        assertEquals("kept\n", store.read("/memories/log").decodeToString())
        memory.close()
    }

    @Test
    fun `views are shown while any number of writers wait`() = runBlocking {
        val (store, memory) = held()
        store.turn.lock()
        val writers = List(200) { async(Dispatchers.Default) { memory.suspending.execute(insert("$it")) } }
        withContext(Dispatchers.IO) { store.waiting.acquire(64) }
        withTimeout(60_000) {
            repeat(50) {
                assertFalse(memory.suspending.execute("{\"command\": \"view\", \"path\": \"/memories/log\"}").isError)
                memory.suspending.view("/memories/log")
            }
        }
        store.turn.unlock()
        assertTrue(writers.awaitAll().none { it.isError })
        assertEquals(200, store.read("/memories/log").decodeToString().trim().lines().size)
        memory.close()
    }

    @Test
    fun `who waits for a thread does not wait to be cancelled`() = runBlocking {
        val (store, memory) = held()
        store.turn.lock()
        val writers = List(64) { launch(Dispatchers.Default) { memory.suspending.execute(insert("$it")) } }
        withContext(Dispatchers.IO) { store.waiting.acquire(64) }
        val late = launch(Dispatchers.Default) { memory.suspending.execute(insert("late")) }
        withTimeout(30_000) { late.cancelAndJoin() }
        store.turn.unlock()
        writers.joinAll()
        assertFalse("late" in store.read("/memories/log").decodeToString())
        memory.close()
    }

    @Test
    fun `a plain after is told of a call that no thread has taken`() = runBlocking {
        val events = LinkedBlockingQueue<Event>()
        val hooks = object : MemoryHooks {
            override fun before(command: Command, call: HookCall): HookDecision = error("asked")

            override fun after(event: Event) {
                events.add(event)
            }
        }
        val gate = Semaphore(0)
        Executors.newSingleThreadExecutor().asCoroutineDispatcher().use { dispatcher ->
            dispatcher.dispatch(EmptyCoroutineContext) { gate.acquire() }
            Memory("memory:", hooks = hooks).use { memory ->
                val suspending = SuspendingMemory(memory, dispatcher, Dispatchers.IO)
                val calls = listOf<suspend () -> Unit>(
                    { suspending.execute(insert("late")) },
                    { suspending.insert("/memories/log", 0, "late") },
                )
                for (call in calls) {
                    val called = launch(start = CoroutineStart.UNDISPATCHED) { call() }
                    // A command may be looked at on another thread first, whether it is a view.
                    withTimeout(30_000) { called.cancelAndJoin() }
                    val event = withContext(Dispatchers.IO) { events.poll(60, TimeUnit.SECONDS) }
                    assertEquals("insert" to Outcome.CANCELLED, event?.command to event?.outcome)
                }
                gate.release()
            }
        }
        assertTrue(events.isEmpty())
    }

    @Test
    fun `a memory is opened without blocking, and nothing stays open if that is cancelled`() = runBlocking {
        val thread = Thread.currentThread()
        val threads = mutableListOf<Thread>()
        val (map, gate) = MapStore() to Semaphore(1)
        val slow = object : Store by map {
            override fun write(path: String, content: ByteArray, overwrite: Boolean) {
                threads += Thread.currentThread()
                gate.acquire()
                map.write(path, content, overwrite)
            }
        }
        Memory.open("memory:").use { assertTrue(it.view("/memories").endsWith("/memories")) }
        // With a key, opening a new store writes its record.
        val options = MemoryOptions(encryptionKey = EncryptionKey(ByteArray(32)))
        Memory.open(slow, options).close()
        assertTrue(threads.isNotEmpty() && thread !in threads, "$threads")
        map.delete("/memories/.memdir-encryption")
        val opening = launch(start = CoroutineStart.UNDISPATCHED) { Memory.open(slow, options) }
        opening.cancel()
        gate.release()
        opening.join()
        assertTrue(opening.isCancelled)
    }

    @Test
    fun `what is made of a cancelled memory is cancelled, too`() = runBlocking {
        val hooks = object : SuspendingMemoryHooks {}
        for (memory in listOf(Memory("memory:"), Memory("memory:", hooks = hooks))) {
            val (outer, inner) = Cancellation() to Cancellation()
            memory.suspending.create("/memories/log", "")
            val cancelled = memory.cancelledBy(outer)
            val twice = cancelled.cancelledBy(inner)
            val acting = cancelled.actingAs("Ann")
            val watch = cancelled.suspending.watch()
            outer.cancel()
            for (made in listOf(cancelled.suspending, cancelled.suspending.actingAs("Ann"), twice.suspending, acting.suspending)) {
                val reply = made.execute(insert("late"))
                assertEquals("Error: The command was cancelled before it began. Nothing was changed.", reply.content)
                assertTrue(runCatching { made.insert("/memories/log", 0, "late") }.exceptionOrNull() is MemdirException.Store)
                assertTrue(runCatching { made.read("/memories/log") }.exceptionOrNull() is MemdirException.Store)
            }
            assertTrue(runCatching { watch.first() }.exceptionOrNull() is MemdirException.Store)
            inner.cancel()
            assertEquals("", memory.suspending.read("/memories/log"))
            listOf(cancelled, twice, acting, memory).forEach { it.close() }
        }
    }

    @Test
    fun `a call that is cancelled says so`() = Memory("memory:").use { memory ->
        val cancellation = Cancellation()
        memory.cancelledBy(cancellation).use { cancelled ->
            assertFalse(cancelled.execute("{\"command\": \"create\", \"path\": \"/memories/a\", \"file_text\": \"\"}").isError)
            cancellation.cancel()
            val reply = cancelled.execute("{\"command\": \"delete\", \"path\": \"/memories/a\"}")
            assertEquals("Error: The command was cancelled before it began. Nothing was changed.", reply.content)
            assertTrue(reply.isError)
        }
        assertEquals("Successfully deleted /memories/a", memory.delete("/memories/a"))
    }
}

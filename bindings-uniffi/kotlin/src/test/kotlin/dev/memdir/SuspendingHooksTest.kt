package dev.memdir

import java.nio.file.Path
import java.time.Duration
import java.util.concurrent.ConcurrentLinkedQueue
import java.util.concurrent.Executors
import java.util.concurrent.Semaphore
import kotlin.coroutines.CoroutineContext
import kotlin.io.path.readBytes
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.CoroutineDispatcher
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.NonCancellable
import kotlinx.coroutines.TimeoutCancellationException
import kotlinx.coroutines.asCoroutineDispatcher
import kotlinx.coroutines.async
import kotlinx.coroutines.awaitAll
import kotlinx.coroutines.awaitCancellation
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.channels.Channel
import kotlinx.coroutines.coroutineScope
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.withContext
import kotlinx.coroutines.withTimeout
import kotlinx.coroutines.yield
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertTimeoutPreemptively
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows
import org.junit.jupiter.api.io.TempDir

/** Hooks that suspend: their decisions, that they hold no thread, and the fate of calls that are cancelled meanwhile. */
class SuspendingHooksTest {
    private val create = """{"command":"create","path":"/memories/a","file_text":"one"}"""

    /** Hooks made from two functions. */
    private open class Told(
        private val before: suspend (Command) -> HookDecision = { HookDecision.Allow },
        private val after: suspend (Event) -> Unit = {},
    ) : SuspendingMemoryHooks {
        val events = ConcurrentLinkedQueue<Event>()
        val outcomes
            get() = events.map { it.outcome }

        override suspend fun before(command: Command, call: SuspendingHookCall): HookDecision {
            yield()
            return before.invoke(command)
        }

        override suspend fun after(event: Event) {
            // If this hook could be cancelled, the cancellation would occur here.
            yield()
            events += event
            after.invoke(event)
        }
    }

    private class Question(val command: Command) {
        val answer = CompletableDeferred<HookDecision>()
    }

    /** Hooks that wait for an answer to each question. */
    private class Approvals private constructor(val questions: Channel<Question>) :
        Told({ command -> Question(command).also { questions.send(it) }.answer.await() }) {
        constructor() : this(Channel(Channel.UNLIMITED))
    }

    @Test
    fun `a hook that suspends asks for the diff, and a refused one refuses the call`() = runBlocking {
        val shown = mutableListOf<String>()
        val asking =
            object : SuspendingMemoryHooks {
                override suspend fun before(command: Command, call: SuspendingHookCall): HookDecision {
                    shown += "${call.actor} ${call.toolUseId} ${call.session.isNotEmpty()} ${call.diff()}"
                    return HookDecision.Allow
                }

                override suspend fun after(event: Event) {
                    shown += "${event.outcome} ${event.actor}"
                }
            }
        Memory("memory:", MemoryOptions(actor = "ann"), hooks = asking).use { memory ->
            memory.suspending.create("/memories/a", "one\n")
            assertEquals(listOf("ann null true --- /dev/null\n+++ /memories/a\n@@ -0,0 +1 @@\n+one\n", "OK ann"), shown)
            val refused = assertThrows<MemdirException.Refused> { memory.suspending.delete("/memories/none") }
            assertEquals(ErrorKind.NOT_FOUND, refused.kind)
            assertEquals("REFUSED ann", shown.last())
        }
    }

    @Test
    fun `a hook that suspends allows, replaces and denies`() = runBlocking {
        val hooks =
            Told({ command ->
                when (command) {
                    is Command.Create -> HookDecision.Replace(command.fileText.uppercase())
                    is Command.Delete -> HookDecision.Deny("Error: Not here.")
                    else -> HookDecision.Allow
                }
            })
        Memory.open("memory:", hooks = hooks).use { opened ->
            val memory = opened.suspending
            val note = "[The program that runs this memory changed the text before it was written. View the file to see it.]"
            assertEquals("File created successfully at: /memories/a\n$note", memory.create("/memories/a", "one"))
            assertTrue(memory.view("/memories/a", 1..1).endsWith("1\tONE"))
            memory.insert("/memories/a", 1, "two\n")
            memory.strReplace("/memories/a", "two", "three")
            memory.rename("/memories/a", "/memories/b")
            assertEquals("ONE\nthree", memory.read("/memories/b"))
            val error = assertThrows<MemdirException.Refused> { runBlocking { memory.delete("/memories/b") } }
            assertEquals("Error: Not here.", error.reason)
            val delete = """{"command":"delete","path":"/memories/b"}"""
            assertEquals(Reply("Error: Not here.", isError = true, kind = ErrorKind.DENIED), memory.execute(delete))
        }
        assertEquals(List(5) { Outcome.OK } + List(2) { Outcome.DENIED }, hooks.outcomes)
        assertEquals(listOf("create", "view", "insert", "str_replace", "rename", "delete", "delete"), hooks.events.map { it.command })
    }

    @Test
    fun `what a hook that suspends throws stops the command, and is the cause`() = runBlocking {
        val failures = listOf(IllegalStateException("rules.internal"), NotImplementedError("rules.internal"), HookException.Failed("rules.internal"))
        for (thrown in failures) {
            val hooks = Told({ throw thrown })
            Memory("memory:", hooks = hooks).use { memory ->
                val reply = memory.suspending.execute(create)
                assertTrue(reply.isError && "not carried out" in reply.content)
                assertFalse("rules.internal" in reply.content)
                assertTrue("rules.internal" in reply.cause!!)
                val error = failure { memory.suspending.create("/memories/a", "one") } as MemdirException.Hook
                assertTrue("rules.internal" in error.message!!)
                assertEquals(reply.content, error.reply().content)
                // Coroutines copy exceptions to extend their stack traces; the copy has the original as a cause.
                assertTrue(thrown in generateSequence<Throwable>(error) { it.cause }, error.stackTraceToString())
                assertFalse(memory.exists("/memories/a"))
            }
            assertEquals(listOf(Outcome.FAILED, Outcome.FAILED), hooks.outcomes)
        }
    }

    @Test
    fun `what after throws is logged, and leaves the command done`() {
        for (thrown in listOf(IllegalStateException("broken"), StackOverflowError(), kotlin.coroutines.cancellation.CancellationException("mine"))) {
            Memory("memory:", hooks = Told(after = { throw thrown })).use { memory ->
                val records = logged {
                    runBlocking {
                        assertEquals("File created successfully at: /memories/a", memory.suspending.create("/memories/a", "one"))
                        assertFalse(memory.suspending.execute("""{"command":"view","path":"/memories/a"}""").isError)
                    }
                }
                assertEquals(List(2) { "`after` failed" }, records.map { it.message })
                // Coroutines copy exceptions; the copy has the original as a cause.
                for (record in records) assertTrue(thrown in generateSequence(record.thrown) { it.cause }, "${record.thrown}")
            }
        }
    }

    @Test
    fun `what after throws is logged if its coroutine was cancelled, and the cancellation is not`() = runBlocking {
        var isWaiting = CompletableDeferred<Unit>()
        val waiting = Told(after = {
            isWaiting.complete(Unit)
            try {
                awaitCancellation()
            } catch (gone: kotlin.coroutines.cancellation.CancellationException) {
                throw if (it.path == "/memories/b") IllegalStateException("broken") else gone
            }
        })
        Memory("memory:", hooks = waiting).use { memory ->
            val records = logged {
                runBlocking {
                    for (path in listOf("/memories/a", "/memories/b")) {
                        isWaiting = CompletableDeferred()
                        val created = launch(Dispatchers.Default) { memory.suspending.create(path, "") }
                        isWaiting.await()
                        created.cancelAndJoin()
                        assertTrue(created.isCancelled)
                    }
                }
            }
            assertEquals(listOf("broken"), records.map { it.thrown.message })
        }
    }

    @Test
    fun `texts that no command writes, and that are not valid Unicode, are failures of the hook`() = runBlocking {
        Memory("memory:", hooks = Told({ HookDecision.Replace("text") })).use { memory ->
            memory.suspending.create("/memories/a", "one")
            assertTrue(failure { memory.suspending.view("/memories/a") } is MemdirException.Hook)
            assertTrue(failure { memory.suspending.delete("/memories/a") } is MemdirException.Hook)
        }
        for (decision in listOf(HookDecision.Replace("\uD800"), HookDecision.Deny("\uDC00"))) {
            Memory("memory:", hooks = Told({ decision })).use { memory ->
                assertTrue(failure { memory.suspending.create("/memories/a", "one") } is MemdirException.Hook)
                assertTrue(memory.suspending.execute(create).isError)
                assertFalse(memory.exists("/memories/a"))
            }
        }
    }

    @Test
    fun `what a hook leaves out passes, and what is refused is not asked about`() = runBlocking {
        Memory("memory:", hooks = object : SuspendingMemoryHooks {}).use { it.suspending.create("/memories/a", "one") }
        val hooks = Told({ error("asked") })
        Memory("memory:", hooks = hooks).use { memory ->
            val plain = Memory("memory:")
            for (path in listOf("/nowhere", "/memories/\uD800")) {
                val refused = failure { memory.suspending.create(path, "one") }
                assertEquals(assertThrows<MemdirException.Refused> { plain.create(path, "one") }.reason, (refused as MemdirException.Refused).reason)
            }
            assertEquals(plain.execute("no JSON"), memory.suspending.execute("no JSON"))
        }
        assertEquals(List(3) { Outcome.REFUSED }, hooks.outcomes)
    }

    @Test
    fun `an image is shown by execute alone`(@TempDir place: Path) = runBlocking {
        val png = dev.memdir.conformance.root.resolve("bindings-uniffi/tests/plan.png").readBytes()
        val store = openStore(place).also { it.write("/memories/plan.png", png, false) }
        val options = MemoryOptions(maxImageBytes = 1000)
        Memory(store, options, hooks = Told()).use { memory ->
            val plain = Memory(store, options)
            assertEquals(png.toList(), memory.suspending.execute("""{"command":"view","path":"/memories/plan.png"}""").image!!.bytes.toList())
            val refused = failure { memory.suspending.view("/memories/plan.png") } as MemdirException.Refused
            assertEquals(assertThrows<MemdirException.Refused> { plain.view("/memories/plan.png") }.reason, refused.reason)
        }
    }

    @Test
    fun `two hundred approvals wait without a thread, and keep no other memory waiting`() = runBlocking {
        Executors.newSingleThreadExecutor().asCoroutineDispatcher().use { only ->
            for (on in listOf<(Memory) -> SuspendingMemory>({ SuspendingMemory(it, only) }, { it.suspending })) {
                val hooks = Approvals()
                val memory = Memory("memory:", hooks = hooks)
                val calls = List(200) { async(Dispatchers.Default) { on(memory).execute(create.replace("/a", "/$it")) } }
                val questions = List(200) { hooks.questions.receive() }
                // All of them wait, and the thread is free.
                val other = Memory("memory:")
                on(other).create("/memories/b", "two")
                assertEquals("two", on(other).read("/memories/b"))
                assertTrue(calls.none { it.isCompleted })
                assertTrue(memory.list().isEmpty() && hooks.events.isEmpty())
                questions.forEachIndexed { number, question ->
                    question.answer.complete(if (number % 2 == 0) HookDecision.Allow else HookDecision.Deny("Error: No."))
                }
                assertEquals(100, calls.awaitAll().count { it.isError })
                assertEquals(100, memory.list().size)
                assertEquals(200, hooks.events.size)
                memory.close()
                other.close()
            }
        }
    }

    @Test
    fun `a coroutine that is cancelled cancels its hook, and nothing is changed`() = runBlocking {
        val hooks = Approvals()
        val memory = Memory("memory:", hooks = hooks)
        for (call in listOf<suspend () -> Any>({ memory.suspending.execute(create) }, { memory.suspending.create("/memories/a", "one") })) {
            var ended: Any? = null
            val waiting = launch(Dispatchers.Default) { ended = runCatching { call() }.exceptionOrNull() }
            val question = hooks.questions.receive()
            waiting.cancelAndJoin()
            assertTrue(waiting.isCancelled && ended is kotlin.coroutines.cancellation.CancellationException, "$ended")
            // This answer is too late.
            question.answer.complete(HookDecision.Allow)
            assertFalse(memory.exists("/memories/a"))
        }
        assertEquals(listOf(Outcome.CANCELLED, Outcome.CANCELLED), hooks.outcomes)
        memory.close()
    }

    @Test
    fun `a hook that does not hear of it does not have its command executed either`() = runBlocking {
        val (asked, answer) = CompletableDeferred<Unit>() to CompletableDeferred<Unit>()
        val hooks = Told({
            asked.complete(Unit)
            withContext(NonCancellable) { answer.await() }
            HookDecision.Allow
        })
        Memory("memory:", hooks = hooks).use { memory ->
            val call = launch(Dispatchers.Default) { memory.suspending.create("/memories/a", "one") }
            asked.await()
            call.cancel()
            answer.complete(Unit)
            call.join()
            assertTrue(call.isCancelled)
            assertFalse(memory.exists("/memories/a"))
        }
        assertEquals(listOf(Outcome.CANCELLED), hooks.outcomes)
    }

    @Test
    fun `a hook that gives up by itself has failed`() = runBlocking {
        val hooks = Told({ withTimeout(1) { awaitCancellation() } })
        Memory("memory:", hooks = hooks).use { memory ->
            val error = failure { memory.suspending.create("/memories/a", "one") } as MemdirException.Hook
            assertTrue(generateSequence<Throwable>(error) { it.cause }.any { it is TimeoutCancellationException })
            assertFalse(memory.exists("/memories/a"))
        }
        assertEquals(listOf(Outcome.FAILED), hooks.outcomes)
    }

    @Test
    fun `a command that has begun to write goes on to its end, and after is told`() = runBlocking {
        val (entered, gate) = CompletableDeferred<Unit>() to Semaphore(0)
        val map = MapStore()
        val slow = object : Store by map {
            override fun write(path: String, content: ByteArray, overwrite: Boolean) {
                entered.complete(Unit)
                gate.acquire()
                map.write(path, content, overwrite)
            }
        }
        val hooks = Told()
        val memory = Memory(slow, hooks = hooks)
        val call = launch(Dispatchers.Default) { memory.suspending.create("/memories/a", "one") }
        entered.await()
        call.cancel()
        gate.release()
        call.join()
        assertTrue(call.isCancelled)
        assertEquals("one", map.read("/memories/a").decodeToString())
        assertEquals(listOf(Outcome.OK), hooks.outcomes)
        memory.close()
    }

    @Test
    fun `commands of a hook go without it`() = runBlocking {
        lateinit var memory: SuspendingMemory
        val hooks =
            Told({ command ->
                memory.view("/memories")
                coroutineScope { withContext(Dispatchers.Default) { async { memory.execute("""{"command":"view","path":"/memories"}""") }.await() } }
                when (command) {
                    is Command.Delete -> {
                        memory.rename(command.path, "/memories/archived")
                        HookDecision.Deny("It was archived.")
                    }
                    else -> HookDecision.Allow
                }
            }, { memory.create("/memories/log", it.outcome.name) })
        Memory(MapStore(), hooks = hooks).use {
            memory = it.suspending
            assertTrue(failure { memory.create("/nowhere", "one") } is MemdirException.Refused)
            memory.create("/memories/a", "one")
            assertTrue(failure { memory.delete("/memories/a") } is MemdirException.Refused)
            assertEquals("one", memory.read("/memories/archived"))
            assertEquals("REFUSED", memory.read("/memories/log"))
        }
        assertEquals(listOf(Outcome.REFUSED, Outcome.OK, Outcome.DENIED), hooks.outcomes)
    }

    @Test
    fun `two memories with hooks ask each other's`() = runBlocking {
        lateinit var first: SuspendingMemory
        lateinit var second: SuspendingMemory
        val ofFirst = Told({ HookDecision.Allow.also { second.view("/memories") } })
        val ofSecond = Told({ HookDecision.Allow.also { first.view("/memories") } })
        first = Memory("memory:", hooks = ofFirst).suspending
        second = Memory("memory:", hooks = ofSecond).suspending
        first.create("/memories/a", "one")
        assertEquals(listOf("create"), ofFirst.events.map { it.command })
        assertEquals(listOf("view"), ofSecond.events.map { it.command })
    }

    @Test
    fun `sessions of a memory ask its hooks`() = runBlocking {
        val hooks = Told()
        Memory("memory:", hooks = hooks).use { memory ->
            memory.suspending.actingAs("one").create("/memories/a", "one")
            memory.actingAs("two").use { it.suspending.create("/memories/b", "two") }
            memory.cancelledBy(Cancellation()).use { it.suspending.create("/memories/c", "three") }
        }
        assertEquals(3, hooks.events.size)
    }

    @Test
    fun `a method that blocks cannot await hooks, so it refuses the command`() {
        val hooks = Told()
        Memory("memory:", hooks = hooks).use { memory ->
            val error = assertThrows<MemdirException.Hook> { memory.create("/memories/a", "one") }
            assertTrue("memory.suspending" in error.message!!, error.message)
            assertEquals(error.reply().content, memory.execute(create).content)
            assertTrue(memory.execute("""{"command":"view","path":"/memories"}""").isError)
            val told = mutableListOf<MemdirException>()
            assertThrows<RuntimeException> { MemdirHandler(memory, told::add).create("/memories/a", "one") }
            assertTrue(told.single() is MemdirException.Hook)
            // Methods that are not commands call no hooks.
            memory.write("/memories/b", "two")
            assertEquals(listOf("/memories/b"), memory.list().map { it.path })
        }
        assertTrue(hooks.events.isEmpty())
    }

    @Test
    fun `a memory that is closed says so, and a call that was begun before goes on`() = runBlocking {
        val hooks = Approvals()
        val store = MapStore()
        val memory = Memory(store, hooks = hooks)
        val call = async(Dispatchers.Default) { memory.suspending.execute(create) }
        val question = hooks.questions.receive()
        memory.close()
        assertEquals(closedReply(), memory.suspending.execute(create))
        assertTrue(failure { memory.suspending.create("/memories/b", "two") } is MemdirException.Store)
        question.answer.complete(HookDecision.Allow)
        assertFalse(call.await().isError)
        assertEquals("one", store.read("/memories/a").decodeToString())
        assertEquals(listOf(Outcome.OK), hooks.outcomes)
    }

    @Test
    fun `a call that gets no thread says so, and after is told`() = runBlocking {
        val none = object : CoroutineDispatcher() {
            override fun dispatch(context: CoroutineContext, block: Runnable) = throw OutOfMemoryError("no thread")
        }
        val hooks = Told()
        Memory("memory:", hooks = hooks).use { memory ->
            val suspending = SuspendingMemory(memory, none)
            assertEquals(noThreadReply("no thread"), suspending.execute(create))
            assertTrue("no thread" in (failure { suspending.create("/memories/a", "one") } as MemdirException.Store).message!!)
            assertFalse(memory.exists("/memories/a"))
        }
        assertEquals(listOf(Outcome.FAILED, Outcome.FAILED), hooks.outcomes)
    }

    @Test
    fun `a plain hook may block on calls of memories, also in many calls at once`() {
        val other = Memory("memory:")
        other.create("/memories/log", "")
        // Fewer threads than waiting hooks, and from a pool that no other test uses.
        val few = Dispatchers.IO.limitedParallelism(4)
        lateinit var memory: Memory
        val hooks = object : MemoryHooks {
            override fun before(command: Command, call: HookCall): HookDecision = runBlocking {
                SuspendingMemory(memory, few).view("/memories")
                SuspendingMemory(other, few).insert("/memories/log", 0, "asked")
                HookDecision.Allow
            }
        }
        memory = Memory("memory:", hooks = hooks)
        // If it hung, it would hang forever.
        val replies = assertTimeoutPreemptively<List<Reply>>(Duration.ofMinutes(2)) {
            runBlocking { List(200) { async { SuspendingMemory(memory, few).execute(create.replace("/a", "/$it")) } }.awaitAll() }
        }
        assertTrue(replies.none { it.isError }, "$replies")
        assertEquals(200, memory.list().size)
        assertEquals(200, other.read("/memories/log").lines().count { it == "asked" })
        memory.close()
        other.close()
    }

    private suspend fun failure(call: suspend () -> Unit): Throwable? = runCatching { call() }.exceptionOrNull()
}

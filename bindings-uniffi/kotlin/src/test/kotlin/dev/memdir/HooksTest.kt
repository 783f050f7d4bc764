package dev.memdir

import java.util.concurrent.Callable
import java.util.concurrent.ConcurrentLinkedQueue
import java.util.concurrent.Executors
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows

/**
 * Hooks: their decisions, the handling of their exceptions, and that a hook never waits for itself.
 */
class HooksTest {
    private val create = """{"command":"create","path":"/memories/a","file_text":"one"}"""

    /** Hooks made from two functions. */
    private class Told(
        private val before: (Command) -> HookDecision = { HookDecision.Allow },
        private val after: (Event) -> Unit = {},
    ) : MemoryHooks {
        val events = ConcurrentLinkedQueue<Event>()

        override fun before(command: Command, call: HookCall): HookDecision = before.invoke(command)

        override fun after(event: Event) {
            events += event
            after.invoke(event)
        }
    }

    @Test
    fun `a denial is thrown, and sent by the SDK's handler`() {
        Memory("memory:", hooks = Told({ HookDecision.Deny("Error: Not here.") })).use { memory ->
            assertEquals(Reply("Error: Not here.", isError = true, kind = ErrorKind.DENIED), memory.execute(create))
            val error = assertThrows<MemdirException.Refused> { memory.delete("/memories/a") }
            assertEquals("Error: Not here.", error.message)
            // The SDK adds its own "Error: " prefix, and the flag.
            val sent = assertThrows<RuntimeException> { MemdirHandler(memory).delete("/memories/a") }
            assertEquals("Not here.", sent.message)
            memory.clear()
        }
    }

    @Test
    fun `a hook learns who acts and what would change, and an approval holds for that`() {
        val shown = mutableListOf<String>()
        var meanwhile: () -> Unit = {}
        val asking =
            object : MemoryHooks {
                override fun before(command: Command, call: HookCall): HookDecision {
                    shown += "${call.actor()} ${call.toolUseId()} ${call.diff()}"
                    meanwhile()
                    return HookDecision.Allow
                }
            }
        Memory("memory:", hooks = asking).use { memory ->
            val ann = memory.actingAs("ann")
            val block = """{"type": "tool_use", "id": "toolu_1", "name": "memory", "input": $create}"""
            assertFalse(ann.execute(block).isError)
            assertEquals("ann toolu_1 --- /dev/null\n+++ /memories/a\n@@ -0,0 +1 @@\n+one\n\\ No newline at end of file\n", shown.single())
            meanwhile = { memory.write("/memories/a", "two") }
            val changed = assertThrows<MemdirException.Refused> { ann.strReplace("/memories/a", "one", "three") }
            assertEquals(ErrorKind.CHANGED, changed.kind)
            meanwhile = {}
            val refused = assertThrows<MemdirException.Refused> { ann.delete("/memories/none") }
            assertEquals(ErrorKind.NOT_FOUND, refused.kind)
            assertEquals("two", memory.read("/memories/a"))
        }
    }

    @Test
    fun `what before throws stops the command and is told to the developer alone`() {
        for (thrown in listOf(IllegalStateException("rules.internal"), NotImplementedError("rules.internal"), HookException.Failed("rules.internal"))) {
            Memory("memory:", hooks = Told({ throw thrown })).use { memory ->
                val reply = memory.execute(create)
                assertTrue(reply.isError && "not carried out" in reply.content)
                assertFalse("rules.internal" in reply.content)
                assertTrue("rules.internal" in reply.cause!!)
                val error = assertThrows<MemdirException.Hook> { memory.create("/memories/a", "one") }
                assertTrue("rules.internal" in error.message!!)
                assertEquals(reply.content, error.reply().content)
                val told = mutableListOf<MemdirException>()
                assertThrows<RuntimeException> { MemdirHandler(memory, told::add).create("/memories/a", "one") }
                assertTrue(told.single() is MemdirException.Hook)
            }
        }
    }

    @Test
    fun `what after throws is logged, and leaves the command done`() {
        for (thrown in listOf(IllegalStateException("broken"), HookException.Failed("broken"), StackOverflowError())) {
            Memory("memory:", hooks = Told(after = { throw thrown })).use { memory ->
                val records = logged {
                    assertEquals("File created successfully at: /memories/a", memory.create("/memories/a", "one"))
                    assertTrue(memory.view("/memories/a").endsWith("one"))
                }
                assertEquals(List(2) { "`after` failed" to thrown }, records.map { it.message to it.thrown })
            }
        }
    }

    @Test
    fun `a text for a command that writes none is a failure`() {
        Memory("memory:", hooks = Told({ HookDecision.Replace("text") })).use { memory ->
            memory.create("/memories/a", "one")
            assertThrows<MemdirException.Hook> { memory.view("/memories/a") }
            assertThrows<MemdirException.Hook> { memory.delete("/memories/a") }
        }
    }

    @Test
    fun `a hook may use its own memory`() {
        lateinit var memory: Memory
        val hooks =
            Told({ command ->
                memory.view("/memories")
                when (command) {
                    is Command.Delete -> {
                        memory.rename(command.path, "/memories/archived")
                        HookDecision.Deny("It was archived.")
                    }
                    else -> HookDecision.Allow
                }
            }, { memory.create("/memories/log", it.outcome.name) })
        memory = Memory(MapStore(), hooks = hooks)
        memory.use {
            assertThrows<MemdirException.Refused> { it.create("/nowhere", "one") }
            it.create("/memories/a", "one")
            assertThrows<MemdirException.Refused> { it.delete("/memories/a") }
            assertTrue(it.view("/memories/archived").endsWith("one"))
        }
        assertEquals(listOf("REFUSED", "OK", "DENIED", "OK"), hooks.events.map { it.outcome.name })
    }

    @Test
    fun `many threads at once`() {
        lateinit var memory: Memory
        val hooks =
            Told({ command ->
                memory.view("/memories")
                if (command is Command.Insert) HookDecision.Replace(command.insertText.uppercase()) else HookDecision.Allow
            })
        memory = Memory("memory:", hooks = hooks)
        memory.create("/memories/a", "")
        val pool = Executors.newFixedThreadPool(8)
        try {
            pool.invokeAll(List(200) { Callable { memory.insert("/memories/a", 0, "x") } }).forEach { it.get() }
        } finally {
            pool.shutdown()
        }
        assertEquals(200, memory.view("/memories/a").lines().count { it.endsWith("\tX") })
        assertEquals(202, hooks.events.size)
        memory.close()
    }

    @Test
    fun `what a hook leaves out passes`() {
        Memory("memory:", hooks = object : MemoryHooks {}).use { it.create("/memories/a", "one") }
    }
}

package dev.memdir

import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Test

/** Tests of an agent, as `docs/guides/testing.md` explains them. The page quotes this file. */
class AgentTest {
    private val tea = "/memories/tea.md"

    // Blocks of a real conversation, as the API sent them.
    private val look =
        """{"type": "tool_use", "id": "toolu_1", "name": "memory", "input": {"command": "view", "path": "/memories/tea.md"}}"""
    private val edit =
        """{"type": "tool_use", "id": "toolu_2", "name": "memory",
            "input": {"command": "str_replace", "path": "/memories/tea.md", "old_str": "green", "new_str": "black"}}"""

    /** A new memory with one file. */
    private fun filled() = Memory("memory:", MemoryOptions(history = true)).also { it.write(tea, "- green\n") }

    @Test
    fun `a preference is corrected`() = filled().use { memory ->
        for (block in listOf(look, edit)) {
            val reply = memory.execute(block)
            assertFalse(reply.isError, reply.content)
        }

        assertEquals("- black\n", memory.read(tea))
        val operations = memory.history(tea).map { it.operation }
        assertEquals(listOf(HistoryOperation.MODIFIED, HistoryOperation.CREATED), operations)
    }

    @Test
    fun `an existing file is not replaced`() = filled().use { memory ->
        val reply = memory.execute("""{"command": "create", "path": "/memories/tea.md", "file_text": "- none\n"}""")
        assertEquals(ErrorKind.EXISTS, reply.kind)
        assertEquals("- green\n", memory.read(tea))
    }

    @Test
    fun `nothing is saved while the reviewer is away`() {
        val hooks = object : MemoryHooks {
            override fun before(command: Command, call: HookCall): HookDecision = error("the reviewer does not answer")
        }
        Memory("memory:", hooks = hooks).use { memory ->
            val reply = memory.execute("""{"command": "create", "path": "/memories/tea.md", "file_text": "- green\n"}""")
            assertEquals(ErrorKind.HOOK_FAILED, reply.kind)
            assertFalse(memory.exists(tea))
        }
    }
}

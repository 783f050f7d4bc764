package dev.memdir

import kotlinx.coroutines.runBlocking
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows

/** The methods with plain arguments, their failures, and the variants for coroutines. */
class MemoryTest {
    private val shown = "Here's the content of /memories/a.md with line numbers:\n"

    @Test
    fun `every command has a method`() =
        Memory("memory:").use { memory ->
            assertEquals("File created successfully at: /memories/a.md", memory.create("/memories/a.md", "one\nthree\n"))
            assertEquals("The file /memories/a.md has been edited.", memory.insert("/memories/a.md", 1, "two\n"))
            assertTrue(memory.strReplace("/memories/a.md", "three", "3").endsWith("     3\t3"))
            assertEquals("$shown     2\ttwo\n     3\t3", memory.view("/memories/a.md", 2..-1))
            assertEquals("$shown     1\tone", memory.view("/memories/a.md", listOf(1, 1)))
            memory.strReplace("/memories/a.md", "two\n")
            assertEquals("$shown     1\tone\n     2\t3", memory.view("/memories/a.md"))
            assertEquals("Successfully renamed /memories/a.md to /memories/b.md", memory.rename("/memories/a.md", "/memories/b.md"))
            assertEquals("Successfully deleted /memories/b.md", memory.delete("/memories/b.md"))
            memory.create("/memories/c.md", "")
            memory.clear()
            assertTrue(memory.view("/memories").endsWith("4.0K\t/memories"))
        }

    @Test
    fun `what the model did wrong is thrown with the exact text`() =
        Memory("memory:").use { memory ->
            val text = "The path /memories/a.md does not exist. Please provide a valid path."
            val error = assertThrows<MemdirException.Refused> { memory.view("/memories/a.md") }
            assertEquals(text, error.reason)
            assertEquals(ErrorKind.NOT_FOUND, error.kind)
            assertEquals(text, error.message)
            assertEquals(text, error.toString())
            assertEquals(Reply(text, isError = true, kind = ErrorKind.NOT_FOUND), error.reply())
            assertEquals(error.reply(), memory.execute("""{"command":"view","path":"/memories/a.md"}"""))
        }

    @Test
    fun `what the developer did wrong is another exception`() {
        assertThrows<MemdirException.Config> { Memory("nosuch://x") }
        assertThrows<MemdirException.Config> { Memory("") }
        assertThrows<MemdirException.Config> { Memory("memory:", MemoryOptions(maxViewChars = -1)) }
        assertThrows<MemdirException.Store> { Memory("/dev/null/memory") }
    }

    @Test
    fun `input of any kind is answered`() =
        Memory("memory:").use { memory ->
            for (input in listOf("", "null", "[]", "{", "{\"command\":1}", "\u0000", "[".repeat(100_000), "{\"command\":\"view\",\"path\":\"/memories/\\ud800\"}")) {
                val reply = memory.execute(input)
                assertTrue(reply.isError && reply.content.isNotEmpty(), input.take(100))
                assertNull(reply.cause)
            }
            Unit
        }

    @Test
    fun `closing twice is harmless, and use after closing an error that says so`() {
        val memory = Memory("memory:")
        memory.close()
        memory.close()
        val error = assertThrows<MemdirException.Store> { memory.view("/memories") }
        assertTrue("closed" in error.reason, error.reason)
        assertTrue("closed" in memory.execute("{}").cause!!)
    }

    @Test
    fun `every method has a variant that suspends`() = runBlocking {
        Memory("memory:").use { blocking ->
            val memory = blocking.suspending
            memory.create("/memories/a.md", "one\nthree\n")
            memory.insert("/memories/a.md", 1, "two\n")
            memory.strReplace("/memories/a.md", "three", "3")
            assertEquals("$shown     2\ttwo\n     3\t3", memory.view("/memories/a.md", 2..-1))
            assertEquals(memory.view("/memories/a.md"), memory.execute("""{"command":"view","path":"/memories/a.md"}""").content)
            memory.rename("/memories/a.md", "/memories/b.md")
            val error = assertThrows<MemdirException.Refused> { memory.delete("/memories/a.md") }
            assertEquals("Error: The path /memories/a.md does not exist", error.reason)
            memory.delete("/memories/b.md")
            memory.clear()
        }
    }
}

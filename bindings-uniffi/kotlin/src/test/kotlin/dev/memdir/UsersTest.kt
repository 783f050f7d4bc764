package dev.memdir

import dev.memdir.conformance.root
import java.nio.file.Path
import kotlin.io.path.readText
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.io.TempDir

/** The functions of `Users.kt`. */
class UsersTest {
    private val create = """{"command": "create", "path": "/memories/a.md", "file_text": "tea\n"}"""

    @Test
    fun `each user has a memory, and one can be erased`(@TempDir memories: Path) {
        val made = 200 to "File created successfully at: /memories/a.md"
        for (user in listOf("ann", "Ann", "../ann", "")) {
            memoryOf(memories, user).use { assertEquals(made, tool(it, create)) }
        }
        assertEquals(1, forget(memories, "ann").files)
        memoryOf(memories, "ann").use { assertEquals(made, tool(it, create)) }
        memoryOf(memories, "Ann").use { assertEquals("tea\n", it.read("/memories/a.md")) }
    }

    @Test
    fun `each kind of error has the status of the documentation`() {
        val page = root.resolve("docs/reference/behaviour.md").readText()
        val statuses = Regex("""^\| `(\w+)` \|.*\| (\d{3}) \|$""", RegexOption.MULTILINE).findAll(page)
            .associate { it.groupValues[1] to it.groupValues[2].toInt() }
        assertEquals(statuses, ErrorKind.entries.associate { it.name.lowercase() to statusOf(it) })
    }

    @Test
    fun `a memory whose store fails is worth another try only if nothing was changed`() {
        val broken = object : Store by MapStore() {
            override fun read(path: String) = error("no disk")

            override fun list(path: String) = error("no disk")

            override fun write(path: String, content: ByteArray, overwrite: Boolean) = error("no disk")
        }
        Memory(broken).use { memory ->
            assertEquals(503, tool(memory, """{"command": "view", "path": "/memories"}""").first)
            assertEquals(500, tool(memory, create).first)
            assertTrue("no disk" !in tool(memory, create).second)
        }
    }
}

package dev.memdir

import java.nio.file.Path
import java.security.MessageDigest
import java.time.Duration
import java.util.HexFormat
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.io.TempDir

fun memoryOf(memories: Path, user: String): Memory {
    // A digest is a safe name of a directory, whatever the user is called.
    val digest = MessageDigest.getInstance("SHA-256").digest(user.toByteArray())
    val options = MemoryOptions(maxFiles = 200, maxTotalBytes = 1_000_000, lockTimeout = Duration.ofSeconds(2))
    return Memory(memories.resolve(HexFormat.of().formatHex(digest)), options)
}

/** One tool call, for a conversation that runs elsewhere: the status, and the text for the model. */
fun tool(memory: Memory, call: String): Pair<Int, String> {
    val reply = memory.execute(call)
    return if (reply.cause == null) 200 to reply.content else failed(reply.kind)
}

/** Only a request that changed nothing is worth another try. */
fun failed(kind: ErrorKind?): Pair<Int, String> =
    when (kind) {
        ErrorKind.BUSY, ErrorKind.CANCELLED, ErrorKind.UNAVAILABLE -> 503 to "The memory cannot be used now."
        else -> 500 to "The change may or may not have been made."
    }

/** Erases everything of a user, including the history, at the user's request. */
fun forget(memories: Path, user: String): Erased = memoryOf(memories, user).use { it.erase() }

/** The functions of a server for many users, which `docs/guides/many-users.md` quotes. */
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

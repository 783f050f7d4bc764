package dev.memdir

import dev.memdir.conformance.root
import kotlin.io.path.readText
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows

/** The code of the pages about limits, stale views and write patterns, and its results. */
class LimitsTest {
    @Test
    fun `a memory that is not full says nothing of it`() {
        val reply = limits()
        assertTrue(reply.content.endsWith("\n4.0K\t/memories"), reply.content)
        assertEquals(block("limits", "limits.md"), code("limits"))
    }

    @Test
    fun `an insert by an older view is refused`() {
        val store = openStore("memory:")
        store.write("/memories/list.md", "milk\n".toByteArray(), false)
        val reply = staleViews(store)
        assertTrue(reply.isError)
        assertTrue(reply.content.startsWith("Error: You have not viewed the file /memories/list.md yet."), reply.content)
        assertEquals(block("stale views", "stale-guard.md"), code("stale views"))
    }

    @Test
    fun `some paths cannot be written`() {
        val reply = writePatterns()
        assertEquals("Error: /memories/handbook is read-only: it can be viewed but not changed", reply.content)
        assertEquals(block("write patterns", "write-patterns.md"), code("write patterns"))
    }

    @Test
    fun `wrong options are told at once`() {
        val wrong =
            mapOf(
                MemoryOptions(maxFiles = -1) to "maxFiles must be a whole number from 0 on, or null, got -1",
                MemoryOptions(readOnlyPaths = listOf("notes")) to
                    "readOnlyPaths: the pattern \"notes\" does not start with /memories",
            )
        for ((options, sentence) in wrong) {
            val error = assertThrows<MemdirException> { Memory("memory:", options) }
            assertTrue(error.message!!.contains(sentence), error.message)
        }
    }

    /** The block of code after `<!-- kotlin: name -->` in a page about a policy. */
    private fun block(name: String, page: String): String =
        root.resolve("docs/reference/policies/$page").readText()
            .substringAfter("<!-- kotlin: $name -->\n```kotlin\n")
            .substringBefore("\n```")

    /** The lines between `// name` and `// end` in this file. */
    private fun code(name: String): String {
        val source = root.resolve("bindings-uniffi/kotlin/src/test/kotlin/dev/memdir/LimitsTest.kt").readText()
        return source.substringAfter("    // $name\n").substringBefore("\n    // end").trimIndent()
    }
}

private fun limits(): Reply {
    // limits
    val memory = Memory("memory:", MemoryOptions(maxTotalBytes = 64 * 1024, maxFiles = 100))
    val reply = memory.execute("""{"command": "view", "path": "/memories"}""")
    // end
    return reply.also { memory.close() }
}

private fun staleViews(store: Store): Reply {
    // stale views
    val memory = Memory(store, MemoryOptions(staleGuard = StaleGuard.STRICT))
    val reply = memory.execute(
        """{"command": "insert", "path": "/memories/list.md", "insert_line": 1, "insert_text": "bread"}"""
    )
    // end
    return reply.also { memory.close() }
}

private fun writePatterns(): Reply {
    // write patterns
    val memory = Memory("memory:", MemoryOptions(readOnlyPaths = listOf("/memories/handbook")))
    val reply = memory.execute("""{"command": "delete", "path": "/memories/handbook"}""")
    // end
    return reply.also { memory.close() }
}

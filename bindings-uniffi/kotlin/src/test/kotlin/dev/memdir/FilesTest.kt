package dev.memdir

import kotlinx.coroutines.runBlocking
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertNotNull
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows

/** Your own code's access to the files of a memory, and the definitions of the tool for other model hosts. */
class FilesTest {
    private val path = "/memories/tea.md"

    @Test
    fun `a file is written and read as it is`() {
        for (store in listOf(openStore("memory:"), MapStore())) {
            Memory(store).use { memory ->
                for (text in listOf("", "one\r\ntwo", "# Ä 🦀\n\n", "x\u0000y")) {
                    memory.write("/memories/dir/a.md", text)
                    assertEquals(text, memory.read("/memories/dir/a.md"))
                }
                assertTrue(memory.exists("/memories/dir"))
                assertFalse(memory.exists("/memories/none"))
            }
        }
    }

    @Test
    fun `what is refused is thrown, and nothing is changed`() =
        Memory("memory:", MemoryOptions(maxFileBytes = 5, readOnlyPaths = listOf("/memories/rules"))).use { memory ->
            val none = "/memories/none"
            for (call in listOf<() -> Any>({ memory.read(none) }, { memory.list(none) }, { memory.grep("x", path = none) })) {
                val error = assertThrows<MemdirException.Refused> { call() }
                assertEquals("The path /memories/none does not exist. Please provide a valid path.", error.reason)
            }
            assertThrows<MemdirException.Refused> { memory.exists("/memories/../etc") }
            assertThrows<MemdirException.Refused> { memory.write(path, "123456") }
            assertThrows<MemdirException.Refused> { memory.write("/memories/rules/a", "") }
            assertEquals(listOf<Entry>(), memory.list(depth = null))
        }

    @Test
    fun `a file that was changed meanwhile stays`() =
        Memory("memory:").use { memory ->
            memory.write(path, "green\n")
            val text = memory.read(path)
            memory.write(path, text + "black\n", ifUnchanged = text)
            val error = assertThrows<MemdirException.Refused> { memory.write(path, "", ifUnchanged = text) }
            assertTrue("does not hold what it was expected to hold" in error.reason, error.reason)
            assertEquals("green\nblack\n", memory.read(path))
        }

    @Test
    fun `a listing has the depth that is asked for`() =
        Memory("memory:").use { memory ->
            for (file in listOf("/memories/b", "/memories/a/b/c", "/memories/.hidden")) memory.write(file, "12345")
            fun paths(path: String? = null, depth: Long? = 1) = memory.list(path, depth).map { it.path }
            assertEquals(listOf("/memories/a", "/memories/b"), memory.list().map { it.path })
            assertEquals(listOf("/memories/a", "/memories/b"), paths())
            assertEquals(listOf("/memories/a/b"), paths("/memories/a"))
            assertEquals(listOf("/memories/a", "/memories/a/b", "/memories/a/b/c", "/memories/b"), paths(depth = null))
            val (directory, file) = memory.list()
            assertNull(directory.size)
            assertEquals(5L, file.size)
            assertNotNull(file.modified)
            Unit
        }

    @Test
    fun `a question is answered with passages`() =
        Memory("memory:", MemoryOptions(searchLanguage = SearchLanguage.GERMAN)).use { memory ->
            memory.write(path, "# 𝕏\n\n- 𝕏 trinkt grünen Tee\n")
            memory.write("/memories/b/x.md", "Milch")
            val results = memory.search("wer trinkt Tees?")
            assertEquals(0L, results.filesLeftOut)
            assertEquals(listOf(path), results.hits.map { it.path })
            val passage = results.hits[0].passages[0]
            assertEquals(1L to 3L, passage.firstLine to passage.lastLine)
            val words = passage.matches.map { passage.text.substring(it.start.toInt(), it.end.toInt()) }
            assertEquals(listOf("trinkt", "Tee"), words)
            assertEquals(0, memory.search("Tee", path = "/memories/b").hits.size)
            assertEquals(0, memory.search("Tee", limit = 0).hits.size)
            Unit
        }

    @Test
    fun `names and lines are found`() =
        Memory("memory:").use { memory ->
            memory.write(path, "# Tea\ngreen tea\n")
            memory.write("/memories/teas/x", "")
            val all = listOf(GrepMatch(path, null, "tea.md"), GrepMatch(path, 2, "green tea"), GrepMatch("/memories/teas", null, "teas"))
            assertEquals(all, memory.grep("tea"))
            assertEquals(all.take(2), memory.grep("tea", limit = 2))
            assertEquals(listOf<GrepMatch>(), memory.grep("tea", path = "/memories/teas"))
            assertEquals(4, memory.grep("TEA", ignoreCase = true).size)
            assertEquals(listOf(all[1]), memory.grep("^\\w+ tea$", regex = true))
            assertEquals("regex", assertThrows<MemdirException.Config> { memory.grep("(", regex = true) }.option)
        }

    @Test
    fun `an index names the files and their first lines`() =
        Memory("memory:").use { memory ->
            memory.write(path, "\n# Tea\nmore")
            assertEquals("/memories/tea.md\t11B\t# Tea\n", memory.index())
            assertEquals("", memory.index(10))
        }

    @Test
    fun `a project is laid out once, and views are forgotten`() =
        Memory("memory:", MemoryOptions(staleGuard = StaleGuard.STRICT)).use { memory ->
            val made = listOf("/memories/progress.md", "/memories/features.md", "/memories/init.md")
            assertEquals(made, memory.bootstrap("Tea.", listOf("a list", "a basket"), "make"))
            assertTrue(memory.read(made[1]).endsWith("- [ ] a list\n- [ ] a basket\n"))
            assertEquals(listOf<String>(), memory.bootstrap("", listOf()))
            memory.view(made[2])
            memory.insert(made[2], 0, "x")
            memory.forgetViews()
            val refused = assertThrows<MemdirException.Refused> { memory.insert(made[2], 0, "x") }
            assertTrue("may no longer be in this conversation" in refused.reason, refused.reason)
        }

    @Test
    fun `a wrong argument is named`() =
        Memory("memory:").use { memory ->
            val wrong = mapOf<String, () -> Any>(
                "path" to { memory.read("/memories/\ud800") },
                "text" to { memory.write(path, "a\udc00") },
                "ifUnchanged" to { memory.write(path, "", "a\udc00") },
                "query" to { memory.grep("\ud800") },
                "depth" to { memory.list(depth = -1) },
                "limit" to { memory.grep("", limit = -1) },
                "maxChars" to { memory.index(-1) },
                "prefix" to { memory.toolDefinitions(prefix = "no spaces") },
            )
            for ((option, call) in wrong) {
                val error = assertThrows<MemdirException.Config> { call() }
                assertEquals(option, error.option)
                assertTrue(error.reason.startsWith("$option "), error.reason)
            }
            assertFalse(memory.exists(path))
        }

    @Test
    fun `the tool is defined for other model hosts`() {
        Memory("memory:").use { memory ->
            assertTrue("\"command\"" in memory.toolDefinition())
            assertTrue("\"strict\":true" in memory.toolDefinition(Dialect.OPEN_AI))
            assertTrue("\"input_schema\"" in memory.toolDefinition(Dialect.ANTHROPIC_CUSTOM))
            assertEquals(6, memory.toolDefinitions().size)
            val tools = memory.toolDefinitions(Dialect.GEMINI, "memory_")
            assertTrue(tools.all { "\"name\":\"memory_" in it })
        }
        Memory("memory:", MemoryOptions(readOnly = true)).use { assertEquals(1, it.toolDefinitions().size) }
    }

    @Test
    fun `an embedder finds what is meant`() {
        val texts = mutableListOf<Pair<String, Boolean>>()
        val embedder = Embedder { given, isQuery ->
            given.mapTo(texts) { it to isQuery }
            given.map { listOf(if ("car" in it || "automobile" in it) 1f else 0f, if ("tea" in it) 1f else 0f) }
        }
        val options = MemoryOptions(embedderName = "meanings-1")
        Memory("memory:", options).use { words ->
            words.write("/memories/garage.md", "The car is red.")
            words.write(path, "Anna likes it.")
            assertEquals(emptyList<SearchHit>(), words.search("an automobile").hits)
            words.withEmbedder(embedder).use { memory ->
                val found = memory.search("an automobile")
                assertEquals(listOf("/memories/garage.md"), found.hits.map { it.path })
                assertNull(found.wordsOnly)
                val passages = setOf("garage.md\nThe car is red." to false, "tea.md\nAnna likes it." to false)
                assertEquals(passages + ("an automobile" to true), texts.toSet())
                runBlocking { assertEquals(found, SuspendingMemory(memory).search("an automobile")) }
            }
            val failing = Embedder { _, _ -> throw EmbedderException.Failed("the service is away") }
            words.withEmbedder(failing).use { memory ->
                val found = memory.search("red")
                assertEquals(listOf("/memories/garage.md"), found.hits.map { it.path })
                assertEquals("the embedder failed: the service is away", found.wordsOnly)
            }
            words.withEmbedder { _, _ -> error("a mistake") }.use { memory ->
                assertTrue("a mistake" in memory.search("red").wordsOnly!!)
            }
        }
        Memory("memory:").use { memory ->
            val error = assertThrows<MemdirException.Config> { memory.withEmbedder(embedder) }
            assertEquals("embedderName", error.option)
        }
    }

    @Test
    fun `a model searches with a tool of its own`() =
        Memory("memory:").use { memory ->
            memory.write(path, "# Anna\n\n- likes green tea\n")
            val found = Reply("$path\n     1\t# Anna\n     2\t\n     3\t- likes green tea", isError = false)
            val input = """{"query": "What does Anna like?", "limit": 3}"""
            assertEquals(found, memory.executeSearch(input))
            runBlocking { assertEquals(found, SuspendingMemory(memory).executeSearch(input)) }
            val missing = "Error: Missing `query` parameter for the `search` command: expected a string"
            val refused = memory.executeSearch("{}")
            assertEquals(missing, refused.content)
            assertTrue(refused.isError)
            assertTrue("\"memory_search\"" in memory.searchToolDefinition())
            assertTrue("\"search\"" in memory.searchToolDefinition(Dialect.OPEN_AI, ""))
        }

    @Test
    fun `a whole tool_use block is understood`() =
        Memory("memory:").use { memory ->
            val block =
                """{"type":"tool_use","id":"toolu_1","name":"memory","input":{"command":"create","path":"$path","file_text":"x"}}"""
            assertEquals(Reply("File created successfully at: $path", isError = false), memory.execute(block))
        }

    @Test
    fun `every method has a variant that suspends`() = runBlocking {
        Memory("memory:").use { blocking ->
            val memory = blocking.suspending
            memory.write(path, "green tea\n")
            memory.write(path, "black tea\n", ifUnchanged = memory.read(path))
            assertTrue(memory.exists(path))
            assertEquals(listOf(path), memory.list().map { it.path })
            assertEquals(listOf(GrepMatch(path, 1, "black tea")), memory.grep("black"))
            assertEquals("/memories/tea.md\t10B\tblack tea\n", memory.index())
            assertEquals(3, memory.bootstrap("Tea.", listOf("a list")).size)
            memory.forgetViews()
            assertThrows<MemdirException.Refused> { memory.read("/memories/none") }
        }
        Unit
    }
}

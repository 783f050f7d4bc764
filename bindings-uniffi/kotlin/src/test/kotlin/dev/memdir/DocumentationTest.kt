package dev.memdir

import com.anthropic.client.AnthropicClient
import com.anthropic.models.beta.messages.BetaMemoryTool20250818
import com.anthropic.models.beta.messages.BetaMessage
import com.anthropic.models.beta.messages.MessageCreateParams
import com.anthropic.models.beta.messages.ToolRunnerCreateParams
import dev.memdir.conformance.root
import java.io.ByteArrayOutputStream
import java.io.PrintStream
import java.nio.file.Path
import java.time.Duration
import kotlin.io.path.ExperimentalPathApi
import kotlin.io.path.deleteRecursively
import kotlin.io.path.readText
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** The code of `docs/languages/kotlin.md` is also here, and its results are as the page says. */
class DocumentationTest {
    @OptIn(ExperimentalPathApi::class)
    @Test
    fun `the quickstart prints what the page says`() {
        Path.of("memory").deleteRecursively()
        repeat(2) { assertEquals(block("printed"), printed(::quickstart).trim()) }
        checkContract()
    }

    @Test
    fun `the page has the code that runs here`() {
        for (name in listOf("quickstart", "runner", "contract", "history")) assertEquals(block(name), code(name), name)
    }

    @Test
    fun `the example of the history prints what the page says`() =
        assertEquals(block("history-printed"), printed(::history).trim())

    @Test
    fun `the pages about policies have the code that runs here`() {
        assertEquals(block("kotlin", "docs/reference/policies/sensitive-text.md"), code("kotlin"))
        assertTrue(redacted().contains("line 1 (password-assignment)"))
        assertEquals(block("kotlin-hooks", "docs/reference/policies/hooks.md"), code("kotlin-hooks"))
        assertEquals(listOf("create /memories/notes.md: OK, 17 bytes"), hooked())
        assertEquals(block("kotlin-expiry", "docs/reference/policies/expiry.md"), code("kotlin-expiry"))
        assertEquals(emptyList<Expired>(), unused())
    }

    @Test
    fun `the lines for Gradle have the versions and processors of the AAR`() {
        val page = root.resolve("docs/languages/kotlin.md").readText()
        val gradle = page.substringAfter("```kts\n").substringBefore("```")
        val aar = root.resolve("bindings-uniffi/android/build.gradle.kts").readText()
        val script = root.resolve("bindings-uniffi/scripts/aar").readText()
        val processors = Regex("--target ([\\w-]+)").findAll(script).map { it.groupValues[1] }.toList()
        assertEquals(processors, Regex("\"([\\w-]+)\"").findAll(gradle.lines().single { "abiFilters" in it }).map { it.groupValues[1] }.toList())
        val least = Regex("minSdk = \\d+")
        assertEquals(least.find(aar)!!.value, least.find(gradle)!!.value)
        val group = Regex("group = \"(.*)\"").find(aar)!!.groupValues[1]
        val artifact = Regex("artifactId = \"(.*)\"").find(aar)!!.groupValues[1]
        val version = Regex("(?m)^version = \"(.*)\"").find(aar)!!.groupValues[1]
        assertTrue("implementation(\"$group:$artifact:$version\")" in gradle, gradle)
        val jna = Regex("\"(net\\.java\\.dev\\.jna:jna:.*@aar)\"").find(aar)!!.groupValues[1]
        assertTrue("`$jna`" in page, jna)
    }

    @OptIn(ExperimentalPathApi::class)
    @Test
    fun `the page about your own code has the code that runs here, and it prints what the page says`() {
        val page = "docs/guides/your-own-code.md"
        assertEquals(block("kotlin", page), code("own-code"))
        Path.of("memory").deleteRecursively()
        assertEquals(block("printed", page), printed(::ownCode).trim())
        assertEquals(block("kotlin-watch", page), code("watch"))
        assertEquals(block("watch-printed", page), printed(::watch).trim())
    }

    private fun printed(work: () -> Unit): String {
        val out = System.out
        val kept = ByteArrayOutputStream()
        System.setOut(PrintStream(kept, true, Charsets.UTF_8))
        try {
            work()
        } finally {
            System.setOut(out)
        }
        return kept.toString(Charsets.UTF_8)
    }

    /** The block of code after `<!-- name -->` in the page, without its imports. */
    private fun block(name: String, page: String = "docs/languages/kotlin.md"): String =
        root.resolve(page).readText()
            .substringAfter("<!-- $name -->\n")
            .substringAfter("\n")
            .substringBefore("\n```")
            .replace(Regex("^(import .*\n+)+"), "")

    /** The lines between `// name` and `// end` in this file. */
    private fun code(name: String): String {
        val source = root.resolve("bindings-uniffi/kotlin/src/test/kotlin/dev/memdir/DocumentationTest.kt").readText()
        return source.substringAfter("    // $name\n").substringBefore("\n    // end").trimIndent()
    }
}

private fun quickstart() {
    // quickstart
    Memory("./memory").use { memory ->
        // Replaces the file of an earlier run. `create`, as a command of the model, refuses an existing file.
        memory.write("/memories/notes.md", "- likes tea\n")
        memory.insert("/memories/notes.md", 1, "- lives in Lisbon\n")
        println(memory.view("/memories/notes.md"))

        // The input of a tool use, as Claude sent it; what comes back goes into the tool_result.
        val reply = memory.execute("""{"command": "delete", "path": "/memories/old.md"}""")
        println("is_error: ${reply.isError}, content: ${reply.content}")
    }
    // end
}

private fun history() {
    // history
    Memory("memory:", MemoryOptions(history = true)).use { memory ->
        memory.actingAs("session 1").use { session ->
            session.write("/memories/tea.md", "- green\n")
            session.insert("/memories/tea.md", 1, "- none")
        }
        for (version in memory.history()) println("${version.operation} ${version.path} ${version.size} ${version.actor}")

        val (newest, oldest) = memory.history("/memories/tea.md")
        print(memory.readVersion(oldest.id).decodeToString())
        print(memory.diff(newest.id))

        val undone = memory.undo(newest.change)
        println(undone.files.map { "${it.operation} ${it.path}" })
    }
    // end
}

/** Sends a question through the SDK's tool runner. The end-to-end tests also use it. */
fun ask(client: AnthropicClient, memory: Memory, question: String): List<BetaMessage> {
    // runner
    val request =
        MessageCreateParams.builder()
            .model("claude-sonnet-5-5")
            .maxTokens(2048)
            .addTool(BetaMemoryTool20250818.builder().build())
            .addUserMessage(question)
            .build()
    val handler = MemdirHandler(memory)
    val tools =
        ToolRunnerCreateParams.builder().betaMemoryToolHandler(handler).initialMessageParams(request).build()
    val messages = handler.messages(client.beta().messages().toolRunner(tools)).toList()
    // end
    return messages
}

private fun redacted(): String {
    // kotlin
    val memory = Memory("memory:", MemoryOptions(sensitiveText = SensitiveText.REDACT, sensitiveOnView = true))
    val reply = memory.create("/memories/notes.md", "Router password: sun7-Flower!\n")
    // end
    return reply.also { memory.close() }
}

private fun hooked(): List<String> {
    val log = mutableListOf<String>()
    // kotlin-hooks
    val hooks = object : MemoryHooks {
        override fun before(command: Command, call: HookCall): HookDecision = when (command) {
            is Command.Delete -> HookDecision.Deny("Nothing is deleted here: rename it to /memories/archive instead.")
            is Command.Create -> HookDecision.Replace(command.fileText.replace("Anna Kareva", "A. K."))
            else -> HookDecision.Allow
        }

        override fun after(event: Event) {
            log += "${event.command} ${event.path}: ${event.outcome}, ${event.bytes} bytes"
        }
    }
    val memory = Memory("memory:", hooks = hooks)
    // end
    memory.use { it.create("/memories/notes.md", "Anna Kareva likes tea.\n") }
    return log
}

private fun unused(): List<Expired> {
    // kotlin-expiry
    val memory = Memory("memory:", MemoryOptions(recordAccess = true, neverExpire = listOf("/memories/handbook")))
    val unused = memory.expire(Duration.ofDays(90), dryRun = true)
    // end
    memory.use {
        it.create("/memories/notes.md", "Milk is out.\n")
        it.create("/memories/handbook/a.md", "Be brief.\n")
        val told = mutableListOf<ExpiryProgress>()
        val expired = it.expire(Duration.ZERO) { progress -> told.add(progress) }
        assertEquals(listOf("/memories/notes.md" to 13L), expired.map { file -> file.path to file.bytes })
        assertEquals(listOf(ExpiryProgress(2, 1)), told)
    }
    return unused
}

private fun checkContract() {
    // contract
    val broken = checkContract(StoreFactory { MapStore() })
    check(broken == null) { broken!! }
    // end
}

private fun ownCode() {
    // own-code
    Memory("./memory").use { memory ->
        memory.write("/memories/tea.md", "# Tea\n- green\n")

        // Adds a line, unless the file has changed since it was read.
        val text = memory.read("/memories/tea.md")
        memory.write("/memories/tea.md", text + "- black\n", ifUnchanged = text)

        for (entry in memory.list(depth = null)) println("${entry.path} ${entry.size}")
        for (match in memory.grep("black")) println("${match.path}:${match.line} ${match.text}")
        print(memory.index(maxChars = 1000))
    }
    // end
}

private fun watch() {
    // watch
    Memory("memory:", MemoryOptions(history = true)).use { memory ->
        memory.write("/memories/plan.md", "- water\n- tea\n")

        memory.watch().use { watch ->
            // Also reports changes by other processes, such as an editor.
            memory.write("/memories/plan.md", "- water\n")
            for (change in watch.changes(Duration.ofSeconds(10)).orEmpty()) {
                println("${change.path} is ${change.kind.name.lowercase()}")
            }
        }

        for (match in memory.grepHistory("tea")) println("${match.version.path}:${match.line} was: ${match.text}")
        val stats = memory.stats()
        println("${stats.files} file, ${stats.bytes} bytes")
    }
    // end
}

package dev.memdir

import com.fasterxml.jackson.databind.JsonNode
import com.fasterxml.jackson.databind.ObjectMapper
import com.fasterxml.jackson.databind.node.ArrayNode
import dev.memdir.conformance.root
import java.time.Duration
import kotlin.coroutines.CoroutineContext
import kotlinx.coroutines.CoroutineDispatcher
import kotlinx.coroutines.runBlocking
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertNotNull
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows

/**
 * The hostile tables (`tests/hostile`), and a closed memory: each call ends in a reply or in the declared
 * exception.
 */
class HostileTest {
    /** The option types whose Kotlin types can hold invalid values. */
    private val HELD = setOf("number", "duration", "text", "patterns", "rules", "key")

    private fun table(name: String): List<JsonNode> =
        ObjectMapper().readTree(root.resolve("tests/hostile/$name.json").toFile()).toList()

    private fun String.put(): String =
        replace("@half@", "\ud800")
            .replace("@long@", "x".repeat(1_000_000))
            .replace("@deep@", "[".repeat(100_000))
            .replace("@digits@", "9".repeat(5_000))

    private fun assertRefused(reply: Reply, name: String) {
        assertTrue(reply.isError, name)
        assertTrue(reply.content.length in 1..50_000, name)
        assertNull(reply.cause, name)
    }

    @Test
    fun `input that nobody should send is answered`() =
        Memory("memory:").use { memory ->
            for (row in table("inputs")) assertRefused(memory.execute(row["json"].asText().put()), row["name"].asText())
            assertTrue(memory.view("/memories").endsWith("4.0K\t/memories"))
        }

    @Test
    fun `half a surrogate pair is told like any other mistake`() =
        Memory("memory:").use { memory ->
            val half = "\ud800"
            assertTrue("not valid Unicode" in memory.execute("{\"command\": \"$half\"}").content)
            val expected = "Error: Invalid `file_text` parameter: expected a string, got text that is not valid Unicode"
            assertEquals(expected, assertThrows<MemdirException.Refused> { memory.create("/memories/a", half) }.reason)
            assertThrows<MemdirException.Refused> { memory.view(half) }
            assertThrows<MemdirException.Refused> { memory.strReplace("/memories/a", "a", half) }
            assertThrows<MemdirException.Refused> { memory.insert("/memories/a", 0, half) }
            assertThrows<MemdirException.Refused> { memory.delete("/memories/$half") }
            assertThrows<MemdirException.Refused> { memory.rename("/memories/a", half) }
            assertThrows<MemdirException.Config> { Memory(half) }
            assertThrows<MemdirException.Config> { openStore(half) }
            // A complete pair is valid.
            assertEquals("File created successfully at: /memories/\ud83d\ude00", memory.create("/memories/\ud83d\ude00", ""))
        }

    @Test
    fun `a wrong option is an exception that names it`() {
        val values = ObjectMapper().readTree(root.resolve("tests/hostile/values.json").toFile())
        val sections = ObjectMapper().readTree(root.resolve("core/options.json").toFile())["sections"]
        var tried = 0
        for (option in sections.flatMap { it["options"] }.filter { it["type"].textValue() in HELD }) {
            val name = option["name"].textValue().replace(Regex("_(.)")) { it.groupValues[1].uppercase() }
            for (row in values["types"][option["type"].textValue()]) {
                val options = optionsOf(name, option["type"].textValue(), row["value"]) ?: continue
                tried += 1
                if (row.has("fits")) {
                    Memory("memory:", options).use { assertFalse(it.execute(VIEW).isError, "$name $row") }
                    continue
                }
                val error = assertThrows<MemdirException.Config>("$name $row") { Memory("memory:", options) }
                val words = values["words"]["kotlin"].properties().associate { it.key to it.value.textValue() } + ("name" to name)
                val orNone = if (option["none"].booleanValue()) ", or null" else ""
                val said = (words + ("or_none" to orNone)).entries.fold(row["says"].textValue()) { text, (word, put) -> text.replace("{$word}", put) }
                // The value of a duration has its unit, and `…` matches any text.
                val parts = said.substringBefore(", got").split("…")
                assertTrue(error.reason.startsWith(parts.first()) && parts.all { it in error.reason }, "$name $row: ${error.reason}")
            }
        }
        assertTrue(tried > 50, "$tried")
        val memory = Memory("memory:", MemoryOptions(recordAccess = true))
        memory.use { assertThrows<MemdirException.Config> { it.expire(Duration.ofSeconds(-1)) } }
    }

    /** The options for a value, if Kotlin's types can hold it. */
    private fun optionsOf(name: String, type: String, value: JsonNode): MemoryOptions? {
        val given: Any =
            when (type) {
                "number" -> value.takeIf { it.isIntegralNumber && it.canConvertToLong() }?.asLong()
                "duration" -> value.takeIf { it.isNumber && it.asDouble() in -1e9..1e9 }?.let { Duration.ofNanos((it.asDouble() * 1e9).toLong()) }
                "patterns" -> (value as? ArrayNode)?.takeIf { all -> all.all { it.isTextual } }?.map { it.asText().put() }
                "rules" ->
                    value.takeIf { it.isObject && it.all { pattern -> pattern.isTextual } }
                        ?.properties()?.associate { (id, pattern) -> id.put() to pattern.asText().put() }
                "key" -> value.takeIf { it.isTextual }?.let { EncryptionKey(it.asText().put()) }
                else -> value.takeIf { it.isTextual }?.asText()?.put()
            } ?: return null
        val builder = MemoryOptions.builder()
        builder.javaClass.methods.single { it.name == name && it.parameterTypes[0].isInstance(given) }.invoke(builder, given)
        return builder.build()
    }

    @Test
    fun `an address that is missing is not the default one`() {
        val missing: String? = System.getenv("MEMDIR_NO_SUCH_VARIABLE")
        val error = assertThrows<MemdirException.Config> { Memory(missing) }
        assertEquals("store must be an address such as \"./memory\", got null", error.message)
        assertEquals("store", error.option)
        assertThrows<MemdirException.Config> { Memory("") }
    }

    @Test
    fun `a memory that was closed is out of reach`() {
        val memory = Memory("memory:")
        memory.close()
        val expected = "Error: The memory directory cannot be reached at the moment. Nothing was changed; try again later."
        val reply = memory.execute(VIEW)
        assertEquals(expected, reply.content)
        assertTrue(reply.isError)
        assertNotNull(reply.cause)
        val error = assertThrows<MemdirException.Store> { memory.view("/memories") }
        assertEquals(reply, error.reply())
        var told: MemdirException? = null
        val thrown = assertThrows<RuntimeException> { MemdirHandler(memory) { told = it }.delete("/memories/a") }
        assertEquals(expected, "Error: ${thrown.message}")
        assertNotNull(told)
        runBlocking { assertEquals(reply, memory.suspending.execute(VIEW)) }
    }

    @Test
    fun `where no thread can be had the memory is out of reach`() {
        // The JVM's error if a dispatcher cannot start a thread.
        val words = "unable to create native thread: possibly out of memory or process/resource limits reached"
        val none =
            object : CoroutineDispatcher() {
                override fun dispatch(context: CoroutineContext, block: Runnable): Unit = throw OutOfMemoryError(words)
            }
        Memory("memory:").use { blocking ->
            val memory = SuspendingMemory(blocking, none)
            runBlocking {
                val reply = memory.execute("{\"command\": \"create\", \"path\": \"/memories/a\", \"file_text\": \"\"}")
                assertEquals(
                    "Error: The memory directory cannot be reached at the moment. Nothing was changed; try again later.",
                    reply.content,
                )
                assertTrue(reply.isError)
                assertTrue(words in reply.cause.orEmpty(), reply.cause)
                val error = assertThrows<MemdirException.Store> { memory.view("/memories") }
                assertTrue(words in error.message.orEmpty())
            }
            assertTrue(blocking.view("/memories").endsWith("4.0K\t/memories"))
        }
    }

    @Test
    fun `a store may break in words that are no text`() {
        val broken = object : Store by MapStore() {
            override fun read(path: String): ByteArray = throw StoreException.Failed("\ud800")
            override fun delete(path: String): Unit = error("\udfff")
        }
        Memory(broken).use { memory ->
            for (command in listOf("view", "delete")) {
                val reply = memory.execute("{\"command\": \"$command\", \"path\": \"/memories/a\"}")
                assertTrue(reply.isError)
                assertTrue("cannot be reached" in reply.content, reply.content)
            }
        }
    }

    private companion object {
        const val VIEW = "{\"command\": \"view\", \"path\": \"/memories\"}"
    }
}

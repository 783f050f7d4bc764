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

/** The hostile tables (`tests/hostile`), and a closed memory: always a reply or the declared exception. */
class HostileTest {
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
            // A pair is no mistake.
            assertEquals("File created successfully at: /memories/\ud83d\ude00", memory.create("/memories/\ud83d\ude00", ""))
        }

    @Test
    fun `wrong options are the declared exception`() {
        for (row in table("options")) {
            val options = optionsOf(row["option"].asText(), row["value"]) ?: continue
            if (row.has("fits")) {
                Memory("memory:", options.copy(recordAccess = true)).use { assertFalse(it.execute(VIEW).isError, "$row") }
            } else {
                assertThrows<MemdirException.Config>("$row") { Memory("memory:", options) }
            }
        }
        val memory = Memory("memory:", MemoryOptions(recordAccess = true))
        memory.use { assertThrows<MemdirException.Config> { it.expire(Duration.ofSeconds(-1)) } }
    }

    /** What the types of Kotlin can hold of a row. */
    private fun optionsOf(option: String, value: JsonNode): MemoryOptions? {
        val number = value.takeIf { it.isIntegralNumber && it.canConvertToLong() }?.asLong()
        val span = value.takeIf { it.isNumber && it.asDouble() in -1e9..1e9 }?.let { Duration.ofNanos((it.asDouble() * 1e9).toLong()) }
        val text = value.takeIf { it.isTextual }?.asText()?.put()
        val texts = (value as? ArrayNode)?.takeIf { all -> all.all { it.isTextual } }?.map { it.asText().put() }
        val rules = value.takeIf { it.isObject && it.all { pattern -> pattern.isTextual } }
            ?.properties()?.associate { (id, pattern) -> id.put() to pattern.asText().put() }
        return when (option) {
            "max_view_chars" -> number?.let { MemoryOptions(maxViewChars = it) }
            "max_file_bytes" -> number?.let { MemoryOptions(maxFileBytes = it) }
            "max_total_bytes" -> number?.let { MemoryOptions(maxTotalBytes = it) }
            "max_files" -> number?.let { MemoryOptions(maxFiles = it) }
            "max_image_bytes" -> number?.let { MemoryOptions(maxImageBytes = it) }
            "encryption_key" -> text?.let { MemoryOptions(encryptionKey = EncryptionKey(it)) }
            "encrypt_names" -> value.takeIf { it.isBoolean }?.let { MemoryOptions(encryptNames = it.asBoolean()) }
            "expire_after" -> span?.let { MemoryOptions(expireAfter = it) }
            "lock_timeout" -> if (value.isNull) MemoryOptions(lockTimeout = null) else span?.let { MemoryOptions(lockTimeout = it) }
            "history_max_age" -> if (value.isNull) MemoryOptions(historyMaxAge = null) else span?.let { MemoryOptions(historyMaxAge = it) }
            "history_max_versions" -> number?.let { MemoryOptions(historyMaxVersions = it) }
            "history_max_bytes" -> number?.let { MemoryOptions(historyMaxBytes = it) }
            "actor" -> text?.let { MemoryOptions(actor = it) }
            "read_only_paths" -> texts?.let { MemoryOptions(readOnlyPaths = it) }
            "writable_paths" -> texts?.let { MemoryOptions(writablePaths = it) }
            "never_expire" -> texts?.let { MemoryOptions(neverExpire = it) }
            "sensitive_rules" -> rules?.let { MemoryOptions(sensitiveRules = it) }
            "namespace" -> text?.let { MemoryOptions(namespace = it) }
            else -> null
        }
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
        // What the JVM throws where a dispatcher starts a thread.
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

package dev.memdir

import dev.memdir.examples.MemoryDao
import dev.memdir.examples.Row
import dev.memdir.examples.RoomStore
import java.lang.reflect.Proxy
import java.time.Instant
import org.junit.jupiter.api.Assertions.assertArrayEquals
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows

/**
 * Stores written in Kotlin: correct ones work like any other, faulty ones cause errors and no crash.
 */
class ForeignStoreTest {
    @Test
    fun `a store written in Kotlin keeps the contract`() =
        assertNull(checkContract(StoreFactory(::MapStore)))

    @Test
    fun `the example on a table of Room's kind keeps the contract`() =
        assertNull(checkContract(StoreFactory { RoomStore(MapDao()) }))

    @Test
    fun `a store that ignores case says so`() {
        assertNull(checkContract(StoreFactory(::FoldingStore)))
        val store = FoldingStore()
        store.write("/memories/Handbook/rules.md", "one\n".toByteArray(), false)
        val create = """{"command":"insert","path":"/memories/HANDBOOK/Rules.md","insert_line":0,"insert_text":"two"}"""
        Memory(store, MemoryOptions(readOnlyPaths = listOf("/memories/handbook"))).use { memory ->
            val reply = memory.execute(create)
            assertTrue(reply.isError && "is read-only" in reply.content, "$reply")
        }
        assertEquals("one\n", store.read("/memories/handbook/RULES.md").decodeToString())
        assertFalse(MapStore().foldsCase())
        assertFalse(openStore("memory:").foldsCase())
        // If a store fails to answer, it is treated as one that folds case.
        val unsure = object : Store by MapStore() {
            override fun foldsCase(): Boolean = throw IllegalStateException("who knows")
        }
        unsure.write("/memories/Handbook/rules.md", "one\n".toByteArray(), false)
        Memory(unsure, MemoryOptions(readOnlyPaths = listOf("/memories/handbook"))).use { memory ->
            assertTrue("is read-only" in memory.execute(create).content)
        }
    }

    @Test
    fun `the example changes all or nothing wherever its table breaks`() {
        class Breaking(private val dao: MapDao, private var calls: Int) : MemoryDao by dao {
            override fun put(rows: List<Row>) = counted { dao.put(rows) }

            override fun move(source: String, destination: String, parent: String) = counted {
                dao.move(source, destination, parent)
            }

            private fun counted(work: () -> Unit) = if (calls-- == 0) throw IllegalStateException("full") else work()
        }
        val dao = MapDao()
        RoomStore(dao).write("/memories/a/b", "text".toByteArray(), false)
        for (calls in 0..1) {
            Memory(RoomStore(Breaking(dao, calls))).use { memory ->
                val reply = memory.execute("""{"command":"rename","old_path":"/memories/a","new_path":"/memories/c/d"}""")
                assertTrue(reply.isError && "full" in reply.cause!!, "$reply")
            }
            assertEquals(listOf("/memories/a", "/memories/a/b"), dao.tree("/memories/a").sorted())
            assertEquals(emptyList<String>(), dao.tree("/memories/c"))
        }
    }

    @Test
    fun `times go both ways to the microsecond`() {
        assertNull(checkContract(StoreFactory { object : Store by openStore("memory:") {} }))
        val store = openStore("memory:")
        store.write("/memories/a.md", ByteArray(0), false)
        for (time in listOf("2026-05-17T08:30:00.123456Z", "1970-01-01T00:00:00Z", "1869-10-02T06:30:00.000001Z").map(Instant::parse)) {
            store.setModified("/memories/a.md", time)
            assertEquals(listOf(Entry("/memories/a.md", 0, time)), store.list("/memories"))
        }
        assertThrows<StoreException.IsADirectory> { store.setModified("/memories", Instant.EPOCH) }
        assertThrows<StoreException.NotFound> { store.setModified("/memories/b.md", Instant.EPOCH) }
    }

    @Test
    fun `a store that does not keep the contract is told so`() {
        val forgetful = { object : Store by MapStore() { override fun delete(path: String) = Unit } }
        val broken = checkContract(StoreFactory(forgetful))
        assertTrue(broken!!.startsWith("the store breaks the rule"), broken)
        assertThrows<StoreException.Failed> { checkContract(StoreFactory { error("none today") }) }
    }

    @Test
    fun `a built-in store can be built upon`() {
        val calls = mutableListOf<String>()
        val store = openStore("memory:")
        val counting =
            object : Store by store {
                override fun update(path: String, edit: Edit) {
                    calls += path
                    store.update(path, edit)
                }
            }
        Memory(counting).use {
            it.create("/memories/a.md", "one\n")
            it.strReplace("/memories/a.md", "one", "two")
        }
        assertEquals(listOf("/memories/a.md"), calls)
        store.update("/memories/a.md") { it + "three\n".toByteArray() }
        store.update("/memories/a.md") { null }
        assertArrayEquals("two\nthree\n".toByteArray(), store.read("/memories/a.md"))
        assertThrows<StoreException.Failed> { store.update("/memories/a.md") { error("no change") } }
        assertThrows<StoreException.NotFound> { store.read("/memories/b.md") }
        assertThrows<StoreException.Failed> { store.read("/etc/passwd") }
    }

    /** A store whose methods all run [what], as Java or reflection could implement one. */
    private fun storeThat(what: () -> Any?): Store =
        Proxy.newProxyInstance(javaClass.classLoader, arrayOf(Store::class.java)) { _, method, _ ->
            if (method.declaringClass == Object::class.java) 1 else what()
        } as Store

    private val commands =
        listOf(
            """{"command":"view","path":"/memories"}""",
            """{"command":"view","path":"/memories/a.md"}""",
            """{"command":"create","path":"/memories/a.md","file_text":"x"}""",
            """{"command":"str_replace","path":"/memories/a.md","old_str":"a","new_str":"b"}""",
            """{"command":"insert","path":"/memories/a.md","insert_line":0,"insert_text":"b"}""",
            """{"command":"delete","path":"/memories/a.md"}""",
            """{"command":"rename","old_path":"/memories/a.md","new_path":"/memories/b.md"}""",
        )

    @Test
    fun `whatever is thrown is an error reply whose cause is for the developer`() {
        val secret = "jdbc://user:hunter2@host"
        val thrown: List<() -> Nothing> =
            listOf(
                { throw IllegalStateException(secret) },
                { throw java.io.IOException(secret) },
                { throw StoreException.Failed(secret) },
                // Errors are not exceptions: an unimplemented method throws one.
                { TODO(secret) },
                { throw AssertionError(secret) },
                { throw StackOverflowError(secret) },
                // An exception of another kind of call.
                { throw MemdirException.Refused(secret, ErrorKind.INVALID) },
            )
        for (throwing in thrown) {
            Memory(storeThat(throwing)).use { memory ->
                for (command in commands) {
                    val reply = memory.execute(command)
                    assertTrue(reply.isError, command)
                    assertFalse(secret in reply.content, reply.content)
                    assertTrue(secret in reply.cause!!, reply.cause)
                }
                val error = assertThrows<MemdirException.Store> { memory.view("/memories") }
                assertTrue(secret in error.reason)
                assertFalse(secret in error.reply().content)
                assertThrows<MemdirException.Store> { memory.clear() }
            }
        }
    }

    @Test
    fun `null and wrong types are error replies`() {
        for (wrong in listOf({ null }, { "text" }, { 1 }, { listOf("a") }, { listOf<Any?>(null) })) {
            Memory(storeThat(wrong)).use { memory ->
                // A method without a result cannot return a wrong one.
                for (command in commands.take(2) + commands.drop(3).take(2)) {
                    val reply = memory.execute(command)
                    assertTrue(reply.isError && reply.cause != null, "$command: $reply")
                }
            }
        }
    }

    @Test
    fun `a condition that a store names is the sentence that belongs to it`() {
        val full = object : Store by MapStore() { override fun write(path: String, content: ByteArray, overwrite: Boolean) = throw StoreException.Full() }
        val reply = Memory(full).use { it.execute(commands[2]) }
        assertTrue("full" in reply.content, reply.content)
        assertNull(reply.cause)
        assertEquals("no space left", StoreException.Full().toString())
    }

    @Test
    fun `wrong entries are a fault of the store`() {
        for (entry in listOf(Entry("/etc/passwd", 1), Entry("/memories", null), Entry("/memories/a/b", 1), Entry("/memories/a", -1), Entry("", null))) {
            val store = object : Store by MapStore() { override fun list(path: String) = listOf(entry) }
            val reply = Memory(store).use { it.execute(commands[0]) }
            assertTrue(reply.isError && reply.cause != null, "$entry: $reply")
        }
    }

    @Test
    fun `an update that does not ask for the edit is a fault of the store`() {
        val store = object : Store by MapStore() { override fun update(path: String, edit: Edit) = Unit }
        Memory(store).use {
            it.create("/memories/a.md", "one\n")
            assertTrue("did not apply the edit" in it.execute("""{"command":"insert","path":"/memories/a.md","insert_line":0,"insert_text":"x"}""").cause!!)
        }
    }

    @Test
    fun `an update that never has the content that was read is a fault of the store`() {
        var calls = 0
        val store =
            object : Store by MapStore() {
                override fun update(path: String, edit: Edit) {
                    edit.apply("one, ${calls++}\n".toByteArray())
                }
            }
        Memory(store).use {
            it.create("/memories/a.md", "one\n")
            val reply = it.execute("""{"command":"str_replace","path":"/memories/a.md","old_str":"one","new_str":"two"}""")
            assertTrue("different at each attempt" in reply.cause!!, reply.cause)
        }
    }
}

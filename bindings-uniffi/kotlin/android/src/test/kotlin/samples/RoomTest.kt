package samples

import android.content.Context
import android.database.sqlite.SQLiteBlobTooBigException
import androidx.room.Room
import androidx.test.core.app.ApplicationProvider
import dev.memdir.Memory
import dev.memdir.MemoryOptions
import dev.memdir.Store
import dev.memdir.StoreFactory
import dev.memdir.checkContract
import dev.memdir.conformance.CaseHooks
import dev.memdir.conformance.Opened
import dev.memdir.conformance.runCases
import dev.memdir.examples.MemoryDao
import dev.memdir.examples.RoomStore
import dev.memdir.examples.Row
import org.junit.After
import org.junit.Assert.assertArrayEquals
import org.junit.Assert.assertEquals
import org.junit.Assert.assertNull
import org.junit.Assert.assertThrows
import org.junit.Assert.assertTrue
import org.junit.Test
import org.junit.runner.RunWith
import org.robolectric.RobolectricTestRunner
import snippets.MemoryDatabase
import snippets.openMemory

/** The example on a table of Room, with the code that Room's compiler generates and with Android's SQLite. */
@RunWith(RobolectricTestRunner::class)
class RoomTest {
    private val context = ApplicationProvider.getApplicationContext<Context>()
    private val open = mutableListOf<MemoryDatabase>()

    @After
    fun close() {
        open.forEach { it.close() }
        open.clear()
    }

    @Test
    fun `a table of Room keeps the contract`() = inBackground {
        assertNull(checkContract(StoreFactory { RoomStore(inMemory().memories()) }))
    }

    @Test
    fun `a table of Room passes every conformance case`() = inBackground {
        runCases("android-room") { options, hooks ->
            close()
            opened(RoomStore(inMemory().memories()), options, hooks)
        }
    }

    @Test
    fun `a table in a file passes every conformance case`() = inBackground {
        var number = 0
        runCases("android-room-file") { options, hooks ->
            close()
            number += 1
            opened(RoomStore(inFile("case-$number.db").memories()), options, hooks)
        }
    }

    @Test
    fun `a table of Room changes all or nothing where it breaks`() = inBackground {
        class Breaking(dao: MemoryDao) : MemoryDao by dao {
            override fun move(source: String, destination: String, parent: String) = throw IllegalStateException("full")
        }
        val dao = inMemory().memories()
        RoomStore(dao).write("/memories/a/b", "text".toByteArray(), false)
        Memory(RoomStore(Breaking(dao))).use { memory ->
            val reply = memory.execute("""{"command": "rename", "old_path": "/memories/a", "new_path": "/memories/c/d"}""")
            assertTrue("$reply", reply.isError && "full" in reply.cause!!)
        }
        assertEquals(listOf("/memories/a", "/memories/a/b"), dao.tree("/memories/a").sorted())
        assertEquals(emptyList<String>(), dao.tree("/memories/c"))
    }

    @Test
    fun `what a memory wrote is there when the database is opened again`() = inBackground {
        openMemory(inFile("memory.db")).use { memory ->
            memory.create("/memories/a/b.md", "- likes tea")
            memory.create("/memories/c.md", "- lives in Lisbon")
        }
        close()
        openMemory(inFile("memory.db")).use { memory ->
            memory.rename("/memories/a", "/memories/d/e")
            assertTrue(memory.view("/memories/d/e/b.md").endsWith("- likes tea"))
            memory.delete("/memories/d")
            assertEquals(listOf("/memories/c.md"), memory.list("/memories").map { it.path })
        }
    }

    @Test
    fun `a content may be larger than the cursor window`() = inBackground {
        val dao = inFile("large.db").memories()
        val content = ByteArray(5_000_000) { (it % 251).toByte() }
        val store = RoomStore(dao)
        store.write("/memories/a/large", content, false)
        assertArrayEquals(content, store.read("/memories/a/large"))
        store.update("/memories/a/large") { it + 1 }
        store.rename("/memories/a", "/memories/b")
        assertEquals(5_000_001L, store.list("/memories/b").single().size)
        store.delete("/memories/b")
        assertTrue(store.list("/memories").isEmpty())
    }

    /** Shows that the test above can fail. */
    @Test
    fun `what a query returns at once may not`() = inBackground {
        val dao = inFile("large.db").memories()
        for ((size, fits) in listOf(1_000_000 to true, 2_000_000 to true, 2_200_000 to false)) {
            dao.put(listOf(Row("/memories/a", "/memories", ByteArray(size), 0)))
            val read = { assertEquals(size, dao.piece("/memories/a", 1, size.toLong()).size) }
            if (fits) read() else assertThrows(SQLiteBlobTooBigException::class.java) { read() }
        }
    }

    private fun inMemory(): MemoryDatabase =
        Room.inMemoryDatabaseBuilder(context, MemoryDatabase::class.java).build().also(open::add)

    private fun inFile(name: String): MemoryDatabase =
        Room.databaseBuilder(context, MemoryDatabase::class.java, name).build().also(open::add)

    private fun opened(store: Store, options: MemoryOptions, hooks: CaseHooks?) = Opened(Memory(store, options, hooks), store)
}

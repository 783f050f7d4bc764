package dev.memdir

import com.sun.jna.Library
import com.sun.jna.Native
import com.sun.jna.Structure
import java.lang.ref.WeakReference
import java.util.concurrent.Callable
import java.util.concurrent.Executors
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Assumptions.assumeTrue
import org.junit.jupiter.api.Test

/** Many memories, many threads: nothing leaks, and all calls succeed. */
class StressTest {
    /** The bytes that the C library has allocated in this process: those of the Rust library, and little else. */
    private fun givenOut(): Long {
        val told = runCatching { Native.load("c", C::class.java).mallinfo2() }.getOrNull()
        assumeTrue(told != null, "only glibc tells")
        return told!!.uordblks + told.hblkhd
    }

    private fun held(): Long {
        System.gc()
        return givenOut() + Runtime.getRuntime().run { totalMemory() - freeMemory() }
    }

    private fun assertNothingIsLeft(cycle: (text: String) -> Unit) {
        val text = "x".repeat(1 shl 18)
        repeat(20) { cycle(text) }
        val before = held()
        val cycles = times(40)
        repeat(cycles) { cycle(text) }
        val growth = held() - before
        // If each cycle leaked one text, it would be three times as much.
        assertTrue(growth < cycles.toLong() * text.length / 3, "$growth bytes more are held")
    }

    @Test
    fun `memories that come and go leave nothing`() = assertNothingIsLeft { text ->
        Memory("memory:").use { it.create("/memories/a.md", text) }
    }

    @Test
    fun `memories on stores written in Kotlin that come and go leave nothing`() = assertNothingIsLeft { text ->
        Memory(MapStore()).use { it.create("/memories/a.md", text).also { _ -> it.view("/memories") } }
    }

    @Test
    fun `a store that its memory has let go of is let go of`() {
        val reference = usedAndClosed()
        var tries = 0
        while (reference.get() != null && tries++ < 100) {
            System.gc()
            Thread.sleep(10)
        }
        assertEquals(null, reference.get())
    }

    /** A separate method, because a stack frame could keep the store alive. */
    private fun usedAndClosed(): WeakReference<Store> {
        val store = MapStore()
        Memory(store).use { it.view("/memories") }
        return WeakReference(store)
    }

    @Test
    fun `of the calls of eight threads none is lost`() {
        val (count, writes) = times(1_000) to times(100)
        val whole = MemoryOptions(maxViewChars = null)
        for (open in listOf({ Memory("memory:", whole) }, { Memory(MapStore(), whole) })) {
            open().use { memory ->
                memory.create("/memories/all.md", "")
                val threads = Executors.newFixedThreadPool(8)
                val calls =
                    (0 until count).map { number ->
                        Callable {
                            // A tenth of them write to one file, and no line may be lost.
                            if (number % 10 == 0) memory.insert("/memories/all.md", 0, "line $number\n")
                            else memory.view("/memories/all.md", listOf(1, 1))
                        }
                    }
                memory.insert("/memories/all.md", 0, "first\n")
                threads.invokeAll(calls).forEach { it.get() }
                threads.shutdown()
                val lines = memory.view("/memories/all.md").lines().drop(1).map { it.substringAfter('\t') }
                assertEquals(writes + 1, lines.toSet().size)
                assertEquals(writes + 1, lines.size)
            }
        }
    }

    @Test
    fun `closing while others call is an answer or an error for each of them`() {
        repeat(times(10)) {
            val memory = Memory("memory:")
            val threads = Executors.newFixedThreadPool(4)
            val calls = (0 until 40).map { number ->
                threads.submit(Callable {
                    if (number == 20) memory.close()
                    else runCatching { memory.view("/memories") }.onFailure { if (it !is MemdirException.Store) throw it }
                })
            }
            calls.forEach { it.get() }
            threads.shutdown()
        }
    }

    interface C : Library {
        fun mallinfo2(): Info
    }

    /** `struct mallinfo2` of glibc. */
    @Structure.FieldOrder("arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "uordblks", "fordblks", "keepcost")
    class Info : Structure(), Structure.ByValue {
        @JvmField var arena = 0L
        @JvmField var ordblks = 0L
        @JvmField var smblks = 0L
        @JvmField var hblks = 0L
        @JvmField var hblkhd = 0L
        @JvmField var usmblks = 0L
        @JvmField var fsmblks = 0L
        @JvmField var uordblks = 0L
        @JvmField var fordblks = 0L
        @JvmField var keepcost = 0L
    }
}

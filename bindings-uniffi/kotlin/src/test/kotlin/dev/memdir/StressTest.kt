package dev.memdir

import java.io.File
import java.lang.ref.WeakReference
import java.util.concurrent.Callable
import java.util.concurrent.Executors
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Assumptions.assumeTrue
import org.junit.jupiter.api.Test

/** Many memories, many threads: nothing leaks and nothing breaks. */
class StressTest {
    /** What this process holds of the machine's memory, in bytes. */
    private fun resident(): Long = File("/proc/self/statm").readText().split(' ')[1].toLong() * 4096

    private fun grows(cycle: () -> Unit): Long {
        assumeTrue(File("/proc/self/statm").exists(), "only Linux tells")
        repeat(200) { cycle() }
        System.gc()
        val before = resident()
        repeat(2000) { cycle() }
        System.gc()
        return resident() - before
    }

    @Test
    fun `two thousand memories come and go`() {
        val text = "x".repeat(1 shl 18)
        val growth = grows { Memory("memory:").use { it.create("/memories/a.md", text) } }
        // Leaked, their texts alone would be 500 MiB.
        assertTrue(growth < 200 shl 20, "$growth bytes more are held")
    }

    @Test
    fun `two thousand memories on stores written in Kotlin come and go`() {
        val text = "x".repeat(1 shl 18)
        val growth = grows { Memory(MapStore()).use { it.create("/memories/a.md", text).also { _ -> it.view("/memories") } } }
        assertTrue(growth < 200 shl 20, "$growth bytes more are held")
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

    /** In a method of its own, whose frame does not keep the store. */
    private fun usedAndClosed(): WeakReference<Store> {
        val store = MapStore()
        Memory(store).use { it.view("/memories") }
        return WeakReference(store)
    }

    @Test
    fun `ten thousand calls from eight threads`() {
        val whole = MemoryOptions(maxViewChars = null)
        for (open in listOf({ Memory("memory:", whole) }, { Memory(MapStore(), whole) })) {
            open().use { memory ->
                memory.create("/memories/all.md", "")
                val threads = Executors.newFixedThreadPool(8)
                val calls =
                    (0 until 10_000).map { number ->
                        Callable {
                            // A tenth of them write into one file, which none may lose.
                            if (number % 10 == 0) memory.insert("/memories/all.md", 0, "line $number\n")
                            else memory.view("/memories/all.md", listOf(1, 1))
                        }
                    }
                memory.insert("/memories/all.md", 0, "first\n")
                threads.invokeAll(calls).forEach { it.get() }
                threads.shutdown()
                val lines = memory.view("/memories/all.md").lines().drop(1).map { it.substringAfter('\t') }
                assertEquals(1001, lines.toSet().size)
                assertEquals(1001, lines.size)
            }
        }
    }

    @Test
    fun `closing while others call is an answer or an error for each of them`() {
        repeat(50) {
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
}

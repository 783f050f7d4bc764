/**
 * Virtual threads that use a memory: a program that [VirtualThreadsTest] runs on a JVM that supports them, with one
 * carrier thread. It ends only if the carrier is free while virtual threads wait.
 */
package dev.memdir

import java.time.Duration
import java.util.concurrent.Callable
import java.util.concurrent.CountDownLatch
import java.util.concurrent.ExecutorService
import java.util.concurrent.Executors
import java.util.concurrent.Future

private const val CALLS = 100

fun main() {
    val virtual = Executors::class.java.getMethod("newVirtualThreadPerTaskExecutor").invoke(null) as ExecutorService
    watches(virtual)
    calls(virtual)
    println("ended")
    virtual.shutdown()
}

/** Four wait for changes, and the fifth makes one. */
private fun watches(virtual: ExecutorService) =
    Memory("memory:").use { memory ->
        val watches = List(4) { memory.watch(every = Duration.ofHours(1)) }
        val wait = Duration.ofMinutes(10)
        // They are started before the fifth, so the carrier runs them first.
        val waiting = watches.map { watch -> virtual.submit(Callable { watch.changes(wait) }) }
        val writing = virtual.submit { memory.write("/memories/a.md", "one\n") }
        writing.get()
        val written = listOf(Change(ChangeKind.WRITTEN, "/memories/a.md"))
        check(waiting.map(Future<List<Change>?>::get).all { it == written }) { "a watch missed it" }
        watches.forEach(Watch::close)
    }

/** As docs/languages/kotlin.md recommends: long waits run on system threads. */
private fun calls(virtual: ExecutorService) {
    val open = CountDownLatch(1)
    val slow =
        object : Store by openStore("memory:") {
            override fun list(path: String): List<Entry> {
                open.await()
                return listOf()
            }
        }
    val threads = Executors.newFixedThreadPool(64)
    Memory(slow).use { memory ->
        val lists = List(CALLS) { virtual.submit(Callable { threads.submit(Callable { memory.list() }).get() }) }
        // This one runs although all the others wait, and ends their wait.
        virtual.submit { open.countDown() }.get()
        check(lists.sumOf { it.get().size } == 0)
    }
    threads.shutdown()
}

package dev.memdir

/**
 * Measures a view of 4 KiB in Kotlin, after a warm-up, and compares it with the core alone. The
 * arguments are pairs of a store's name and the core's nanoseconds, and then the directory of the local
 * store. `bindings-uniffi/scripts/bench` passes them.
 */
fun main(arguments: Array<String>) {
    val directory = arguments.last()
    println("%-34s %12s %12s %12s".format("view of 4 KiB, median", "core", "Kotlin", "the binding"))
    for ((store, core) in arguments.dropLast(1).chunked(2)) {
        val address = if (store == "local") directory else "memory:"
        Memory(address).use { memory ->
            runCatching { memory.create("/memories/small.md", LINE.repeat(64)) }
            val input = """{"command":"view","path":"/memories/small.md"}"""
            report("$store, typed method", core.toLong(), median { memory.view("/memories/small.md") })
            report("$store, execute(json)", core.toLong(), median { memory.execute(input) })
        }
    }
}

private const val LINE = "- a remembered fact of sixty-four characters, give or take one.\n"

private fun report(name: String, core: Long, kotlin: Long) {
    fun micros(nanos: Long) = "%.1f µs".format(nanos / 1000.0)
    println("%-34s %12s %12s %12s".format(name, micros(core), micros(kotlin), micros(kotlin - core)))
}

/** The median of many calls, in nanoseconds. */
private fun median(call: () -> Any): Long {
    fun timed(): Long {
        val start = System.nanoTime()
        call()
        return System.nanoTime() - start
    }
    repeat(50_000) { timed() }
    return LongArray(20_000) { timed() }.sorted()[10_000]
}

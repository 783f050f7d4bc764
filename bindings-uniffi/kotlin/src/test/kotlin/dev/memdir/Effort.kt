package dev.memdir

/**
 * The number of repetitions in a test: [count] times `MEMDIR_EFFORT`, which is 1 unless a long run sets it.
 */
fun times(count: Int): Int = count * (System.getenv("MEMDIR_EFFORT") ?: "1").toInt()

package dev.memdir

import java.io.File
import java.nio.file.Path
import java.util.Properties
import java.util.concurrent.TimeUnit
import kotlin.io.path.Path
import kotlin.io.path.bufferedReader
import kotlin.io.path.exists
import kotlin.io.path.listDirectoryEntries
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Assumptions.assumeTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.io.TempDir

/**
 * A waiting virtual thread does not block the others. The program is [main] of VirtualThreads.kt.
 */
class VirtualThreadsTest {
    @Test
    fun `virtual threads that wait leave the carrier to others`(@TempDir place: Path) {
        val home = newer()
        if (home == null) println("==> LEFT OUT: virtual threads, because no JVM 21 or newer was found")
        assumeTrue(home != null)
        val one = listOf("parallelism", "maxPoolSize", "minRunnable").map { "-Djdk.virtualThreadScheduler.$it=1" }
        val kept = listOf("java.io.tmpdir", "jna.tmpdir").mapNotNull { name -> System.getProperty(name)?.let { "-D$name=$it" } }
        val arguments = one + kept + listOf("-Xmx256m", "-cp", System.getProperty("java.class.path"), "dev.memdir.VirtualThreadsKt")
        val output = place.resolve("output").toFile()
        val program = ProcessBuilder(listOf("$home/bin/java") + arguments).redirectErrorStream(true).redirectOutput(output).start()
        val ended = program.waitFor(5, TimeUnit.MINUTES)
        program.destroyForcibly()
        assertTrue(ended && output.readText().trim().endsWith("ended"), output.readText())
        assertEquals(0, program.waitFor())
    }

    /**
     * The home of a JVM with virtual threads: this one, one that an environment variable names, or one beside
     * it.
     */
    private fun newer(): Path? {
        val named = System.getenv().filterKeys { it.startsWith("JAVA_HOME") }.values.map(::Path)
        val own = Path(System.getProperty("java.home"))
        val beside = own.parent?.takeIf { it.exists() }?.listDirectoryEntries().orEmpty()
        return (listOf(own) + named + beside).firstOrNull { (versionOf(it) ?: 0) >= 21 }
    }

    private fun versionOf(home: Path): Int? {
        val release = home.resolve("release").takeIf { it.exists() && File("$home/bin/java").canExecute() } ?: return null
        val version = Properties().apply { release.bufferedReader().use(::load) }.getProperty("JAVA_VERSION")
        return version?.trim('"')?.substringBefore('.')?.toIntOrNull()
    }
}

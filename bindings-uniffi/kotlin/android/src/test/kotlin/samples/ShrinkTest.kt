package samples

import com.sun.jna.Native
import dev.memdir.Memory
import java.net.URI
import java.nio.file.FileSystems
import java.nio.file.Files
import java.nio.file.Path
import java.util.concurrent.TimeUnit
import java.util.zip.ZipEntry
import java.util.zip.ZipOutputStream
import kotlin.io.path.extension
import kotlin.io.path.name
import kotlin.io.path.nameWithoutExtension
import kotlin.io.path.readText
import kotlin.io.path.writeText
import kotlinx.coroutines.CoroutineScope
import org.jetbrains.annotations.NotNull
import org.junit.Assert.assertEquals
import org.junit.Assert.assertTrue
import org.junit.Test

/** An app that R8 has shrunk and renamed, as Android's build does, still works with the rules in the AAR. */
class ShrinkTest {
    private val place = Files.createDirectories(Path.of("shrunk").toAbsolutePath())
    private val app = place.resolve("app.jar")
    private val libraries =
        listOf(Memory::class.java, Unit::class.java, CoroutineScope::class.java, Native::class.java, NotNull::class.java).map(::jarOf)
    private val everything = libraries.plusElement(app)

    @Test
    fun `an app is shrunk with the rules of the AAR and does what it did`() {
        jar(app, jarOf(ShrinkTest::class.java), "shrunk")
        val shrunk = shrink("shrunk.jar", Path.of(System.getProperty("memdir.root"), "bindings-uniffi/android/consumer-rules.pro"))
        val expected = run(everything)
        assertTrue(expected, "- likes tea" in expected && "[MODIFIED, CREATED]" in expected)
        assertEquals(expected, run(listOf(shrunk)))
        println("shrunk: ${Files.size(shrunk) / 1024} KiB of ${everything.sumOf { Files.size(it) } / 1024} KiB")

        // Without the rules it fails, so they are needed.
        val broken = run(listOf(shrink("broken.jar", rules("# none\n", "none.pro"))))
        assertTrue(broken, "UnsatisfiedLinkError" in broken)
    }

    private fun shrink(name: String, rules: Path): Path {
        // The framework's jar does not contain Java's own classes.
        val java = listOf("java.base", "java.logging").map { place.resolve("$it.jar") }
        for (module in java.filter { !Files.exists(it) }) {
            jar(module, FileSystems.getFileSystem(URI("jrt:/")).getPath("modules", module.nameWithoutExtension), "java", "javax", "jdk", "sun")
        }
        val main = rules("-keep class shrunk.AppKt { public static void main(java.lang.String[]); }\n", "main.pro")
        val shrunk = place.resolve(name)
        val arguments =
            listOf("-cp", System.getProperty("r8.jar"), "com.android.tools.r8.R8", "--release", "--classfile", "--output", "$shrunk") +
                java.plusElement(Path.of(System.getProperty("android.jar"))).flatMap { listOf("--lib", "$it") } +
                listOf(main, rules).flatMap { listOf("--pg-conf", "$it") } +
                everything.map { "$it" }
        val said = java(arguments)
        assertTrue(said, "Compilation failed" !in said && Files.exists(shrunk))
        return shrunk
    }

    private fun rules(text: String, name: String): Path = place.resolve(name).also { it.writeText(text) }

    private fun run(classpath: List<Path>): String {
        val memory = Files.createTempDirectory(place, "memory")
        val jna = "-Djna.tmpdir=${System.getProperty("jna.tmpdir")}"
        return java(listOf(jna, "-cp", classpath.joinToString(":"), "shrunk.AppKt", "$memory"))
    }

    private fun java(arguments: List<String>): String {
        val program = Path.of(System.getProperty("java.home"), "bin/java").toString()
        val said = Files.createTempFile(place, "said", null)
        val process = ProcessBuilder(listOf(program) + arguments).redirectErrorStream(true).redirectOutput(said.toFile()).start()
        check(process.waitFor(10, TimeUnit.MINUTES)) { process.destroyForcibly() }
        return said.readText()
    }

    /** Packs the classes of [packages] in [directory] into a jar. */
    private fun jar(jar: Path, directory: Path, vararg packages: String) {
        ZipOutputStream(Files.newOutputStream(jar)).use { out ->
            for (one in packages.map(directory::resolve).filter(Files::exists)) {
                Files.walk(one).use { files ->
                    files.filter { it.extension == "class" && it.name != "module-info.class" }.forEach {
                        out.putNextEntry(ZipEntry(directory.relativize(it).toString()))
                        Files.copy(it, out)
                    }
                }
            }
        }
    }

    private fun jarOf(type: Class<*>): Path = Path.of(type.protectionDomain.codeSource.location.toURI())
}

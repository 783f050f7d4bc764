package dev.memdir

import java.io.File
import java.nio.file.Files
import java.nio.file.Path
import java.util.concurrent.CyclicBarrier
import java.util.concurrent.Executors
import java.util.concurrent.TimeUnit
import javax.crypto.SecretKey
import javax.crypto.spec.SecretKeySpec
import kotlin.io.path.listDirectoryEntries
import kotlin.io.path.name
import kotlin.io.path.readBytes
import kotlin.io.path.writeBytes
import org.junit.jupiter.api.Assertions.assertArrayEquals
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertNotEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.BeforeEach
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows
import org.junit.jupiter.api.io.TempDir

/**
 * Keys in files: concurrent first calls of threads and processes all get the same key, and there is never a second one.
 */
class StoredKeysTest {
    /** A key store derives keys from its password slowly, to prevent guessing. Here that would take a minute. */
    @BeforeEach
    fun quickly() = QUICK.forEach { System.setProperty(it, "1") }

    private fun names(place: Path) = place.listDirectoryEntries().map { it.name }.sorted()

    private fun ofThreads(place: Path, call: (Path) -> EncryptionKey) {
        val (threads, barrier) = Executors.newFixedThreadPool(THREADS) to CyclicBarrier(THREADS)
        try {
            for (round in 1..ROUNDS) {
                val file = place.resolve("$round.key")
                val calls = List(THREADS) { threads.submit<EncryptionKey> { barrier.await().let { call(file) } } }
                assertEquals(1, calls.map { it.get() }.toSet().size, "round $round")
            }
        } finally {
            threads.shutdownNow()
        }
    }

    /** Each process prints the hash of every key that it got. The processes synchronise before each call. */
    private fun ofProcesses(place: Path, kind: String, rounds: Int) {
        val java = Path.of(System.getProperty("java.home"), "bin", "java").toString()
        val properties = (listOf("java.io.tmpdir", "jna.tmpdir") + QUICK).map { "-D$it=${System.getProperty(it)}" }
        val command = listOf(java) + properties + listOf("-cp", System.getProperty("java.class.path"), "dev.memdir.StoredKeysTestKt")
        val said = List(2) { me -> Files.createTempFile("memdir-keys", "$me").toFile().apply { deleteOnExit() } }
        val started = said.mapIndexed { me, file ->
            ProcessBuilder(command + listOf(kind, place.toString(), "$me", "$rounds")).redirectErrorStream(true).redirectOutput(file).start()
        }
        started.forEach { assertTrue(it.waitFor(300, TimeUnit.SECONDS)) }
        assertEquals(listOf(0, 0), started.map { it.exitValue() }, said.joinToString { it.readText() })
        assertEquals(rounds, said[0].readLines().size)
        assertEquals(said[0].readText(), said[1].readText())
    }

    @Test
    fun `threads that make the first call at once get one key`(@TempDir place: Path) {
        val directories = listOf("file", "keeper", "store").map { Files.createDirectory(place.resolve(it)) }
        ofThreads(directories[0]) { EncryptionKey.fromFile(it) }
        assertEquals(ROUNDS, names(directories[0]).size)
        ofThreads(directories[1]) { EncryptionKey.fromFile(it, ::keeper) }
        assertEquals(2 * ROUNDS, names(directories[1]).size)
        ofThreads(directories[2]) { EncryptionKey.fromKeyStore(it, PASSWORD) }
        assertEquals(2 * ROUNDS, names(directories[2]).size)
    }

    @Test
    fun `processes that make the first call at once get one key`(@TempDir place: Path) {
        for (kind in listOf("file", "keeper", "store")) {
            ofProcesses(Files.createDirectory(place.resolve(kind)), kind, ROUNDS)
        }
    }

    @Test
    fun `a key in a file opens its memory again`(@TempDir place: Path) {
        val file = place.resolve("memory.key")
        val key = EncryptionKey.fromFile(file)
        assertEquals(EncryptionKey(file.readBytes()), key)
        assertEquals(key, EncryptionKey.fromFile(file))
        assertEquals(listOf("memory.key"), names(place))
        for (wrong in listOf(0, 31, 33)) {
            file.writeBytes(ByteArray(wrong))
            assertEquals("path", assertThrows<MemdirException.Config> { EncryptionKey.fromFile(file) }.option)
            assertArrayEquals(ByteArray(wrong), file.readBytes())
        }
    }

    @Test
    fun `a key in a key store has a password`(@TempDir place: Path) {
        val file = place.resolve("keys.p12")
        val key = EncryptionKey.fromKeyStore(file, PASSWORD)
        assertEquals(key, EncryptionKey.fromKeyStore(file, PASSWORD))
        assertNotEquals(key, EncryptionKey.fromKeyStore(file, PASSWORD, alias = "another"))
        assertEquals(key, EncryptionKey.fromKeyStore(file, PASSWORD))
        val kept = file.readBytes()
        assertThrows<Exception> { EncryptionKey.fromKeyStore(file, "another".toCharArray()) }
        assertArrayEquals(kept, file.readBytes())
        for (damaged in listOf(ByteArray(0), kept.copyOf(kept.size / 2))) {
            file.writeBytes(damaged)
            assertThrows<Exception> { EncryptionKey.fromKeyStore(file, PASSWORD) }
            assertArrayEquals(damaged, file.readBytes())
        }
    }

    @Test
    fun `a key that another key encrypts needs that one`(@TempDir place: Path) {
        val file = place.resolve("memory.key")
        val key = EncryptionKey.fromFile(file, ::keeper)
        assertEquals(key, EncryptionKey.fromFile(file, ::keeper))
        assertThrows<Exception> { EncryptionKey.fromFile(file) { SecretKeySpec(ByteArray(32) { 9 }, "AES") } }
        // The file does not contain the key itself.
        assertThrows<MemdirException.Config> { EncryptionKey.fromFile(file) }
        file.writeBytes(ByteArray(32))
        assertThrows<Exception> { EncryptionKey.fromFile(file, ::keeper) }
        assertArrayEquals(ByteArray(32), file.readBytes())
    }
}

private val ROUNDS = times(40)
private val QUICK = listOf("cert", "key").map { "keystore.pkcs12.${it}PbeIterationCount" } + "keystore.pkcs12.macIterationCount"
private const val THREADS = 4
private val PASSWORD = "a password".toCharArray()

private fun keeper(): SecretKey = SecretKeySpec(ByteArray(32) { 5 }, "AES")

/** The program of the other processes in these tests. */
fun main(args: Array<String>) {
    val (kind, place, me, rounds) = args
    for (round in 1..rounds.toInt()) {
        val here = List(2) { File("$place-$round-$it") }
        here[me.toInt()].createNewFile()
        while (!here.all { it.exists() }) Thread.onSpinWait()
        val file = Path.of(place, "$round.key")
        val key = when (kind) {
            "file" -> EncryptionKey.fromFile(file)
            "keeper" -> EncryptionKey.fromFile(file, ::keeper)
            else -> EncryptionKey.fromKeyStore(file, PASSWORD)
        }
        println(java.util.HexFormat.of().formatHex(java.security.MessageDigest.getInstance("SHA-256").digest(key.crossing())))
    }
}

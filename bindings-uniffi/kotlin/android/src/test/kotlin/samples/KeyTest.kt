package samples

import android.content.Context
import androidx.test.core.app.ApplicationProvider
import dev.memdir.EncryptionKey
import dev.memdir.Memory
import dev.memdir.MemoryOptions
import java.security.KeyStoreException
import javax.crypto.KeyGenerator
import org.junit.Assert.assertEquals
import org.junit.Assert.assertThrows
import org.junit.Assert.assertTrue
import org.junit.Test
import org.junit.runner.RunWith
import org.robolectric.RobolectricTestRunner
import snippets.keeper

/**
 * The key of an encrypted memory on Android. A JVM has no Android Keystore, so the sample that creates a keeper in it is
 * only compiled. The key file is tested with a keeper of the JVM.
 */
@RunWith(RobolectricTestRunner::class)
class KeyTest {
    private val context = ApplicationProvider.getApplicationContext<Context>()

    @Test
    fun `a keeper opens the same memory again`() {
        val keeper = KeyGenerator.getInstance("AES").apply { init(256) }.generateKey()
        val (file, directory) = listOf("memory.key", "memory").map { context.filesDir.resolve(it).toPath() }
        fun open() = Memory(directory, MemoryOptions(encryptionKey = EncryptionKey.fromFile(file) { keeper }))
        open().use { it.create("/memories/notes.md", "- likes tea") }
        open().use { assertTrue(it.view("/memories/notes.md").endsWith("- likes tea")) }
        assertEquals(listOf("memory", "memory.key", "memory.key.lock"), context.filesDir.list()!!.sorted())
    }

    /** If Robolectric adds a keystore, this fails, and the keeper can be tested. */
    @Test
    fun `there is no Android Keystore on a JVM`() {
        assertThrows(KeyStoreException::class.java) { keeper() }
    }
}

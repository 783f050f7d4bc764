package dev.memdir

import java.io.IOException
import java.nio.channels.FileChannel
import java.nio.channels.FileLock
import java.nio.channels.OverlappingFileLockException
import java.nio.file.Files
import java.nio.file.Path
import java.nio.file.StandardCopyOption.ATOMIC_MOVE
import java.nio.file.StandardOpenOption.CREATE
import java.nio.file.StandardOpenOption.READ
import java.nio.file.StandardOpenOption.WRITE
import java.security.KeyStore
import java.security.KeyStoreException
import java.security.SecureRandom
import javax.crypto.Cipher
import javax.crypto.SecretKey
import javax.crypto.spec.GCMParameterSpec
import javax.crypto.spec.SecretKeySpec

/**
 * Keys in files that something else protects. The first call makes the key. If several threads or processes make it at the
 * same time, one of them does so under a lock, and the others read what it made: a second key would be a lost memory.
 */
internal object StoredKeys {
    private const val KEY = 32
    private const val NONCE = 12
    private const val TAG = 16
    private const val CIPHER = "AES/GCM/NoPadding"

    /** How long to wait for another class loader of this process, in milliseconds. */
    private const val PAUSE = 5L

    fun inKeyStore(file: Path, password: CharArray, alias: String): EncryptionKey {
        val protection = KeyStore.PasswordProtection(password)
        keyStore(file, password)?.key(alias, protection, file)?.let { return it }
        return locked(file) {
            val keys = keyStore(file, password) ?: KeyStore.getInstance("PKCS12").apply { load(null, password) }
            keys.key(alias, protection, file) ?: run {
                keys.setEntry(alias, KeyStore.SecretKeyEntry(SecretKeySpec(random(), "AES")), protection)
                replace(file) { partial -> Files.newOutputStream(partial).use { keys.store(it, password) } }
                keys.key(alias, protection, file)!!
            }
        }
    }

    fun sealed(file: Path, keeper: () -> SecretKey): EncryptionKey {
        if (Files.exists(file)) return unsealed(file, keeper())
        return locked(file) {
            val key = keeper()
            if (!Files.exists(file)) {
                // The keystore of Android chooses the nonce itself.
                val cipher = Cipher.getInstance(CIPHER).apply { init(Cipher.ENCRYPT_MODE, key) }
                val sealed = cipher.doFinal(random())
                replace(file) { partial -> Files.write(partial, cipher.iv + sealed) }
            }
            unsealed(file, key)
        }
    }

    private fun unsealed(file: Path, keeper: SecretKey): EncryptionKey {
        val sealed = Files.readAllBytes(file)
        val expected = NONCE + KEY + TAG
        if (sealed.size != expected) throw IOException("the key file \"$file\" must have $expected bytes, and has ${sealed.size}")
        val nonce = GCMParameterSpec(8 * TAG, sealed, 0, NONCE)
        val cipher = Cipher.getInstance(CIPHER).apply { init(Cipher.DECRYPT_MODE, keeper, nonce) }
        return EncryptionKey(cipher.doFinal(sealed, NONCE, sealed.size - NONCE))
    }

    /** Null if there is no file. One that cannot be read stays as it is. */
    private fun keyStore(file: Path, password: CharArray): KeyStore? {
        if (!Files.exists(file)) return null
        val keys = KeyStore.getInstance("PKCS12")
        Files.newInputStream(file).use { keys.load(it, password) }
        return keys
    }

    /** Null if there is no such entry. */
    private fun KeyStore.key(alias: String, protection: KeyStore.ProtectionParameter, file: Path): EncryptionKey? {
        if (!containsAlias(alias)) return null
        val bytes = (getEntry(alias, protection) as? KeyStore.SecretKeyEntry)?.secretKey?.encoded
        if (bytes?.size != KEY) throw KeyStoreException("the entry \"$alias\" of \"$file\" is not a key of $KEY bytes")
        return EncryptionKey(bytes)
    }

    private fun random() = ByteArray(KEY).also(SecureRandom()::nextBytes)

    /** Does the work while no other thread or process does any on this file. */
    private fun <T> locked(file: Path, work: () -> T): T =
        synchronized(this) {
            val lock = file.resolveSibling("${file.fileName}.lock")
            FileChannel.open(lock, CREATE, WRITE).use { channel -> lock(channel).use { work() } }
        }

    private fun lock(channel: FileChannel): FileLock {
        while (true) {
            try {
                return channel.lock()
            } catch (_: OverlappingFileLockException) {
                Thread.sleep(PAUSE)
            }
        }
    }

    /** All of the file or nothing, and on the disk before anybody uses it: half a key is a lost memory. */
    private fun replace(file: Path, write: (Path) -> Unit) {
        val directory = file.toAbsolutePath().parent
        // Only its owner may read it.
        val partial = Files.createTempFile(directory, "key", null)
        try {
            write(partial)
            FileChannel.open(partial, WRITE).use { it.force(true) }
            Files.move(partial, file, ATOMIC_MOVE)
        } finally {
            Files.deleteIfExists(partial)
        }
        try {
            FileChannel.open(directory, READ).use { it.force(true) }
        } catch (_: IOException) {
            // Not every system opens a directory.
        }
    }
}

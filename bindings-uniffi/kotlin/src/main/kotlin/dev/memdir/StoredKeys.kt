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
 * Keys in files that another key or a password protects. The first call creates the key. If several threads or processes
 * make it at the same time, one of them creates it under a lock, and the others read that one. A second key would make the
 * memory unreadable.
 */
internal object StoredKeys {
    private const val KEY = 32
    private const val NONCE = 12
    private const val TAG = 16
    private const val CIPHER = "AES/GCM/NoPadding"

    /** The interval, in milliseconds, at which the lock is tried while another class loader of this process holds it. */
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
                // Android's keystore chooses the nonce itself.
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

    /** Null if the file does not exist. A file that cannot be read is left unchanged. */
    private fun keyStore(file: Path, password: CharArray): KeyStore? {
        if (!Files.exists(file)) return null
        val keys = KeyStore.getInstance("PKCS12")
        Files.newInputStream(file).use { keys.load(it, password) }
        return keys
    }

    /** Null if the entry does not exist. */
    private fun KeyStore.key(alias: String, protection: KeyStore.ProtectionParameter, file: Path): EncryptionKey? {
        if (!containsAlias(alias)) return null
        val bytes = (getEntry(alias, protection) as? KeyStore.SecretKeyEntry)?.secretKey?.encoded
        if (bytes?.size != KEY) throw KeyStoreException("the entry \"$alias\" of \"$file\" is not a key of $KEY bytes")
        return EncryptionKey(bytes)
    }

    private fun random() = ByteArray(KEY).also(SecureRandom()::nextBytes)

    /** Runs the work while no other thread or process runs work on this file. */
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

    /** Replaces the file atomically, and syncs it to the disk before it is used: half a key would lose the memory. */
    private fun replace(file: Path, write: (Path) -> Unit) {
        val directory = file.toAbsolutePath().parent
        // A temporary file is readable only by its owner.
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
            // Some systems cannot open a directory.
        }
    }
}

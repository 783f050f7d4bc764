/** The key of an encrypted memory, kept where a program on the JVM or an app on Android keeps secrets. */
package dev.memdir.examples

import dev.memdir.EncryptionKey
import java.nio.file.Files
import java.nio.file.Path
import java.nio.file.StandardCopyOption.ATOMIC_MOVE
import java.security.KeyStore
import java.security.SecureRandom
import javax.crypto.Cipher
import javax.crypto.KeyGenerator
import javax.crypto.SecretKey
import javax.crypto.spec.GCMParameterSpec

/**
 * On the JVM: the key of a memory out of a PKCS12 key store, which [password] protects. The first call makes both.
 * Do not lose the file: without it the memory cannot be read.
 */
fun keyFromKeyStore(file: Path, password: CharArray, alias: String = "memory"): EncryptionKey {
    val keys = KeyStore.getInstance("PKCS12")
    if (Files.exists(file)) Files.newInputStream(file).use { keys.load(it, password) } else keys.load(null, password)
    val protection = KeyStore.PasswordProtection(password)
    if (!keys.containsAlias(alias)) {
        val key = KeyGenerator.getInstance("AES").apply { init(256) }.generateKey()
        keys.setEntry(alias, KeyStore.SecretKeyEntry(key), protection)
        replace(file) { partial -> Files.newOutputStream(partial).use { keys.store(it, password) } }
    }
    return EncryptionKey((keys.getEntry(alias, protection) as KeyStore.SecretKeyEntry).secretKey.encoded)
}

/**
 * On Android: the keystore's keys never leave it, so one of them, [keeper], encrypts the key of the memory, which is
 * in [file]. The first call makes it. `docs/kotlin.md` says how to get such a keeper. Where the keeper is lost (the
 * app was restored on another device), `unwrap` fails, and with it this: the memory then cannot be read.
 */
fun keyFromFile(file: Path, keeper: SecretKey): EncryptionKey {
    if (!Files.exists(file)) {
        val key = ByteArray(32).also(SecureRandom()::nextBytes)
        // The keystore chooses the nonce itself.
        val cipher = Cipher.getInstance("AES/GCM/NoPadding").apply { init(Cipher.ENCRYPT_MODE, keeper) }
        val sealed = cipher.doFinal(key)
        replace(file) { partial -> Files.write(partial, cipher.iv + sealed) }
    }
    val sealed = Files.readAllBytes(file)
    val nonce = GCMParameterSpec(128, sealed, 0, NONCE)
    val cipher = Cipher.getInstance("AES/GCM/NoPadding").apply { init(Cipher.DECRYPT_MODE, keeper, nonce) }
    return EncryptionKey(cipher.doFinal(sealed, NONCE, sealed.size - NONCE))
}

/** All of the file or nothing: half a key is a lost memory. */
private fun replace(file: Path, write: (Path) -> Unit) {
    val partial = Files.createTempFile(file.toAbsolutePath().parent, "key", null)
    try {
        write(partial)
        Files.move(partial, file, ATOMIC_MOVE)
    } finally {
        Files.deleteIfExists(partial)
    }
}

private const val NONCE = 12

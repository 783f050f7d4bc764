package dev.memdir

import java.io.IOException
import java.nio.file.Path
import java.security.GeneralSecurityException
import java.security.MessageDigest
import javax.crypto.SecretKey

/**
 * The key of an [encrypted](https://github.com/memdir/memdir/blob/main/docs/stores/encryption.md) store, for
 * `MemoryOptions(encryptionKey = …)`. `toString` and exceptions never contain it.
 *
 * The key is validated when a store is opened with it.
 */
public class EncryptionKey private constructor(kind: Byte, secret: ByteArray) {
    private val crossing = byteArrayOf(kind) + secret

    /**
     * A key of 32 bytes. Generate them with `SecureRandom` and keep them where you keep secrets, or use [fromFile]. The bytes
     * are copied.
     */
    public constructor(bytes: ByteArray) : this(BYTES, bytes)

    /**
     * A key from text: `hex:` with 64 digits or `base64:` with 44 characters is 32 bytes. Any other text is a
     * passphrase, which costs a tenth of a second and 64 MiB of memory each time a store is opened.
     */
    public constructor(text: String) : this(TEXT, toUtf8(text))

    /** Shows no part of the key. */
    override fun toString(): String = "EncryptionKey(…)"

    override fun equals(other: Any?): Boolean = other is EncryptionKey && MessageDigest.isEqual(crossing, other.crossing)

    override fun hashCode(): Int = crossing.contentHashCode()

    /** The bytes that cross to the library. The first byte is the kind of key. */
    internal fun crossing(): ByteArray = crossing

    /** Keys that are stored in files. */
    public companion object {
        private const val BYTES: Byte = 0
        private const val TEXT: Byte = 1

        internal fun crossed(bytes: ByteArray): EncryptionKey = EncryptionKey(bytes[0], bytes.copyOfRange(1, bytes.size))

        /**
         * Reads a key of 32 bytes from a file. If the file does not exist, it generates a random key and creates the file,
         * which only its owner may read. If several threads or processes make the first call at the same time, all get the
         * same key. The file is never overwritten. Do not lose it: without it the memory cannot be read.
         *
         * @throws MemdirException.Config if the file does not have exactly 32 bytes, or cannot be read or created.
         */
        @JvmStatic
        @Throws(MemdirException::class)
        public fun fromFile(file: Path): EncryptionKey = keyFromFile(file.toAbsolutePath().toString())

        /**
         * Reads a key from a file that is encrypted with the [keeper]: on Android a key of the Android Keystore, which
         * never leaves it. The first call creates the file. If several threads or processes make it at the same time, all
         * get the same key. They call `keeper` one after the other, so it may create the keystore's key if there is none.
         * A lock file, with the same name and `.lock`, stays beside the file.
         *
         * If the keeper is lost (the app was restored on another device), this throws, and the memory cannot be read.
         */
        @JvmStatic
        @Throws(IOException::class, GeneralSecurityException::class)
        public fun fromFile(file: Path, keeper: () -> SecretKey): EncryptionKey = StoredKeys.sealed(file, keeper)

        /**
         * Reads a key from a PKCS12 key store, which [password] protects. The first call creates the key, and the file
         * if there is none. If several threads or processes make it at the same time, all get the same key. A lock file,
         * with the same name and `.lock`, stays beside the file. Do not lose the key store: without it the memory cannot
         * be read.
         *
         * Throws, and changes nothing, if the password is wrong or the file is not a key store.
         */
        @JvmStatic
        @JvmOverloads
        @Throws(IOException::class, GeneralSecurityException::class)
        public fun fromKeyStore(file: Path, password: CharArray, alias: String = "memory"): EncryptionKey =
            StoredKeys.inKeyStore(file, password, alias)
    }
}

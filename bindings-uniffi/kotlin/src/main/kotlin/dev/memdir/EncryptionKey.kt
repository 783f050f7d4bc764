package dev.memdir

import java.security.MessageDigest

/**
 * The key of an [encrypted](https://github.com/memdir/memdir/blob/main/docs/encryption.md) store, for
 * `MemoryOptions(encryptionKey = …)`. Neither `toString` nor an exception shows it.
 *
 * The key is validated when a store is opened with it.
 */
public class EncryptionKey private constructor(kind: Byte, secret: ByteArray) {
    private val crossing = byteArrayOf(kind) + secret

    /** A key of 32 bytes. Generate them with `SecureRandom` and keep them where you keep secrets. The bytes are copied. */
    public constructor(bytes: ByteArray) : this(BYTES, bytes)

    /**
     * `hex:` with 64 digits and `base64:` with 44 characters stand for 32 bytes. Any other text is a passphrase, which
     * costs a tenth of a second and 64 MiB of memory each time that a store is opened.
     */
    public constructor(text: String) : this(TEXT, toUtf8(text))

    /** Shows no part of the key. */
    override fun toString(): String = "EncryptionKey(…)"

    override fun equals(other: Any?): Boolean = other is EncryptionKey && MessageDigest.isEqual(crossing, other.crossing)

    override fun hashCode(): Int = crossing.contentHashCode()

    /** What goes to the library: a byte that says what the others are. */
    internal fun crossing(): ByteArray = crossing

    internal companion object {
        private const val BYTES: Byte = 0
        private const val TEXT: Byte = 1

        fun crossed(bytes: ByteArray): EncryptionKey = EncryptionKey(bytes[0], bytes.copyOfRange(1, bytes.size))
    }
}

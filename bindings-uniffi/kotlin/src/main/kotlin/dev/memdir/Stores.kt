/** Functions that Kotlin and Java have in addition to the generated ones. */
@file:JvmName("Memdir")
@file:JvmMultifileClass

package dev.memdir

import java.nio.file.Path

/**
 * Opens the store in a directory, which is created if it does not exist: the files are in its `memories` directory.
 */
@Throws(MemdirException::class)
@JvmOverloads
public fun openStore(directory: Path, options: MemoryOptions = MemoryOptions()): Store =
    openStore(directory.toAbsolutePath().toString(), options)

/**
 * As `rekey` with an address, for your own store. Pass the store that holds the encrypted files.
 *
 * @throws MemdirException.Config if the store is not encrypted or the old key is wrong.
 */
@Throws(MemdirException::class)
public fun rekey(store: Store, oldKey: EncryptionKey, newKey: EncryptionKey): Long = rekeyStore(store, oldKey, newKey)

/** Functions that make your own stores shorter to write and to use in Kotlin. */
@file:JvmName("Stores")

package dev.memdir

import java.time.Duration

/**
 * A memory on your own store, or on one that is shared with another memory.
 *
 * @throws MemdirException.Config if an option is wrong.
 */
@JvmOverloads
public fun Memory(store: Store, options: MemoryOptions = MemoryOptions(), hooks: MemoryHooks? = null): Memory =
    Memory.withStore(store, options, hooks)

/** Mounts your own store, or one that is already open, at [path]. */
@JvmOverloads
public fun Mount(path: String, store: Store, readOnly: Boolean = false): Mount = Mount.withStore(path, store, readOnly)

/** An [Edit] that calls [change], which returns the new content, or null to leave the file as it is. */
public fun Edit(change: (ByteArray) -> ByteArray?): Edit =
    object : Edit {
        override fun apply(content: ByteArray): ByteArray? = change(content)
    }

/**
 * Changes a file: calls [change] with its content and writes the result (null leaves the file as it is), while no other
 * writer can come between. If one did, [change] is called again.
 */
public fun Store.update(path: String, change: (ByteArray) -> ByteArray?): Unit = update(path, Edit(change))

/**
 * As `expire` with an [ExpiryWatch]. [isRunning] is called after every 1,000 files and at the end, and returns whether
 * the expiry goes on.
 */
public fun Memory.expire(
    olderThan: Duration,
    dryRun: Boolean = false,
    isRunning: (ExpiryProgress) -> Boolean,
): List<Expired> =
    expire(
        olderThan,
        dryRun,
        object : ExpiryWatch {
            override fun scanned(progress: ExpiryProgress): Boolean = isRunning(progress)
        },
    )

/**
 * As `copy` with a [CopyWatch], which [isRunning] is: it is called before each file, and says whether the copy goes on.
 *
 * @throws MemdirException.Copy if the destination holds something else, or the copy was stopped.
 */
public fun copy(
    source: Store,
    destination: Store,
    overwrite: Boolean = false,
    isRunning: (CopyProgress) -> Boolean,
): Copied =
    copy(
        source,
        destination,
        overwrite,
        object : CopyWatch {
            override fun copying(progress: CopyProgress): Boolean = isRunning(progress)
        },
    )

/** A [StoreFactory] that calls [store], for `checkContract(StoreFactory { MyStore() })` in your tests. */
public fun StoreFactory(store: () -> Store): StoreFactory =
    object : StoreFactory {
        override fun make(): Store = store()
    }

/** The entries of a store, read and written through the store and not through commands. */
package dev.memdir.conformance

import dev.memdir.Store

/** All entries of [store]. */
fun tree(store: Store): Tree = buildMap { readBelow(store, "/memories") }

private fun MutableMap<String, Content?>.readBelow(store: Store, directory: String) {
    val listed = store.list(directory)
    if (listed.isEmpty() && directory != "/memories") put(directory, null)
    for (entry in listed) {
        val size = entry.size
        if (size == null) {
            readBelow(store, entry.path)
        } else {
            val content = store.read(entry.path)
            check(content.size.toLong() == size) { "$entry holds ${content.size} bytes" }
            put(entry.path, Content(content))
        }
    }
}

/** Writes all of [tree] to a store; existing files are overwritten. */
fun write(store: Store, tree: Tree) {
    for ((path, content) in tree) {
        if (content != null) {
            store.write(path, content.bytes, true)
        } else {
            // A store creates directories only for files, and keeps them when a file is deleted.
            store.write("$path/inside", ByteArray(0), false)
            store.delete("$path/inside")
        }
    }
}

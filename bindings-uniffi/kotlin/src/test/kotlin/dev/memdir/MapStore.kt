package dev.memdir

import java.time.Instant

/**
 * A store written in Kotlin: a map from paths to contents, in which a directory has no content. It keeps
 * the whole contract of a [Store], as the tests check.
 */
class MapStore : Store {
    private val nodes = sortedMapOf<String, ByteArray?>(ROOT to null)
    private val modified = mutableMapOf<String, Instant>()
    private val accessed = mutableMapOf<String, Instant>()

    override fun read(path: String): ByteArray = synchronized(nodes) { file(path) }

    override fun list(path: String): List<Entry> =
        synchronized(nodes) {
            if (!isThere(path)) throw StoreException.NotFound()
            if (nodes[path] != null) throw StoreException.NotADirectory()
            nodes.filterKeys { parent(it) == path }.map { (path, content) ->
                Entry(path, content?.size?.toLong(), modified[path], accessed[path])
            }
        }

    override fun write(path: String, content: ByteArray, overwrite: Boolean) =
        synchronized(nodes) {
            if (isThere(path) && (!overwrite || nodes[path] == null)) throw StoreException.AlreadyExists()
            makeParents(path)
            put(path, content)
        }

    override fun update(path: String, edit: Edit) =
        synchronized(nodes) {
            val new = edit.apply(file(path))
            if (new != null) put(path, new)
        }

    override fun setModified(path: String, time: Instant) =
        synchronized(nodes) {
            file(path)
            modified[path] = time
        }

    override fun tracksAccess() = true

    override fun recordAccess(path: String, time: Instant) =
        synchronized(nodes) {
            file(path)
            accessed[path] = time
        }

    override fun deleteUnused(path: String, since: Instant): Boolean =
        synchronized(nodes) {
            if (nodes[path] == null) return false
            val unused = listOfNotNull(modified[path], accessed[path]).all { it < since }
            if (unused) remove(path)
            unused
        }

    override fun delete(path: String) =
        synchronized(nodes) {
            if (!isThere(path)) throw StoreException.NotFound()
            subtree(path).forEach(::remove)
        }

    override fun rename(source: String, destination: String) =
        synchronized(nodes) {
            if (!isThere(source)) throw StoreException.NotFound()
            if (isThere(destination)) throw StoreException.AlreadyExists()
            if (nodes[source] == null && destination.startsWith("$source/")) throw StoreException.IntoItself()
            val moved = subtree(source).associateWith { destination + it.removePrefix(source) }
            if (moved.values.any(::isTooLong)) throw StoreException.NameTooLong()
            makeParents(destination)
            for ((old, new) in moved) {
                nodes[new] = nodes.remove(old)
                for (times in listOf(modified, accessed)) times.remove(old)?.let { times[new] = it }
            }
        }

    private fun put(path: String, content: ByteArray) {
        nodes[path] = content
        modified[path] = Instant.now()
    }

    private fun remove(path: String) {
        nodes.remove(path)
        modified.remove(path)
        accessed.remove(path)
    }

    private fun isThere(path: String) = nodes.containsKey(path)

    private fun file(path: String): ByteArray =
        nodes[path] ?: throw if (isThere(path)) StoreException.IsADirectory() else StoreException.NotFound()

    private fun subtree(path: String) = nodes.keys.filter { it == path || it.startsWith("$path/") }

    private fun makeParents(path: String) {
        val missing = generateSequence(parent(path), ::parent).takeWhile { !isThere(it) }.toList()
        val above = parent(missing.lastOrNull() ?: path)
        if (above != null && nodes[above] != null) throw StoreException.NotADirectory()
        for (directory in missing) nodes[directory] = null
    }

    private fun parent(path: String) = if (path == ROOT) null else path.substringBeforeLast('/')

    private fun isTooLong(path: String) = path.count { it == '/' } > 65 || path.toByteArray().size > 4096

    private companion object {
        const val ROOT = "/memories"
    }
}

/** Matches names in any case, and keeps the case of the first write. It keeps no times. */
class FoldingStore : Store {
    private val inner = MapStore()

    private fun kept(path: String): String =
        path.split('/').drop(2).fold("/memories") { above, name ->
            val below = runCatching { inner.list(above) }.getOrDefault(emptyList()).map { it.path }
            below.find { it.equals("$above/$name", ignoreCase = true) } ?: "$above/$name"
        }

    override fun foldsCase() = true

    override fun read(path: String): ByteArray = inner.read(kept(path))

    override fun list(path: String): List<Entry> =
        inner.list(kept(path)).map { Entry(path + it.path.substring(it.path.lastIndexOf('/')), it.size) }

    override fun write(path: String, content: ByteArray, overwrite: Boolean) = inner.write(kept(path), content, overwrite)

    override fun update(path: String, edit: Edit) = inner.update(kept(path), edit)

    override fun delete(path: String) = inner.delete(kept(path))

    override fun rename(source: String, destination: String) = inner.rename(kept(source), kept(destination))
}

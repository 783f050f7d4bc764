/**
 * A memory in a Room table: a complete custom store, to copy into an app or to learn from.
 * `docs/languages/kotlin.md` shows the database for it.
 *
 * Each result of an Android query must fit into the cursor window of 2 MiB. So contents are read in pieces, and not
 * at all when only their size is needed.
 */
package dev.memdir.examples

import androidx.room.Dao
import androidx.room.Entity
import androidx.room.Index
import androidx.room.PrimaryKey
import androidx.room.Query
import androidx.room.Transaction
import androidx.room.Upsert
import dev.memdir.Edit
import dev.memdir.Entry
import dev.memdir.Store
import dev.memdir.StoreException
import java.time.Instant
import java.time.temporal.ChronoUnit.MICROS

/** A file, or a directory, which has no content. */
@Entity(tableName = "memories", indices = [Index("parent")])
class Row(
    @PrimaryKey val path: String,
    /** The directory that it is in. */
    val parent: String,
    val content: ByteArray?,
    /** The time of the last write, in microseconds since 1970. */
    val modified: Long,
    /** The time of the last recorded access, if any. */
    val accessed: Long? = null,
)

/** A [Row] without its content, which may be large. A directory has no size. */
class Listed(val path: String, val size: Long?, val modified: Long, val accessed: Long?)

/** The queries and changes that the store needs. */
@Dao
interface MemoryDao {
    @Query("SELECT path, length(content) AS size, modified, accessed FROM memories WHERE path = :path")
    fun find(path: String): Listed?

    @Query("SELECT path, length(content) AS size, modified, accessed FROM memories WHERE parent = :directory")
    fun list(directory: String): List<Listed>

    /** At most [length] bytes of a content from [start] on (the first is 1); less at its end. */
    @Query("SELECT substr(content, :start, :length) FROM memories WHERE path = :path")
    fun piece(path: String, start: Long, length: Long): ByteArray

    @Upsert
    fun put(rows: List<Row>)

    @Query("UPDATE memories SET modified = :modified, accessed = :accessed WHERE path = :path")
    fun setTimes(path: String, modified: Long, accessed: Long?)

    /** The path itself, if it exists, and all paths below it. */
    @Query("SELECT path FROM memories WHERE path = :path OR substr(path, 1, length(:path) + 1) = :path || '/'")
    fun tree(path: String): List<String>

    @Query("DELETE FROM memories WHERE path = :path OR substr(path, 1, length(:path) + 1) = :path || '/'")
    fun remove(path: String)

    /** Moves a path, and all paths below it. */
    @Query(
        """
        UPDATE memories
        SET parent = CASE path WHEN :source THEN :parent ELSE :destination || substr(parent, length(:source) + 1) END,
            path = :destination || substr(path, length(:source) + 1)
        WHERE path = :source OR substr(path, 1, length(:source) + 1) = :source || '/'
        """
    )
    fun move(source: String, destination: String, parent: String)

    /** Does all of [work] in a transaction, or nothing if it throws. Room allows no type parameter here. */
    @Transaction fun transaction(work: () -> Unit) = work()
}

/** Keeps a memory in a table. */
class RoomStore(private val dao: MemoryDao) : Store {
    override fun read(path: String): ByteArray = transaction { content(path) }

    override fun list(path: String): List<Entry> =
        transaction {
            if (existing(path).size != null) throw StoreException.NotADirectory()
            dao.list(path).map { row ->
                Entry(row.path, row.size, row.size?.let { time(row.modified) }, row.accessed?.let(::time))
            }
        }

    override fun write(path: String, content: ByteArray, overwrite: Boolean) =
        transaction {
            val found = find(path)
            if (found != null && !(overwrite && found.size != null)) throw StoreException.AlreadyExists()
            dao.put(missingParents(path) + written(path, content))
        }

    override fun update(path: String, edit: Edit) =
        transaction {
            val new = edit.apply(content(path))
            if (new != null) dao.put(listOf(written(path, new)))
        }

    override fun setModified(path: String, time: Instant) =
        transaction { dao.setTimes(path, micros(time), file(path).accessed) }

    override fun tracksAccess() = true

    override fun recordAccess(path: String, time: Instant) =
        transaction { dao.setTimes(path, file(path).modified, micros(time)) }

    override fun deleteUnused(path: String, since: Instant): Boolean =
        transaction {
            val row = find(path)
            val unused = row?.size != null && maxOf(row.modified, row.accessed ?: 0) < micros(since)
            if (unused) dao.remove(path)
            unused
        }

    override fun delete(path: String) =
        transaction {
            existing(path)
            dao.remove(path)
        }

    override fun rename(source: String, destination: String) =
        transaction {
            val moved = existing(source)
            if (find(destination) != null) throw StoreException.AlreadyExists()
            if (moved.size == null && destination.startsWith("$source/")) throw StoreException.IntoItself()
            val made = missingParents(destination)
            if (dao.tree(source).any { isTooLong(destination + it.removePrefix(source)) }) throw StoreException.NameTooLong()
            dao.put(made)
            dao.move(source, destination, parentOf(destination))
        }

    private fun <T> transaction(work: () -> T): T {
        val results = mutableListOf<T>()
        dao.transaction { results += work() }
        return results.single()
    }

    /** The row at a path. The root always exists. */
    private fun find(path: String): Listed? = if (path == ROOT) Listed(ROOT, null, 0, null) else dao.find(path)

    private fun existing(path: String): Listed = find(path) ?: throw StoreException.NotFound()

    private fun file(path: String): Listed =
        existing(path).also { if (it.size == null) throw StoreException.IsADirectory() }

    private fun content(path: String): ByteArray {
        val content = ByteArray(file(path).size!!.toInt())
        for (start in content.indices step PIECE) {
            dao.piece(path, start + 1L, PIECE.toLong()).copyInto(content, start)
        }
        return content
    }

    /** The missing directories of a path. */
    private fun missingParents(path: String): List<Row> {
        val missing = generateSequence(parentOf(path), ::parentOf).takeWhile { find(it) == null }.toList()
        val above = parentOf(missing.lastOrNull() ?: path)
        if (existing(above).size != null) throw StoreException.NotADirectory()
        return missing.map { Row(it, parentOf(it), null, 0) }
    }

    private companion object {
        const val ROOT = "/memories"

        /** The number of bytes to read at once: half of the window. */
        const val PIECE = 1024 * 1024

        fun written(path: String, content: ByteArray) = Row(path, parentOf(path), content, micros(Instant.now()))

        fun parentOf(path: String) = path.substringBeforeLast('/')

        fun isTooLong(path: String) = path.count { it == '/' } > 65 || path.toByteArray().size > 4096

        fun micros(time: Instant) = MICROS.between(Instant.EPOCH, time)

        fun time(micros: Long): Instant = Instant.EPOCH.plus(micros, MICROS)
    }
}

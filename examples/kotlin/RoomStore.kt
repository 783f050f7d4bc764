/**
 * A memory in a table of Room's kind: a complete store of one's own, to be used as it is or to be learnt from.
 *
 * On Android a row that is read must fit into the cursor window, which has 2 MiB: open the memory with
 * `MemoryOptions(maxFileBytes = 1024 * 1024)` or less.
 *
 * What it asks of the table are the methods of a DAO, each with the query that Room makes it of. [MapDao] is the
 * smallest one, in this process, for tests.
 */
package dev.memdir.examples

import dev.memdir.Edit
import dev.memdir.Entry
import dev.memdir.Store
import dev.memdir.StoreException
import java.time.Instant
import java.time.temporal.ChronoUnit.MICROS

/** A file, or a directory, which has no content. In Room: `@Entity(tableName = "memories")`. */
class Row(
    /** In Room: `@PrimaryKey`. */
    val path: String,
    /** The directory that it is in. In Room: an index. */
    val parent: String,
    val content: ByteArray?,
    /** When a file was last written, in microseconds since 1970. */
    val modified: Long,
    /** When it was last said to be accessed, if it was. */
    val accessed: Long? = null,
)

/** What a listing needs of a [Row]. */
class Listed(val path: String, val size: Long?, val modified: Long, val accessed: Long?)

/** What the store asks of the table. In Room: a `@Dao`. */
interface MemoryDao {
    /** `@Query("SELECT * FROM memories WHERE path = :path")` */
    fun find(path: String): Row?

    /** `@Query("SELECT path, length(content) AS size, modified, accessed FROM memories WHERE parent = :directory")` */
    fun list(directory: String): List<Listed>

    /** `@Query("SELECT * FROM memories WHERE path = :path OR substr(path, 1, length(:path) + 1) = :path || '/'")` */
    fun tree(path: String): List<Row>

    /** `@Upsert` */
    fun put(rows: List<Row>)

    /** `@Delete` */
    fun remove(rows: List<Row>)

    /** Does all of [work] alone, or nothing if it throws: `RoomDatabase.runInTransaction`. */
    fun <T> transaction(work: () -> T): T
}

/** Keeps a memory in a table. */
class RoomStore(private val dao: MemoryDao) : Store {
    override fun read(path: String): ByteArray = file(path).content!!

    override fun list(path: String): List<Entry> =
        dao.transaction {
            if (existing(path).content != null) throw StoreException.NotADirectory()
            dao.list(path).map { row ->
                Entry(row.path, row.size, row.size?.let { time(row.modified) }, row.accessed?.let(::time))
            }
        }

    override fun write(path: String, content: ByteArray, overwrite: Boolean) =
        dao.transaction {
            val found = find(path)
            if (found != null && !(overwrite && found.content != null)) throw StoreException.AlreadyExists()
            dao.put(missingParents(path) + Row(path, parentOf(path), content, micros(Instant.now())))
        }

    override fun update(path: String, edit: Edit) =
        dao.transaction {
            val new = edit.apply(file(path).content!!)
            if (new != null) dao.put(listOf(Row(path, parentOf(path), new, micros(Instant.now()))))
        }

    override fun setModified(path: String, time: Instant) =
        dao.transaction {
            val file = file(path)
            dao.put(listOf(Row(path, parentOf(path), file.content, micros(time), file.accessed)))
        }

    override fun tracksAccess() = true

    override fun recordAccess(path: String, time: Instant) =
        dao.transaction {
            val file = file(path)
            dao.put(listOf(Row(path, parentOf(path), file.content, file.modified, micros(time))))
        }

    override fun deleteUnused(path: String, since: Instant): Boolean =
        dao.transaction {
            val row = find(path)
            val unused = row?.content != null && maxOf(row.modified, row.accessed ?: 0) < micros(since)
            if (row != null && unused) dao.remove(listOf(row))
            unused
        }

    override fun delete(path: String) =
        dao.transaction {
            existing(path)
            dao.remove(dao.tree(path))
        }

    override fun rename(source: String, destination: String) =
        dao.transaction {
            val moved = existing(source)
            if (find(destination) != null) throw StoreException.AlreadyExists()
            if (moved.content == null && destination.startsWith("$source/")) throw StoreException.IntoItself()
            val made = missingParents(destination)
            val tree = dao.tree(source)
            val there =
                tree.map {
                    val path = destination + it.path.removePrefix(source)
                    Row(path, parentOf(path), it.content, it.modified, it.accessed)
                }
            if (there.any { isTooLong(it.path) }) throw StoreException.NameTooLong()
            dao.remove(tree)
            dao.put(made + there)
        }

    /** What is at a path; the root is there without having been made. */
    private fun find(path: String): Row? = if (path == ROOT) directory(ROOT) else dao.find(path)

    private fun existing(path: String): Row = find(path) ?: throw StoreException.NotFound()

    private fun file(path: String): Row =
        existing(path).also { if (it.content == null) throw StoreException.IsADirectory() }

    /** The directories that are to be made for a path. */
    private fun missingParents(path: String): List<Row> {
        val missing = generateSequence(parentOf(path), ::parentOf).takeWhile { find(it) == null }.toList()
        val above = parentOf(missing.lastOrNull() ?: path)
        if (existing(above).content != null) throw StoreException.NotADirectory()
        return missing.map(::directory)
    }

    private companion object {
        const val ROOT = "/memories"

        fun directory(path: String) = Row(path, parentOf(path), null, 0)

        fun parentOf(path: String) = path.substringBeforeLast('/')

        fun isTooLong(path: String) = path.count { it == '/' } > 65 || path.toByteArray().size > 4096

        fun micros(time: Instant) = MICROS.between(Instant.EPOCH, time)

        fun time(micros: Long): Instant = Instant.EPOCH.plus(micros, MICROS)
    }
}

/** A table in a map, gone with it. */
class MapDao : MemoryDao {
    private var rows = mapOf<String, Row>()

    override fun find(path: String): Row? = transaction { rows[path] }

    override fun list(directory: String): List<Listed> = transaction {
        rows.values.filter { it.parent == directory }.map {
            Listed(it.path, it.content?.size?.toLong(), it.modified, it.accessed)
        }
    }

    override fun tree(path: String): List<Row> = transaction {
        rows.values.filter { it.path == path || it.path.startsWith("$path/") }
    }

    override fun put(rows: List<Row>) = transaction { this.rows += rows.associateBy { it.path } }

    override fun remove(rows: List<Row>) = transaction { this.rows -= rows.map { it.path }.toSet() }

    @Synchronized
    override fun <T> transaction(work: () -> T): T {
        val before = rows
        try {
            return work()
        } catch (thrown: Throwable) {
            rows = before
            throw thrown
        }
    }
}

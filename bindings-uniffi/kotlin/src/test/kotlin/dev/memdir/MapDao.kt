/**
 * The table of the example `RoomStore` in a map. It replaces the queries that Room generates, for tests
 * without Room.
 */
package dev.memdir

import dev.memdir.examples.Listed
import dev.memdir.examples.MemoryDao
import dev.memdir.examples.Row

class MapDao : MemoryDao {
    private var rows = mapOf<String, Row>()

    @Synchronized override fun find(path: String): Listed? = rows[path]?.let(::listed)

    @Synchronized
    override fun list(directory: String): List<Listed> = rows.values.filter { it.parent == directory }.map(::listed)

    @Synchronized
    override fun piece(path: String, start: Long, length: Long): ByteArray {
        val content = rows.getValue(path).content!!
        return content.copyOfRange(start.toInt() - 1, minOf(start - 1 + length, content.size.toLong()).toInt())
    }

    override fun put(rows: List<Row>) = transaction { this.rows += rows.associateBy { it.path } }

    override fun setTimes(path: String, modified: Long, accessed: Long?) = transaction {
        put(listOfNotNull(rows[path]).map { Row(path, it.parent, it.content, modified, accessed) })
    }

    @Synchronized
    override fun tree(path: String): List<String> = rows.keys.filter { it == path || it.startsWith("$path/") }

    override fun remove(path: String) = transaction { rows -= tree(path) }

    override fun move(source: String, destination: String, parent: String) = transaction {
        val moved = tree(source).map { rows.getValue(it) }
        remove(source)
        put(
            moved.map {
                val above = if (it.path == source) parent else destination + it.parent.removePrefix(source)
                Row(destination + it.path.removePrefix(source), above, it.content, it.modified, it.accessed)
            }
        )
    }

    @Synchronized
    override fun transaction(work: () -> Unit) {
        val before = rows
        try {
            work()
        } catch (thrown: Throwable) {
            rows = before
            throw thrown
        }
    }

    private fun listed(row: Row) = Listed(row.path, row.content?.size?.toLong(), row.modified, row.accessed)
}

// Java has no default arguments, so methods with many of them take a query object there.

package dev.memdir

import java.time.Instant

/**
 * The query of [Memory.history] in Java: `memory.history(new HistoryQuery().path("/memories/a.md").limit(10))`. A filter
 * that is not set does not restrict the search. In Kotlin, name the arguments.
 */
public class HistoryQuery {
    internal var path: String? = null
    internal var limit: Long? = null
    internal var before: String? = null
    internal var actor: String? = null
    internal var change: String? = null
    internal var since: Instant? = null

    /** Only versions of this file, or of files below this directory. */
    public fun path(path: String?): HistoryQuery = apply { this.path = path }

    /** The most versions to return; the newest are returned. Default: all. */
    public fun limit(limit: Long): HistoryQuery = apply { this.limit = limit }

    /** Only versions that are older than the one with this id. */
    public fun before(before: String?): HistoryQuery = apply { this.before = before }

    /** Only changes by this actor. */
    public fun actor(actor: String?): HistoryQuery = apply { this.actor = actor }

    /** Only the versions of the change with this id. */
    public fun change(change: String?): HistoryQuery = apply { this.change = change }

    /** Only changes since this time. */
    public fun since(since: Instant?): HistoryQuery = apply { this.since = since }
}

/**
 * The query of [Memory.undo] in Java: `memory.undo(new UndoQuery().since(begun).actor("session 1"))`. Either a change or a
 * time must be set. In Kotlin, name the arguments.
 */
public class UndoQuery {
    internal var change: String? = null
    internal var since: Instant? = null
    internal var actor: String? = null
    internal var dryRun = false
    internal var skipConflicts = false
    internal var merge = false

    /** Undoes the change with this id. */
    public fun change(change: String?): UndoQuery = apply { this.change = change }

    /** Undoes all changes since this time. */
    public fun since(since: Instant?): UndoQuery = apply { this.since = since }

    /** Only changes by this actor. */
    public fun actor(actor: String?): UndoQuery = apply { this.actor = actor }

    /** Returns what it would do, and changes nothing. */
    public fun dryRun(dryRun: Boolean): UndoQuery = apply { this.dryRun = dryRun }

    /** Leaves out files with later changes that depend on the undone change. */
    public fun skipConflicts(skipConflicts: Boolean): UndoQuery = apply { this.skipConflicts = skipConflicts }

    /** Keeps later changes of other lines. */
    public fun merge(merge: Boolean): UndoQuery = apply { this.merge = merge }
}

/**
 * The query of [Memory.grep] and [Memory.grepHistory] in Java: `memory.grep(new GrepQuery("tea").ignoreCase(true))`. In
 * Kotlin, name the arguments.
 */
public class GrepQuery(
    internal val query: String,
) {
    internal var regex = false
    internal var ignoreCase = false
    internal var path: String? = null
    internal var limit = 100L

    /** Treats the query as a regular expression. */
    public fun regex(regex: Boolean): GrepQuery = apply { this.regex = regex }

    /** Ignores the case of letters. */
    public fun ignoreCase(ignoreCase: Boolean): GrepQuery = apply { this.ignoreCase = ignoreCase }

    /** Only in this file, or below this directory. */
    public fun path(path: String?): GrepQuery = apply { this.path = path }

    /** The most matches to return. Default: 100. */
    public fun limit(limit: Long): GrepQuery = apply { this.limit = limit }
}

/**
 * The options of [Memory.sync] in Java: `laptop.sync(server, new SyncOptions().names("laptop", "server"))`. In Kotlin, name
 * the arguments.
 */
public class SyncOptions {
    internal var onConflict: OnConflict? = null
    internal var merger: SyncMerger? = null
    internal var oneWay = false
    internal var dryRun = false
    internal var delete = false
    internal var redactions = false
    internal var exclude = emptyList<String>()
    internal var maxFileBytes: Long? = null
    internal var names: List<String>? = null
    internal var watch: SyncWatch? = null

    /** The content that wins if the changes of both memories cannot be merged. Default: both are kept. */
    public fun onConflict(onConflict: OnConflict?): SyncOptions = apply { this.onConflict = onConflict }

    /** Merges such contents itself. */
    public fun merger(merger: SyncMerger?): SyncOptions = apply { this.merger = merger }

    /** Changes only the other memory. */
    public fun oneWay(oneWay: Boolean): SyncOptions = apply { this.oneWay = oneWay }

    /** Returns what it would do, and changes nothing. */
    public fun dryRun(dryRun: Boolean): SyncOptions = apply { this.dryRun = dryRun }

    /** Allows the sync to delete more than a quarter of a memory's files, or all of them. */
    public fun delete(delete: Boolean): SyncOptions = apply { this.delete = delete }

    /**
     * Also takes redactions over: the content of a version that was redacted in one history is redacted in the other one, if
     * a sync brought it there. Both memories need a history.
     */
    public fun redactions(redactions: Boolean): SyncOptions = apply { this.redactions = redactions }

    /** Patterns of paths that stay as they are in both memories. */
    public fun exclude(exclude: List<String>): SyncOptions = apply { this.exclude = exclude }

    /** Larger files stay as they are. Default: no limit. */
    public fun maxFileBytes(maxFileBytes: Long?): SyncOptions = apply { this.maxFileBytes = maxFileBytes }

    /** The names of both memories in those of conflict copies. Default: the names of their directories, or `a` and `b`. */
    public fun names(first: String, second: String): SyncOptions = apply { names = listOf(first, second) }

    /** Receives the progress, and can stop the sync. */
    public fun watch(watch: SyncWatch?): SyncOptions = apply { this.watch = watch }
}

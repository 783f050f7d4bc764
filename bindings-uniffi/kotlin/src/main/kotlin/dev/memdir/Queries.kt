// Java has no default arguments: what has many of them takes a query there.

package dev.memdir

import java.time.Instant

/**
 * What [Memory.history] looks for, in Java: `memory.history(new HistoryQuery().path("/memories/a.md").limit(10))`. What is not
 * set does not restrict the search. In Kotlin, name the arguments.
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

    /** Only what this actor changed. */
    public fun actor(actor: String?): HistoryQuery = apply { this.actor = actor }

    /** Only the versions of the change with this id. */
    public fun change(change: String?): HistoryQuery = apply { this.change = change }

    /** Only what was changed since then. */
    public fun since(since: Instant?): HistoryQuery = apply { this.since = since }
}

/**
 * What [Memory.undo] takes back, in Java: `memory.undo(new UndoQuery().since(begun).actor("session 1"))`. Either a change or a time
 * must be set. In Kotlin, name the arguments.
 */
public class UndoQuery {
    internal var change: String? = null
    internal var since: Instant? = null
    internal var actor: String? = null
    internal var dryRun = false
    internal var skipConflicts = false
    internal var merge = false

    /** Takes back the change with this id. */
    public fun change(change: String?): UndoQuery = apply { this.change = change }

    /** Takes back everything since then. */
    public fun since(since: Instant?): UndoQuery = apply { this.since = since }

    /** Only what this actor changed. */
    public fun actor(actor: String?): UndoQuery = apply { this.actor = actor }

    /** Says what it would do, and changes nothing. */
    public fun dryRun(dryRun: Boolean): UndoQuery = apply { this.dryRun = dryRun }

    /** Leaves out the files of which later changes depend on it. */
    public fun skipConflicts(skipConflicts: Boolean): UndoQuery = apply { this.skipConflicts = skipConflicts }

    /** Keeps later changes of other lines. */
    public fun merge(merge: Boolean): UndoQuery = apply { this.merge = merge }
}

/**
 * What [Memory.grep] and [Memory.grepHistory] look for, in Java: `memory.grep(new GrepQuery("tea").ignoreCase(true))`. In Kotlin, name
 * the arguments.
 */
public class GrepQuery(
    internal val query: String,
) {
    internal var regex = false
    internal var ignoreCase = false
    internal var path: String? = null
    internal var limit = 100L

    /** Whether the query is a regular expression. */
    public fun regex(regex: Boolean): GrepQuery = apply { this.regex = regex }

    /** Whether upper and lower case are the same. */
    public fun ignoreCase(ignoreCase: Boolean): GrepQuery = apply { this.ignoreCase = ignoreCase }

    /** Only in this file, or below this directory. */
    public fun path(path: String?): GrepQuery = apply { this.path = path }

    /** The most matches to return. Default: 100. */
    public fun limit(limit: Long): GrepQuery = apply { this.limit = limit }
}

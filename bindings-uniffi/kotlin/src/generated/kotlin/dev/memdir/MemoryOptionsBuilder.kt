// Made from core/options.json by core/generate-options.

package dev.memdir

import java.time.Duration

/** Builds [MemoryOptions] in Java: `MemoryOptions.builder().maxFiles(100).build()`. In Kotlin, name the arguments. */
public class MemoryOptionsBuilder internal constructor() {
    private var options = MemoryOptions()

    /**
     * The most characters (Unicode scalar values) that one view shows. A longer view is cut, and its last line
     * says how to continue. `null` removes the limit. Default: 16,000.
     */
    public fun maxViewChars(maxViewChars: Long?): MemoryOptionsBuilder =
        apply { options = options.copy(maxViewChars = maxViewChars) }

    /**
     * The most characters (Unicode scalar values) that one view shows. A longer view is cut, and its last line
     * says how to continue. `null` removes the limit. Default: 16,000.
     */
    public fun maxViewChars(maxViewChars: Long): MemoryOptionsBuilder =
        apply { options = options.copy(maxViewChars = maxViewChars) }

    /**
     * The most bytes that a file may have after a command. A larger file that another program wrote can be viewed.
     * If it has at most 16 MiB, it can be edited to become smaller. `null` removes the limit. Default: 16 MiB.
     */
    public fun maxFileBytes(maxFileBytes: Long?): MemoryOptionsBuilder =
        apply { options = options.copy(maxFileBytes = maxFileBytes) }

    /**
     * The most bytes that a file may have after a command. A larger file that another program wrote can be viewed.
     * If it has at most 16 MiB, it can be edited to become smaller. `null` removes the limit. Default: 16 MiB.
     */
    public fun maxFileBytes(maxFileBytes: Long): MemoryOptionsBuilder =
        apply { options = options.copy(maxFileBytes = maxFileBytes) }

    /**
     * The most bytes that all files together may have, including hidden ones. `null` sets no limit. Default:
     * `null`.
     */
    public fun maxTotalBytes(maxTotalBytes: Long?): MemoryOptionsBuilder =
        apply { options = options.copy(maxTotalBytes = maxTotalBytes) }

    /**
     * The most bytes that all files together may have, including hidden ones. `null` sets no limit. Default:
     * `null`.
     */
    public fun maxTotalBytes(maxTotalBytes: Long): MemoryOptionsBuilder =
        apply { options = options.copy(maxTotalBytes = maxTotalBytes) }

    /**
     * The most files that the memory may have, including hidden ones. `null` sets no limit. Default: `null`.
     */
    public fun maxFiles(maxFiles: Long?): MemoryOptionsBuilder =
        apply { options = options.copy(maxFiles = maxFiles) }

    /**
     * The most files that the memory may have, including hidden ones. `null` sets no limit. Default: `null`.
     */
    public fun maxFiles(maxFiles: Long): MemoryOptionsBuilder =
        apply { options = options.copy(maxFiles = maxFiles) }

    /**
     * The most bytes of a `.png`, `.jpg` or `.jpeg` file that a view shows as an image. Claude accepts at most
     * 3,932,160. `null` turns images off. Default: `null`.
     */
    public fun maxImageBytes(maxImageBytes: Long?): MemoryOptionsBuilder =
        apply { options = options.copy(maxImageBytes = maxImageBytes) }

    /**
     * The most bytes of a `.png`, `.jpg` or `.jpeg` file that a view shows as an image. Claude accepts at most
     * 3,932,160. `null` turns images off. Default: `null`.
     */
    public fun maxImageBytes(maxImageBytes: Long): MemoryOptionsBuilder =
        apply { options = options.copy(maxImageBytes = maxImageBytes) }

    /**
     * Selects how `create` treats an existing file: `error` refuses, `overwrite` replaces the whole content
     * atomically. Default: `"error"`.
     */
    public fun onExisting(onExisting: OnExisting?): MemoryOptionsBuilder =
        apply { options = options.copy(onExisting = onExisting) }

    /**
     * The memory can be viewed but not changed. The directory or database must exist. Nothing is created in a
     * directory. Default: no.
     */
    public fun readOnly(readOnly: Boolean): MemoryOptionsBuilder =
        apply { options = options.copy(readOnly = readOnly) }

    /**
     * Patterns of paths that no command may change, such as `"/memories/handbook"`, including everything below
     * them. They take precedence over `writablePaths`. Default: none.
     */
    public fun readOnlyPaths(readOnlyPaths: List<String>?): MemoryOptionsBuilder =
        apply { options = options.copy(readOnlyPaths = readOnlyPaths) }

    /**
     * Patterns of the only paths that commands may change, including everything below them. An empty list allows
     * no changes. `null` allows changes to all paths except `readOnlyPaths`. Default: `null`.
     */
    public fun writablePaths(writablePaths: List<String>?): MemoryOptionsBuilder =
        apply { options = options.copy(writablePaths = writablePaths) }

    /**
     * Refuses an edit that is based on an outdated view. `on` guards `insert` into files that this session of the
     * memory has shown or written. `strict` also guards `str_replace`, and requires a view first. Default:
     * `"off"`.
     */
    public fun staleGuard(staleGuard: StaleGuard?): MemoryOptionsBuilder =
        apply { options = options.copy(staleGuard = staleGuard) }

    /**
     * Controls keys, tokens, passwords and payment cards in text that a command would write: `off` does nothing,
     * `reject` refuses the command, `redact` writes `[REDACTED:rule]` instead of them. Default: `"off"`.
     */
    public fun sensitiveText(sensitiveText: SensitiveText?): MemoryOptionsBuilder =
        apply { options = options.copy(sensitiveText = sensitiveText) }

    /**
     * Your own rules, in addition to the built-in ones: patterns in the syntax of Rust's `regex-lite`, which has
     * no look-around and no back-references. Default: none.
     */
    public fun sensitiveRules(sensitiveRules: Map<String, String>?): MemoryOptionsBuilder =
        apply { options = options.copy(sensitiveRules = sensitiveRules) }

    /**
     * Views show `[REDACTED:rule]` instead of sensitive text. The file is not changed. Such a view reads the whole
     * file into memory. Default: no.
     */
    public fun sensitiveOnView(sensitiveOnView: Boolean): MemoryOptionsBuilder =
        apply { options = options.copy(sensitiveOnView = sensitiveOnView) }

    /**
     * Before its first command, the memory removes files that have not been used for this long. Must be more than
     * 0. The store must keep times of access. Default: `null`.
     */
    public fun expireAfter(expireAfter: Duration?): MemoryOptionsBuilder =
        apply { options = options.copy(expireAfter = expireAfter) }

    /**
     * Records each view and each rename of a file as a use of the file. Each record costs a write. `expireAfter`
     * turns this on. `expire()` requires it. Default: no.
     */
    public fun recordAccess(recordAccess: Boolean): MemoryOptionsBuilder =
        apply { options = options.copy(recordAccess = recordAccess) }

    /**
     * Patterns of files that never expire, such as `"/memories/handbook"`, including everything below them.
     * Default: none.
     */
    public fun neverExpire(neverExpire: List<String>?): MemoryOptionsBuilder =
        apply { options = options.copy(neverExpire = neverExpire) }

    /**
     * Records every change before it is made, so changes can be listed and undone. Default: no.
     */
    public fun history(history: Boolean): MemoryOptionsBuilder =
        apply { options = options.copy(history = history) }

    /**
     * The history removes versions that are older than this, except the last ten of a file that exists. `null`
     * keeps versions of any age. Default: 30 days.
     */
    public fun historyMaxAge(historyMaxAge: Duration?): MemoryOptionsBuilder =
        apply { options = options.copy(historyMaxAge = historyMaxAge) }

    /**
     * The maximum number of versions that are kept of each file; a file that exists keeps at least ten. `null`
     * sets no limit. Default: `null`.
     */
    public fun historyMaxVersions(historyMaxVersions: Long?): MemoryOptionsBuilder =
        apply { options = options.copy(historyMaxVersions = historyMaxVersions) }

    /**
     * The maximum number of versions that are kept of each file; a file that exists keeps at least ten. `null`
     * sets no limit. Default: `null`.
     */
    public fun historyMaxVersions(historyMaxVersions: Long): MemoryOptionsBuilder =
        apply { options = options.copy(historyMaxVersions = historyMaxVersions) }

    /**
     * The approximate maximum size of the history in bytes; beyond it the oldest versions are removed, except the
     * last ten of a file that exists. `null` sets no limit. Default: `null`.
     */
    public fun historyMaxBytes(historyMaxBytes: Long?): MemoryOptionsBuilder =
        apply { options = options.copy(historyMaxBytes = historyMaxBytes) }

    /**
     * The approximate maximum size of the history in bytes; beyond it the oldest versions are removed, except the
     * last ten of a file that exists. `null` sets no limit. Default: `null`.
     */
    public fun historyMaxBytes(historyMaxBytes: Long): MemoryOptionsBuilder =
        apply { options = options.copy(historyMaxBytes = historyMaxBytes) }

    /**
     * The actor of this memory's changes, for its history: a session, a user, the id of a tool call. Any text from
     * your program, never from a model. `actingAs` starts a session with another actor. Default: `null`.
     */
    public fun actor(actor: String?): MemoryOptionsBuilder =
        apply { options = options.copy(actor = actor) }

    /**
     * Selects the language of texts in Latin letters, whose endings `search` ignores: `auto` detects it for each
     * file, `none` ignores no endings. Default: `"auto"`.
     */
    public fun searchLanguage(searchLanguage: SearchLanguage?): MemoryOptionsBuilder =
        apply { options = options.copy(searchLanguage = searchLanguage) }

    /**
     * The most bytes of memory for the index of `search`, which holds the texts and takes about 1.7 times their
     * size. If not all files fit, the first search takes the newest, and each result says how many are left out.
     * `null` sets no limit. Default: 256 MiB.
     */
    public fun searchMaxBytes(searchMaxBytes: Long?): MemoryOptionsBuilder =
        apply { options = options.copy(searchMaxBytes = searchMaxBytes) }

    /**
     * The most bytes of memory for the index of `search`, which holds the texts and takes about 1.7 times their
     * size. If not all files fit, the first search takes the newest, and each result says how many are left out.
     * `null` sets no limit. Default: 256 MiB.
     */
    public fun searchMaxBytes(searchMaxBytes: Long): MemoryOptionsBuilder =
        apply { options = options.copy(searchMaxBytes = searchMaxBytes) }

    /**
     * Keeps the index of `search` in hidden files of the store, so the first search of a process reads only the
     * files that have changed. It has the texts of the files, and is encrypted if the store is. A store of several
     * mounted stores keeps none. Default: no.
     */
    public fun searchKeep(searchKeep: Boolean): MemoryOptionsBuilder =
        apply { options = options.copy(searchKeep = searchKeep) }

    /**
     * Makes `search` prefer files that were written recently: the score of the newest file is half as large again,
     * and a file that is older by this duration gets half of that bonus. Must be more than 0. `null` gives time no
     * influence. Default: `null`.
     */
    public fun searchRecency(searchRecency: Duration?): MemoryOptionsBuilder =
        apply { options = options.copy(searchRecency = searchRecency) }

    /**
     * The name of the model behind `embedder`, with its version. It is required with an embedder, because a vector
     * is kept under this name and the SHA-256 of its text. A new model needs a new name. Default: `null`.
     */
    public fun embedderName(embedderName: String?): MemoryOptionsBuilder =
        apply { options = options.copy(embedderName = embedderName) }

    /**
     * The time that one search waits for `embedder`. After that the answer is by words alone, and later searches
     * embed the rest. `null` waits without limit, as a program that embeds many files does. Default: 10 seconds.
     */
    public fun embedderTimeout(embedderTimeout: Duration?): MemoryOptionsBuilder =
        apply { options = options.copy(embedderTimeout = embedderTimeout) }

    /**
     * Includes the reply's text in the events for `after`. Default: no.
     */
    public fun eventContent(eventContent: Boolean): MemoryOptionsBuilder =
        apply { options = options.copy(eventContent = eventContent) }

    /**
     * The failures that an acknowledged command survives: `full` a loss of power, `relaxed` only a crash of the
     * process. Object storage is always durable. Default: `"full"`.
     */
    public fun durability(durability: Durability?): MemoryOptionsBuilder =
        apply { options = options.copy(durability = durability) }

    /**
     * The time that a change waits for other writers of the same store (local directory, SQLite, PostgreSQL).
     * After that the command is refused, and nothing is changed. `null` waits without limit. Default: 10 seconds.
     */
    public fun lockTimeout(lockTimeout: Duration?): MemoryOptionsBuilder =
        apply { options = options.copy(lockTimeout = lockTimeout) }

    /**
     * Selects one of several memories in one PostgreSQL database or one bucket. Any text, such as a user's name.
     * `null` selects the one that the address names. Pass untrusted values in this option, never in an address. On
     * every other store this option is an error. Default: `null`.
     */
    public fun namespace(namespace: String?): MemoryOptionsBuilder =
        apply { options = options.copy(namespace = namespace) }

    /**
     * Encrypts everything that the store keeps. A store is encrypted from its creation or not at all. Default:
     * `null`.
     */
    public fun encryptionKey(encryptionKey: EncryptionKey?): MemoryOptionsBuilder =
        apply { options = options.copy(encryptionKey = encryptionKey) }

    /**
     * Also encrypts the names in a store that is created with a key. An existing store keeps its setting. Default:
     * no.
     */
    public fun encryptNames(encryptNames: Boolean): MemoryOptionsBuilder =
        apply { options = options.copy(encryptNames = encryptNames) }

    /** Returns the options. */
    public fun build(): MemoryOptions = options
}

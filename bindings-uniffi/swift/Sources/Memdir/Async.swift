// The methods of `Memory` for asynchronous code.
//
// A call reads and writes files and blocks meanwhile. An actor must not block, and neither must the few threads of
// Swift's own pool. So each call runs on a thread of memdir's own pool (`ThreadPool`). Changes may have to wait for
// other writers, so views have their own threads. Asynchronous functions call these variants, other code calls the
// blocking ones.
//
// If the task is cancelled before a command begins to write, the command is not executed. While the call waits for a
// thread or for asynchronous hooks, cancellation ends it at once. A command that has begun continues to its end.

import Foundation

extension Memory {
    /// Executes one tool call, given as the JSON text of its `input`.
    public func execute(json: String) async -> Reply {
        if let hooks = ownHooks() as? Awaited {
            let call = beginExecute(json: json)
            _ = await carryOut(call, hooks)
            if let reply = call.reply() { return reply }
        }
        let call: @Sendable (Memory) -> Reply = { $0.execute(json: json) }
        if let shown = await on(.views, { $0.executeView(json: json) }, call) { return shown }
        return await on(.changes, call, call)
    }

    /// Executes one call of the search by a model. This is the blocking `executeSearch` for asynchronous code.
    public func executeSearch(json: String) async -> Reply {
        let call: @Sendable (Memory) -> Reply = { $0.executeSearch(json: json) }
        return await on(.views, call, call)
    }

    /// Shows a directory two levels deep, or the numbered lines of a file. `viewRange` is the first and last
    /// line to show (1-based, inclusive; a last line of -1 is the end); nil shows all.
    ///
    /// Throws `MemdirError.refused` with the exact reply for the model, `MemdirError.store` if the store is
    /// broken.
    public func view(path: String, viewRange: [Int64]? = nil) async throws -> String {
        try await command("view", ["path": path], viewRange: viewRange, on: .views) {
            try $0.view(path: path, viewRange: viewRange)
        }
    }

    /// Creates a new file and its missing parents. Throws as `view` does.
    public func create(path: String, fileText: String) async throws -> String {
        try await command("create", ["path": path, "file_text": fileText]) {
            try $0.create(path: path, fileText: fileText)
        }
    }

    /// Replaces the only occurrence of `oldStr` in a file with `newStr`. If `newStr` is empty or
    /// nil, it deletes `oldStr`. Throws as `view` does.
    public func strReplace(path: String, oldStr: String, newStr: String? = nil) async throws -> String {
        try await command("str_replace", ["path": path, "old_str": oldStr, "new_str": newStr]) {
            try $0.strReplace(path: path, oldStr: oldStr, newStr: newStr)
        }
    }

    /// Inserts `insertText` as whole lines after line `insertLine` of a file; 0 is its start.
    /// Throws as `view` does.
    public func insert(path: String, insertLine: Int64, insertText: String) async throws -> String {
        try await command("insert", ["path": path, "insert_text": insertText], insertLine: insertLine) {
            try $0.insert(path: path, insertLine: insertLine, insertText: insertText)
        }
    }

    /// Deletes a file, or a directory with everything in it. Throws as `view` does.
    public func delete(path: String) async throws -> String {
        try await command("delete", ["path": path]) { try $0.delete(path: path) }
    }

    /// Renames or moves a file or directory; never overwrites. Throws as `view` does.
    public func rename(oldPath: String, newPath: String) async throws -> String {
        try await command("rename", ["old_path": oldPath, "new_path": newPath]) {
            try $0.rename(oldPath: oldPath, newPath: newPath)
        }
    }

    /// Removes the files that were not used for `olderThan` seconds, and returns them. This is the
    /// blocking `expire` for asynchronous code. The model cannot call this.
    public func expire(
        olderThan: TimeInterval, dryRun: Bool = false, watch: (any ExpiryWatch)? = nil
    ) async throws -> [Expired] {
        try await off { try $0.expire(olderThan: olderThan, dryRun: dryRun, watch: watch) }
    }

    /// As the other `expire`, for a `Duration`.
    @available(macOS 13, iOS 16, tvOS 16, watchOS 9, *)
    public func expire(
        olderThan: Duration, dryRun: Bool = false, watch: (any ExpiryWatch)? = nil
    ) async throws -> [Expired] {
        let (seconds, attoseconds) = olderThan.components
        let interval = Double(seconds) + Double(attoseconds) / 1e18
        return try await expire(olderThan: interval, dryRun: dryRun, watch: watch)
    }

    /// Makes this memory and another one equal. This is the blocking `sync` for asynchronous code. The model cannot call
    /// this. If the task is cancelled, the sync stops, and the changes that were made before stay. A thread waits for
    /// asynchronous hooks meanwhile.
    public func sync(
        other: Memory, onConflict: OnConflict? = nil, merger: (any SyncMerger)? = nil, oneWay: Bool = false,
        dryRun: Bool = false, delete: Bool = false,
        redactions: Bool = false, exclude: [String] = [], maxFileBytes: Int64? = nil, names: [String]? = nil, watch: (any SyncWatch)? = nil
    ) async throws -> Synced {
        let task = SyncTask()
        return try await withTaskCancellationHandler {
            try await off { memory in
                try task.during {
                    try memory.sync(
                        other: other, onConflict: onConflict, merger: merger, oneWay: oneWay, dryRun: dryRun, delete: delete,
                        redactions: redactions, exclude: exclude, maxFileBytes: maxFileBytes, names: names, watch: watch)
                }
            }
        } onCancel: {
            task.cancel()
        }
    }

    /// The text of a file as it is stored. This is the blocking `read` for asynchronous code. The model cannot call this.
    public func read(path: String) async throws -> String {
        try await off(.views) { try $0.read(path: path) }
    }

    /// The text of a file as a model may see it. This is the blocking `readShown` for asynchronous code. The model cannot
    /// call this.
    public func readShown(path: String) async throws -> String {
        try await off(.views) { try $0.readShown(path: path) }
    }

    /// Writes a file; with `ifUnchanged` only if it holds this text. This is the blocking `write` for asynchronous
    /// code. The model cannot call this.
    public func write(path: String, text: String, ifUnchanged: String? = nil) async throws {
        try await off { try $0.write(path: path, text: text, ifUnchanged: ifUnchanged) }
    }

    /// The entries below a directory, `depth` levels deep; nil for all. This is the blocking `list` for asynchronous
    /// code.
    public func list(path: String? = nil, depth: Int64? = 1) async throws -> [Entry] {
        try await off(.views) { try $0.list(path: path, depth: depth) }
    }

    /// True if a file or a directory exists at the path.
    public func exists(path: String) async throws -> Bool {
        try await off(.views) { try $0.exists(path: path) }
    }

    /// The first `limit` matches in names and lines at `path` and below it. This is the blocking `grep` for
    /// asynchronous code.
    public func grep(
        query: String, regex: Bool = false, ignoreCase: Bool = false, path: String? = nil, limit: Int64 = 100
    ) async throws -> [GrepMatch] {
        try await off(.views) {
            try $0.grep(query: query, regex: regex, ignoreCase: ignoreCase, path: path, limit: limit)
        }
    }

    /// The files that answer a question best. This is the blocking `search` for asynchronous code.
    public func search(query: String, path: String? = nil, limit: Int64 = 10) async throws -> SearchResults {
        try await off(.views) { try $0.search(query: query, path: path, limit: limit) }
    }

    /// The first `limit` places where the rules for sensitive text find something. This is the blocking `findSensitive`
    /// for asynchronous code.
    public func findSensitive(path: String? = nil, limit: Int64 = 100) async throws -> [SensitiveMatch] {
        try await off(.views) { try $0.findSensitive(path: path, limit: limit) }
    }

    /// Statistics about the memory. This is the blocking `stats` for asynchronous code.
    public func stats() async throws -> Stats {
        try await off(.views) { try $0.stats() }
    }

    /// Watches the files at `path` and below it for changes by all processes. This is the blocking `watch` for
    /// asynchronous code. Iterate over the result with `for try await`.
    public func watch(path: String? = nil, every: TimeInterval? = nil) async throws -> Watch {
        try await off(.views) { try $0.watch(path: path, every: every) }
    }

    /// A table of contents for a system prompt, in at most `maxChars` characters. This is the blocking `index` for
    /// asynchronous code.
    public func index(maxChars: Int64 = 2000) async throws -> String {
        try await off(.views) { try $0.index(maxChars: maxChars) }
    }

    /// Creates the files with which a project of several sessions begins, and returns the paths of the files that were
    /// created. This is the blocking `bootstrap` for asynchronous code.
    public func bootstrap(about: String, features: [String], `init`: String? = nil) async throws -> [String] {
        try await off { try $0.bootstrap(about: about, features: features, init: `init`) }
    }

    /// The versions of files, newest first. This is the blocking `history` for asynchronous code.
    public func history(
        path: String? = nil, limit: Int64? = nil, before: String? = nil, actor: String? = nil, change: String? = nil,
        since: Date? = nil
    ) async throws -> [Version] {
        try await off(.views) {
            try $0.history(path: path, limit: limit, before: before, actor: actor, change: change, since: since)
        }
    }

    /// The first `limit` matches in names and lines that the history has and the current files no longer have. This is
    /// the blocking `grepHistory` for asynchronous code.
    public func grepHistory(
        query: String, regex: Bool = false, ignoreCase: Bool = false, path: String? = nil, limit: Int64 = 100
    ) async throws -> [HistoryMatch] {
        try await off(.views) {
            try $0.grepHistory(query: query, regex: regex, ignoreCase: ignoreCase, path: path, limit: limit)
        }
    }

    /// Completes an id from a part of it. This is the blocking `resolveId` for asynchronous code.
    public func resolveId(part: String) async throws -> String {
        try await off(.views) { try $0.resolveId(part: part) }
    }

    /// The history as a stream for `git fast-import`. This is the blocking `exportHistory` for asynchronous code.
    public func exportHistory() async throws -> Data {
        try await off(.views) { try $0.exportHistory() }
    }

    /// The files that existed at a time. This is the blocking `filesAt` for asynchronous code.
    public func filesAt(at: Date) async throws -> [PastFile] {
        try await off(.views) { try $0.filesAt(at: at) }
    }

    /// The version that added each line of a file. This is the blocking `blame` for asynchronous code.
    public func blame(path: String) async throws -> [BlamedLine] {
        try await off(.views) { try $0.blame(path: path) }
    }

    /// The content of a file at a time; nil if there was no file. This is the blocking `readAt` for asynchronous code.
    public func readAt(path: String, at: Date) async throws -> Data? {
        try await off(.views) { try $0.readAt(path: path, at: at) }
    }

    /// The content of a version. This is the blocking `readVersion` for asynchronous code.
    public func readVersion(id: String) async throws -> Data {
        try await off(.views) { try $0.readVersion(id: id) }
    }

    /// A unified diff of a change, or of two versions. This is the blocking `diff` for asynchronous code.
    public func diff(id: String, other: String? = nil) async throws -> String {
        try await off(.views) { try $0.diff(id: id, other: other) }
    }

    /// Writes the content of a version back, or all files of a change. This is the blocking `restore` for asynchronous
    /// code.
    public func restore(id: String, overwrite: Bool = false) async throws -> Restored {
        try await off { try $0.restore(id: id, overwrite: overwrite) }
    }

    /// Undoes a change, or all changes since a time. This is the blocking `undo` for asynchronous code.
    public func undo(
        change: String? = nil, since: Date? = nil, actor: String? = nil, dryRun: Bool = false,
        skipConflicts: Bool = false, merge: Bool = false
    ) async throws -> Restored {
        try await off {
            try $0.undo(
                change: change, since: since, actor: actor, dryRun: dryRun, skipConflicts: skipConflicts,
                merge: merge)
        }
    }

    /// Restores every file to its state at a time. This is the blocking `restoreAll` for asynchronous code.
    public func restoreAll(at: Date, dryRun: Bool = false) async throws -> Restored {
        try await off { try $0.restoreAll(at: at, dryRun: dryRun) }
    }

    /// Permanently removes the content of a version from the history. This is the blocking `redact` for asynchronous code.
    public func redact(id: String, reason: String) async throws -> String? {
        try await off { try $0.redact(id: id, reason: reason) }
    }

    /// Permanently removes every content that contains a text from the history. This is the blocking `redactText` for
    /// asynchronous code.
    public func redactText(
        query: String, reason: String, regex: Bool = false, ignoreCase: Bool = false, dryRun: Bool = false
    ) async throws -> RedactedText {
        try await off {
            try $0.redactText(query: query, reason: reason, regex: regex, ignoreCase: ignoreCase, dryRun: dryRun)
        }
    }

    /// Removes the versions that the retention options no longer keep. This is the blocking `trimHistory` for
    /// asynchronous code.
    public func trimHistory() async throws -> Int64 {
        try await off { try $0.trimHistory() }
    }

    /// Deletes everything below `/memories`. The model cannot call this.
    public func clear() async throws {
        try await off { try $0.clear() }
    }

    /// Permanently removes everything, including the whole history. This is the blocking `erase` for asynchronous code.
    public func erase(dryRun: Bool = false) async throws -> Erased {
        try await off { try $0.erase(dryRun: dryRun) }
    }

    /// Runs a command with plain arguments: through the asynchronous hooks if there are any, otherwise with `call`.
    private func command(
        _ name: String, _ texts: [String: String?], viewRange: [Int64]? = nil, insertLine: Int64? = nil,
        on threads: ThreadPool = .changes, _ call: @escaping @Sendable (Memory) throws -> String
    ) async throws -> String {
        guard let hooks = ownHooks() as? Awaited else {
            return try await on(
                threads,
                { memory in Result { try call(memory) } },
                { memory in
                    // A plain `after` is called for it, too.
                    _ = try? call(memory)
                    return .failure(CancellationError())
                }
            ).get()
        }
        let texts = texts.compactMapValues { $0 }
        let pending = beginCommand(command: name, texts: texts, viewRange: viewRange, insertLine: insertLine)
        let isExecuted = await carryOut(pending, hooks)
        guard isExecuted, let text = try pending.text() else { throw CancellationError() }
        return text
    }

    /// Runs the hooks and the command. Returns true if a thread executed the command.
    private func carryOut(_ call: PendingCall, _ hooks: Awaited) async -> Bool {
        let threads: ThreadPool = call.isView() ? .views : .changes
        return await hooks.carryOut(call) { decision in
            await onThread(
                threads,
                { cancellation in
                    call.finish(decision: decision, cancellation: cancellation)
                    return true
                },
                { _ in
                    call.cancel()
                    return false
                })
        }
    }

    /// Makes a call on a thread that may block.
    private func off<T: Sendable>(
        _ threads: ThreadPool = .changes, _ call: @escaping @Sendable (Memory) throws -> T
    ) async throws -> T {
        try await on(threads, { memory in Result { try call(memory) } }, { _ in .failure(CancellationError()) }).get()
    }

    private func on<T: Sendable>(
        _ threads: ThreadPool,
        _ call: @escaping @Sendable (Memory) -> T,
        _ given: @escaping @Sendable (Memory) -> T
    ) async -> T {
        await onThread(
            threads,
            { call(self.cancelledBy(cancellation: $0)) },
            { given(self.cancelledBy(cancellation: $0)) })
    }
}

/// Runs `call` on a thread, or `given` if the task is cancelled while it waits for one.
func onThread<T: Sendable>(
    _ threads: ThreadPool,
    _ call: @escaping @Sendable (Cancellation) -> T,
    _ given: @escaping @Sendable (Cancellation) -> T
) async -> T {
    let cancellation = Cancellation()
    let turn = Turn()
    return await withTaskCancellationHandler {
        await withCheckedContinuation { continuation in
            // If the task is already cancelled, this is called immediately.
            turn.onGivingUp {
                DispatchQueue.global().async { continuation.resume(returning: given(cancellation)) }
            }
            threads.run { if turn.begin() { continuation.resume(returning: call(cancellation)) } }
        }
    } onCancel: {
        cancellation.cancel()
        turn.giveUp()
    }
}

extension Memory {
    /// Opens a memory as `init(store:options:hooks:)` does, on a thread that may block: opening reads files and
    /// may create some.
    public static func open(
        store: String = "./memory", options: MemoryOptions = MemoryOptions(), hooks: (any MemoryHooks)? = nil
    ) async throws -> Memory {
        try await opened { try Memory(store: store, options: options, hooks: hooks) }
    }

    /// Opens a directory, on a thread that may block.
    public static func open(
        directory: URL, options: MemoryOptions = MemoryOptions(), hooks: (any MemoryHooks)? = nil
    ) async throws -> Memory {
        try await opened { try Memory(directory: directory, options: options, hooks: hooks) }
    }

    /// Opens a memory on a store, on a thread that may block: if there is a key, opening reads the store.
    public static func open(
        store: any Store, options: MemoryOptions = MemoryOptions(), hooks: (any MemoryHooks)? = nil
    ) async throws -> Memory {
        try await opened { try Memory(store: store, options: options, hooks: hooks) }
    }

    private static func opened(_ open: @escaping @Sendable () throws -> Memory) async throws -> Memory {
        try Task.checkCancellation()
        return try await withCheckedThrowingContinuation { continuation in
            DispatchQueue.global().async { continuation.resume(with: Result(catching: open)) }
        }
    }

    /// The changes that memories of this process make on this store, from now on: commands, `clear` and `expire`. This
    /// includes other memories on the same open store, or on the same directory or database.
    ///
    /// It does not include changes by other processes, direct writes to the store, or changes by another memory on your
    /// own store. A slow reader misses nothing. The stream ends with its task; it does not keep the memory open.
    public var changes: AsyncStream<Change> {
        AsyncStream { continuation in
            let subscription = observe(listener: Listener { continuation.yield($0) })
            continuation.onTermination = { _ in subscription.cancel() }
        }
    }
}

/// A `ChangeListener` that calls a closure.
private final class Listener: ChangeListener {
    private let call: @Sendable (Change) -> Void

    init(_ call: @escaping @Sendable (Change) -> Void) { self.call = call }

    func changed(change: Change) throws { call(change) }
}

/// Ensures that a call is either begun by a thread or abandoned, but not both.
private final class Turn: @unchecked Sendable {
    private let lock = NSLock()
    private var isTaken = false
    private var isGivenUp = false
    private var whenGivenUp: (@Sendable () -> Void)?

    /// Returns true if the call may begin.
    func begin() -> Bool {
        lock.lock()
        defer { lock.unlock() }
        if isTaken { return false }
        isTaken = true
        return true
    }

    func onGivingUp(_ then: @escaping @Sendable () -> Void) {
        lock.lock()
        whenGivenUp = then
        let already = isGivenUp
        lock.unlock()
        if already { giveUp() }
    }

    func giveUp() {
        lock.lock()
        isGivenUp = true
        let then = isTaken ? nil : whenGivenUp
        if then != nil { isTaken = true }
        lock.unlock()
        then?()
    }
}

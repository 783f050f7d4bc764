// The methods of `Memory` for asynchronous code.
//
// A call reads and writes files and blocks meanwhile. Neither an actor nor one of the few threads of Swift's
// own pool may block, so each call runs on a thread of Dispatch. Changes may have to wait for other writers,
// so views have their own threads. An asynchronous function calls these variants, other code the blocking
// ones. If the task is cancelled before a command begins to write, the command does not happen. If the
// command has begun, it goes on to its end.

import Foundation

extension Memory {
    /// Executes one tool call, given as the JSON text of its `input`.
    public func execute(json: String) async -> Reply {
        if let shown = await on(Threads.views, { $0.executeView(json: json) }) { return shown }
        return await on(Threads.changes) { $0.execute(json: json) }
    }

    /// Shows a directory two levels deep, or the numbered lines of a file. `viewRange` is the first and last
    /// line to show (1-based, inclusive; a last line of -1 is the end); nil shows all.
    ///
    /// Throws `MemdirError.Refused` with the exact reply for the model, `MemdirError.Store` if the store is
    /// broken.
    public func view(path: String, viewRange: [Int64]? = nil) async throws -> String {
        try await off(Threads.views) { try $0.view(path: path, viewRange: viewRange) }
    }

    /// Makes a new file and its missing parents. Throws as `view` does.
    public func create(path: String, fileText: String) async throws -> String {
        try await off { try $0.create(path: path, fileText: fileText) }
    }

    /// Replaces the only occurrence of `oldStr` in a file by `newStr`; an empty one deletes it.
    /// Throws as `view` does.
    public func strReplace(path: String, oldStr: String, newStr: String? = nil) async throws -> String {
        try await off { try $0.strReplace(path: path, oldStr: oldStr, newStr: newStr) }
    }

    /// Inserts `insertText` as whole lines after line `insertLine` of a file; 0 is its start.
    /// Throws as `view` does.
    public func insert(path: String, insertLine: Int64, insertText: String) async throws -> String {
        try await off { try $0.insert(path: path, insertLine: insertLine, insertText: insertText) }
    }

    /// Deletes a file, or a directory with everything in it. Throws as `view` does.
    public func delete(path: String) async throws -> String {
        try await off { try $0.delete(path: path) }
    }

    /// Renames or moves a file or directory; never overwrites. Throws as `view` does.
    public func rename(oldPath: String, newPath: String) async throws -> String {
        try await off { try $0.rename(oldPath: oldPath, newPath: newPath) }
    }

    /// Removes the files that nobody used for `olderThan` seconds, and returns them. This is the blocking
    /// `expire` for asynchronous code. The model cannot call this.
    public func expire(
        olderThan: TimeInterval, dryRun: Bool = false, watch: (any ExpiryWatch)? = nil
    ) async throws -> [Expired] {
        try await off { try $0.expire(olderThan: olderThan, dryRun: dryRun, watch: watch) }
    }

    /// Deletes everything below `/memories`. The model cannot call this.
    public func clear() async throws {
        try await off { try $0.clear() }
    }

    /// Makes a call on a thread that may block.
    private func off<T: Sendable>(
        _ threads: OperationQueue = Threads.changes, _ call: @escaping @Sendable (Memory) throws -> T
    ) async throws -> T {
        try await on(threads) { memory in Result { try call(memory) } }.get()
    }

    private func on<T>(_ threads: OperationQueue, _ call: @escaping @Sendable (Memory) -> T) async -> T {
        let cancellation = Cancellation()
        let memory = cancelledBy(cancellation: cancellation)
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                threads.addOperation { continuation.resume(returning: call(memory)) }
            }
        } onCancel: {
            cancellation.cancel()
        }
    }
}

/// The threads that execute commands. Dispatch has 64; views and changes get at most half each.
private enum Threads {
    static let views = queue("memdir.views")
    static let changes = queue("memdir.changes")

    private static func queue(_ name: String) -> OperationQueue {
        let queue = OperationQueue()
        queue.name = name
        queue.maxConcurrentOperationCount = 32
        return queue
    }
}

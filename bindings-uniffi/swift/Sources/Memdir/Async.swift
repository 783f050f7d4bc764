// The methods of `Memory` for asynchronous code.
//
// A call reads and writes files and blocks meanwhile, which neither an actor nor one of the few
// threads of Swift's own pool may do: each runs on a thread of Dispatch's. In an asynchronous
// function these variants are the ones that are called, elsewhere the blocking ones. A command
// that has begun is carried out, also when the task is cancelled meanwhile.

import Dispatch
import Foundation

extension Memory {
    /// Executes one tool call, given as the JSON text of its `input`: `execute(json:)` for
    /// asynchronous code.
    public func reply(to json: String) async -> Reply {
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async { continuation.resume(returning: self.execute(json: json)) }
        }
    }

    /// Shows a directory two levels deep, or the numbered lines of a file: all of them, or
    /// `viewRange` as first and last line (1-based, inclusive; a last line of -1 is the end).
    ///
    /// Throws `MemdirError.Tool` with the exact answer for the model, `MemdirError.Store` if the
    /// store is broken.
    public func view(path: String, viewRange: [Int64]? = nil) async throws -> String {
        try await off { try $0.view(path: path, viewRange: viewRange) }
    }

    /// Makes a new file, with its parents. Throws as `view` does.
    public func create(path: String, fileText: String) async throws -> String {
        try await off { try $0.create(path: path, fileText: fileText) }
    }

    /// Replaces the only occurrence of `oldStr` in a file by `newStr`; an empty one deletes it.
    /// Throws as `view` does.
    public func strReplace(path: String, oldStr: String, newStr: String = "") async throws -> String {
        try await off { try $0.strReplace(path: path, oldStr: oldStr, newStr: newStr) }
    }

    /// Inserts `insertText` as whole lines after line `insertLine` of a file; 0 is its start.
    /// Throws as `view` does.
    public func insert(path: String, insertLine: Int64, insertText: String) async throws -> String {
        try await off { try $0.insert(path: path, insertLine: insertLine, insertText: insertText) }
    }

    /// Deletes a file, or a directory and all that it holds. Throws as `view` does.
    public func delete(path: String) async throws -> String {
        try await off { try $0.delete(path: path) }
    }

    /// Renames or moves a file or directory; never overwrites. Throws as `view` does.
    public func rename(oldPath: String, newPath: String) async throws -> String {
        try await off { try $0.rename(oldPath: oldPath, newPath: newPath) }
    }

    /// Removes the files that nobody used for `olderThan` seconds, and says which: the blocking `expire`
    /// for asynchronous code. Not a command of the tool: for the developer.
    public func expire(
        olderThan: TimeInterval, dryRun: Bool = false, watch: (any ExpiryWatch)? = nil
    ) async throws -> [Expired] {
        try await off { try $0.expire(olderThan: olderThan, dryRun: dryRun, watch: watch) }
    }

    /// Deletes everything below `/memories`. Not a command of the tool: for the developer.
    public func clear() async throws {
        try await off { try $0.clear() }
    }

    /// Makes a call on a thread that may block.
    private func off<T: Sendable>(_ call: @escaping @Sendable (Memory) throws -> T) async throws -> T {
        try await withCheckedThrowingContinuation { continuation in
            DispatchQueue.global().async {
                continuation.resume(with: Result { try call(self) })
            }
        }
    }
}

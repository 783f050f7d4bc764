// A `Watch` for asynchronous code: a sequence of changes, which holds no thread while it waits.

import Foundation

extension Watch: AsyncSequence {
    public typealias Element = Change

    /// Waits for changes. It ends when the watch or the task is cancelled. Each change is reported to only one iterator.
    public struct AsyncIterator: AsyncIteratorProtocol {
        let watch: Watch
        /// Changes that were found but not yet reported.
        private var found: ArraySlice<Change> = []

        init(_ watch: Watch) { self.watch = watch }

        /// The next change; nil if the watch or the task is cancelled. Throws as `Watch.changes`.
        public mutating func next() async throws -> Change? {
            while found.isEmpty {
                if Task.isCancelled { return nil }
                if watch.isDue() {
                    guard let changes = try await watch.looked() else { return nil }
                    found = changes[...]
                } else {
                    // The sleep ends early if the task is cancelled.
                    try? await Task.sleep(nanoseconds: pause)
                }
            }
            return found.removeFirst()
        }
    }

    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(self) }

    /// The changes since the last call. This is the blocking `changes` for asynchronous code, and holds no thread while it
    /// waits. Throws a `CancellationError` if the task is cancelled.
    public func changes(wait: TimeInterval) async throws -> [Change]? {
        // NaN is passed on as well: the library reports the error.
        guard wait > 0 else { return try await looked(wait: wait) }
        let until = ProcessInfo.processInfo.systemUptime + wait
        while true {
            try Task.checkCancellation()
            let left = until - ProcessInfo.processInfo.systemUptime
            if left <= 0 { return try await looked() }
            if isDue() {
                guard let changes = try await looked() else { return nil }
                if !changes.isEmpty { return changes }
            }
            try await Task.sleep(nanoseconds: Swift.min(pause, UInt64(Swift.min(left, 1) * 1e9)))
        }
    }

    /// Polls once, on a thread that may block.
    fileprivate func looked(wait: TimeInterval = 0) async throws -> [Change]? {
        try await withCheckedThrowingContinuation { continuation in
            ThreadPool.views.run {
                continuation.resume(with: Result { try self.changes(wait: wait) })
            }
        }
    }
}

/// The delay, in nanoseconds, until a watch notices a change of this process.
private let pause: UInt64 = 50_000_000

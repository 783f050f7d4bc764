// Stores of one's own: what makes them shorter to write and to use in Swift.

import Foundation

extension Memory {
    /// A memory on a store of your own, or on one that is shared with another memory.
    ///
    /// Throws `MemdirError.Config` if an option is wrong.
    public convenience init(
        store: any Store, options: MemoryOptions = MemoryOptions(), hooks: (any MemoryHooks)? = nil
    ) throws {
        let made = try Memory.withStore(store: store, options: options, hooks: hooks)
        self.init(unsafeFromHandle: made.uniffiCloneHandle())
    }
}

extension Mount {
    /// A store of your own, or one that is open already, to be mounted at `path`.
    public convenience init(path: String, store: any Store, readOnly: Bool = false) {
        let made = Mount.withStore(path: path, store: store, readOnly: readOnly)
        self.init(unsafeFromHandle: made.uniffiCloneHandle())
    }
}

extension Store {
    /// Does nothing, as is right for a store that keeps no times, or cannot set them.
    public func setModified(path: String, time: Date) throws {}

    /// No, as is right for a store that does not keep when files were accessed.
    public func tracksAccess() throws -> Bool { false }

    /// Does nothing, as `setModified`.
    public func recordAccess(path: String, time: Date) throws {}

    /// Deletes nothing.
    public func deleteUnused(path: String, since: Date) throws -> Bool { false }

    /// Changes a file by `change`, which gets its content and says what it becomes (nil leaves it as
    /// it is), while no other writer can come between. May be called again if one did.
    public func update(path: String, change: @escaping @Sendable (Data) throws -> Data?) throws {
        try update(path: path, edit: Change(change))
    }
}

extension Memory {
    /// As `expire` with an `ExpiryWatch`, which `isRunning` is: it is called now and then, and at the end,
    /// and says whether it goes on.
    public func expire(
        olderThan: TimeInterval, dryRun: Bool = false, isRunning: @escaping @Sendable (ExpiryProgress) throws -> Bool
    ) throws -> [Expired] {
        try expire(olderThan: olderThan, dryRun: dryRun, watch: Watch(isRunning))
    }
}

/// As `copy` with a `CopyWatch`, which `isRunning` is: it is called before each file, and says whether the copy
/// goes on.
///
/// Throws `MemdirError.Copy` if the destination holds something else, or the copy was stopped.
public func copy(
    source: any Store, destination: any Store, overwrite: Bool = false,
    isRunning: @escaping @Sendable (CopyProgress) throws -> Bool
) throws -> Copied {
    try copy(source: source, destination: destination, overwrite: overwrite, watch: WatchCopy(isRunning))
}

/// A watch that is a closure.
private final class WatchCopy: CopyWatch {
    private let isRunning: @Sendable (CopyProgress) throws -> Bool

    init(_ isRunning: @escaping @Sendable (CopyProgress) throws -> Bool) { self.isRunning = isRunning }

    func copying(progress: CopyProgress) throws -> Bool { try isRunning(progress) }
}

/// A watch that is a closure.
private final class Watch: ExpiryWatch {
    private let isRunning: @Sendable (ExpiryProgress) throws -> Bool

    init(_ isRunning: @escaping @Sendable (ExpiryProgress) throws -> Bool) { self.isRunning = isRunning }

    func scanned(progress: ExpiryProgress) throws -> Bool { try isRunning(progress) }
}

/// An edit that a closure makes.
private final class Change: Edit {
    private let change: @Sendable (Data) throws -> Data?

    init(_ change: @escaping @Sendable (Data) throws -> Data?) {
        self.change = change
    }

    func apply(content: Data) throws -> Data? {
        try change(content)
    }
}

/// Checks whether the stores that `store` makes, each of them new and empty, keep the contract of a
/// store: for the tests of those who write one.
///
/// Returns the first rule that is not kept, and how; nil if all are. Throws what `store` throws.
public func checkContract(_ store: @escaping @Sendable () throws -> any Store) throws -> String? {
    try checkContract(factory: Factory(store))
}

/// A factory that is a closure.
private final class Factory: StoreFactory {
    private let store: @Sendable () throws -> any Store

    init(_ store: @escaping @Sendable () throws -> any Store) { self.store = store }

    func make() throws -> any Store { try store() }
}

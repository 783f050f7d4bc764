// Functions that make your own stores shorter to write and to use in Swift.

import Foundation

extension Memory {
    /// A memory on your own store, or on a store that is shared with another memory.
    ///
    /// Throws `MemdirError.config` if an option is wrong.
    public convenience init(
        store: any Store, options: MemoryOptions = MemoryOptions(), hooks: (any MemoryHooks)? = nil
    ) throws {
        let made = try Memory.withStore(store: store, options: options, hooks: hooks)
        self.init(unsafeFromHandle: made.uniffiCloneHandle())
    }
}

extension Memory {
    /// Opens a directory, which is created if it does not exist: the files are in its `memories` directory. In an
    /// app, use a directory below `URL.applicationSupportDirectory`.
    ///
    /// Throws `MemdirError.config` if an option is wrong, `MemdirError.store` if the directory cannot be opened.
    public convenience init(
        directory: URL, options: MemoryOptions = MemoryOptions(), hooks: (any MemoryHooks)? = nil
    ) throws {
        try self.init(store: address(of: directory), options: options, hooks: hooks)
    }
}

/// Opens the store in a directory, which is created if it does not exist: the files are in its `memories`
/// directory.
public func openStore(directory: URL, options: MemoryOptions = MemoryOptions()) throws -> any Store {
    try openStore(address: address(of: directory), options: options)
}

private func address(of directory: URL) throws -> String { try path(of: directory, argument: "directory") }

/// The path of a file URL.
func path(of url: URL, argument: String) throws -> String {
    guard url.isFileURL else {
        throw MemdirError.config(reason: "\(argument) must be a file URL", option: argument)
    }
    return url.standardizedFileURL.path
}

extension Mount {
    /// Mounts the files of exactly that directory at `path`; at `/memories`, those of its `memories` directory.
    public convenience init(path: String, directory: URL, readOnly: Bool = false) throws {
        self.init(path: path, store: try address(of: directory), readOnly: readOnly)
    }

    /// Mounts your own store, or one that is already open, at `path`.
    public convenience init(path: String, store: any Store, readOnly: Bool = false) {
        let made = Mount.withStore(path: path, store: store, readOnly: readOnly)
        self.init(unsafeFromHandle: made.uniffiCloneHandle())
    }
}

extension Store {
    /// Does nothing: the default for a store that keeps no times, or cannot set them.
    public func setModified(path: String, time: Date) throws {}

    /// False: the default for a store that keeps no times of access.
    public func tracksAccess() throws -> Bool { false }

    /// False: the default for a store that distinguishes names that differ in case.
    public func foldsCase() throws -> Bool { false }

    /// Does nothing: the default for a store that keeps no times of access.
    public func recordAccess(path: String, time: Date) throws {}

    /// Deletes nothing: the default for a store that keeps no times of access.
    public func deleteUnused(path: String, since: Date) throws -> Bool { false }

    /// Changes a file atomically: reads it, calls `change` with its content, and writes the result (nil
    /// leaves the file unchanged). If another writer comes in between, `change` is called again with the
    /// newer content.
    public func update(path: String, change: @escaping @Sendable (Data) throws -> Data?) throws {
        try update(path: path, edit: ClosureEdit(change))
    }
}

extension Memory {
    /// As `expire` with an `ExpiryWatch`. `isRunning` is called after every 1,000 files and at the end, and
    /// returns false to stop the expiry.
    public func expire(
        olderThan: TimeInterval, dryRun: Bool = false, isRunning: @escaping @Sendable (ExpiryProgress) throws -> Bool
    ) throws -> [Expired] {
        try expire(olderThan: olderThan, dryRun: dryRun, watch: WatchExpiry(isRunning))
    }
}

extension Memory {
    /// As `sync` with a `SyncWatch`. `isRunning` is called before each file, or group of files, and returns false to stop
    /// the sync.
    public func sync(
        other: Memory, onConflict: OnConflict? = nil, merger: (any SyncMerger)? = nil, oneWay: Bool = false,
        dryRun: Bool = false, delete: Bool = false,
        redactions: Bool = false, exclude: [String] = [], maxFileBytes: Int64? = nil, names: [String]? = nil,
        isRunning: @escaping @Sendable (SyncProgress) throws -> Bool
    ) throws -> Synced {
        try sync(
            other: other, onConflict: onConflict, merger: merger, oneWay: oneWay, dryRun: dryRun, delete: delete, redactions: redactions,
            exclude: exclude, maxFileBytes: maxFileBytes, names: names, watch: WatchSync(isRunning))
    }
}

/// Copies one store into another, as `copy` with a `CopyWatch` does. `isRunning` is called before each file and
/// returns false to stop the copy.
///
/// Throws `MemdirError.copy` if the destination has files with different content, the history cannot be copied, or the
/// copy was stopped.
public func copy(
    source: any Store, destination: any Store, overwrite: Bool = false, withoutHistory: Bool = false,
    isRunning: @escaping @Sendable (CopyProgress) throws -> Bool
) throws -> Copied {
    try copy(
        source: source, destination: destination, overwrite: overwrite, withoutHistory: withoutHistory,
        watch: WatchCopy(isRunning))
}

/// As `rekey` with an address, for your own store. Pass the store that holds the encrypted files.
///
/// Throws `MemdirError.config` if the store is not encrypted or the old key is wrong.
public func rekey(store: any Store, oldKey: EncryptionKey, newKey: EncryptionKey) throws -> Int64 {
    try rekeyStore(store: store, oldKey: oldKey, newKey: newKey)
}

/// A `CopyWatch` that calls a closure.
private final class WatchCopy: CopyWatch {
    private let isRunning: @Sendable (CopyProgress) throws -> Bool

    init(_ isRunning: @escaping @Sendable (CopyProgress) throws -> Bool) { self.isRunning = isRunning }

    func copying(progress: CopyProgress) throws -> Bool { try isRunning(progress) }
}

/// An `ExpiryWatch` that calls a closure.
private final class WatchExpiry: ExpiryWatch {
    private let isRunning: @Sendable (ExpiryProgress) throws -> Bool

    init(_ isRunning: @escaping @Sendable (ExpiryProgress) throws -> Bool) { self.isRunning = isRunning }

    func scanned(progress: ExpiryProgress) throws -> Bool { try isRunning(progress) }
}

/// A `SyncMerger` that calls a closure: `try a.sync(other: b, merger: MergeClosure { $0.a + $0.b })`.
public final class MergeClosure: SyncMerger {
    private let merging: @Sendable (SyncMerge) throws -> String?

    public init(_ merge: @escaping @Sendable (SyncMerge) throws -> String?) { merging = merge }

    public func merge(file: SyncMerge) throws -> String? { try merging(file) }
}

/// A `SyncWatch` that calls a closure.
private final class WatchSync: SyncWatch {
    private let isRunning: @Sendable (SyncProgress) throws -> Bool

    init(_ isRunning: @escaping @Sendable (SyncProgress) throws -> Bool) { self.isRunning = isRunning }

    func syncing(progress: SyncProgress) throws -> Bool { try isRunning(progress) }
}

/// An `Edit` that calls a closure.
private final class ClosureEdit: Edit {
    private let change: @Sendable (Data) throws -> Data?

    init(_ change: @escaping @Sendable (Data) throws -> Data?) {
        self.change = change
    }

    func apply(content: Data) throws -> Data? {
        try change(content)
    }
}

/// Checks that the stores that `store` returns keep the contract of a store. Each of them must be new and
/// empty. Use it in the tests of your own store.
///
/// Returns the first rule that the stores break, with details, or nil if they keep all rules. Throws the
/// errors of `store`.
public func checkContract(_ store: @escaping @Sendable () throws -> any Store) throws -> String? {
    try checkContract(factory: Factory(store))
}

/// A `StoreFactory` that calls a closure.
private final class Factory: StoreFactory {
    private let store: @Sendable () throws -> any Store

    init(_ store: @escaping @Sendable () throws -> any Store) { self.store = store }

    func make() throws -> any Store { try store() }
}

// A memory in a keychain: a complete custom store, to use unchanged or to learn from.
//
// A keychain only has data under keys: no directories, and no way to change two items at once. So one
// item, the index, maps each path to its kind and to the key of its content. Contents are never
// changed, but written under new keys. A change takes effect when the index is replaced: a failure
// before that leaves the old tree, and a failure after it the new one.

import Foundation
import Memdir

/// The functions that the store needs from a keychain. With Apple's: items of the class
/// `kSecClassGenericPassword` of one service, with the key as `kSecAttrAccount`.
public protocol Keychain: Sendable {
    /// The data under a key, if any. `SecItemCopyMatching` with `kSecReturnData`.
    func data(for key: String) throws -> Data?

    /// Stores data under a key, replacing existing data. `SecItemUpdate`, or `SecItemAdd`.
    func set(_ data: Data, for key: String) throws

    /// Removes the data under a key, if any. `SecItemDelete`.
    func remove(_ key: String) throws

    /// All keys. `SecItemCopyMatching` with `kSecMatchLimitAll`.
    func keys() throws -> [String]
}

/// Keeps a memory in a keychain. No other process may use it at the same time.
public final class KeychainStore: Store, @unchecked Sendable {
    private let keychain: any Keychain
    private let lock = NSLock()

    public init(_ keychain: any Keychain) throws {
        self.keychain = keychain
        // Contents left by a program that was killed.
        let known = Set(try load().compactMap { $0.value.file?.key } + [Self.index])
        for key in try keychain.keys() where !known.contains(key) { try keychain.remove(key) }
    }

    public func read(path: String) throws -> Data {
        try lock.withLock { try content(of: file(Path(path), in: load())) }
    }

    public func list(path: String) throws -> [Entry] {
        try lock.withLock {
            let (index, directory) = (try load(), Path(path))
            guard let node = index[directory] else { throw StoreError.notFound }
            guard node.file == nil else { throw StoreError.notADirectory }
            return index.filter { $0.key.parent == directory }.map {
                let file = $0.value.file
                return Entry(
                    path: $0.key.text, size: file?.size, modified: file?.modified, accessed: file?.accessed)
            }
        }
    }

    public func write(path: String, content: Data, overwrite: Bool) throws {
        try lock.withLock {
            var (index, path) = (try load(), Path(path))
            let old = index[path]
            if let old, !overwrite || old.file == nil { throw StoreError.alreadyExists }
            try makeParents(of: path, in: &index)
            try replace(old?.file, by: content, at: path, in: &index)
        }
    }

    public func update(path: String, edit: any Edit) throws {
        try lock.withLock {
            var (index, path) = (try load(), Path(path))
            let old = try file(path, in: index)
            guard let new = try edit.apply(content: content(of: old)) else { return }
            try replace(old, by: new, at: path, in: &index)
        }
    }

    public func setModified(path: String, time: Date) throws {
        try change(path) { $0.modified = time }
    }

    public func tracksAccess() -> Bool { true }

    public func recordAccess(path: String, time: Date) throws {
        try change(path) { $0.accessed = time }
    }

    public func deleteUnused(path: String, since: Date) throws -> Bool {
        try lock.withLock {
            var (index, path) = (try load(), Path(path))
            guard let file = index[path]?.file, max(file.modified, file.accessed ?? file.modified) < since else {
                return false
            }
            index.removeValue(forKey: path)
            try save(index)
            forget(file)
            return true
        }
    }

    private func change(_ path: String, _ change: (inout File) -> Void) throws {
        try lock.withLock {
            var (index, path) = (try load(), Path(path))
            var file = try file(path, in: index)
            change(&file)
            index[path] = Node(file: file)
            try save(index)
        }
    }

    public func delete(path: String) throws {
        try lock.withLock {
            var (index, path) = (try load(), Path(path))
            guard index[path] != nil else { throw StoreError.notFound }
            let gone = index.filter { $0.key == path || path.isAbove($0.key) }
            for path in gone.keys { index.removeValue(forKey: path) }
            try save(index)
            for file in gone.values.compactMap(\.file) { forget(file) }
        }
    }

    public func rename(source: String, destination: String) throws {
        try lock.withLock {
            var (index, source, destination) = (try load(), Path(source), Path(destination))
            guard let node = index[source] else { throw StoreError.notFound }
            guard index[destination] == nil else { throw StoreError.alreadyExists }
            if node.file == nil, source.isAbove(destination) { throw StoreError.intoItself }
            try makeParents(of: destination, in: &index)
            for (path, node) in index where path == source || source.isAbove(path) {
                let moved = path.moved(from: source, to: destination)
                if moved.isTooLong { throw StoreError.nameTooLong }
                index.removeValue(forKey: path)
                index[moved] = node
            }
            try save(index)
        }
    }

    // MARK: - The index

    private static let index = "index"

    private typealias Index = [Path: Node]

    /// A file, or a directory, which has no file.
    private struct Node: Codable {
        var file: File?
    }

    private struct File: Codable {
        let key: String
        let size: Int64
        var modified: Date
        /// The time of the last recorded access, if any.
        var accessed: Date?
    }

    private func load() throws -> Index {
        guard let data = try keychain.data(for: Self.index) else { return [.root: Node()] }
        return try PropertyListDecoder().decode(Index.self, from: data)
    }

    /// This call makes the change effective.
    private func save(_ index: Index) throws {
        let encoder = PropertyListEncoder()
        encoder.outputFormat = .binary
        try keychain.set(encoder.encode(index), for: Self.index)
    }

    private func replace(_ old: File?, by content: Data, at path: Path, in index: inout Index) throws {
        let new = File(key: UUID().uuidString, size: Int64(content.count), modified: Date())
        try keychain.set(content, for: new.key)
        index[path] = Node(file: new)
        try save(index)
        if let old { forget(old) }
    }

    /// A content that cannot be removed now is removed when the store is opened the next time.
    private func forget(_ file: File) {
        try? keychain.remove(file.key)
    }

    private func file(_ path: Path, in index: Index) throws -> File {
        guard let node = index[path] else { throw StoreError.notFound }
        guard let file = node.file else { throw StoreError.isADirectory }
        return file
    }

    private func content(of file: File) throws -> Data {
        guard let content = try keychain.data(for: file.key) else {
            throw StoreError.failed(reason: "the keychain has lost the content of a file")
        }
        return content
    }

    private func makeParents(of path: Path, in index: inout Index) throws {
        var above = path.parent
        while let directory = above {
            if let node = index[directory] {
                guard node.file == nil else { throw StoreError.notADirectory }
                return
            }
            index[directory] = Node()
            above = directory.parent
        }
    }
}

/// A path compared by its bytes. Swift considers strings equal whose bytes differ (`é` as one
/// character or as two), and a store must not.
private struct Path: Hashable, Codable {
    static let root = Path("/memories")

    private let bytes: Data

    init(_ text: String) { bytes = Data(text.utf8) }

    private init(bytes: Data) { self.bytes = bytes }

    var text: String { String(decoding: bytes, as: UTF8.self) }

    var parent: Path? {
        guard let slash = bytes.lastIndex(of: UInt8(ascii: "/")), slash > 0 else { return nil }
        return Path(bytes: Data(bytes[..<slash]))
    }

    func isAbove(_ other: Path) -> Bool { other.bytes.starts(with: bytes + [UInt8(ascii: "/")]) }

    func moved(from: Path, to: Path) -> Path { Path(bytes: to.bytes + bytes.dropFirst(from.bytes.count)) }

    var isTooLong: Bool { bytes.count > 4096 || bytes.filter { $0 == UInt8(ascii: "/") }.count > 65 }
}

/// A keychain in this process, which lasts as long as the object.
public final class MapKeychain: Keychain, @unchecked Sendable {
    private let lock = NSLock()
    private var items: [String: Data] = [:]

    public init() {}

    public func data(for key: String) -> Data? { lock.withLock { items[key] } }

    public func set(_ data: Data, for key: String) { lock.withLock { items[key] = data } }

    public func remove(_ key: String) { lock.withLock { _ = items.removeValue(forKey: key) } }

    public func keys() -> [String] { lock.withLock { Array(items.keys) } }
}

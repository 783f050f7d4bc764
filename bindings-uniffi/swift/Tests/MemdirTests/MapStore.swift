import Foundation
import Memdir

/// A store written in Swift: a map from paths to contents, in which a directory has no content. It
/// keeps the whole contract of a `Store`, as the tests check.
final class MapStore: Store, @unchecked Sendable {
    private let lock = NSLock()
    private var nodes: [Path: Data?] = [root: nil]
    private var modified: [Path: Date] = [:]
    private var accessed: [Path: Date] = [:]

    private static let root = Path("/memories")

    func read(path: String) throws -> Data {
        try lock.withLock { try file(Path(path)) }
    }

    func list(path: String) throws -> [Entry] {
        try lock.withLock {
            let directory = Path(path)
            guard let node = nodes[directory] else { throw StoreError.notFound }
            guard node == nil else { throw StoreError.notADirectory }
            return nodes.filter { $0.key.parent == directory }
                .map { path, content in
                    Entry(
                        path: path.text, size: content.map { Int64($0.count) }, modified: modified[path],
                        accessed: accessed[path])
                }
        }
    }

    func write(path: String, content: Data, overwrite: Bool) throws {
        try lock.withLock {
            let path = Path(path)
            if let node = nodes[path], !overwrite || node == nil { throw StoreError.alreadyExists }
            try makeParents(path)
            put(content, path)
        }
    }

    func update(path: String, edit: any Edit) throws {
        try lock.withLock {
            let path = Path(path)
            if let new = try edit.apply(content: file(path)) { put(new, path) }
        }
    }

    func setModified(path: String, time: Date) throws {
        try lock.withLock {
            _ = try file(Path(path))
            modified[Path(path)] = time
        }
    }

    func tracksAccess() -> Bool { true }

    func recordAccess(path: String, time: Date) throws {
        try lock.withLock {
            _ = try file(Path(path))
            accessed[Path(path)] = time
        }
    }

    func deleteUnused(path: String, since: Date) -> Bool {
        lock.withLock {
            let path = Path(path)
            guard let node = nodes[path], node != nil else { return false }
            let unused = [modified[path], accessed[path]].compactMap { $0 }.allSatisfy { $0 < since }
            if unused { remove(path) }
            return unused
        }
    }

    private func put(_ content: Data, _ path: Path) {
        nodes[path] = .some(content)
        modified[path] = Date()
    }

    private func remove(_ path: Path) {
        nodes.removeValue(forKey: path)
        modified.removeValue(forKey: path)
        accessed.removeValue(forKey: path)
    }

    func delete(path: String) throws {
        try lock.withLock {
            let path = Path(path)
            guard nodes[path] != nil else { throw StoreError.notFound }
            for gone in subtree(path) { remove(gone) }
        }
    }

    func rename(source: String, destination: String) throws {
        try lock.withLock {
            let (source, destination) = (Path(source), Path(destination))
            guard let node = nodes[source] else { throw StoreError.notFound }
            guard nodes[destination] == nil else { throw StoreError.alreadyExists }
            if node == nil, source.isAbove(destination) { throw StoreError.intoItself }
            let moved = subtree(source).map { ($0, $0.moved(from: source, to: destination)) }
            if moved.contains(where: { $0.1.isTooLong }) { throw StoreError.nameTooLong }
            try makeParents(destination)
            for (old, new) in moved {
                nodes[new] = nodes.removeValue(forKey: old)
                modified[new] = modified.removeValue(forKey: old)
                accessed[new] = accessed.removeValue(forKey: old)
            }
        }
    }

    private func file(_ path: Path) throws -> Data {
        guard let node = nodes[path] else { throw StoreError.notFound }
        guard let content = node else { throw StoreError.isADirectory }
        return content
    }

    private func subtree(_ path: Path) -> [Path] {
        nodes.keys.filter { $0 == path || path.isAbove($0) }
    }

    private func makeParents(_ path: Path) throws {
        var missing: [Path] = []
        var above = path.parent
        while let directory = above {
            if let node = nodes[directory] {
                guard node == nil else { throw StoreError.notADirectory }
                break
            }
            missing.append(directory)
            above = directory.parent
        }
        for directory in missing { nodes[directory] = .some(nil) }
    }
}

/// A path that is compared by bytes. Swift treats two strings with different bytes as equal if they
/// are canonically equivalent (`é` as one character or as two), but a store must not.
struct Path: Hashable, Comparable {
    let bytes: [UInt8]

    init(_ text: String) { bytes = Array(text.utf8) }

    private init(bytes: [UInt8]) { self.bytes = bytes }

    var text: String { String(decoding: bytes, as: UTF8.self) }

    var parent: Path? {
        guard let slash = bytes.lastIndex(of: UInt8(ascii: "/")), slash > 0 else { return nil }
        return Path(bytes: Array(bytes[..<slash]))
    }

    func isAbove(_ other: Path) -> Bool { other.bytes.starts(with: bytes + [UInt8(ascii: "/")]) }

    func moved(from: Path, to: Path) -> Path { Path(bytes: to.bytes + bytes[from.bytes.count...]) }

    var isTooLong: Bool { bytes.count > 4096 || bytes.filter { $0 == UInt8(ascii: "/") }.count > 65 }

    static func < (one: Path, other: Path) -> Bool { one.bytes.lexicographicallyPrecedes(other.bytes) }
}

/// Matches names in any case, and keeps the case of the first write. It keeps no times.
final class FoldingStore: Store, Sendable {
    private let inner = MapStore()

    private func kept(_ path: String) -> String {
        path.split(separator: "/").dropFirst().reduce("/memories") { above, name in
            let wanted = "\(above)/\(name)"
            let folded = Path(wanted.uppercased())
            let below = (try? inner.list(path: above)) ?? []
            return below.first { Path($0.path.uppercased()) == folded }?.path ?? wanted
        }
    }

    func foldsCase() -> Bool { true }

    func read(path: String) throws -> Data { try inner.read(path: kept(path)) }

    func list(path: String) throws -> [Entry] {
        let kept = kept(path)
        return try inner.list(path: kept).map { entry in
            let moved = Path(entry.path).moved(from: Path(kept), to: Path(path))
            return Entry(path: moved.text, size: entry.size)
        }
    }

    func write(path: String, content: Data, overwrite: Bool) throws {
        try inner.write(path: kept(path), content: content, overwrite: overwrite)
    }

    func update(path: String, edit: any Edit) throws { try inner.update(path: kept(path), edit: edit) }

    func delete(path: String) throws { try inner.delete(path: kept(path)) }

    func rename(source: String, destination: String) throws {
        try inner.rename(source: kept(source), destination: kept(destination))
    }
}

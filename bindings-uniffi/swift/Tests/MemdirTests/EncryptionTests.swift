import Foundation
@testable import Memdir
import XCTest

/// Encrypted stores: directories and Swift stores, with every kind of key.
final class EncryptionTests: XCTestCase {
    private func encrypted(_ store: String, _ key: EncryptionKey, names: Bool = false) throws -> Memory {
        try Memory(store: store, options: MemoryOptions(durability: .relaxed, encryptionKey: key, encryptNames: names))
    }

    private func fixedKey(_ number: UInt8) -> EncryptionKey { EncryptionKey(Data((0..<32).map { $0 &* 7 &+ number })) }

    func testAnEncryptedDirectoryIsOpenedByItsKeyAlone() async throws {
        let place = try temporaryDirectory()
        defer { try? FileManager.default.removeItem(at: place) }
        let (store, key) = (place.appendingPathComponent("memory").path, fixedKey(1))
        _ = try await encrypted(store, key, names: true).create(path: "/memories/tea.md", fileText: "Anna likes tea.\n")
        for file in try FileManager.default.subpathsOfDirectory(atPath: place.path) {
            XCTAssertFalse(file.contains("tea.md"))
            let content = FileManager.default.contents(atPath: place.appendingPathComponent(file).path) ?? Data()
            XCTAssertNil(content.range(of: Data("Anna".utf8)))
        }
        let shown = try await encrypted(store, key).view(path: "/memories/tea.md")
        XCTAssertTrue(shown.hasSuffix("Anna likes tea."))
        XCTAssertThrowsError(try Memory(store: store)) { error in
            guard case MemdirError.config(_, "encryptionKey") = error else { return XCTFail("\(error)") }
        }
        XCTAssertThrowsError(try encrypted(store, fixedKey(2)))
    }

    func testRekeyChangesTheKey() async throws {
        let place = try temporaryDirectory()
        defer { try? FileManager.default.removeItem(at: place) }
        let (old, new) = (fixedKey(1), EncryptionKey("correct horse battery staple"))
        let store = "sqlite:" + place.appendingPathComponent("agent.db").path
        _ = try await encrypted(store, old).create(path: "/memories/a", fileText: "one")
        XCTAssertEqual(try rekey(address: store, oldKey: old, newKey: new), 1)
        let shown = try await encrypted(store, new).view(path: "/memories/a")
        XCTAssertTrue(shown.hasSuffix("1\tone"))
        XCTAssertThrowsError(try encrypted(store, old))

        let own = MapStore()
        _ = try await Memory(store: own, options: MemoryOptions(encryptionKey: old)).create(path: "/memories/a", fileText: "Anna")
        XCTAssertNil(try own.read(path: "/memories/a").range(of: Data("Anna".utf8)))
        XCTAssertEqual(try rekey(store: own, oldKey: old, newKey: new), 1)
    }

    func testAKeyIsShownNowhere() throws {
        let options = MemoryOptions(encryptionKey: EncryptionKey("hunter2"))
        var dumped = ""
        dump(options, to: &dumped)
        for shown in ["\(options)", String(reflecting: options), dumped] {
            XCTAssertTrue(shown.contains("EncryptionKey(…)") && !shown.contains("hunter2") && !shown.contains("104"), shown)
        }
        XCTAssertEqual(options, MemoryOptions(encryptionKey: EncryptionKey("hunter2")))
        for wrong in [EncryptionKey(Data(count: 31)), EncryptionKey("hex:abcd"), EncryptionKey("")] {
            XCTAssertThrowsError(try encrypted("memory:", wrong)) { error in
                guard case MemdirError.config(let reason, "encryptionKey") = error else { return XCTFail("\(error)") }
                XCTAssertFalse(reason.contains("abcd"))
            }
        }
    }

    func testThreadsThatMakeTheFirstCallAtOnceGetOneKey() throws {
        let place = try temporaryDirectory()
        defer { try? FileManager.default.removeItem(at: place) }
        for round in 0..<200 {
            let file = place.appendingPathComponent("\(round).key")
            let keys = ofThreads { try EncryptionKey.fromFile(file) }
            XCTAssertEqual(keys, [EncryptionKey(try Data(contentsOf: file))], "\(round)")
            // Like the keychain, which adds an item only if there is none.
            let kept = Kept()
            let fromIt = ofThreads { try EncryptionKey.kept(read: { kept.read() }, add: { kept.add($0) }) }
            XCTAssertEqual(fromIt, [EncryptionKey(kept.read()!)], "\(round)")
        }
        XCTAssertEqual(try FileManager.default.contentsOfDirectory(atPath: place.path).count, 200)
    }

    /// The keys that four threads get.
    private func ofThreads(_ call: @escaping @Sendable () throws -> EncryptionKey) -> Set<EncryptionKey> {
        let lock = NSLock()
        nonisolated(unsafe) var keys = Set<EncryptionKey>()
        DispatchQueue.concurrentPerform(iterations: 4) { _ in
            do {
                let key = try call()
                lock.withLock { _ = keys.insert(key) }
            } catch {
                XCTFail("\(error)")
            }
        }
        return keys
    }

    func testAFileThatHoldsNoKeyIsAnErrorAndStays() throws {
        let place = try temporaryDirectory()
        defer { try? FileManager.default.removeItem(at: place) }
        let file = place.appendingPathComponent("memory.key")
        for wrong in [0, 31, 33] {
            try Data(count: wrong).write(to: file)
            XCTAssertThrowsError(try EncryptionKey.fromFile(file)) { error in
                guard case MemdirError.config(_, "path") = error else { return XCTFail("\(error)") }
            }
            XCTAssertEqual(try Data(contentsOf: file), Data(count: wrong))
        }
        XCTAssertThrowsError(try EncryptionKey.fromFile(URL(string: "https://example.com/key")!))
        XCTAssertThrowsError(try EncryptionKey.kept(read: { Data(count: 31) }, add: { _ in XCTFail("overwritten"); return true }))
    }
}

/// One item of a keychain.
private final class Kept: @unchecked Sendable {
    private let lock = NSLock()
    private var bytes: Data?

    func read() -> Data? { lock.withLock { bytes } }

    func add(_ given: Data) -> Bool {
        lock.withLock {
            if bytes != nil { return false }
            bytes = given
            return true
        }
    }
}

import Foundation
import Memdir
import StoreExample
import XCTest

/// Encrypted stores: directories and stores of one's own, with keys of every kind.
final class EncryptionTests: XCTestCase {
    private func encrypted(_ store: String, _ key: EncryptionKey, names: Bool = false) throws -> Memory {
        try Memory(store: store, options: MemoryOptions(encryptionKey: key, encryptNames: names))
    }

    private func randomKey() -> EncryptionKey { EncryptionKey(Data((0..<32).map { _ in UInt8.random(in: 0...255) })) }

    func testAnEncryptedDirectoryIsOpenedByItsKeyAlone() async throws {
        let place = try temporaryDirectory()
        defer { try? FileManager.default.removeItem(at: place) }
        let (store, key) = (place.appendingPathComponent("memory").path, randomKey())
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
        XCTAssertThrowsError(try encrypted(store, randomKey()))
    }

    func testRekeyChangesTheKey() async throws {
        let place = try temporaryDirectory()
        defer { try? FileManager.default.removeItem(at: place) }
        let (old, new) = (randomKey(), EncryptionKey("correct horse battery staple"))
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

    func testTheExampleKeepsAKeyInAKeychain() throws {
        let keychain = MapKeychain()
        let key = try storedKey(in: keychain)
        XCTAssertEqual(key, try storedKey(in: keychain))
        XCTAssertNotEqual(key, try storedKey(in: keychain, named: "another"))
        _ = try encrypted("memory:", key)
    }
}

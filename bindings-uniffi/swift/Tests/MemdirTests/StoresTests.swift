import Foundation
import Memdir
import StoreExample
import XCTest

/// Every kind of store can be opened and used. The core's tests run all conformance cases on all stores;
/// `ConformanceTests` runs them on two.
final class StoresTests: XCTestCase {
    private let path = "/memories/team/tea.md"
    private let relaxed = MemoryOptions(durability: .relaxed)

    func testEveryKindOfStoreDoesWhatASessionAsksFor() throws {
        let place = try temporaryDirectory()
        defer { try? FileManager.default.removeItem(at: place) }
        func at(_ name: String) -> String { place.appendingPathComponent(name).path }
        let key = EncryptionKey(Data(0..<32))
        let encrypted = MemoryOptions(durability: .relaxed, encryptionKey: key, encryptNames: true)
        let shared = try openStore(address: "memory:")
        try session("a directory", Memory(store: at("local"), options: relaxed))
        try session("a directory by its address", Memory(store: "dir:" + at("plain"), options: relaxed))
        try session("a directory with a history", Memory(store: at("past"), options: MemoryOptions(history: true, durability: .relaxed)))
        try session("an encrypted directory", Memory(store: at("encrypted"), options: encrypted))
        try session("SQLite", Memory(store: "sqlite:" + at("agent.db"), options: relaxed))
        try session("encrypted SQLite", Memory(store: "sqlite:" + at("encrypted.db"), options: encrypted))
        try session("in the process", Memory(store: shared, options: relaxed))
        try session("a map in Swift", Memory(store: MapStore()))
        try session("an encrypted map in Swift", Memory(store: MapStore(), options: encrypted))
        try session("a keychain", Memory(store: KeychainStore(MapKeychain())))
    }

    private func session(_ name: String, _ memory: Memory) throws {
        XCTAssertEqual(
            try memory.create(path: path, fileText: "green\nblack\n"), "File created successfully at: \(path)", name)
        _ = try memory.strReplace(path: path, oldStr: "green", newStr: "white")
        _ = try memory.insert(path: path, insertLine: 2, insertText: "mint\n")
        XCTAssertTrue(try memory.view(path: path).hasSuffix("\n     1\twhite\n     2\tblack\n     3\tmint"), name)
        XCTAssertTrue(try memory.view(path: "/memories").hasSuffix("\t\(path)"), name)
        XCTAssertThrowsError(try memory.strReplace(path: path, oldStr: "green", newStr: "red"), name) { error in
            guard case MemdirError.refused(let reason, _) = error else { return XCTFail("\(name): \(error)") }
            XCTAssertTrue(reason.contains("did not appear verbatim"), reason)
        }
        let reply = memory.execute(json: #"{"command": "delete", "path": "/memories/none"}"#)
        XCTAssertEqual(reply.content, "Error: The path /memories/none does not exist", name)
        XCTAssertTrue(reply.isError && reply.cause == nil, name)
        _ = try memory.rename(oldPath: "/memories/team", newPath: "/memories/group")
        XCTAssertEqual(try memory.read(path: "/memories/group/tea.md"), "white\nblack\nmint\n", name)
        _ = try memory.delete(path: "/memories/group")
        XCTAssertFalse(try memory.exists(path: "/memories/group"), name)
    }

    func testWhatWasWrittenIsThereWhenAStoreIsOpenedAgain() throws {
        let place = try temporaryDirectory()
        defer { try? FileManager.default.removeItem(at: place) }
        for (scheme, name) in [("", "local"), ("dir:", "plain"), ("sqlite:", "agent.db")] {
            let address = scheme + place.appendingPathComponent(name).path
            _ = try Memory(store: address, options: relaxed).create(path: path, fileText: "green\n")
            XCTAssertEqual(try Memory(store: address, options: relaxed).read(path: path), "green\n", address)
        }
    }

    func testAStoreThatCannotBeOpenedIsAnErrorThatSaysWhy() throws {
        let place = try temporaryDirectory()
        defer { try? FileManager.default.removeItem(at: place) }
        for address in ["/dev/null/memory", "dir:/dev/null/memory", "sqlite:" + place.path] {
            XCTAssertThrowsError(try Memory(store: address), address) { error in
                guard case MemdirError.store(let reason, _, _) = error else { return XCTFail("\(address): \(error)") }
                XCTAssertFalse(reason.isEmpty, address)
            }
        }
        XCTAssertThrowsError(try Memory(store: "redis://localhost")) { error in
            guard case MemdirError.config(let reason, _) = error else { return XCTFail("\(error)") }
            XCTAssertTrue(reason.contains("redis"), reason)
        }
    }
}

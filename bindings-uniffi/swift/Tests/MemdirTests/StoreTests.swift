import Foundation
import Memdir
import StoreExample
import XCTest

/// Stores written in Swift: correct ones work like any other, faulty ones cause errors and no crash.
final class StoreTests: XCTestCase {
    func testAStoreInSwiftKeepsTheContract() throws {
        XCTAssertNil(try checkContract { MapStore() })
    }

    func testAStoreThatIgnoresCaseSaysSo() throws {
        XCTAssertNil(try checkContract { FoldingStore() })
        let store = FoldingStore()
        try store.write(path: "/memories/Handbook/rules.md", content: Data("one\n".utf8), overwrite: false)
        let options = MemoryOptions(readOnlyPaths: ["/memories/handbook"])
        let memory = try Memory(store: store, options: options)
        let reply = memory.execute(
            json: #"{"command":"insert","path":"/memories/HANDBOOK/Rules.md","insert_line":0,"insert_text":"two"}"#)
        XCTAssert(reply.isError && reply.content.contains("is read-only"), reply.content)
        XCTAssertEqual(try store.read(path: "/memories/handbook/RULES.md"), Data("one\n".utf8))
        XCTAssertFalse(try MapStore().foldsCase())
        XCTAssertFalse(try openStore(address: "memory:").foldsCase())
    }

    func testTheExampleOnAKeychainKeepsTheContract() throws {
        XCTAssertNil(try checkContract { try KeychainStore(MapKeychain()) })
    }

    func testTheExampleChangesAllOrNothingWhereverItsKeychainBreaks() throws {
        let changes: [(any Store) throws -> Void] = [
            { try $0.write(path: "/memories/new/file", content: Data("new".utf8), overwrite: false) },
            { try $0.write(path: "/memories/a/b", content: Data("new".utf8), overwrite: true) },
            { try $0.update(path: "/memories/a/b") { $0 + Data("new".utf8) } },
            { try $0.rename(source: "/memories/a", destination: "/memories/c/d") },
            { try $0.delete(path: "/memories/a") },
        ]
        for change in changes {
            var refused = 0
            for calls in 0..<10 {
                let keychain = MapKeychain()
                try KeychainStore(keychain).write(path: "/memories/a/b", content: Data("old".utf8), overwrite: false)
                let before = try tree(KeychainStore(keychain))
                let breaking = try KeychainStore(Breaking(keychain, after: calls))
                do {
                    try change(breaking)
                    XCTAssertNotEqual(try tree(KeychainStore(keychain)), before)
                } catch is Breaking.Broken {
                    refused += 1
                    XCTAssertEqual(try tree(KeychainStore(keychain)), before)
                }
                // One item per file, and the index. Opening the store has removed all leftovers.
                let files = try tree(KeychainStore(keychain)).values.filter { $0 != nil }.count
                XCTAssertEqual(keychain.keys().count, files + 1)
            }
            XCTAssert((1..<10).contains(refused), "\(refused)")
        }
    }

    func testTimesGoBothWaysToTheMicrosecond() throws {
        XCTAssertNil(try checkContract { try Handing(openStore(address: "memory:")) })
        let store = try openStore(address: "memory:")
        try store.write(path: "/memories/a.md", content: Data(), overwrite: false)
        let time = Date(timeIntervalSince1970: 1_779_006_600.123456)
        try store.setModified(path: "/memories/a.md", time: time)
        let listed = try XCTUnwrap(store.list(path: "/memories").first?.modified)
        XCTAssertEqual(listed.timeIntervalSince1970, time.timeIntervalSince1970, accuracy: 0.000_000_5)
        XCTAssertThrowsError(try store.setModified(path: "/memories/b.md", time: time)) { error in
            XCTAssertEqual(error as? StoreError, .notFound)
        }
    }

    func testAStoreThatDoesNotKeepTheContractIsToldSo() throws {
        let broken = try checkContract { Odd(delete: { _ in }) }
        XCTAssertTrue(broken?.hasPrefix("the store breaks the rule") ?? false, broken ?? "nothing")
        XCTAssertThrowsError(try checkContract { throw StoreError.full }) { error in
            XCTAssertEqual(error as? StoreError, .full)
        }
    }

    func testABuiltInStoreIsAStoreLikeAnyOther() throws {
        let store = try openStore(address: "memory:")
        let memory = try Memory(store: store)
        _ = try memory.create(path: "/memories/a.md", fileText: "one\n")
        try store.update(path: "/memories/a.md") { $0 + Data("two\n".utf8) }
        try store.update(path: "/memories/a.md") { _ in nil }
        XCTAssertEqual(try store.read(path: "/memories/a.md"), Data("one\ntwo\n".utf8))
        XCTAssertThrowsError(try store.update(path: "/memories/a.md") { _ in throw Secret() })
        XCTAssertThrowsError(try store.read(path: "/memories/b.md")) { error in
            XCTAssertEqual(error as? StoreError, .notFound)
            XCTAssertEqual(error.localizedDescription, "not found")
        }
        XCTAssertThrowsError(try store.read(path: "/etc/passwd"))
    }

    /// An error with text that the model must not see.
    private struct Secret: Error, CustomStringConvertible {
        let description = "db://user:hunter2@host"
    }

    func testWhateverIsThrownIsAnErrorReplyWhoseCauseIsForTheDeveloper() throws {
        let thrown: [any Error] = [Secret(), StoreError.failed(reason: "\(Secret())"), MemdirError.refused(reason: "\(Secret())", kind: .invalid)]
        for error in thrown {
            let memory = try Memory(store: Throwing(error))
            for command in [
                #"{"command":"view","path":"/memories"}"#,
                #"{"command":"create","path":"/memories/a.md","file_text":"x"}"#,
                #"{"command":"str_replace","path":"/memories/a.md","old_str":"a","new_str":"b"}"#,
                #"{"command":"insert","path":"/memories/a.md","insert_line":0,"insert_text":"b"}"#,
                #"{"command":"delete","path":"/memories/a.md"}"#,
                #"{"command":"rename","old_path":"/memories/a.md","new_path":"/memories/b.md"}"#,
            ] {
                let reply = memory.execute(json: command)
                XCTAssertTrue(reply.isError, command)
                XCTAssertFalse(reply.content.contains("hunter2"), reply.content)
                XCTAssertTrue(reply.cause?.contains("hunter2") ?? false, command)
            }
            XCTAssertThrowsError(try memory.view(path: "/memories")) { error in
                guard case MemdirError.store(let reason, _, _) = error else { return XCTFail("\(error)") }
                XCTAssertTrue(reason.contains("hunter2"))
                XCTAssertFalse((error as? MemdirError)?.reply().content.contains("hunter2") ?? true)
            }
        }
    }

    func testAConditionThatAStoreNamesIsTheSentenceThatBelongsToIt() throws {
        let reply = try Memory(store: Throwing(StoreError.full))
            .execute(json: #"{"command":"delete","path":"/memories/a.md"}"#)
        XCTAssertTrue(reply.isError && reply.content.contains("full"), reply.content)
        XCTAssertNil(reply.cause)
    }

    func testWrongEntriesAreAFaultOfTheStore() throws {
        for entry in [
            Entry(path: "/etc/passwd", size: 1), Entry(path: "/memories", size: nil), Entry(path: "", size: nil),
            Entry(path: "/memories/a/b", size: 1), Entry(path: "/memories/a", size: -1),
        ] {
            let memory = try Memory(store: Odd(list: { _ in [entry] }))
            let reply = memory.execute(json: #"{"command":"view","path":"/memories"}"#)
            XCTAssertTrue(reply.isError && reply.cause != nil, "\(entry): \(reply)")
        }
    }

    func testAnUpdateThatDoesNotAskForTheEditIsAFaultOfTheStore() throws {
        let memory = try Memory(store: Odd(update: { _, _ in }))
        _ = try memory.create(path: "/memories/a.md", fileText: "one\n")
        let reply = memory.execute(json: #"{"command":"insert","path":"/memories/a.md","insert_line":0,"insert_text":"x"}"#)
        XCTAssertTrue(reply.cause?.contains("did not apply the edit") ?? false, "\(reply)")
    }
}

/// A keychain that rejects every change after a given number.
private final class Breaking: Keychain, @unchecked Sendable {
    struct Broken: Error {}

    private let keychain: MapKeychain
    private var left: Int

    init(_ keychain: MapKeychain, after: Int) { (self.keychain, left) = (keychain, after) }

    func data(for key: String) throws -> Data? { keychain.data(for: key) }
    func keys() throws -> [String] { keychain.keys() }
    func set(_ data: Data, for key: String) throws {
        try count()
        keychain.set(data, for: key)
    }
    func remove(_ key: String) throws {
        try count()
        keychain.remove(key)
    }

    private func count() throws {
        if left == 0 { throw Broken() }
        left -= 1
    }
}

/// A store that forwards every call, as a logging or measuring store does.
private final class Handing: Store {
    private let store: any Store

    init(_ store: any Store) { self.store = store }

    func read(path: String) throws -> Data { try store.read(path: path) }
    func list(path: String) throws -> [Entry] { try store.list(path: path) }
    func write(path: String, content: Data, overwrite: Bool) throws {
        try store.write(path: path, content: content, overwrite: overwrite)
    }
    func update(path: String, edit: any Edit) throws { try store.update(path: path, edit: edit) }
    func delete(path: String) throws { try store.delete(path: path) }
    func rename(source: String, destination: String) throws {
        try store.rename(source: source, destination: destination)
    }
    func setModified(path: String, time: Date) throws { try store.setModified(path: path, time: time) }
}

/// A store whose methods only throw.
private final class Throwing: Store {
    private let error: any Error

    init(_ error: any Error) { self.error = error }

    func read(path: String) throws -> Data { throw error }
    func list(path: String) throws -> [Entry] { throw error }
    func write(path: String, content: Data, overwrite: Bool) throws { throw error }
    func update(path: String, edit: any Edit) throws { throw error }
    func delete(path: String) throws { throw error }
    func rename(source: String, destination: String) throws { throw error }
}

/// A store that differs from a correct one in one method.
private final class Odd: Store {
    private let store = MapStore()
    private let oddList: (@Sendable (String) throws -> [Entry])?
    private let oddUpdate: (@Sendable (String, any Edit) throws -> Void)?
    private let oddDelete: (@Sendable (String) throws -> Void)?

    init(
        list: (@Sendable (String) throws -> [Entry])? = nil,
        update: (@Sendable (String, any Edit) throws -> Void)? = nil,
        delete: (@Sendable (String) throws -> Void)? = nil
    ) {
        (oddList, oddUpdate, oddDelete) = (list, update, delete)
    }

    func read(path: String) throws -> Data { try store.read(path: path) }
    func list(path: String) throws -> [Entry] { try oddList?(path) ?? store.list(path: path) }
    func write(path: String, content: Data, overwrite: Bool) throws {
        try store.write(path: path, content: content, overwrite: overwrite)
    }
    func update(path: String, edit: any Edit) throws {
        if let oddUpdate { try oddUpdate(path, edit) } else { try store.update(path: path, edit: edit) }
    }
    func delete(path: String) throws {
        if let oddDelete { try oddDelete(path) } else { try store.delete(path: path) }
    }
    func rename(source: String, destination: String) throws {
        try store.rename(source: source, destination: destination)
    }
}

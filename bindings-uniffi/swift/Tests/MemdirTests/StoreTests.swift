import Foundation
import Memdir
import XCTest

/// Stores written in Swift: good ones are stores like any other, bad ones are errors and no crash.
final class StoreTests: XCTestCase {
    private final class Factory: StoreFactory {
        private let store: @Sendable () throws -> any Store

        init(_ store: @escaping @Sendable () throws -> any Store) { self.store = store }

        func make() throws -> any Store { try store() }
    }

    func testAStoreInSwiftKeepsTheContract() throws {
        XCTAssertNil(try checkStoreContract(factory: Factory { MapStore() }))
    }

    func testAStoreThatDoesNotKeepTheContractIsToldSo() throws {
        let broken = try checkStoreContract(factory: Factory { Odd(delete: { _ in }) })
        XCTAssertTrue(broken?.hasPrefix("the store does not keep the rule") ?? false, broken ?? "nothing")
        XCTAssertThrowsError(try checkStoreContract(factory: Factory { throw StoreFailure.Full })) { error in
            XCTAssertEqual(error as? StoreFailure, .Full)
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
            XCTAssertEqual(error as? StoreFailure, .NotFound)
            XCTAssertEqual(error.localizedDescription, "not found")
        }
        XCTAssertThrowsError(try store.read(path: "/etc/passwd"))
    }

    /// What no model may see.
    private struct Secret: Error, CustomStringConvertible {
        let description = "db://user:hunter2@host"
    }

    func testWhateverIsThrownIsAnErrorReplyWhoseCauseIsForTheDeveloper() throws {
        let thrown: [any Error] = [Secret(), StoreFailure.Failed(reason: "\(Secret())"), MemdirError.Tool(reason: "\(Secret())")]
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
                guard case MemdirError.Store(let reason) = error else { return XCTFail("\(error)") }
                XCTAssertTrue(reason.contains("hunter2"))
                XCTAssertFalse((error as? MemdirError)?.reply().content.contains("hunter2") ?? true)
            }
        }
    }

    func testAConditionThatAStoreNamesIsTheSentenceThatBelongsToIt() throws {
        let reply = try Memory(store: Throwing(StoreFailure.Full))
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

/// A store that does nothing but throw.
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

/// A store that is another in one method.
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

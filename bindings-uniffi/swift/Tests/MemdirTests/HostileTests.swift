import Foundation
import Memdir
import XCTest

/// The hostile tables (`tests/hostile`): always a reply or the declared error.
final class HostileTests: XCTestCase {
    private func table(_ name: String) throws -> [[String: JSON]] {
        let file = root.appendingPathComponent("tests/hostile/\(name).json")
        return try JSONDecoder().decode([[String: JSON]].self, from: Data(contentsOf: file))
    }

    /// Nil for what no text of Swift's can hold.
    private func put(_ text: String) -> String? {
        if text.contains("@half@") { return nil }
        return text.replacingOccurrences(of: "@long@", with: String(repeating: "x", count: 1_000_000))
            .replacingOccurrences(of: "@deep@", with: String(repeating: "[", count: 100_000))
            .replacingOccurrences(of: "@digits@", with: String(repeating: "9", count: 5_000))
    }

    func testInputThatNobodyShouldSendIsAnswered() throws {
        let memory = try Memory(store: "memory:")
        for row in try table("inputs") {
            guard case .string(let text)? = row["json"], let json = put(text) else { continue }
            let reply = memory.execute(json: json)
            XCTAssertTrue(reply.isError, "\(row)")
            XCTAssertTrue((1...50_000).contains(reply.content.count), "\(row)")
            XCTAssertNil(reply.cause, "\(row)")
        }
        XCTAssertTrue(try memory.view(path: "/memories").hasSuffix("4.0K\t/memories"))
    }

    func testWrongOptionsAreTheDeclaredError() throws {
        for row in try table("options") {
            guard case .string(let option)? = row["option"], let value = row["value"],
                let options = options(option, value)
            else { continue }
            if row["fits"] != nil {
                XCTAssertFalse(try Memory(store: "memory:", options: options).execute(json: view).isError, "\(row)")
            } else {
                XCTAssertThrowsError(try Memory(store: "memory:", options: options), "\(row)") { error in
                    guard case MemdirError.config = error else { return XCTFail("\(row): \(error)") }
                }
            }
        }
        let memory = try Memory(store: "memory:", options: MemoryOptions(recordAccess: true))
        for wrong in [-1, .infinity, -.infinity, .nan, 1e300] as [TimeInterval] {
            XCTAssertThrowsError(try memory.expire(olderThan: wrong)) { error in
                guard case MemdirError.config = error else { return XCTFail("\(error)") }
            }
        }
    }

    /// What the types of Swift can hold of a row.
    private func options(_ option: String, _ value: JSON) -> MemoryOptions? {
        var number: Int64?
        var span: TimeInterval?
        var text: String?
        var texts: [String]?
        switch value {
        case .integer(let given): (number, span) = (given, TimeInterval(given))
        case .number(let given): span = given
        case .string("@nan@"): span = .nan
        case .string("@inf@"): span = .infinity
        case .string("@-inf@"): span = -.infinity
        case .string(let given): text = put(given)
        case .array(let items):
            texts = []
            for item in items {
                guard case .string(let given) = item, let given = put(given) else { return nil }
                texts?.append(given)
            }
        default: break
        }
        switch option {
        case "max_view_chars": return number.map { MemoryOptions(maxViewChars: $0) }
        case "max_file_bytes": return number.map { MemoryOptions(maxFileBytes: $0) }
        case "max_total_bytes": return number.map { MemoryOptions(maxTotalBytes: $0) }
        case "max_files": return number.map { MemoryOptions(maxFiles: $0) }
        case "max_image_bytes": return number.map { MemoryOptions(maxImageBytes: $0) }
        case "encryption_key": return text.map { MemoryOptions(encryptionKey: EncryptionKey($0)) }
        case "encrypt_names":
            guard case .bool(let flag) = value else { return nil }
            return MemoryOptions(encryptNames: flag)
        case "expire_after": return span.map { MemoryOptions(expireAfter: $0, recordAccess: true) }
        case "lock_timeout": return span.map { MemoryOptions(lockTimeout: $0) }
        case "history_max_age": return span.map { MemoryOptions(historyMaxAge: $0) }
        case "history_max_versions": return number.map { MemoryOptions(historyMaxVersions: $0) }
        case "history_max_bytes": return number.map { MemoryOptions(historyMaxBytes: $0) }
        case "actor": return text.map { MemoryOptions(actor: $0) }
        case "read_only_paths": return texts.flatMap { $0.isEmpty ? nil : MemoryOptions(readOnlyPaths: $0) }
        case "writable_paths": return texts.flatMap { $0.isEmpty ? nil : MemoryOptions(writablePaths: $0) }
        case "never_expire": return texts.flatMap { $0.isEmpty ? nil : MemoryOptions(neverExpire: $0) }
        case "namespace": return text.map { MemoryOptions(namespace: $0) }
        default: return nil
        }
    }

    private let view = #"{"command":"view","path":"/memories"}"#

    func testEditsOfTasksThatWereCancelledAreNotApplied() async throws {
        let store = Held()
        let memory = try Memory(store: store)
        _ = try await memory.create(path: "/memories/log", fileText: "")
        store.turn.wait()
        let calls = (0..<100).map { number in
            Task { await memory.execute(json: #"{"command":"insert","path":"/memories/log","insert_line":0,"insert_text":"\#(number)"}"#) }
        }
        let typed = Task { try await memory.insert(path: "/memories/log", insertLine: 0, insertText: "given up") }
        while store.asked < 2 { try await Task.sleep(nanoseconds: 1_000_000) }
        // Views do not wait behind them.
        for _ in 0..<20 {
            let shown = await memory.execute(json: #"{"command":"view","path":"/memories/log"}"#)
            XCTAssertFalse(shown.isError)
        }
        calls.forEach { $0.cancel() }
        typed.cancel()
        store.turn.signal()
        for call in calls {
            let reply = await call.value
            XCTAssertEqual(reply.content, "Error: The command was cancelled before it began. Nothing was changed.")
        }
        let ended = await typed.result
        XCTAssertThrowsError(try ended.get())
        _ = try await memory.insert(path: "/memories/log", insertLine: 0, insertText: "kept")
        XCTAssertEqual(try store.read(path: "/memories/log"), Data("kept\n".utf8))
    }
}

/// A store whose writers wait for as long as somebody else keeps it locked.
private final class Held: Store, @unchecked Sendable {
    private let map = MapStore()
    let turn = DispatchSemaphore(value: 1)
    private let lock = NSLock()
    private var count = 0

    var asked: Int { lock.withLock { count } }

    func read(path: String) throws -> Data { try map.read(path: path) }
    func list(path: String) throws -> [Entry] { try map.list(path: path) }
    func write(path: String, content: Data, overwrite: Bool) throws {
        try map.write(path: path, content: content, overwrite: overwrite)
    }
    func update(path: String, edit: any Edit) throws {
        lock.withLock { count += 1 }
        turn.wait()
        defer { turn.signal() }
        try map.update(path: path, edit: edit)
    }
    func delete(path: String) throws { try map.delete(path: path) }
    func rename(source: String, destination: String) throws { try map.rename(source: source, destination: destination) }
}

import Foundation
import Memdir
import XCTest

/// The hostile tables (`tests/hostile`): each call ends in a reply or in the declared error.
final class HostileTests: XCTestCase {
    private func table(_ name: String) throws -> [[String: JSON]] {
        let file = root.appendingPathComponent("tests/hostile/\(name).json")
        return try JSONDecoder().decode([[String: JSON]].self, from: Data(contentsOf: file))
    }

    /// The text with its placeholders replaced; nil if a Swift string cannot hold it.
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

    func testAWrongOptionIsAnErrorThatNamesIt() throws {
        let values = try json("tests/hostile/values.json").members()
        let types = try values.need("types").members()
        let words = try values.need("words").members().need("swift").members()
        var tried = 0
        for section in try json("core/options.json").members().need("sections").items() {
            for option in try section.members().need("options").items().map({ try $0.members() }) {
                let (name, type) = (try option.need("name").string(), try option.need("type").string())
                guard ["number", "duration", "text", "patterns", "rules", "key"].contains(type) else { continue }
                for row in try types.need(type).items().map({ try $0.members() }) {
                    guard let value = held(try row.need("value"), type),
                        let options = try? OptionFields(fields: [name: value]).options()
                    else { continue }
                    tried += 1
                    if row["fits"] != nil {
                        XCTAssertFalse(try Memory(store: "memory:", options: options).execute(json: view).isError, "\(row)")
                        continue
                    }
                    var said = try row.need("says").string().replacingOccurrences(of: "{name}", with: camel(name))
                    if case .bool(true)? = option["none"] {
                        said = said.replacingOccurrences(of: "{or_none}", with: ", or null")
                    }
                    said = said.replacingOccurrences(of: "{or_none}", with: "")
                    for (word, put) in words {
                        said = said.replacingOccurrences(of: "{\(word)}", with: try put.string())
                    }
                    // The value of a duration has its unit, and `…` matches any text.
                    let parts = (said.components(separatedBy: ", got").first ?? said).components(separatedBy: "…")
                    XCTAssertThrowsError(try Memory(store: "memory:", options: options), "\(row)") { error in
                        guard case MemdirError.config(let reason, _) = error else { return XCTFail("\(row): \(error)") }
                        XCTAssertTrue(reason.hasPrefix(parts[0]), "\(reason) is not \(said)")
                        XCTAssertTrue(parts.allSatisfy { $0.isEmpty || reason.contains($0) }, "\(reason) is not \(said)")
                    }
                }
            }
        }
        XCTAssertGreaterThan(tried, 50)
        let memory = try Memory(store: "memory:", options: MemoryOptions(recordAccess: true))
        for wrong in [-1, .infinity, -.infinity, .nan, 1e300] as [TimeInterval] {
            XCTAssertThrowsError(try memory.expire(olderThan: wrong)) { error in
                guard case MemdirError.config = error else { return XCTFail("\(error)") }
            }
        }
    }

    private func json(_ file: String) throws -> JSON {
        try JSONDecoder().decode(JSON.self, from: Data(contentsOf: root.appendingPathComponent(file)))
    }

    private func camel(_ name: String) -> String {
        let words = name.split(separator: "_")
        return String(words[0]) + words.dropFirst().map(\.capitalized).joined()
    }

    /// The value, if Swift's types can hold it.
    private func held(_ value: JSON, _ type: String) -> JSON? {
        switch (value, type) {
        case (.string("@nan@"), "duration"): return .number(.nan)
        case (.string("@inf@"), "duration"): return .number(.infinity)
        case (.string("@-inf@"), "duration"): return .number(-.infinity)
        case (.string(let text), _): return put(text).map { .string($0) }
        case (.array(let items), _):
            let all = items.compactMap { held($0, type) }
            return all.count == items.count ? .array(all) : nil
        case (.object(let fields), _):
            var all: [String: JSON] = [:]
            for (name, value) in fields {
                guard let name = put(name), let value = held(value, type) else { return nil }
                all[name] = value
            }
            return .object(all)
        default: return value
        }
    }

    private let view = #"{"command":"view","path":"/memories"}"#

    func testEditsOfTasksThatWereCancelledAreNotApplied() async throws {
        let (store, told) = (Held(), Outcomes())
        let memory = try Memory(store: store, hooks: told)
        _ = try await memory.create(path: "/memories/log", fileText: "")
        store.turn.wait()
        let calls = (0..<100).map { number in
            Task { await memory.execute(json: #"{"command":"insert","path":"/memories/log","insert_line":0,"insert_text":"\#(number)"}"#) }
        }
        // Most of them wait for a thread.
        let typed = (0..<100).map { _ in
            Task { try await memory.insert(path: "/memories/log", insertLine: 0, insertText: "given up") }
        }
        while store.asked < 2 { try await Task.sleep(nanoseconds: 1_000_000) }
        // Views do not wait behind them: no edit ends before the signal below.
        for _ in 0..<20 {
            let shown = await memory.execute(json: #"{"command":"view","path":"/memories/log"}"#)
            XCTAssertFalse(shown.isError)
        }
        calls.forEach { $0.cancel() }
        typed.forEach { $0.cancel() }
        store.turn.signal()
        for call in calls {
            let reply = await call.value
            XCTAssertEqual(reply.content, "Error: The command was cancelled before it began. Nothing was changed.")
        }
        for call in typed {
            let ended = await call.result
            XCTAssertThrowsError(try ended.get())
        }
        // A plain `after` is called for each, whether or not a thread had taken it.
        XCTAssertEqual(told.count(of: .cancelled), 200)
        _ = try await memory.insert(path: "/memories/log", insertLine: 0, insertText: "kept")
        XCTAssertEqual(try store.read(path: "/memories/log"), Data("kept\n".utf8))
    }
}

/// Plain hooks that count the outcomes.
private final class Outcomes: MemoryHooks, @unchecked Sendable {
    private let lock = NSLock()
    private var outcomes: [Outcome] = []

    func after(event: Event) {
        lock.lock()
        defer { lock.unlock() }
        outcomes.append(event.outcome)
    }

    func count(of outcome: Outcome) -> Int {
        lock.lock()
        defer { lock.unlock() }
        return outcomes.filter { $0 == outcome }.count
    }
}

/// The duration of twenty views, in seconds.
/// A store whose writers wait for its lock.
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

extension JSON {
    /// The fields of an object, whatever their names.
    fileprivate func members() throws -> [String: JSON] {
        guard case .object(let fields) = self else { throw Problem("\(self) is no object") }
        return fields
    }
}

import Foundation
import Memdir
import XCTest

/// Hooks: their decisions, the handling of their errors, and that a hook never waits for itself.
final class HooksTests: XCTestCase {
    /// Hooks made from two functions.
    private final class Told: MemoryHooks, @unchecked Sendable {
        var memory: Memory?
        private let lock = NSLock()
        private var all: [Outcome] = []
        private let decide: (Command, Memory?) throws -> HookDecision
        private let done: (Event, Memory?) throws -> Void

        init(
            _ decide: @escaping (Command, Memory?) throws -> HookDecision = { _, _ in .allow },
            after done: @escaping (Event, Memory?) throws -> Void = { _, _ in }
        ) {
            self.decide = decide
            self.done = done
        }

        var outcomes: [Outcome] { lock.withLock { all } }

        func before(command: Command, call: HookCall) throws -> HookDecision { try decide(command, memory) }

        func after(event: Event) throws {
            lock.withLock { all.append(event.outcome) }
            try done(event, memory)
        }
    }

    func testAHookLearnsWhoActsAndWhatWouldChange() async throws {
        final class Asking: AsyncMemoryHooks, @unchecked Sendable {
            var shown: [String] = []
            var meanwhile: () throws -> Void = {}

            func before(command: Command, call: HookCall) async throws -> HookDecision {
                shown.append("\(call.actor() ?? "") \(call.toolUseId() ?? "") \(try await call.diff())")
                try meanwhile()
                return .allow
            }
        }
        let asking = Asking()
        let memory = try Memory(store: "memory:", hooks: asking)
        let ann = try memory.actingAs(actor: "ann")
        let create = #"{"command":"create","path":"/memories/a","file_text":"one\n"}"#
        let reply = await ann.execute(json: #"{"type":"tool_use","id":"toolu_1","name":"memory","input":\#(create)}"#)
        XCTAssertFalse(reply.isError)
        XCTAssertEqual(asking.shown, ["ann toolu_1 --- /dev/null\n+++ /memories/a\n@@ -0,0 +1 @@\n+one\n"])
        asking.meanwhile = { try memory.write(path: "/memories/a", text: "two\n") }
        let changed = await ann.execute(json: #"{"command":"delete","path":"/memories/a"}"#)
        XCTAssertEqual(changed.kind, .changed)
        asking.meanwhile = {}
        let missing = await ann.execute(json: #"{"command":"delete","path":"/memories/none"}"#)
        XCTAssertEqual(missing.kind, .notFound)
        let text = try await memory.read(path: "/memories/a")
        XCTAssertEqual(text, "two\n")
    }

    func testAVetoIsThrown() throws {
        let memory = try Memory(store: "memory:", hooks: Told({ _, _ in .deny(reason: "Not here.") }))
        let reply = memory.execute(json: #"{"command":"delete","path":"/memories/a"}"#)
        XCTAssertEqual(reply, Reply(content: "Not here.", isError: true, kind: .denied))
        XCTAssertThrowsError(try memory.delete(path: "/memories/a")) { error in
            guard case MemdirError.refused(let reason, _) = error else { return XCTFail("\(error)") }
            XCTAssertEqual(reason, "Not here.")
        }
        try memory.clear()
    }

    func testWhatBeforeThrowsStopsTheCommand() throws {
        let failures: [any Error] = [Problem("rules.internal"), HookError.failed(reason: "rules.internal")]
        for failure in failures {
            let memory = try Memory(store: "memory:", hooks: Told({ _, _ in throw failure }))
            let reply = memory.execute(json: #"{"command":"create","path":"/memories/a","file_text":"x"}"#)
            XCTAssertTrue(reply.isError && reply.content.contains("not carried out"))
            XCTAssertFalse(reply.content.contains("rules.internal"))
            XCTAssertTrue(reply.cause?.contains("rules.internal") ?? false, "\(reply)")
            XCTAssertThrowsError(try memory.create(path: "/memories/a", fileText: "x")) { error in
                guard case MemdirError.hook = error else { return XCTFail("\(error)") }
                XCTAssertEqual((error as? MemdirError)?.reply().content, reply.content)
            }
        }
    }

    func testWhatAfterThrowsLeavesTheCommandDone() throws {
        let memory = try Memory(store: "memory:", hooks: Told(after: { _, _ in throw Problem("broken") }))
        XCTAssertEqual(try memory.create(path: "/memories/a", fileText: "one"), "File created successfully at: /memories/a")
        XCTAssertTrue(try memory.view(path: "/memories/a").hasSuffix("one"))
    }

    func testATextForACommandThatWritesNoneIsAFailure() throws {
        let memory = try Memory(store: MapStore(), hooks: Told({ _, _ in .replace(text: "text") }))
        _ = try memory.create(path: "/memories/a", fileText: "one")
        XCTAssertThrowsError(try memory.view(path: "/memories/a"))
    }

    func testAHookMayUseItsOwnMemory() throws {
        let hooks = Told({ command, memory in
            _ = try memory?.view(path: "/memories")
            guard case .delete(let path) = command else { return .allow }
            _ = try memory?.rename(oldPath: path, newPath: "/memories/archived")
            return .deny(reason: "It was archived.")
        }, after: { _, memory in _ = try memory?.create(path: "/memories/log", fileText: "") })
        let memory = try Memory(store: MapStore(), hooks: hooks)
        hooks.memory = memory
        _ = try memory.create(path: "/memories/a", fileText: "one")
        XCTAssertThrowsError(try memory.delete(path: "/memories/a"))
        XCTAssertTrue(try memory.view(path: "/memories/archived").hasSuffix("one"))
        XCTAssertEqual(hooks.outcomes, [.ok, .denied, .ok])
        hooks.memory = nil
    }

    func testManyThreadsAtOnce() throws {
        let hooks = Told({ command, memory in
            _ = try memory?.view(path: "/memories")
            guard case .insert(_, _, let text) = command else { return .allow }
            return .replace(text: text.uppercased())
        })
        let memory = try Memory(store: "memory:", hooks: hooks)
        hooks.memory = memory
        _ = try memory.create(path: "/memories/a", fileText: "")
        DispatchQueue.concurrentPerform(iterations: 200) { _ in
            _ = try? memory.insert(path: "/memories/a", insertLine: 0, insertText: "x")
        }
        let lines = try memory.view(path: "/memories/a").components(separatedBy: "\n")
        XCTAssertEqual(lines.filter { $0.hasSuffix("\tX") }.count, 200)
        XCTAssertEqual(hooks.outcomes.count, 202)
        hooks.memory = nil
    }

    func testWhatAHookLeavesOutPasses() throws {
        final class Nothing: MemoryHooks {}
        let memory = try Memory(store: "memory:", hooks: Nothing())
        _ = try memory.create(path: "/memories/a", fileText: "one")
    }

    func testThePageHasTheCodeThatRunsHere() throws {
        let memory = try careful()
        _ = try memory.create(path: "/memories/notes.md", fileText: "Anna Kareva likes tea.\n")
        XCTAssertTrue(try memory.view(path: "/memories/notes.md").hasSuffix("\tA. K. likes tea."))
        XCTAssertThrowsError(try memory.delete(path: "/memories/notes.md"))

        let source = try String(contentsOfFile: #filePath, encoding: .utf8)
        let page = try String(contentsOf: root.appendingPathComponent("docs/reference/policies/hooks.md"), encoding: .utf8)
        let code = between("        // swift-hooks\n", "\n        // end", in: source).components(separatedBy: "\n")
        let quoted = between("<!-- swift-hooks -->\n```swift\n", "\n```", in: page)
        XCTAssertEqual(code.map { String($0.dropFirst(8)) }.joined(separator: "\n"), quoted)
    }

    private func between(_ start: String, _ end: String, in text: String) -> String {
        guard let from = text.range(of: start), let to = text.range(of: end, range: from.upperBound..<text.endIndex)
        else { return "\(start) is not there" }
        return String(text[from.upperBound..<to.lowerBound])
    }

    private func careful() throws -> Memory {
        // swift-hooks
        final class Careful: MemoryHooks {
            func before(command: Command, call: HookCall) -> HookDecision {
                switch command {
                case .delete: return .deny(reason: "Nothing is deleted here: rename it to /memories/archive instead.")
                case .create(_, let text): return .replace(text: text.replacingOccurrences(of: "Anna Kareva", with: "A. K."))
                default: return .allow
                }
            }
        }
        let memory = try Memory(store: "memory:", hooks: Careful())
        // end
        return memory
    }
}

import Foundation
import Memdir
import XCTest

private let create = #"{"command":"create","path":"/memories/a","file_text":"one"}"#

/// Hooks that are awaited: their decisions, that they hold no thread, and the fate of calls that are cancelled meanwhile.
final class AsyncHooksTests: XCTestCase {
    func testAnAsynchronousHookAllowsReplacesAndDenies() async throws {
        let hooks = Told { command, _ in
            switch command {
            case .create(_, let text): return .replace(text: text.uppercased())
            case .delete: return .deny(reason: "Error: Not here.")
            default: return .allow
            }
        }
        let memory = try await Memory.open(store: "memory:", hooks: hooks)
        let created = try await memory.create(path: "/memories/a", fileText: "one")
        XCTAssertTrue(created.hasSuffix("changed the text before it was written. View the file to see it.]"), created)
        let view = try await memory.view(path: "/memories/a", viewRange: [1, 1])
        XCTAssertTrue(view.hasSuffix("1\tONE"), view)
        _ = try await memory.insert(path: "/memories/a", insertLine: 1, insertText: "two")
        _ = try await memory.strReplace(path: "/memories/a", oldStr: "two", newStr: "three")
        _ = try await memory.strReplace(path: "/memories/a", oldStr: "three")
        _ = try await memory.rename(oldPath: "/memories/a", newPath: "/memories/b")
        let denied = await thrown { try await memory.delete(path: "/memories/b") }
        XCTAssertEqual(denied as? MemdirError, .refused(reason: "Error: Not here.", kind: .denied))
        let reply = await memory.execute(json: #"{"command":"delete","path":"/memories/b"}"#)
        XCTAssertEqual(reply, Reply(content: "Error: Not here.", isError: true, kind: .denied))
        XCTAssertEqual(hooks.outcomes, Array(repeating: .ok, count: 6) + [.denied, .denied])
    }

    func testWhatAnAsynchronousHookThrowsStopsTheCommand() async throws {
        // The last one does not cancel the call.
        let failures: [any Error] = [Problem("rules.internal"), HookError.failed(reason: "rules.internal"), CancellationError()]
        for failure in failures {
            let hooks = Told { _, _ in throw failure }
            let memory = try Memory(store: "memory:", hooks: hooks)
            let reply = await memory.execute(json: create)
            XCTAssertTrue(reply.isError && reply.content.contains("not carried out"))
            XCTAssertFalse(reply.content.contains("rules.internal"))
            XCTAssertTrue(reply.cause?.contains("\(failure)") ?? false, "\(reply)")
            let error = await thrown { try await memory.create(path: "/memories/a", fileText: "one") }
            guard case .hook = error as? MemdirError else { return XCTFail("\(String(describing: error))") }
            XCTAssertEqual((error as? MemdirError)?.reply(), reply)
            let exists = try await memory.exists(path: "/memories/a")
            XCTAssertFalse(exists)
            XCTAssertEqual(hooks.outcomes, [.failed, .failed])
        }
    }

    func testWhatAnAsynchronousAfterThrowsLeavesTheCommandDone() async throws {
        let memory = try Memory(store: "memory:", hooks: Told(after: { _, _ in throw Problem("broken") }))
        let created = try await memory.create(path: "/memories/a", fileText: "one")
        XCTAssertEqual(created, "File created successfully at: /memories/a")
        let reply = await memory.execute(json: #"{"command":"view","path":"/memories/a"}"#)
        XCTAssertFalse(reply.isError)
    }

    func testWhatIsRefusedIsNotAskedAbout() async throws {
        let hooks = Told { _, _ in throw Problem("asked") }
        let memory = try Memory(store: "memory:", hooks: hooks)
        let plain = try Memory(store: "memory:")
        let expected = await thrown { try await plain.create(path: "/nowhere", fileText: "one") }
        let error = await thrown { try await memory.create(path: "/nowhere", fileText: "one") }
        XCTAssertEqual(error as? MemdirError, expected as? MemdirError)
        let (refused, wanted) = await (memory.execute(json: "no JSON"), plain.execute(json: "no JSON"))
        XCTAssertEqual(refused, wanted)
        XCTAssertEqual(hooks.outcomes, [.refused, .refused])
    }

    func testAnImageIsShownByExecuteAlone() async throws {
        let png = try Data(contentsOf: root.appendingPathComponent("bindings-uniffi/tests/plan.png"))
        let store = MapStore()
        try store.write(path: "/memories/plan.png", content: png, overwrite: false)
        let options = MemoryOptions(maxImageBytes: 1000)
        let memory = try Memory(store: store, options: options, hooks: Told())
        let plain = try Memory(store: store, options: options)
        let reply = await memory.execute(json: #"{"command":"view","path":"/memories/plan.png"}"#)
        XCTAssertEqual(reply.image?.bytes, png)
        let expected = await thrown { try await plain.view(path: "/memories/plan.png") }
        let error = await thrown { try await memory.view(path: "/memories/plan.png") }
        XCTAssertEqual(error as? MemdirError, expected as? MemdirError)
        XCTAssertNotNil(error)
    }

    func testWhatAnAsynchronousHookLeavesOutPasses() async throws {
        final class Nothing: AsyncMemoryHooks {}
        let place = try temporaryDirectory()
        defer { try? FileManager.default.removeItem(at: place) }
        for memory in [
            try Memory(directory: place, hooks: Nothing()), try Memory(store: MapStore(), hooks: Nothing()),
            try await Memory.open(store: MapStore(), hooks: Nothing()),
        ] {
            _ = try await memory.create(path: "/memories/a", fileText: "one")
        }
        let again = try await Memory.open(directory: place, hooks: Nothing())
        let text = try await again.read(path: "/memories/a")
        XCTAssertEqual(text, "one")
    }

    func testTwoHundredApprovalsWaitWithoutAThread() async throws {
        let approvals = Approvals()
        let memory = try Memory(store: "memory:", hooks: approvals.hooks)
        let calls = (0..<200).map { number in
            Task { await memory.execute(json: create.replacingOccurrences(of: "/a", with: "/\(number)")) }
        }
        var questions: [Question] = []
        for await question in approvals.questions {
            questions.append(question)
            if questions.count == 200 { break }
        }
        // All of them wait: more than there are threads.
        let other = try Memory(store: "memory:")
        _ = try await other.create(path: "/memories/b", fileText: "two")
        let text = try await other.read(path: "/memories/b")
        XCTAssertEqual(text, "two")
        XCTAssertEqual(approvals.hooks.outcomes, [])
        let before = try await memory.list()
        XCTAssertEqual(before, [])
        for (number, question) in questions.enumerated() {
            question.answer(.success(number % 2 == 0 ? .allow : .deny(reason: "Error: No.")))
        }
        var denied = 0
        for call in calls where await call.value.isError { denied += 1 }
        XCTAssertEqual(denied, 100)
        let files = try await memory.list()
        XCTAssertEqual(files.count, 100)
        XCTAssertEqual(approvals.hooks.outcomes.count, 200)
    }

    func testATaskThatIsCancelledCancelsItsHookAndNothingIsChanged() async throws {
        let approvals = Approvals()
        let memory = try Memory(store: "memory:", hooks: approvals.hooks)
        var questions = approvals.questions.makeAsyncIterator()
        let call = Task { await memory.execute(json: create) }
        let first = await questions.next()
        call.cancel()
        let reply = await call.value
        XCTAssertEqual(reply, cancelledReply())
        let typed = Task { try await memory.create(path: "/memories/a", fileText: "one") }
        _ = await questions.next()
        typed.cancel()
        let error = await thrown { try await typed.value }
        XCTAssertTrue(error is CancellationError, "\(String(describing: error))")
        // This answer is too late.
        first?.answer(.success(.allow))
        let exists = try await memory.exists(path: "/memories/a")
        XCTAssertFalse(exists)
        XCTAssertEqual(approvals.hooks.outcomes, [.cancelled, .cancelled])
    }

    func testAHookThatDoesNotHearOfItDoesNotHaveItsCommandExecuted() async throws {
        let (asked, answer) = (Gate(), Gate())
        let hooks = Told { _, _ in
            asked.open()
            await answer.passed()
            return .allow
        }
        let memory = try Memory(store: "memory:", hooks: hooks)
        let call = Task { try await memory.create(path: "/memories/a", fileText: "one") }
        await asked.passed()
        call.cancel()
        answer.open()
        let error = await thrown { try await call.value }
        XCTAssertTrue(error is CancellationError, "\(String(describing: error))")
        let exists = try await memory.exists(path: "/memories/a")
        XCTAssertFalse(exists)
        XCTAssertEqual(hooks.outcomes, [.cancelled])
    }

    func testACommandThatHasBegunToWriteGoesOnToItsEndAndAfterIsTold() async throws {
        let store = Slow()
        let hooks = Told()
        let memory = try Memory(store: store, hooks: hooks)
        let call = Task { await memory.execute(json: create) }
        await store.entered.passed()
        call.cancel()
        store.gate.signal()
        let reply = await call.value
        XCTAssertFalse(reply.isError, reply.content)
        XCTAssertEqual(try store.read(path: "/memories/a"), Data("one".utf8))
        XCTAssertEqual(hooks.outcomes, [.ok])
    }

    func testCommandsOfAHookGoWithoutIt() async throws {
        let hooks = Told(
            { command, memory in
                _ = try await memory?.view(path: "/memories")
                async let child = memory?.execute(json: #"{"command":"view","path":"/memories"}"#)
                _ = await child
                guard case .delete(let path) = command else { return .allow }
                _ = try await memory?.rename(oldPath: path, newPath: "/memories/archived")
                return .deny(reason: "It was archived.")
            }, after: { _, memory in _ = try await memory?.create(path: "/memories/log", fileText: "") })
        let memory = try Memory(store: MapStore(), hooks: hooks)
        hooks.memory = memory
        _ = try await memory.create(path: "/memories/a", fileText: "one")
        let denied = await thrown { try await memory.delete(path: "/memories/a") }
        XCTAssertEqual(denied as? MemdirError, .refused(reason: "It was archived.", kind: .denied))
        let (text, log) = try await (memory.read(path: "/memories/archived"), memory.exists(path: "/memories/log"))
        XCTAssertEqual(text, "one")
        XCTAssertTrue(log)
        XCTAssertEqual(hooks.outcomes, [.ok, .denied])
    }

    func testTwoMemoriesWithHooksAskEachOthers() async throws {
        let look: @Sendable (Command, Memory?) async throws -> HookDecision = { _, other in
            _ = try await other?.view(path: "/memories")
            return .allow
        }
        let (ofFirst, ofSecond) = (Told(look), Told(look))
        let (first, second) = (try Memory(store: "memory:", hooks: ofFirst), try Memory(store: "memory:", hooks: ofSecond))
        (ofFirst.memory, ofSecond.memory) = (second, first)
        _ = try await first.create(path: "/memories/a", fileText: "one")
        XCTAssertEqual(ofFirst.commands, ["create"])
        XCTAssertEqual(ofSecond.commands, ["view"])
    }

    func testSessionsOfAMemoryAskItsHooks() async throws {
        let hooks = Told()
        let memory = try Memory(store: "memory:", hooks: hooks)
        _ = try await memory.actingAs(actor: "one").create(path: "/memories/a", fileText: "one")
        _ = try await memory.cancelledBy(cancellation: Cancellation()).create(path: "/memories/b", fileText: "two")
        XCTAssertEqual(hooks.commands, ["create", "create"])
    }

    func testWhatIsMadeOfACancelledMemoryIsCancelledToo() async throws {
        for memory in [try Memory(store: "memory:"), try Memory(store: "memory:", hooks: Told())] {
            let (outer, inner) = (Cancellation(), Cancellation())
            let cancelled = memory.cancelledBy(cancellation: outer)
            let acting = try cancelled.actingAs(actor: "Ann")
            let made = [cancelled, cancelled.cancelledBy(cancellation: inner), acting]
            let watch = try await cancelled.watch()
            outer.cancel()
            for memory in made {
                let reply = await memory.execute(json: create)
                XCTAssertEqual(reply, cancelledReply())
                let typed = await thrown { try await memory.create(path: "/memories/a", fileText: "one") }
                XCTAssertEqual((typed as? MemdirError)?.reply(), cancelledReply())
                let listed = await thrown { try await memory.list() }
                XCTAssertEqual((listed as? MemdirError)?.reply(), cancelledReply())
            }
            let watched = await thrown { try await watch.changes(wait: 60) }
            XCTAssertNotNil(watched)
            let exists = try await memory.exists(path: "/memories/a")
            XCTAssertFalse(exists)
        }
    }

    func testAMethodThatBlocksCannotAwaitHooksSoItRefusesTheCommand() throws {
        let hooks = Told()
        let memory = try Memory(store: "memory:", hooks: hooks)
        XCTAssertThrowsError(try memory.create(path: "/memories/a", fileText: "one")) { error in
            guard case MemdirError.hook(let reason) = error else { return XCTFail("\(error)") }
            XCTAssertTrue(reason.contains("await"), reason)
        }
        XCTAssertTrue(memory.execute(json: create).isError)
        XCTAssertTrue(memory.execute(json: #"{"command":"view","path":"/memories"}"#).isError)
        // Methods that are not commands call no hooks.
        try memory.write(path: "/memories/b", text: "two")
        XCTAssertEqual(try memory.list().map(\.path), ["/memories/b"])
        XCTAssertEqual(hooks.outcomes, [])
    }

    func testAMemoryThatNobodyHasIsLetGoOfWithItsHooks() async throws {
        weak var hooks: Told?
        weak var memory: Memory?
        do {
            let own = Told { _, memory in
                _ = try await memory?.view(path: "/memories")
                return .allow
            }
            let opened = try Memory(store: "memory:", hooks: own)
            own.memory = opened
            (hooks, memory) = (own, opened)
            _ = try await opened.create(path: "/memories/a", fileText: "one")
        }
        // The thread that executed the call may hold it for a moment.
        for _ in 0..<12_000 where memory != nil || hooks != nil { try await Task.sleep(nanoseconds: 10_000_000) }
        XCTAssertNil(memory)
        XCTAssertNil(hooks)
    }

    func testThePageHasTheCodeThatRunsHere() async throws {
        let memory = try approved()
        _ = try await memory.create(path: "/memories/notes.md", fileText: "likes tea\n")
        let denied = await thrown { try await memory.delete(path: "/memories/notes.md") }
        XCTAssertEqual(
            denied as? MemdirError,
            .refused(reason: "Error: The user does not want this to be deleted. Nothing was changed.", kind: .denied))

        let source = try String(contentsOfFile: #filePath, encoding: .utf8)
        let page = try String(contentsOf: root.appendingPathComponent("docs/reference/policies/hooks.md"), encoding: .utf8)
        let code = try XCTUnwrap(source.components(separatedBy: "        // swift-approval\n").last?.components(separatedBy: "\n        // end").first)
        let lines = code.components(separatedBy: "\n").map { String($0.dropFirst(8)) }
        XCTAssertTrue(page.contains("<!-- swift-approval -->\n```swift\n\(lines.joined(separator: "\n"))\n```"))
    }

    private func approved() throws -> Memory {
        // swift-approval
        final class Approval: AsyncMemoryHooks {
            func before(command: Command, call: HookCall) async throws -> HookDecision {
                guard case .delete = command else { return .allow }
                if await ask(try await call.diff()) { return .allow }
                return .deny(reason: "Error: The user does not want this to be deleted. Nothing was changed.")
            }
        }
        let memory = try Memory(store: "memory:", hooks: Approval())
        // end
        return memory
    }

    private func thrown<T>(_ call: () async throws -> T) async -> (any Error)? {
        do {
            _ = try await call()
            return nil
        } catch {
            return error
        }
    }
}

/// Asks a person.
private func ask(_ question: String) async -> Bool { false }

/// Hooks made from two functions.
private final class Told: AsyncMemoryHooks, @unchecked Sendable {
    weak var memory: Memory?
    private let lock = NSLock()
    private var all: [Event] = []
    private let decide: @Sendable (Command, Memory?) async throws -> HookDecision
    private let done: @Sendable (Event, Memory?) async throws -> Void

    init(
        _ decide: @escaping @Sendable (Command, Memory?) async throws -> HookDecision = { _, _ in .allow },
        after done: @escaping @Sendable (Event, Memory?) async throws -> Void = { _, _ in }
    ) {
        self.decide = decide
        self.done = done
    }

    var outcomes: [Outcome] { lock.withLock { all.map(\.outcome) } }
    var commands: [String?] { lock.withLock { all.map(\.command) } }

    func before(command: Command, call: HookCall) async throws -> HookDecision {
        await Task.yield()
        return try await decide(command, memory)
    }

    func after(event: Event) async throws {
        // If this hook could be cancelled, the cancellation would occur here.
        try await Task.sleep(nanoseconds: 1)
        lock.withLock { all.append(event) }
        try await done(event, memory)
    }
}

/// A wait for an answer, which also ends when the task is cancelled.
private final class Question: @unchecked Sendable {
    private let lock = NSLock()
    private var waiting: CheckedContinuation<HookDecision, any Error>?
    private var answered: Result<HookDecision, any Error>?

    /// The first answer counts.
    func answer(_ answer: Result<HookDecision, any Error>) {
        let waiting = lock.withLock {
            if answered == nil { answered = answer }
            defer { self.waiting = nil }
            return self.waiting
        }
        waiting?.resume(with: answer)
    }

    func answer() async throws -> HookDecision {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let answered = lock.withLock {
                    if self.answered == nil { waiting = continuation }
                    return self.answered
                }
                if let answered { continuation.resume(with: answered) }
            }
        } onCancel: {
            answer(.failure(CancellationError()))
        }
    }
}

/// Hooks that wait for an answer to each question.
private final class Approvals: Sendable {
    let hooks: Told
    let questions: AsyncStream<Question>

    init() {
        let (questions, asked) = AsyncStream.makeStream(of: Question.self)
        self.questions = questions
        hooks = Told { _, _ in
            let question = Question()
            asked.yield(question)
            return try await question.answer()
        }
    }
}

/// A wait that ends only when the gate opens, even if the task is cancelled.
private final class Gate: Sendable {
    private let opening: AsyncStream<Void>.Continuation
    private let waiting: Task<Void, Never>

    init() {
        let (stream, opening) = AsyncStream.makeStream(of: Void.self)
        self.opening = opening
        waiting = Task { for await _ in stream { return } }
    }

    func open() { opening.yield(()) }

    func passed() async { await waiting.value }
}

/// A store whose writes wait for its gate.
private final class Slow: Store, @unchecked Sendable {
    private let map = MapStore()
    let entered = Gate()
    let gate = DispatchSemaphore(value: 0)

    func read(path: String) throws -> Data { try map.read(path: path) }
    func list(path: String) throws -> [Entry] { try map.list(path: path) }

    func write(path: String, content: Data, overwrite: Bool) throws {
        entered.open()
        gate.wait()
        try map.write(path: path, content: content, overwrite: overwrite)
    }

    func update(path: String, edit: any Edit) throws { try map.update(path: path, edit: edit) }
    func delete(path: String) throws { try map.delete(path: path) }
    func rename(source: String, destination: String) throws { try map.rename(source: source, destination: destination) }
}

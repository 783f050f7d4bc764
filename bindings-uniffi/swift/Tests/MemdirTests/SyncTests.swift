import Foundation
import Memdir
import XCTest

/// Syncs of two memories.
final class SyncTests: XCTestCase {
    private let tea = "/memories/tea.md"

    /// Two memories with the same file.
    private func withTea() throws -> (Memory, Memory) {
        let (a, b) = (try Memory(store: "memory:"), try Memory(store: "memory:"))
        try a.write(path: tea, text: "green\nherbal\nblack\n")
        _ = try a.sync(other: b)
        return (a, b)
    }

    private func equal(_ a: Memory, _ b: Memory, _ path: String, _ text: String) throws {
        for memory in [a, b] { XCTAssertEqual(try memory.read(path: path), text) }
    }

    private func failed(_ expected: SyncErrorKind, _ call: @autoclosure () throws -> Synced) {
        XCTAssertThrowsError(try call()) { error in
            guard case MemdirError.sync(let reason, let kind) = error else { return XCTFail("\(error)") }
            XCTAssertEqual(kind, expected)
            XCTAssertEqual("\(error)", reason)
        }
    }

    func testChangesOfBothMemoriesAreMerged() throws {
        for (a, b) in [
            (try Memory(store: "memory:"), try Memory(store: "memory:")),
            (try Memory(store: MapStore()), try Memory(store: MapStore())),
        ] {
            try a.write(path: tea, text: "green\nherbal\nblack\n")
            let phases = Phases()
            let first = try a.sync(other: b) { phases.add($0.phase) }
            XCTAssertEqual(first.changes, [SyncChange(path: tea, side: .b, action: .created, oldPath: nil)])
            XCTAssertEqual(first.equal, 1)
            XCTAssertFalse(first.hasBaseline)
            XCTAssertEqual(phases.all, [.changing])
            try a.write(path: tea, text: "jasmine\nherbal\nblack\n")
            try b.write(path: tea, text: "green\nherbal\noolong\n")
            XCTAssertEqual(Set(try a.sync(other: b).changes.map(\.action)), [.merged])
            try equal(a, b, tea, "jasmine\nherbal\noolong\n")
        }
    }

    func testASyncIsAsynchronousToo() async throws {
        let (a, b) = (try await Memory.open(store: MapStore()), try await Memory.open(store: MapStore()))
        try await a.write(path: tea, text: "green\n")
        let synced = try await a.sync(other: b, names: ["laptop", "server"])
        XCTAssertEqual(synced.changes.map(\.action), [.created])
        let text = try await b.read(path: tea)
        XCTAssertEqual(text, "green\n")
    }

    func testAConflictKeepsBothContents() throws {
        let rows: [(OnConflict?, String)] = [(nil, "a\n"), (.keepBoth, "a\n"), (.a, "a\n"), (.b, "b\n")]
        for (wins, text) in rows {
            let (a, b) = try withTea()
            try a.write(path: tea, text: "a\n")
            try b.write(path: tea, text: "b\n")
            let synced = try a.sync(other: b, onConflict: wins, names: ["laptop", "server"])
            try equal(a, b, tea, text)
            guard wins == nil || wins == .keepBoth else {
                XCTAssertEqual(synced.conflicts, [])
                continue
            }
            let conflict = try XCTUnwrap(synced.conflicts.first)
            XCTAssertEqual(conflict.path, tea)
            XCTAssertEqual(conflict.side, .b)
            XCTAssertTrue(conflict.copyPath.contains("conflict from server"), conflict.copyPath)
            try equal(a, b, conflict.copyPath, "b\n")
        }
    }

    func testAFunctionMergesAConflict() throws {
        struct NoModel: Error {}
        let (a, b) = try withTea()
        try a.write(path: tea, text: "a\n")
        try b.write(path: tea, text: "b\n")
        let fails = MergeClosure { _ in throw NoModel() }
        XCTAssertThrowsError(try a.sync(other: b, merger: fails)) { error in
            guard case MemdirError.store(let reason, _, _) = error else { return XCTFail("\(error)") }
            XCTAssertTrue(reason.contains("NoModel"), reason)
        }
        XCTAssertThrowsError(try a.sync(other: b, onConflict: .a, merger: fails))
        let texts = Texts()
        let joins = MergeClosure { file in
            texts.add(file.base ?? "none")
            // It may use both memories.
            return file.a + (try b.read(path: file.path))
        }
        XCTAssertEqual(try a.sync(other: b, merger: joins).conflicts, [])
        try equal(a, b, tea, "a\nb\n")
        XCTAssertEqual(texts.all, ["green\nherbal\nblack\n"])
    }

    func testAFunctionMayKeepBothContents() async throws {
        let (a, b) = (try await Memory.open(store: MapStore()), try await Memory.open(store: MapStore()))
        try await a.write(path: tea, text: "c\n")
        try await b.write(path: tea, text: "d\n")
        let kept = try await a.sync(other: b, merger: MergeClosure { _ in nil })
        XCTAssertEqual(kept.conflicts.count, 1)
        let text = try await b.read(path: tea)
        XCTAssertEqual(text, "c\n")
    }

    func testOptionsSayWhatASyncLeavesAsItIs() throws {
        let (a, b) = try withTea()
        try a.write(path: "/memories/large.md", text: "larger\n")
        try a.write(path: "/memories/private/a.md", text: "a\n")
        try a.write(path: "/memories/a.md", text: "a\n")
        try b.write(path: "/memories/b.md", text: "b\n")
        func sync(dryRun: Bool) throws -> Synced {
            try a.sync(
                other: b, oneWay: true, dryRun: dryRun, exclude: ["/memories/private"], maxFileBytes: 6)
        }
        let planned = try sync(dryRun: true)
        XCTAssertFalse(try b.exists(path: "/memories/a.md"))
        let synced = try sync(dryRun: false)
        XCTAssertEqual(planned.changes, synced.changes)
        XCTAssertEqual(synced.changes, [SyncChange(path: "/memories/a.md", side: .b, action: .created, oldPath: nil)])
        XCTAssertEqual(synced.leftOut.first { $0.path == "/memories/large.md" }?.reason, .tooLarge)
        XCTAssertFalse(try a.exists(path: "/memories/b.md"))
    }

    func testASyncTakesRedactionsOver() throws {
        let options = MemoryOptions(history: true)
        let (a, b) = (try Memory(store: "memory:", options: options), try Memory(store: "memory:", options: options))
        try a.write(path: tea, text: "hunter2\n")
        _ = try a.sync(other: b)
        try a.write(path: tea, text: "green\n")
        _ = try a.redactText(query: "hunter2", reason: "a password")
        let done = try XCTUnwrap(a.sync(other: b, redactions: true).redactions.first)
        XCTAssertEqual([done.path, done.redacted], [tea, "a password"])
        XCTAssertTrue(done.isDone && done.side == .b)
    }

    func testAnErrorHasAKind() throws {
        let (a, b) = try withTea()
        _ = try b.delete(path: tea)
        failed(.tooManyDeletions, try a.sync(other: b))
        XCTAssertEqual(try a.sync(other: b, delete: true).changes.map(\.action), [.deleted])
        failed(.overlapping, try a.sync(other: a))
        let fixed = try Memory(store: "memory:", options: MemoryOptions(readOnly: true))
        failed(.readOnly, try a.sync(other: fixed))
        try a.write(path: tea, text: "white\n")
        failed(.stopped, try a.sync(other: b) { _ in false })
    }

    func testAWrongOptionIsNamed() throws {
        let (a, b) = try withTea()
        let calls: [(String, () throws -> Synced)] = [
            ("exclude", { try a.sync(other: b, exclude: ["notes"]) }),
            ("maxFileBytes", { try a.sync(other: b, maxFileBytes: -1) }),
            ("names", { try a.sync(other: b, names: ["laptop"]) }),
        ]
        for (name, call) in calls {
            XCTAssertThrowsError(try call()) { error in
                guard case MemdirError.config(_, let option) = error else { return XCTFail("\(error)") }
                XCTAssertEqual(option, name)
            }
        }
    }

    private func toReview() throws -> Memory {
        let memory = try Memory(store: "memory:")
        for path in [tea, "/memories/no.md", "/memories/yes.md"] { try memory.write(path: path, text: "green\n") }
        return memory
    }

    private func reviewed(_ memory: Memory, _ synced: Synced, _ told: [String]) throws {
        XCTAssertEqual(synced.leftOut.map(\.path), ["/memories/no.md"])
        XCTAssertEqual(synced.leftOut.map(\.details), ["Not this one."])
        XCTAssertEqual(try memory.read(path: tea), "green\nreviewed\n")
        XCTAssertEqual(told, ["/memories/no.md denied", "\(tea) ok", "/memories/yes.md ok"])
    }

    func testHooksReviewWhatASyncWrites() throws {
        let hooks = Reviewing()
        let memory = try Memory(store: "memory:", hooks: hooks)
        try reviewed(memory, try toReview().sync(other: memory), hooks.told.all)
    }

    func testAsynchronousHooksReviewWhatASyncWrites() async throws {
        let hooks = AsyncReviewing()
        let memory = try Memory(store: "memory:", hooks: hooks)
        hooks.memory = memory
        let blocking: () throws -> Synced = { try self.toReview().sync(other: memory) }
        XCTAssertThrowsError(try blocking()) { error in
            guard case MemdirError.hook = error else { return XCTFail("\(error)") }
        }
        let synced = try await toReview().sync(other: memory)
        try reviewed(memory, synced, hooks.told.all)

        // A cancellation ends the wait for a hook.
        let waiting = Waiting()
        let (waits, source) = (try Memory(store: "memory:", hooks: waiting), try toReview())
        let sync = Task { try await source.sync(other: waits) }
        while !waiting.hasBegun { try await Task.sleep(nanoseconds: 1_000_000) }
        sync.cancel()
        let ended = await sync.result
        XCTAssertThrowsError(try ended.get())
        let left = try await waits.list(path: "/memories")
        XCTAssertEqual(left.count, 0)
    }

    func testAWatchThatThrowsStopsTheSync() async throws {
        struct NoMore: Error {}
        let (a, b) = try withTea()
        try await a.write(path: tea, text: "white\n")
        XCTAssertThrowsError(try a.sync(other: b) { _ in throw NoMore() }) { error in
            guard case MemdirError.store(let reason, _, _) = error else { return XCTFail("\(error)") }
            XCTAssertTrue(reason.contains("NoMore"), reason)
        }
        let text = try await b.read(path: tea)
        XCTAssertEqual(text, "green\nherbal\nblack\n")
    }
}

/// The phases of a sync.
private final class Phases: @unchecked Sendable {
    private let lock = NSLock()
    private(set) var all: Set<SyncPhase> = []

    func add(_ phase: SyncPhase) -> Bool {
        lock.lock()
        defer { lock.unlock() }
        all.insert(phase)
        return true
    }
}

/// The texts that a function got.
private final class Texts: @unchecked Sendable {
    private let lock = NSLock()
    private(set) var all: [String] = []

    func add(_ text: String) {
        lock.lock()
        defer { lock.unlock() }
        all.append(text)
    }
}

private func decision(_ command: Command) -> HookDecision {
    guard case .create(let path, let text) = command else { return .deny(reason: "no \(command)") }
    switch path {
    case "/memories/no.md": return .deny(reason: "Not this one.")
    case "/memories/tea.md": return .replace(text: text + "reviewed\n")
    default: return .allow
    }
}

/// The lines that hooks were told.
private final class Told: @unchecked Sendable {
    private let lock = NSLock()
    private var lines: [String] = []
    var all: [String] { lock.withLock { lines } }
    func add(_ event: Event) { lock.withLock { lines.append("\(event.path ?? "") \(event.outcome)") } }
}

private final class Reviewing: MemoryHooks {
    let told = Told()

    func before(command: Command, call: HookCall) throws -> HookDecision {
        XCTAssertEqual(call.actor(), "sync")
        XCTAssertTrue(try call.diff().hasPrefix("--- /dev/null\n+++ /memories/"))
        return decision(command)
    }

    func after(event: Event) throws { told.add(event) }
}

private final class AsyncReviewing: AsyncMemoryHooks, @unchecked Sendable {
    let told = Told()
    weak var memory: Memory?

    func before(command: Command, call: HookCall) async throws -> HookDecision {
        await Task.yield()
        // Its own commands run without hooks.
        _ = try await memory?.view(path: "/memories")
        let diff = try await call.diff()
        XCTAssertTrue(diff.hasPrefix("--- /dev/null\n+++ /memories/"))
        return decision(command)
    }

    func after(event: Event) async throws {
        await Task.yield()
        told.add(event)
    }
}

/// Waits until it is cancelled.
private final class Waiting: AsyncMemoryHooks, @unchecked Sendable {
    private let lock = NSLock()
    private var begun = false
    var hasBegun: Bool { lock.withLock { begun } }

    func before(command: Command, call: HookCall) async throws -> HookDecision {
        lock.withLock { begun = true }
        try await Task.sleep(nanoseconds: 60_000_000_000)
        return .allow
    }
}

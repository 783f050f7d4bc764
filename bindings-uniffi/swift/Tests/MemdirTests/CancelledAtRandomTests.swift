import Foundation
import Memdir
import XCTest

/// Calls that are cancelled at random moments, by their tasks and by `cancelledBy`, while stores and hooks wait. The
/// replies and the events of `after` match the files and the history; no call hangs, and none has a later effect.
/// `make cancellations` makes 10,000 calls.
final class CancelledAtRandomTests: XCTestCase {
    func testCallsThatAreCancelledAtRandomMomentsSayWhatTheyDid() async throws {
        let seed = ProcessInfo.processInfo.environment["MEMDIR_SEED"].flatMap { UInt64($0) } ?? 1
        print("MEMDIR_SEED=\(seed)")
        let place = try temporaryDirectory()
        defer { try? FileManager.default.removeItem(at: place) }
        for kind in ["memory", "directory", "sqlite", "own"] {
            for history in [false, true] {
                let (pauses, tally) = (Pauses(seed: seed), Tally())
                let expected = [Effect.changed, .unchanged]
                // On a busy machine all calls of a batch may be cancelled before they begin.
                for number in 0..<times(1) + 20 where number < times(1) || expected.contains(where: { tally.count(of: $0) == 0 }) {
                    // A new store each time: queries get slower as a history grows.
                    let name = place.appendingPathComponent("\(kind)-\(history)-\(number)").path
                    let store: any Store
                    switch kind {
                    case "memory": store = try openStore(address: "memory:")
                    case "directory": store = try openStore(address: name)
                    case "sqlite": store = try openStore(address: "sqlite:\(name).db")
                    default: store = ErraticStore(pauses)
                    }
                    try await Batch(store, pauses, tally, MemoryOptions(history: history)).run()
                }
                XCTAssertEqual(tally.wrong, [], "MEMDIR_SEED=\(seed), \(kind), history \(history)")
                for effect in expected {
                    XCTAssertGreaterThan(tally.count(of: effect), 0, "MEMDIR_SEED=\(seed), \(kind), \(effect)")
                }
            }
        }
    }
}

/// The delays of stores and hooks: a moment, or until the gate opens. Some calls fail. While it is calm there are no delays
/// and no failures.
private final class Pauses: @unchecked Sendable {
    private let condition = NSCondition()
    private var state: UInt64
    private var isCalmNow = true
    private var isOpen = false

    init(seed: UInt64) { state = seed }

    var isCalm: Bool {
        get { condition.withLock { isCalmNow } }
        set { condition.withLock { isCalmNow = newValue } }
    }

    func openGate(_ isOpen: Bool) {
        condition.withLock {
            self.isOpen = isOpen
            condition.broadcast()
        }
    }

    /// A random number below `bound`, the same for the same seed (SplitMix64).
    func random(_ bound: UInt64) -> UInt64 {
        condition.withLock {
            state &+= 0x9e37_79b9_7f4a_7c15
            var mixed = (state ^ (state >> 30)) &* 0xbf58_476d_1ce4_e5b9
            mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
            return (mixed ^ (mixed >> 31)) % bound
        }
    }

    func isOneIn(_ count: UInt64) -> Bool { !isCalm && random(count) == 0 }

    func block() throws {
        if isCalm { return }
        if isOneIn(60) {
            condition.withLock { while !isOpen { condition.wait() } }
        } else {
            Thread.sleep(forTimeInterval: Double(random(1000)) / 1e6)
        }
        try fail()
    }

    /// As `block`; if it may be long, it sometimes waits until its task is cancelled.
    func wait(isLong: Bool) async throws {
        if isCalm { return }
        try await Task.sleep(nanoseconds: isLong && isOneIn(20) ? 600_000_000_000 : random(2_000_000))
        try fail()
    }

    private func fail() throws {
        if isOneIn(100) { throw Problem("erratic") }
    }
}

/// Answers late or fails, before or after it has done its work.
private final class ErraticStore: Store, Sendable {
    let map = MapStore()
    private let pauses: Pauses

    init(_ pauses: Pauses) { self.pauses = pauses }

    private func slowly<T>(_ work: () throws -> T) throws -> T {
        try pauses.block()
        let done = try work()
        try pauses.block()
        return done
    }

    func read(path: String) throws -> Data { try slowly { try map.read(path: path) } }

    func list(path: String) throws -> [Entry] { try slowly { try map.list(path: path) } }

    func write(path: String, content: Data, overwrite: Bool) throws {
        try slowly { try map.write(path: path, content: content, overwrite: overwrite) }
    }

    func update(path: String, edit: any Edit) throws { try slowly { try map.update(path: path, edit: edit) } }

    func delete(path: String) throws { try slowly { try map.delete(path: path) } }

    func rename(source: String, destination: String) throws {
        try slowly { try map.rename(source: source, destination: destination) }
    }
}

/// The events of each path.
private final class Events: @unchecked Sendable {
    private let lock = NSLock()
    private var told: [String: [Outcome]] = [:]

    func note(_ event: Event) { lock.withLock { told[event.path ?? "", default: []].append(event.outcome) } }

    func of(_ path: String) -> [Outcome] { lock.withLock { told[path] ?? [] } }
}

private final class WaitingHooks: AsyncMemoryHooks {
    private let pauses: Pauses
    private let events: Events

    init(_ pauses: Pauses, _ events: Events) { (self.pauses, self.events) = (pauses, events) }

    func before(command: Command, call: HookCall) async throws -> HookDecision {
        if pauses.isOneIn(2) { try await pauses.wait(isLong: true) }
        return pauses.isOneIn(50) ? .deny(reason: "Not today. Nothing was changed.") : .allow
    }

    func after(event: Event) async throws {
        events.note(event)
        // This hook is not cancelled, and its call waits for it.
        if !pauses.isCalm { try? await Task.sleep(nanoseconds: pauses.random(2_000_000)) }
    }
}

private final class BlockingHooks: MemoryHooks {
    private let pauses: Pauses
    private let events: Events

    init(_ pauses: Pauses, _ events: Events) { (self.pauses, self.events) = (pauses, events) }

    func before(command: Command, call: HookCall) throws -> HookDecision {
        if pauses.isOneIn(2) { try pauses.block() }
        return pauses.isOneIn(50) ? .deny(reason: "Not today. Nothing was changed.") : .allow
    }

    func after(event: Event) throws { events.note(event) }
}

private enum Effect: Hashable { case changed, unchanged, unknown }

private final class Tally: @unchecked Sendable {
    private let lock = NSLock()
    private var counts: [Effect: Int] = [:]
    private var texts: [String] = []

    func add(_ effect: Effect) { lock.withLock { counts[effect, default: 0] += 1 } }

    func add(wrong: String) { lock.withLock { texts.append(wrong) } }

    func count(of effect: Effect) -> Int { lock.withLock { counts[effect] ?? 0 } }

    var wrong: [String] { lock.withLock { texts } }
}

private enum Way: Int, CaseIterable, Sendable { case cancelledBy, plain, asyncHooks, blockingHooks }

/// Calls of several memories on one store, many of them concurrent.
private final class Batch: Sendable {
    private let store: any Store
    private let pauses: Pauses
    private let tally: Tally
    private let options: MemoryOptions
    private let events = Events()

    private static let names = ["view", "create", "insert", "delete", "rename"]
    private static let atOnce = 64

    init(_ store: any Store, _ pauses: Pauses, _ tally: Tally, _ options: MemoryOptions) {
        (self.store, self.pauses, self.tally, self.options) = (store, pauses, tally, options)
    }

    func run() async throws {
        let plain = try Memory(store: store, options: options)
        let waiting = try Memory(store: store, options: options, hooks: WaitingHooks(pauses, events))
        let blocking = try Memory(store: store, options: options, hooks: BlockingHooks(pauses, events))
        let memories: [Way: Memory] = [
            .cancelledBy: plain, .plain: plain, .asyncHooks: waiting, .blockingHooks: blocking,
        ]
        pauses.openGate(false)
        let calls = (0..<Self.atOnce).map { (Self.names[$0 % Self.names.count], "/memories/\($0)") }
        for (name, path) in calls where name != "create" {
            try store.write(path: path, content: Data("old\n".utf8), overwrite: false)
        }
        pauses.isCalm = false
        await withTaskGroup(of: Void.self) { group in
            for (at, (name, path)) in calls.enumerated() {
                let way = Way.allCases[at / Self.names.count % Way.allCases.count]
                let delay = pauses.random(20) == 0 ? 0 : pauses.random(40_000_000)
                let memory = memories[way]!
                group.addTask { await self.call(memory, name, path, way, delay) }
            }
            // By now all calls are cancelled, and wait for a store at most.
            try? await Task.sleep(nanoseconds: 60_000_000)
            pauses.openGate(true)
            await group.waitForAll()
        }
        pauses.isCalm = true
        try await compare()
    }

    /// One call, which is cancelled after a while. After it has ended, it has no further effect.
    private func call(_ memory: Memory, _ name: String, _ path: String, _ way: Way, _ delay: UInt64) async {
        let input = Self.input(name, path)
        let reply: Reply
        if way == .cancelledBy {
            let cancellation = Cancellation()
            let cancelled = memory.cancelledBy(cancellation: cancellation)
            async let answered: Reply = withCheckedContinuation { continuation in
                Thread.detachNewThread { continuation.resume(returning: cancelled.execute(json: input)) }
            }
            try? await Task.sleep(nanoseconds: delay)
            cancellation.cancel()
            reply = await answered
        } else {
            let task = Task { await memory.execute(json: input) }
            try? await Task.sleep(nanoseconds: delay)
            task.cancel()
            reply = await task.value
        }
        let told = events.of(path)
        let (found, moved) = (content(path), content("\(path)-moved"))
        let context = "\(name) \(path) \(way): \(reply), \(told), and the files hold \(found ?? "-") and \(moved ?? "-")"
        guard let effect = Self.effect(name, reply), let isDone = Self.isDone(name, found, moved) else {
            return tally.add(wrong: context)
        }
        tally.add(effect)
        let isTrue = effect == .unknown || name == "view" || (effect == .changed) == isDone
        let isTold = way == .asyncHooks ? told.count == 1 : told.count <= 1
        let isSame = told.isEmpty || (told[0] == .ok) == !reply.isError
        if !isTrue || !isTold || !isSame { tally.add(wrong: context) }
    }

    private static func input(_ name: String, _ path: String) -> String {
        let fields: String
        switch name {
        case "create": fields = #""path":"\#(path)","file_text":"new""#
        case "insert": fields = #""path":"\#(path)","insert_line":0,"insert_text":"new""#
        case "rename": fields = #""old_path":"\#(path)","new_path":"\#(path)-moved""#
        default: fields = #""path":"\#(path)""#
        }
        return #"{"command":"\#(name)",\#(fields)}"#
    }

    private func content(_ path: String) -> String? {
        let read = (store as? ErraticStore)?.map ?? store
        return (try? read.read(path: path)).map { String(decoding: $0, as: UTF8.self) }
    }

    private static func effect(_ name: String, _ reply: Reply) -> Effect? {
        if !reply.isError { return name == "view" ? .unchanged : .changed }
        if reply.content.contains("may or may not have been saved") { return .unknown }
        if reply.content.contains("Nothing was changed") { return .unchanged }
        return name == "view" && reply.content.contains("Try again later") ? .unchanged : nil
    }

    /// True if a command has done all of its work on a file, false if none of it, nil if a part of it.
    private static func isDone(_ name: String, _ found: String?, _ moved: String?) -> Bool? {
        let done: (String?, String?)
        switch name {
        case "create": done = ("new", nil)
        case "insert": done = ("new\nold\n", nil)
        case "delete": done = (nil, nil)
        case "rename": done = (nil, "old\n")
        default: done = ("old\n", nil)
        }
        if (found, moved) == done { return true }
        return (found, moved) == (name == "create" ? nil : "old\n", nil) ? false : nil
    }

    /// Asserts that the store is intact, and that each file's newest version has its current content.
    private func compare() async throws {
        let problems = try check(store: store).problems
        XCTAssertEqual(problems, [])
        let memory = try Memory(store: store, options: options)
        let there = try await memory.list().map(\.path)
        guard options.history == true else { return }
        let known = try await memory.filesAt(at: Date().addingTimeInterval(1)).map(\.path)
        XCTAssertEqual(Set(known), Set(there))
        for path in there {
            // Files written before the history began have no version.
            guard let newest = try await memory.history(path: path, limit: 1).first else { continue }
            let text = try await memory.readVersion(id: newest.id)
            XCTAssertEqual(String(decoding: text, as: UTF8.self), content(path), path)
        }
    }
}

import Foundation
import Memdir
import XCTest

/// Every case of `tests/cases`, on one of memdir's stores and on one in Swift. `StoresTests` tests the
/// others.
final class ConformanceTests: XCTestCase {
    /// A new memory, the store beneath it, and the store's location on this machine.
    private struct Opened {
        let memory: Memory
        let store: any Store
        var place: URL?
    }

    func testStoreInSwift() throws {
        try run("swift-store") { options, hooks in
            let store = MapStore()
            return Opened(memory: try Memory(store: store, options: options, hooks: hooks), store: store)
        }
    }

    func testLocalDirectory() throws {
        try run("swift-local") { options, hooks in
            let place = try temporaryDirectory()
            addTeardownBlock { try? FileManager.default.removeItem(at: place) }
            let memory = try Memory(store: place.path, options: options, hooks: hooks)
            return Opened(memory: memory, store: try openStore(address: place.path, options: MemoryOptions(durability: .relaxed)), place: place)
        }
    }

    /// The cases that have hooks, with asynchronous hooks: each waits before it applies the case's rule.
    func testAsynchronousHooks() throws {
        let hooked = try cases().filter { $0.hooks != nil }
        XCTAssertFalse(hooked.isEmpty)
        for each in hooked {
            do {
                let (store, hooks) = (MapStore(), CaseHooks(each.hooks ?? []))
                let memory = try Memory(store: store, options: each.options, hooks: AsyncCaseHooks(hooks))
                try run(each, Opened(memory: memory, store: store), hooks) { memory, json in
                    waited { await memory.execute(json: json) }
                }
            } catch {
                XCTFail("\(each.name): \(error)")
            }
        }
    }

    private func run(_ runner: String, open: (MemoryOptions, CaseHooks?) throws -> Opened) throws {
        let directory = root.appendingPathComponent("target/conformance")
        let counts = directory.appendingPathComponent(runner)
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        try? FileManager.default.removeItem(at: counts)
        let cases = try cases()
        var failed = false
        for each in cases {
            do {
                let hooks = each.hooks.map(CaseHooks.init)
                try run(each, open(each.options, hooks), hooks)
            } catch {
                failed = true
                XCTFail("\(each.name): \(error)")
            }
        }
        if failed { return }
        let steps = cases.map(\.steps.count).reduce(0, +)
        try Data("\(cases.count) \(steps)\n".utf8).write(to: counts)
        print("conformance: \(runner): \(cases.count) cases, \(steps) steps")
    }

    private func run(
        _ each: Case, _ opened: Opened, _ hooks: CaseHooks?,
        execute: (Memory, String) -> Reply = { $0.execute(json: $1) }
    ) throws {
        try write(each.given, to: opened.store)
        var before = try tree(opened.store)
        try same(each.given, before, "given")
        for (number, step) in each.steps.enumerated() {
            guard case .call(let step) = step else {
                if case .meanwhile(let tree) = step { try write(tree, to: opened.store) }
                if case .upkeep(let upkeep) = step { try keepUp(upkeep, opened, "step \(number + 1)") }
                before = try tree(opened.store)
                continue
            }
            let input = try step.input.encoded()
            let place = "step \(number + 1): \(input.prefix(300))"
            let reply = execute(opened.memory, input)
            // Compared by bytes, because Swift treats some strings with different bytes as equal.
            guard Array(reply.content.utf8) == Array(step.content.utf8), reply.isError == step.isError else {
                throw Problem("\(place)\nexpected \(step.isError) \(step.content.prefix(300))\ngot      \(reply.isError) \(reply.content.prefix(300))")
            }
            let kind = reply.kind.map { "\($0)" }
            guard (kind != nil) == step.isError, step.kind == nil || step.kind == kind else {
                throw Problem("\(place): the kind of error is \(kind ?? "none")")
            }
            guard reply.image == step.image else { throw Problem("\(place): the image is another one") }
            let (expected, told) = try ([step.event].compactMap { $0 }.map(shown), (hooks?.take() ?? []).map(shown))
            guard expected == told else { throw Problem("\(place): after: expected \(expected), got \(told)") }
            guard (reply.cause != nil) == expected.contains(where: { $0.contains("\"failed\"") }) else {
                throw Problem("\(place): the cause is \(reply.cause ?? "missing")")
            }
            if let host = opened.place?.path, reply.content.contains(host) {
                throw Problem("\(place): the reply says where the store is")
            }
            let after = try tree(opened.store)
            if !step.expires, step.isError || isView(step.input) { try same(before, after, "\(place): it changed something") }
            before = after
        }
        if let then = each.then { try same(then, before, "after the last step") }
        if let place = opened.place {
            let names = try FileManager.default.contentsOfDirectory(atPath: place.path)
            guard names == ["memories"] else { throw Problem("beside the memories there is \(names)") }
        }
        try opened.memory.clear()
        try same([:], tree(opened.store), "after clearing")
    }

    private func keepUp(_ step: Upkeep, _ opened: Opened, _ place: String) throws {
        switch step {
        case .age(let ages):
            for (path, seconds) in ages {
                let time = Date(timeIntervalSinceNow: -seconds)
                try opened.store.setModified(path: path, time: time)
                try opened.store.recordAccess(path: path, time: time)
            }
        case .expire(let olderThan, let dryRun, let expected):
            var removed: [String]?
            do {
                removed = try opened.memory.expire(olderThan: olderThan, dryRun: dryRun).map(\.path)
            } catch MemdirError.config {}
            guard removed == expected else {
                throw Problem("\(place): expected \(String(describing: expected)), got \(String(describing: removed))")
            }
        }
    }

    private func isView(_ input: JSON) -> Bool {
        guard case .object(let fields) = input, case .string("view") = fields["command"] else { return false }
        return true
    }

    private func same(_ expected: Tree, _ got: Tree, _ what: String) throws {
        for path in Set(expected.keys).union(got.keys).sorted() where expected[path] != got[path] {
            throw Problem("\(what): \(path.text): expected \(String(describing: expected[path])), got \(String(describing: got[path]))")
        }
    }
}

/// Applies the rules of a case after a wait.
private final class AsyncCaseHooks: AsyncMemoryHooks {
    private let hooks: CaseHooks

    init(_ hooks: CaseHooks) { self.hooks = hooks }

    func before(command: Command, call: HookCall) async throws -> HookDecision {
        try await Task.sleep(nanoseconds: 1)
        return try hooks.before(command: command, call: call)
    }

    func after(event: Event) async throws {
        try await Task.sleep(nanoseconds: 1)
        try hooks.after(event: event)
    }
}

/// Waits on the thread of the tests, which is not in Swift's own pool.
private func waited(_ call: @escaping @Sendable () async -> Reply) -> Reply {
    final class Box: @unchecked Sendable { var reply = Reply(content: "", isError: true, cause: nil) }
    let (box, done) = (Box(), DispatchSemaphore(value: 0))
    Task.detached {
        box.reply = await call()
        done.signal()
    }
    done.wait()
    return box.reply
}

/// A new directory; the caller removes it.
func temporaryDirectory() throws -> URL {
    let place = FileManager.default.temporaryDirectory.appendingPathComponent("memdir-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
    return place
}

/// All entries of a store, read through the store.
func tree(_ store: any Store, _ directory: String = "/memories") throws -> Tree {
    var found: Tree = [:]
    let listed = try store.list(path: directory)
    if listed.isEmpty, directory != "/memories" { found[Path(directory)] = .some(nil) }
    for entry in listed {
        guard let size = entry.size else {
            found.merge(try tree(store, entry.path)) { _, new in new }
            continue
        }
        let content = try store.read(path: entry.path)
        guard content.count == size else { throw Problem("\(entry) holds \(content.count) bytes") }
        found[Path(entry.path)] = .some(content)
    }
    return found
}

/// Writes all of `tree` to a store; existing files are overwritten.
func write(_ tree: Tree, to store: any Store) throws {
    for (path, content) in tree {
        if let content {
            try store.write(path: path.text, content: content, overwrite: true)
        } else {
            // A store creates directories only for files, and keeps them when a file is deleted.
            try store.write(path: path.text + "/inside", content: Data(), overwrite: false)
            try store.delete(path: path.text + "/inside")
        }
    }
}

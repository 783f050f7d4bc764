import Foundation
import Memdir
import XCTest

/// The history of a memory: every method, on a directory, on a store that is already open, and on one in Swift.
final class HistoryTests: XCTestCase {
    private let a = "/memories/a"
    private let nobody = "01990a3c-7c00-7123-8456-789abc000001"

    /// Runs `test` with a function that opens memories with history on one store.
    private func onEachStore(_ test: (_ open: (MemoryOptions) throws -> Memory) throws -> Void) throws {
        let place = try temporaryDirectory()
        defer { try? FileManager.default.removeItem(at: place) }
        let (shared, own) = (try openStore(address: "memory:"), MapStore())
        try test { try Memory(directory: place.appendingPathComponent("plain"), options: $0) }
        try test { try Memory(store: shared, options: $0) }
        try test { try Memory(store: own, options: $0) }
    }

    private func onEach(_ test: (Memory) throws -> Void) throws {
        try onEachStore { open in try test(open(MemoryOptions(history: true))) }
    }

    /// The reason and the paths of the error that `call` throws.
    @discardableResult
    private func failed<T>(
        _ kind: HistoryErrorKind, _ line: UInt = #line, _ call: () throws -> T
    ) -> (reason: String, paths: [String]) {
        do {
            _ = try call()
            XCTFail("it did not fail", line: line)
        } catch MemdirError.history(let reason, let found, let paths, _) {
            XCTAssertEqual(found, kind, line: line)
            return (reason, paths)
        } catch {
            XCTFail("\(error)", line: line)
        }
        return ("", [])
    }

    /// A time after all earlier changes and before all later ones.
    private func now() -> Date {
        Thread.sleep(forTimeInterval: 0.002)
        defer { Thread.sleep(forTimeInterval: 0.002) }
        return Date()
    }

    private func text(_ memory: Memory, _ version: Version) throws -> String {
        String(decoding: try memory.readVersion(id: version.id), as: UTF8.self)
    }

    func testEveryCommandMakesAVersionWithItsContent() throws {
        try onEach { memory in
            let begun = now()
            let session = try memory.actingAs(actor: "session 1")
            _ = try session.create(path: a, fileText: "one\n")
            _ = try session.strReplace(path: a, oldStr: "one", newStr: "two")
            _ = try session.insert(path: a, insertLine: 1, insertText: "three\n")
            _ = try session.rename(oldPath: a, newPath: "/memories/b/c")
            let versions = try memory.history()
            XCTAssertEqual(versions.map(\.operation), [.renamed, .modified, .modified, .created])
            XCTAssertEqual(versions.map(\.path), ["/memories/b/c", a, a, a])
            XCTAssertEqual(versions.map(\.size), [10, 10, 4, 4])
            XCTAssertEqual(versions.map(\.isCurrent), [true, false, false, false])
            XCTAssertEqual(try versions.map { try text(memory, $0) }, ["two\nthree\n", "two\nthree\n", "two\n", "one\n"])
            XCTAssertEqual(Set(versions.map(\.actor)), ["session 1"])
            XCTAssertEqual(versions[0].oldPath, a)
            XCTAssertEqual(versions.map(\.id), versions.map(\.id).sorted().reversed())
            XCTAssertTrue(begun <= versions[3].time && versions[0].time <= now())
            // The `sha256sum` of the line.
            XCTAssertEqual(versions[3].sha256, "2c8b08da5ce60398e1f19af0e5dccc744df274b826abe585eaba68c525434806")
            XCTAssertEqual(
                try memory.diff(id: versions[2].id), "--- /memories/a\n+++ /memories/a\n@@ -1 +1 @@\n-one\n+two\n")
            let whole = try memory.diff(id: versions[3].id, other: versions[0].id)
            XCTAssertTrue(whole.hasSuffix("@@ -1 +1,2 @@\n-one\n+two\n+three\n"), whole)
            _ = try memory.delete(path: "/memories/b")
            let deleted = try memory.history(limit: 1)[0]
            XCTAssertEqual(deleted.operation, .deleted)
            XCTAssertNil(deleted.actor)
            XCTAssertNil(deleted.size)
        }
    }

    func testAQuerySelectsVersionsAndPagesThroughThem() throws {
        try onEach { memory in
            for number in 0..<6 {
                try memory.actingAs(actor: number % 2 == 0 ? "even" : "odd").write(path: a, text: "\(number)")
            }
            let since = now()
            try memory.write(path: "/memories/d/b", text: "b")
            try memory.write(path: "/memories/d/c", text: "c")
            let all = try memory.history()
            let first = try memory.history(limit: 5)
            XCTAssertEqual(try first + memory.history(limit: 5, before: first[4].id), all)
            XCTAssertEqual(try memory.history(path: a), Array(all[2...]))
            XCTAssertEqual(try memory.history(path: "/memories/d"), Array(all[..<2]))
            XCTAssertEqual(try memory.history(since: since), Array(all[..<2]))
            // A version has the time of its change, although a `Date` is a floating-point number.
            for (number, version) in all.enumerated() {
                XCTAssertTrue(try memory.history(since: version.time).contains(version), "\(number)")
            }
            XCTAssertEqual(try memory.history(change: all[3].change), [all[3]])
            XCTAssertEqual(try memory.history(limit: 2, actor: "odd").map { try text(memory, $0) }, ["5", "3"])
            XCTAssertEqual(try memory.history(limit: 0), [])
        }
    }

    func testChangesAreTakenBackUnlessOthersStandOnThem() throws {
        try onEach { memory in
            try memory.write(path: a, text: "one")
            try memory.write(path: a, text: "two")
            let versions = try memory.history()
            let file = RestoredFile(operation: .modified, path: a, oldPath: nil)
            let would = try memory.undo(change: versions[0].change, dryRun: true)
            XCTAssertEqual(would, Restored(change: nil, files: [file]))
            XCTAssertEqual(try memory.read(path: a), "two")
            let done = try memory.undo(change: versions[0].id)
            XCTAssertEqual(try memory.read(path: a), "one")
            XCTAssertEqual(try memory.history(change: done.change).map(\.operation), [.restored])
            _ = try memory.undo(change: done.change)
            let error = failed(.conflict) { try memory.restore(id: versions[1].id) }
            XCTAssertEqual(error.paths, [a])
            XCTAssertTrue(error.reason.hasPrefix("changed since, so nothing was restored: /memories/a by "))
            _ = try memory.restore(id: versions[1].id, overwrite: true)
            XCTAssertEqual(try memory.read(path: a), "one")

            for name in ["x", "y"] { try memory.write(path: "/memories/d/\(name)", text: name) }
            _ = try memory.delete(path: "/memories/d")
            let restored = try memory.restore(id: memory.history(limit: 1)[0].change)
            XCTAssertEqual(restored.files.map(\.path), ["/memories/d/x", "/memories/d/y"])
            XCTAssertEqual(try memory.read(path: "/memories/d/y"), "y")
        }
    }

    func testWhatAnActorDidSinceATimeIsUndoneAndEverythingBecomesWhatItWas() throws {
        try onEach { memory in
            try memory.write(path: a, text: "a\nb\n")
            let begun = now()
            _ = try memory.actingAs(actor: "me").strReplace(path: a, oldStr: "b", newStr: "B")
            try memory.actingAs(actor: "other").write(path: "/memories/theirs", text: "theirs")
            XCTAssertEqual(try memory.undo(since: begun, actor: "me", dryRun: true).files.map(\.path), [a])
            _ = try memory.undo(since: begun, actor: "me")
            XCTAssertEqual(try memory.read(path: a), "a\nb\n")
            XCTAssertTrue(try memory.exists(path: "/memories/theirs"))
            XCTAssertEqual(try memory.restoreAll(at: begun, dryRun: true).files.count, 1)
            _ = try memory.restoreAll(at: begun)
            XCTAssertFalse(try memory.exists(path: "/memories/theirs"))
            XCTAssertEqual(try memory.undo(since: now()).files, [])
        }
    }

    func testContentIsRedactedForGood() throws {
        try onEach { memory in
            try memory.write(path: a, text: "secret-4711\n")
            let secret = try memory.history()[0]
            XCTAssertEqual(failed(.isCurrent) { try memory.redact(id: secret.id, reason: "a password") }.paths, [a])
            try memory.write(path: a, text: "end\n")
            XCTAssertNotNil(try memory.redact(id: secret.id, reason: "a password"))
            XCTAssertNil(try memory.redact(id: secret.id, reason: "again"))
            XCTAssertEqual(try memory.history().last?.redacted, "a password")
            let error = failed(.redacted) { try memory.readVersion(id: secret.id) }
            XCTAssertEqual(error.reason, "the content was redacted: a password")
        }
    }

    func testATextIsRedactedInAllVersionsThatHaveIt() throws {
        try onEachStore { open in
            let memory = try open(MemoryOptions(history: true))
            try memory.write(path: a, text: "key: hunter2")
            try memory.write(path: a, text: "key: Hunter2")
            let dry = try memory.redactText(query: "hunter2", reason: "a key", ignoreCase: true, dryRun: true)
            XCTAssertNil(dry.change)
            XCTAssertEqual(dry.versions.count, 2)
            XCTAssertEqual(dry.current, [a])
            let error = failed(.isCurrent) { try memory.redactText(query: "(?i)HUNTER2", reason: "a key", regex: true) }
            XCTAssertEqual(error.paths, [a])
            _ = try memory.delete(path: a)
            let redacted = try memory.redactText(query: "hunter2", reason: "a key", ignoreCase: true)
            XCTAssertEqual(redacted.versions.count, 2)
            XCTAssertEqual(try memory.history().last?.redacted, "a key")
            try memory.write(path: "/memories/acme/deal", text: "one")
            _ = try memory.delete(path: "/memories/acme")
            try memory.write(path: "/memories/b-acme", text: "two")
            let named = try memory.redactText(query: "acme", reason: "a client")
            XCTAssertEqual(named.names, ["/memories/acme/deal"])
            XCTAssertEqual(named.keptNames, ["/memories/b-acme"])
        }
    }

    func testEraseRemovesTheFilesAndTheHistory() throws {
        try onEachStore { open in
            let memory = try open(MemoryOptions(history: true))
            try memory.write(path: a, text: "one")
            try memory.clear()
            try memory.write(path: a, text: "two")
            let counted = try memory.erase(dryRun: true)
            XCTAssertEqual([counted.files, counted.bytes, counted.versions], [1, 3, 3])
            XCTAssertEqual(try memory.erase(), counted)
            XCTAssertEqual(try memory.history(), [])
            try memory.write(path: a, text: "new")
            XCTAssertEqual(try memory.history().count, 1)
        }
    }

    func testOldVersionsAreTrimmedAfterThirtyDaysOrNever() throws {
        XCTAssertEqual(MemoryOptions().historyMaxAge, 30 * 24 * 60 * 60)
        XCTAssertNil(MemoryOptions(historyMaxAge: nil).historyMaxAge)
        try onEachStore { open in
            let memory = try open(MemoryOptions(history: true, historyMaxAge: 0.000_001))
            let begun = now()
            for number in 0..<12 { try memory.write(path: a, text: "\(number)") }
            _ = try memory.trimHistory()
            XCTAssertEqual(try memory.history().count, 10)
            XCTAssertEqual(try memory.trimHistory(), 0)
            XCTAssertEqual(failed(.trimmed) { try memory.restoreAll(at: begun) }.paths, [a])
            // Both keep new versions.
            for options in [MemoryOptions(history: true), MemoryOptions(history: true, historyMaxAge: nil)] {
                let memory = try open(options)
                try memory.write(path: "/memories/b", text: "1")
                _ = try memory.delete(path: "/memories/b")
                _ = try memory.trimHistory()
                XCTAssertEqual(try memory.history(path: "/memories/b", limit: 2).count, 2)
            }
        }
    }

    func testWhatIsNoIdNoPathOrNoHistoryIsAnErrorOfTheHistory() throws {
        try onEachStore { open in
            let memory = try open(MemoryOptions(history: true))
            try memory.write(path: a, text: "one")
            for (kind, id) in [(HistoryErrorKind.unknown, nobody), (.noId, "yesterday")] {
                failed(kind) { try memory.readVersion(id: id) }
                failed(kind) { try memory.diff(id: id) }
                failed(kind) { try memory.diff(id: nobody, other: id) }
                failed(kind) { try memory.restore(id: id) }
                failed(kind) { try memory.undo(change: id) }
                failed(kind) { try memory.redact(id: id, reason: "") }
            }
            failed(.noId) { try memory.history(before: "") }
            failed(.path) { try memory.history(path: "/etc") }
            _ = try memory.delete(path: a)
            failed(.noContent) { try memory.readVersion(id: memory.history()[0].id) }
            let reading = try open(MemoryOptions(readOnly: true, history: true))
            XCTAssertEqual(try text(reading, reading.history().last!), "one")
            failed(.readOnly) { try reading.undo(change: nobody) }
            failed(.readOnly) { try reading.trimHistory() }
        }
        failed(.off) { try Memory(store: "memory:").history() }
    }

    func testAWrongArgumentIsNamed() throws {
        let memory = try Memory(store: "memory:", options: MemoryOptions(history: true))
        let (nobody, begun) = (nobody, Date())
        let wrong: [(String, () throws -> Any)] = [
            ("change or since must be given", { try memory.undo() }),
            ("change or since must be given", { try memory.undo(actor: "me") }),
            ("since must not be given together with change", { try memory.undo(change: nobody, since: begun) }),
            ("actor must be given together with since", { try memory.undo(change: nobody, actor: "me") }),
            ("limit must be a whole number from 0 on, got -1", { try memory.history(limit: -1) }),
        ]
        for (sentence, call) in wrong {
            XCTAssertThrowsError(try call()) { error in
                guard case MemdirError.config(let reason, let option) = error else { return XCTFail("\(error)") }
                XCTAssertEqual(option, String(sentence.prefix { $0 != " " }))
                XCTAssertEqual(reason, sentence)
            }
        }
        for wrong in [.nan, .infinity, -.infinity] as [TimeInterval] {
            let time = Date(timeIntervalSince1970: wrong)
            let calls: [(String, () throws -> Any)] = [
                ("since", { try memory.undo(since: time) }), ("since", { try memory.history(since: time) }),
                ("at", { try memory.restoreAll(at: time) }),
            ]
            for (argument, call) in calls {
                XCTAssertThrowsError(try call()) { error in
                    guard case MemdirError.config(_, let option) = error else { return XCTFail("\(error)") }
                    XCTAssertEqual(option, argument)
                }
            }
        }
        for time in [Date(timeIntervalSince1970: -1e300), Date.distantPast, Date(timeIntervalSince1970: 0), .distantFuture] {
            XCTAssertEqual(try memory.undo(since: time).files, [])
        }
    }

    func testAStoreOfOnesOwnThatFailsIsAnErrorOfTheStore() throws {
        let store = BreakingStore()
        let memory = try Memory(store: store, options: MemoryOptions(history: true))
        try memory.write(path: a, text: "one")
        try memory.write(path: "/memories/b", text: "one")
        let begun = now()
        try memory.write(path: a, text: "two")
        try memory.write(path: "/memories/b", text: "two")
        store.broken = { $0 == "/memories/b" }
        let error = failed(.partly) { try memory.restoreAll(at: begun) }
        XCTAssertTrue(error.reason.contains("the table is gone"), error.reason)
        XCTAssertEqual(try memory.read(path: a), "one")
        store.broken = { _ in true }
        XCTAssertThrowsError(try memory.restoreAll(at: begun)) { error in
            guard case MemdirError.store(let reason, _, _) = error else { return XCTFail("\(error)") }
            XCTAssertTrue(reason.contains("the table is gone"), reason)
        }
    }

    func testAnEventHasTheChangeOfItsCommand() throws {
        let hooks = Listening()
        let options = MemoryOptions(history: true, actor: "option")
        let memory = try Memory(store: "memory:", options: options, hooks: hooks)
        _ = try memory.create(path: a, fileText: "one")
        _ = try memory.view(path: a)
        let version = try memory.history()[0]
        XCTAssertEqual(version.actor, "option")
        XCTAssertEqual(hooks.changes, [version.change, nil])
        // The session has the same hooks.
        _ = try memory.actingAs(actor: "me").strReplace(path: a, oldStr: "one", newStr: "two")
        XCTAssertEqual(hooks.changes.last, try memory.history(actor: "me")[0].change)
    }

    func testEveryMethodHasAnAsynchronousVariant() async throws {
        let memory = try Memory(store: "memory:", options: MemoryOptions(history: true))
        let session = try memory.actingAs(actor: "session 1")
        try await session.write(path: a, text: "one")
        try await session.write(path: a, text: "two")
        let versions = try await memory.history(actor: "session 1")
        let content = try await memory.readVersion(id: versions[0].id)
        XCTAssertEqual(content, Data("two".utf8))
        let diff = try await memory.diff(id: versions[1].id, other: versions[0].id)
        XCTAssertNotEqual(diff, "")
        _ = try await memory.undo(change: versions[0].change)
        let undone = try await memory.read(path: a)
        XCTAssertEqual(undone, "one")
        _ = try await memory.restore(id: versions[0].id, overwrite: true)
        let restored = try await memory.read(path: a)
        XCTAssertEqual(restored, "two")
        let none = try await memory.undo(since: .distantPast, actor: "nobody", dryRun: true)
        XCTAssertEqual(none.files, [])
        let same = try await memory.restoreAll(at: Date(), dryRun: true)
        XCTAssertEqual(same.files, [])
        let redaction = try await memory.redact(id: versions[1].id, reason: "test")
        XCTAssertNotNil(redaction)
        let trimmed = try await memory.trimHistory()
        XCTAssertEqual(trimmed, 0)
        let unfound = try await memory.redactText(query: "none of it", reason: "test")
        XCTAssertEqual(unfound.versions, [])
        let counted = try await memory.erase(dryRun: true)
        XCTAssertEqual(counted.files, 1)
        do {
            _ = try await memory.readVersion(id: nobody)
            XCTFail("it was not there")
        } catch MemdirError.history(_, .unknown, _, _) {}
    }
}

/// Hooks that record the events of `after`.
private final class Listening: MemoryHooks, @unchecked Sendable {
    private let lock = NSLock()
    private var told: [String?] = []

    var changes: [String?] { lock.withLock { told } }

    func after(event: Event) throws { lock.withLock { told.append(event.change) } }
}

/// A store that fails to change some paths.
private final class BreakingStore: Store, @unchecked Sendable {
    private let map = MapStore()
    var broken: (String) -> Bool = { _ in false }

    func read(path: String) throws -> Data { try map.read(path: path) }
    func list(path: String) throws -> [Entry] { try map.list(path: path) }
    func write(path: String, content: Data, overwrite: Bool) throws {
        if broken(path) { throw Problem("the table is gone") }
        try map.write(path: path, content: content, overwrite: overwrite)
    }
    func update(path: String, edit: any Edit) throws {
        if broken(path) { throw Problem("the table is gone") }
        try map.update(path: path, edit: edit)
    }
    func delete(path: String) throws { try map.delete(path: path) }
    func rename(source: String, destination: String) throws { try map.rename(source: source, destination: destination) }
}

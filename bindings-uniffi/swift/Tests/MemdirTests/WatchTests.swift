import Foundation
import Memdir
import XCTest

/// Changes by any process are reported, and waiting callers can stop.
final class WatchTests: XCTestCase {
    private let soon: TimeInterval = 60

    // Not asynchronous: an asynchronous test would call the asynchronous variants.
    func testWhatThisProcessChangesIsToldAtOnce() throws {
        let memory = try Memory(store: "memory:")
        let watch = try memory.watch(path: "/memories/team", every: 3600)
        XCTAssertEqual(try watch.changes(wait: 0), [])
        try memory.write(path: "/memories/a.md", text: "one\n")
        try memory.write(path: "/memories/team/a.md", text: "one\n")
        XCTAssertTrue(watch.isDue())
        XCTAssertEqual(try watch.changes(wait: soon), [Change(kind: .written, path: "/memories/team/a.md")])
        _ = try memory.rename(oldPath: "/memories/team", newPath: "/memories/group")
        XCTAssertEqual(try watch.changes(wait: soon), [Change(kind: .deleted, path: "/memories/team/a.md")])
        XCTAssertFalse(watch.isDue())
    }

    func testAPlainWriteIntoTheDirectoryIsTold() throws {
        let place = try temporaryDirectory()
        defer { try? FileManager.default.removeItem(at: place) }
        let memory = try Memory(store: "dir:\(place.path)")
        let watch = try memory.watch(every: 0.02)
        let file = place.appendingPathComponent("plain.md")
        try Data("one\n".utf8).write(to: file, options: .atomic)
        XCTAssertEqual(try watch.changes(wait: soon), [Change(kind: .written, path: "/memories/plain.md")])
        try FileManager.default.removeItem(at: file)
        XCTAssertEqual(try watch.changes(wait: soon), [Change(kind: .deleted, path: "/memories/plain.md")])
    }

    func testAThreadThatWaitsIsToldThatTheWatchIsCancelled() throws {
        let watch = try Memory(store: "memory:").watch(every: 3600)
        DispatchQueue.global().asyncAfter(deadline: .now() + 0.05) { watch.cancel() }
        XCTAssertNil(try watch.changes(wait: soon))
        watch.cancel()
        XCTAssertNil(try watch.changes(wait: soon))
    }

    func testAWrongArgumentIsNamed() throws {
        let memory = try Memory(store: "memory:")
        XCTAssertThrowsError(try memory.watch(path: "elsewhere")) { error in
            guard case MemdirError.refused = error else { return XCTFail("\(error)") }
        }
        XCTAssertThrowsError(try memory.watch(every: -1)) { error in
            guard case MemdirError.config(_, "every") = error else { return XCTFail("\(error)") }
        }
        let watch = try memory.watch()
        XCTAssertThrowsError(try watch.changes(wait: .nan)) { error in
            guard case MemdirError.config(_, "wait") = error else { return XCTFail("\(error)") }
        }
        let cancellation = Cancellation()
        let cancelled = try memory.cancelledBy(cancellation: cancellation).watch()
        cancellation.cancel()
        XCTAssertThrowsError(try cancelled.changes(wait: soon)) { error in
            guard case MemdirError.store = error else { return XCTFail("\(error)") }
        }
    }

    func testASequenceHasTheChangesOfAnybody() async throws {
        let place = try temporaryDirectory()
        defer { try? FileManager.default.removeItem(at: place) }
        let memory = try await Memory.open(store: "dir:\(place.path)")
        let watch = try await memory.watch(every: 0.02)
        try Data("one\n".utf8).write(to: place.appendingPathComponent("plain.md"), options: .atomic)
        try await memory.write(path: "/memories/zebra.md", text: "two\n")
        var told: Set<String> = []
        for try await change in watch {
            XCTAssertEqual(change.kind, .written)
            told.insert(change.path)
            if told.count == 2 { break }
        }
        XCTAssertEqual(told, ["/memories/plain.md", "/memories/zebra.md"])
    }

    func testASequenceEndsWhenTheWatchOrTheTaskIsCancelled() async throws {
        let memory = try await Memory.open(store: "memory:")
        let watch = try await memory.watch()
        let told = Told()
        let count: @Sendable () async throws -> Int = {
            var found = 0
            for try await _ in watch {
                found += 1
                await told.one()
            }
            return found
        }
        let (one, other) = (Task { try await count() }, Task { try await count() })
        try await Task.sleep(nanoseconds: 100_000_000)
        one.cancel()
        let none = try await one.value
        XCTAssertEqual(none, 0)
        try await memory.write(path: "/memories/a.md", text: "one\n")
        while await told.count == 0 { try await Task.sleep(nanoseconds: 10_000_000) }
        watch.cancel()
        let found = try await other.value
        XCTAssertEqual(found, 1)
    }

    /// Swift's own pool has as many threads as there are processors.
    func testManyWhoWaitForChangesLeaveThePoolToOthers() async throws {
        let memory = try Memory(store: "memory:")
        let counts = try await withThrowingTaskGroup(of: Int?.self) { group in
            for _ in 0..<100 {
                let watch = try await memory.watch(every: 3600)
                group.addTask { try await watch.changes(wait: 600)?.count }
            }
            group.addTask {
                try await memory.write(path: "/memories/a.md", text: "one")
                return nil
            }
            var counts: [Int] = []
            for try await count in group { counts += count.map { [$0] } ?? [] }
            return counts
        }
        XCTAssertEqual(counts, Array(repeating: 1, count: 100))

        let watch = try await memory.watch(every: 3600)
        let nothing = try await watch.changes(wait: 0.001)
        XCTAssertEqual(nothing, [])
        for wrong in [-1, Double.nan] {
            do {
                _ = try await watch.changes(wait: wrong)
                XCTFail("it took \(wrong)")
            } catch let MemdirError.config(_, option) {
                XCTAssertEqual(option, "wait")
            }
        }
        let waiting = Task { try await watch.changes(wait: .infinity) }
        waiting.cancel()
        do {
            _ = try await waiting.value
            XCTFail("it did not end")
        } catch is CancellationError {}
        let last = Task { try await watch.changes(wait: .infinity) }
        watch.cancel()
        let ended = try await last.value
        XCTAssertNil(ended)
    }

    func testManyWhoWaitHoldNoThread() async throws {
        let memory = try await Memory.open(store: "memory:")
        try await withThrowingTaskGroup(of: Change?.self) { group in
            for _ in 0 ..< 200 {
                let watch = try await memory.watch()
                group.addTask {
                    for try await change in watch { return change }
                    return nil
                }
            }
            try await Task.sleep(nanoseconds: 200_000_000)
            let listed = try await memory.list()
            XCTAssertEqual(listed, [])
            try await memory.write(path: "/memories/a.md", text: "one\n")
            for try await change in group {
                XCTAssertEqual(change, Change(kind: .written, path: "/memories/a.md"))
            }
        }
    }
}

/// The number of reported changes.
private actor Told {
    private(set) var count = 0

    func one() { count += 1 }
}

import Foundation
import Memdir
import XCTest

/// Changes by any memory of this process are reported.
final class ChangesTests: XCTestCase {
    func testAStreamHasTheChangesOfCommandsExpiryClearingAndOtherMemories() async throws {
        let place = try temporaryDirectory()
        defer { try? FileManager.default.removeItem(at: place) }
        let memory = try await Memory.open(directory: place, options: MemoryOptions(recordAccess: true))
        let changes = memory.changes
        _ = try await memory.create(path: "/memories/a", fileText: "one")
        _ = await memory.execute(json: #"{"command": "rename", "old_path": "/memories/a", "new_path": "/memories/b"}"#)
        _ = try await memory.view(path: "/memories/b")
        _ = try await memory.expire(olderThan: 0)
        let other = try await Memory.open(store: place.path)
        _ = try await other.create(path: "/memories/c", fileText: "")
        try await memory.clear()
        var told: [Change] = []
        for await change in changes {
            told.append(change)
            if told.count == 5 { break }
        }
        XCTAssertEqual(told, [
            Change(kind: .written, path: "/memories/a"),
            Change(kind: .renamed, path: "/memories/b", oldPath: "/memories/a"),
            Change(kind: .deleted, path: "/memories/b"),
            Change(kind: .written, path: "/memories/c"),
            Change(kind: .cleared, path: "/memories"),
        ])
    }

    func testOnlyAFileURLIsADirectory() throws {
        XCTAssertThrowsError(try Memory(directory: URL(string: "https://example.com/memory")!)) { error in
            guard case MemdirError.config(_, "directory") = error else { return XCTFail("\(error)") }
        }
        XCTAssertThrowsError(try Mount(path: "/memories", directory: URL(string: "https://example.com")!))
    }

    func testADurationIsATimeInterval() async throws {
        guard #available(macOS 13, iOS 16, *) else { return }
        let memory = try Memory(store: "memory:", options: MemoryOptions(recordAccess: true))
        _ = try await memory.create(path: "/memories/a", fileText: "one")
        let kept = try await memory.expire(olderThan: Duration.seconds(60))
        XCTAssertEqual(kept, [])
        do {
            _ = try await memory.expire(olderThan: .seconds(-1))
            XCTFail("a negative duration")
        } catch MemdirError.config(_, let option) {
            XCTAssertEqual(option, "olderThan")
        }
    }

    func testATaskThatIsCancelledBeforeItsCallGetsACancellationError() async throws {
        let memory = try Memory(store: "memory:")
        let task = Task {
            try? await Task.sleep(nanoseconds: 60_000_000_000)
            return try await memory.create(path: "/memories/a", fileText: "late")
        }
        task.cancel()
        do {
            _ = try await task.value
            XCTFail("it was cancelled")
        } catch {
            XCTAssertTrue(error is CancellationError, "\(error)")
        }
        let reply = await Task {
            try? await Task.sleep(nanoseconds: 60_000_000_000)
            return await memory.execute(json: #"{"command": "create", "path": "/memories/a", "file_text": ""}"#)
        }.cancelledValue
        XCTAssertEqual(reply.content, "Error: The command was cancelled before it began. Nothing was changed.")
        let shown = try await memory.view(path: "/memories")
        XCTAssertFalse(shown.contains("/memories/a"))
    }
}

extension Task where Failure == Never {
    /// Cancels the task and returns its value.
    fileprivate var cancelledValue: Success {
        get async {
            cancel()
            return await value
        }
    }
}

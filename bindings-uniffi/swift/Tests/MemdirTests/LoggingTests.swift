import Foundation
import Memdir
import XCTest

/// The errors of callbacks without a result are logged, and have no other effect.
final class LoggingTests: XCTestCase {
    func testWhatAfterThrowsIsLogged() async throws {
        final class Failing: MemoryHooks {
            func after(event: Event) throws { throw Problem("100%s broken") }
        }
        let memory = try Memory(store: "memory:", hooks: Failing())
        let text = try await logged { _ = try await memory.create(path: "/memories/a", fileText: "one") }
        XCTAssertTrue(text.contains("memdir: `after` failed: 100%s broken"), text)
    }

    func testWhatAnAsynchronousAfterThrowsIsLogged() async throws {
        final class Failing: AsyncMemoryHooks {
            func after(event: Event) async throws { throw Problem("100%s broken") }
        }
        let memory = try Memory(store: "memory:", hooks: Failing())
        let text = try await logged { _ = try await memory.create(path: "/memories/a", fileText: "one") }
        XCTAssertTrue(text.contains("memdir: `after` failed: 100%s broken"), text)
    }

    func testWhatAListenerThrowsIsLogged() async throws {
        final class Failing: ChangeListener {
            func changed(change: Change) throws { throw Problem("broken by \(change.path)") }
        }
        let memory = try Memory(store: "memory:")
        let subscription = memory.observe(listener: Failing())
        let text = try await logged { _ = try await memory.create(path: "/memories/a", fileText: "one") }
        XCTAssertTrue(text.contains("memdir: `changed` failed: broken by /memories/a"), text)
        subscription.cancel()
        let nothing = try await logged { _ = try await memory.create(path: "/memories/b", fileText: "one") }
        XCTAssertFalse(nothing.contains("memdir:"), nothing)
    }

    /// The output on standard error while the work runs.
    private func logged(_ work: () async throws -> Void) async throws -> String {
        let place = try temporaryDirectory()
        defer { try? FileManager.default.removeItem(at: place) }
        let file = place.appendingPathComponent("log")
        FileManager.default.createFile(atPath: file.path, contents: nil)
        let handle = try FileHandle(forWritingTo: file)
        let before = dup(2)
        dup2(handle.fileDescriptor, 2)
        do {
            try await work()
        } catch {
            dup2(before, 2)
            throw error
        }
        dup2(before, 2)
        close(before)
        return try String(contentsOf: file, encoding: .utf8)
    }
}

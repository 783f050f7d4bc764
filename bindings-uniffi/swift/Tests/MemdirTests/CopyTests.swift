import Foundation
import Memdir
import XCTest

/// Copies from store to store, and verifies a store.
final class CopyTests: XCTestCase {
    private func filled() throws -> any Store {
        let store = try openStore(address: "memory:")
        try store.write(path: "/memories/a.md", content: Data("tea".utf8), overwrite: false)
        try store.write(path: "/memories/b/c.md", content: Data("milk".utf8), overwrite: false)
        return store
    }

    func testEverythingIsCopiedOnce() throws {
        for destination in [try openStore(address: "memory:"), MapStore()] {
            let phases = Phases()
            let copied = try copy(source: filled(), destination: destination) { phases.add($0.phase) }
            XCTAssertEqual([copied.files, copied.bytes, copied.equal], [2, 7, 0])
            XCTAssertEqual(try destination.read(path: "/memories/b/c.md"), Data("milk".utf8))
            XCTAssertEqual(phases.all, [.comparing, .copying])
            XCTAssertEqual(try copy(source: filled(), destination: destination).equal, 2)
        }
    }

    func testTheHistoryIsCopied() throws {
        let (source, destination) = (try openStore(address: "memory:"), try openStore(address: "memory:"))
        let options = MemoryOptions(history: true)
        let memory = try Memory(store: source, options: options)
        let copied = try Memory(store: destination, options: options)
        _ = try memory.create(path: "/memories/a.md", fileText: "one")
        XCTAssertEqual(try copy(source: source, destination: destination).changes, 1)
        XCTAssertEqual(try copied.history(), try memory.history())
        _ = try copied.create(path: "/memories/b.md", fileText: "two")
        _ = try memory.create(path: "/memories/c.md", fileText: "three")
        XCTAssertThrowsError(try copy(source: source, destination: destination))
        let alone = try copy(source: source, destination: destination, withoutHistory: true) { _ in true }
        XCTAssertNil(alone.changes)
    }

    func testAnotherContentIsReplacedOnlyWhereThatIsSaid() throws {
        let destination = try openStore(address: "memory:")
        try destination.write(path: "/memories/a.md", content: Data("coffee".utf8), overwrite: false)
        XCTAssertThrowsError(try copy(source: filled(), destination: destination)) { error in
            guard case MemdirError.copy(_, let paths) = error else { return XCTFail("\(error)") }
            XCTAssertEqual(paths, ["/memories/a.md"])
        }
        _ = try copy(source: filled(), destination: destination, overwrite: true)
        XCTAssertEqual(try destination.read(path: "/memories/a.md"), Data("tea".utf8))
    }

    func testACopyCanBeStopped() throws {
        XCTAssertThrowsError(try copy(source: filled(), destination: MapStore()) { _ in false }) { error in
            guard case MemdirError.copy(_, let paths) = error else { return XCTFail("\(error)") }
            XCTAssertEqual(paths, [])
        }
    }

    func testACheckReadsEveryFile() throws {
        let checked = try check(store: filled())
        XCTAssertEqual([checked.directories, checked.files, checked.bytes], [2, 2, 7])
        XCTAssertTrue(checked.problems.isEmpty)
    }
}

/// The phases of a copy.
private final class Phases: @unchecked Sendable {
    private let lock = NSLock()
    private(set) var all: Set<CopyPhase> = []

    func add(_ phase: CopyPhase) -> Bool {
        lock.lock()
        defer { lock.unlock() }
        all.insert(phase)
        return true
    }
}

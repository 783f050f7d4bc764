import Foundation
import Memdir
import XCTest

/// Several stores mounted into one tree, and stores that are read-only.
final class MountsTests: XCTestCase {
    private func docs() throws -> URL {
        let place = try temporaryDirectory()
        addTeardownBlock { try? FileManager.default.removeItem(at: place) }
        try Data("Be brief.\n".utf8).write(to: place.appendingPathComponent("style.md"))
        return place
    }

    func testStoresOfEveryKindMakeOneTree() throws {
        let shared = try openStore(address: "memory:")
        let own = MapStore()
        let stores = try openMounts(mounts: [
            Mount(path: "/memories", store: "memory:"),
            Mount(path: "/memories/handbook", store: try docs().path, readOnly: true),
            Mount(path: "/memories/own", store: own),
            Mount(path: "/memories/shared", store: shared),
        ])
        let memory = try Memory(store: stores)
        _ = try memory.create(path: "/memories/a.md", fileText: "a")
        _ = try memory.create(path: "/memories/shared/b.md", fileText: "b")
        _ = try memory.rename(oldPath: "/memories/shared/b.md", newPath: "/memories/own/b.md")
        XCTAssertEqual(try own.read(path: "/memories/b.md"), Data("b".utf8))
        let view = try memory.view(path: "/memories")
        XCTAssertTrue(
            view.hasSuffix(
                "\n4.0K\t/memories\n1B\t/memories/a.md\n4.0K\t/memories/handbook\n10B\t/memories/handbook/style.md"
                    + "\n4.0K\t/memories/own\n1B\t/memories/own/b.md\n4.0K\t/memories/shared"), view)
        XCTAssertThrowsError(try memory.insert(path: "/memories/handbook/style.md", insertLine: 0, insertText: "x")) { error in
            XCTAssertEqual(
                "\(error.localizedDescription)",
                "Error: /memories/handbook/style.md is read-only: it can be viewed but not changed")
        }
        XCTAssertThrowsError(try stores.delete(path: "/memories/own")) { error in
            XCTAssertEqual(error as? StoreError, .mountPoint)
        }
        XCTAssertThrowsError(try stores.delete(path: "/memories/handbook/style.md")) { error in
            XCTAssertEqual(error as? StoreError, .readOnly)
        }
    }

    func testWhatCannotBeMountedIsTheDevelopersMistake() throws {
        for mounts in [[], [Mount(path: "/memories/a", store: "memory:")], [Mount(path: "/tmp", store: "memory:")]] {
            XCTAssertThrowsError(try openMounts(mounts: mounts)) { error in
                guard case MemdirError.config = error else { return XCTFail("\(error)") }
            }
        }
    }

    func testReadOnlyMakesNothingAndChangesNothing() throws {
        let docs = try docs()
        let missing = docs.appendingPathComponent("none").path
        XCTAssertThrowsError(try Memory(store: missing, options: MemoryOptions(readOnly: true)))
        let memory = try Memory(store: "dir:\(docs.path)", options: MemoryOptions(readOnly: true))
        XCTAssertThrowsError(try memory.create(path: "/memories/a.md", fileText: "a"))
        XCTAssertTrue(try memory.view(path: "/memories/style.md").hasSuffix("Be brief."))
        XCTAssertEqual(try FileManager.default.contentsOfDirectory(atPath: docs.path), ["style.md"])
    }
}

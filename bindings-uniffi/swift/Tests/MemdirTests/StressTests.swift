import Foundation
import Memdir
import XCTest

/// Many memories, many threads: nothing leaks, and all calls succeed.
final class StressTests: XCTestCase {
    func testMemoriesThatComeAndGoLeaveNothing() throws {
        try assertNothingIsLeft { text in
            _ = try Memory(store: "memory:").create(path: "/memories/a.md", fileText: text)
        }
    }

    func testMemoriesOnStoresInSwiftThatComeAndGoLeaveNothing() throws {
        try assertNothingIsLeft { text in
            let memory = try Memory(store: MapStore())
            _ = try memory.create(path: "/memories/a.md", fileText: text)
            _ = try memory.view(path: "/memories")
        }
    }

    func testAStoreThatItsMemoryHasLetGoOfIsLetGoOf() throws {
        weak var store: MapStore?
        try autoreleasing {
            let own = MapStore()
            store = own
            _ = try Memory(store: own).view(path: "/memories")
        }
        XCTAssertNil(store)
    }

    func testOfTheCallsOfEightThreadsNoneIsLost() throws {
        let count = times(130)
        let whole = MemoryOptions(maxViewChars: nil)
        for memory in [try Memory(store: "memory:", options: whole), try Memory(store: MapStore(), options: whole)] {
            _ = try memory.create(path: "/memories/all.md", fileText: "first\n")
            let failures = Failures()
            DispatchQueue.concurrentPerform(iterations: 8) { thread in
                for number in 0..<count {
                    do {
                        // A tenth of them write to one file, and no line may be lost.
                        if number % 10 == 0 {
                            _ = try memory.insert(path: "/memories/all.md", insertLine: 0, insertText: "line \(thread).\(number)\n")
                        } else {
                            _ = try memory.view(path: "/memories/all.md", viewRange: [1, 1])
                        }
                    } catch {
                        failures.add(error)
                    }
                }
            }
            XCTAssertEqual(failures.all, [])
            let lines = try memory.view(path: "/memories/all.md").split(separator: "\n").dropFirst()
            XCTAssertEqual(lines.count, 8 * count / 10 + 1)
            XCTAssertEqual(Set(lines.map { $0.split(separator: "\t")[1] }).count, 8 * count / 10 + 1)
        }
    }

    private func assertNothingIsLeft(_ cycle: (String) throws -> Void) throws {
        let text = String(repeating: "x", count: 1 << 18)
        for _ in 0..<20 { try autoreleasing { try cycle(text) } }
        guard let before = resident() else { throw XCTSkip("only Linux tells what a process holds") }
        let cycles = times(100)
        for _ in 0..<cycles { try autoreleasing { try cycle(text) } }
        // If each cycle leaked one text, it would be three times as much.
        XCTAssertLessThan((resident() ?? 0) - before, cycles * text.utf8.count / 3)
    }

    /// The resident memory of this process, in bytes.
    private func resident() -> Int? {
        let fields = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8).split(separator: " ")
        return fields.flatMap { Int($0[1]) }.map { $0 * 4096 }
    }

    private func autoreleasing(_ work: () throws -> Void) rethrows {
        #if canImport(ObjectiveC)
            try autoreleasepool(invoking: work)
        #else
            try work()
        #endif
    }
}

/// The number of repetitions in a test: `count` times `MEMDIR_EFFORT`, which is 1 unless a long run sets
/// it.
func times(_ count: Int) -> Int {
    count * (ProcessInfo.processInfo.environment["MEMDIR_EFFORT"].flatMap { Int($0) } ?? 1)
}

/// Failures from all threads.
private final class Failures: @unchecked Sendable {
    private let lock = NSLock()
    private var texts: [String] = []

    func add(_ error: any Error) { lock.withLock { texts.append("\(error)") } }

    var all: [String] { lock.withLock { texts } }
}

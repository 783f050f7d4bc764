import Foundation
import Memdir
import XCTest

/// The methods with plain arguments, their failures, and the variants for asynchronous code.
final class MemoryTests: XCTestCase {
    private let shown = "Here's the content of /memories/a.md with line numbers:\n"

    func testEveryCommandHasAMethod() throws {
        let memory = try Memory(store: "memory:")
        XCTAssertEqual(try memory.create(path: "/memories/a.md", fileText: "one\nthree\n"), "File created successfully at: /memories/a.md")
        XCTAssertEqual(try memory.insert(path: "/memories/a.md", insertLine: 1, insertText: "two\n"), "The file /memories/a.md has been edited.")
        XCTAssertTrue(try memory.strReplace(path: "/memories/a.md", oldStr: "three", newStr: "3").hasSuffix("     3\t3"))
        XCTAssertEqual(try memory.view(path: "/memories/a.md", viewRange: [2, -1]), shown + "     2\ttwo\n     3\t3")
        _ = try memory.strReplace(path: "/memories/a.md", oldStr: "two\n")
        XCTAssertEqual(try memory.view(path: "/memories/a.md"), shown + "     1\tone\n     2\t3")
        XCTAssertEqual(try memory.rename(oldPath: "/memories/a.md", newPath: "/memories/b.md"), "Successfully renamed /memories/a.md to /memories/b.md")
        XCTAssertEqual(try memory.delete(path: "/memories/b.md"), "Successfully deleted /memories/b.md")
        _ = try memory.create(path: "/memories/c.md", fileText: "")
        try memory.clear()
        XCTAssertTrue(try memory.view(path: "/memories").hasSuffix("4.0K\t/memories"))
    }

    func testWhatTheModelDidWrongIsThrownWithTheExactText() throws {
        let memory = try Memory(store: "memory:")
        let text = "The path /memories/a.md does not exist. Please provide a valid path."
        XCTAssertThrowsError(try memory.view(path: "/memories/a.md")) { error in
            XCTAssertEqual(error as? MemdirError, .refused(reason: text, kind: .notFound))
            XCTAssertEqual(error.localizedDescription, text)
            XCTAssertEqual("\(error)", text)
            XCTAssertEqual((error as? MemdirError)?.reply(), Reply(content: text, isError: true, kind: .notFound))
        }
        XCTAssertEqual(
            memory.execute(json: #"{"command":"view","path":"/memories/a.md"}"#),
            Reply(content: text, isError: true, kind: .notFound)
        )
    }

    func testWhatTheDeveloperDidWrongIsAnotherError() throws {
        for address in ["nosuch://x", ""] {
            XCTAssertThrowsError(try Memory(store: address)) { error in
                guard case MemdirError.config = error else { return XCTFail("\(error)") }
            }
        }
        XCTAssertThrowsError(try Memory(store: "memory:", options: MemoryOptions(maxViewChars: -1)))
        XCTAssertThrowsError(try Memory(store: "/dev/null/memory")) { error in
            guard case MemdirError.store = error else { return XCTFail("\(error)") }
        }
    }

    func testInputOfAnyKindIsAnswered() throws {
        let memory = try Memory(store: "memory:")
        for input in ["", "null", "[]", "{", #"{"command":1}"#, "\0", String(repeating: "[", count: 100_000)] {
            let reply = memory.execute(json: input)
            XCTAssertTrue(reply.isError && !reply.content.isEmpty, input)
            XCTAssertNil(reply.cause)
        }
    }

    func testEveryMethodHasAnAsynchronousVariant() async throws {
        let memory = try Memory(store: "memory:")
        _ = try await memory.create(path: "/memories/a.md", fileText: "one\nthree\n")
        _ = try await memory.insert(path: "/memories/a.md", insertLine: 1, insertText: "two\n")
        _ = try await memory.strReplace(path: "/memories/a.md", oldStr: "three", newStr: "3")
        let view = try await memory.view(path: "/memories/a.md", viewRange: [2, -1])
        XCTAssertEqual(view, shown + "     2\ttwo\n     3\t3")
        let reply = await memory.execute(json: #"{"command":"view","path":"/memories/a.md","view_range":[2,3]}"#)
        XCTAssertEqual(reply.content, view)
        // For code that may block: outside of asynchronous code it needs no `await`.
        let blocking = { memory.execute(json: #"{"command":"view","path":"/memories/a.md","view_range":[2,3]}"#) }
        XCTAssertEqual(blocking(), reply)
        _ = try await memory.rename(oldPath: "/memories/a.md", newPath: "/memories/b.md")
        do {
            _ = try await memory.delete(path: "/memories/a.md")
            XCTFail("it was not there")
        } catch {
            XCTAssertEqual(error as? MemdirError, .refused(reason: "Error: The path /memories/a.md does not exist", kind: .notFound))
        }
        _ = try await memory.delete(path: "/memories/b.md")
        try await memory.clear()
    }

    /// A memory can be passed between actors.
    func testManyTasksShareOneMemory() async throws {
        let memory = try Memory(store: "memory:", options: MemoryOptions(maxViewChars: nil))
        _ = try await memory.create(path: "/memories/all.md", fileText: "")
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<200 {
                group.addTask {
                    _ = try await memory.insert(path: "/memories/all.md", insertLine: 0, insertText: "line \(number)\n")
                }
            }
            try await group.waitForAll()
        }
        let lines = try await memory.view(path: "/memories/all.md").split(separator: "\n").dropFirst()
        XCTAssertEqual(Set(lines.map { $0.split(separator: "\t")[1] }).count, 200)
    }
}

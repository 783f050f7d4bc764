import Memdir
import XCTest

/// Tests of an agent, as `docs/guides/testing.md` explains them. The page quotes this file.
final class AgentTests: XCTestCase {
    private let tea = "/memories/tea.md"

    // Blocks of a real conversation, as the API sent them.
    private let look =
        #"{"type": "tool_use", "id": "toolu_1", "name": "memory", "input": {"command": "view", "path": "/memories/tea.md"}}"#
    private let edit = #"""
        {"type": "tool_use", "id": "toolu_2", "name": "memory",
         "input": {"command": "str_replace", "path": "/memories/tea.md", "old_str": "green", "new_str": "black"}}
        """#

    /// A new memory with one file.
    private func filled() async throws -> Memory {
        let memory = try await Memory.open(store: "memory:", options: MemoryOptions(history: true))
        try await memory.write(path: tea, text: "- green\n")
        return memory
    }

    func testAPreferenceIsCorrected() async throws {
        let memory = try await filled()
        for block in [look, edit] {
            let reply = await memory.execute(json: block)
            XCTAssertFalse(reply.isError, reply.content)
        }

        let text = try await memory.read(path: tea)
        XCTAssertEqual(text, "- black\n")
        let operations = try await memory.history(path: tea).map { $0.operation }
        XCTAssertEqual(operations, [.modified, .created])
    }

    func testAnExistingFileIsNotReplaced() async throws {
        let memory = try await filled()
        let reply = await memory.execute(json: #"{"command": "create", "path": "/memories/tea.md", "file_text": "- none\n"}"#)
        XCTAssertEqual(reply.kind, .exists)
        let text = try await memory.read(path: tea)
        XCTAssertEqual(text, "- green\n")
    }

    func testNothingIsSavedWhileTheReviewerIsAway() async throws {
        struct Away: Error {}
        final class Reviewer: MemoryHooks {
            func before(command: Command, call: HookCall) throws -> HookDecision { throw Away() }
        }
        let memory = try await Memory.open(store: "memory:", hooks: Reviewer())
        let reply = await memory.execute(json: #"{"command": "create", "path": "/memories/tea.md", "file_text": "- green\n"}"#)
        XCTAssertEqual(reply.kind, .hookFailed)
        let exists = try await memory.exists(path: tea)
        XCTAssertFalse(exists)
    }
}

import Foundation
import Memdir
import XCTest

/// Tests the examples of the pages about limits, stale views and write patterns.
final class LimitsTests: XCTestCase {
    func testAMemoryThatIsNotFullSaysNothingOfIt() async throws {
        // limits
        let memory = try Memory(store: "memory:", options: MemoryOptions(maxTotalBytes: 64 * 1024, maxFiles: 100))
        let reply = try await memory.view(path: "/memories")
        // end
        XCTAssertTrue(reply.hasSuffix("\n4.0K\t/memories"), reply)
        try isOnThePage("limits", "limits.md")
    }

    func testAnInsertByAnOlderViewIsRefused() async throws {
        let store = try openStore(address: "memory:")
        try store.write(path: "/memories/list.md", content: Data("milk\n".utf8), overwrite: false)
        // stale views
        let memory = try Memory(store: store, options: MemoryOptions(staleGuard: .strict))
        let reply = await memory.execute(
            json: #"{"command": "insert", "path": "/memories/list.md", "insert_line": 1, "insert_text": "bread"}"#
        )
        // end
        XCTAssertTrue(reply.isError)
        XCTAssertTrue(reply.content.hasPrefix("Error: You have not viewed the file /memories/list.md yet."), reply.content)
        try isOnThePage("stale views", "stale-guard.md")
    }

    func testSomePathsCannotBeWritten() async throws {
        // write patterns
        let memory = try Memory(store: "memory:", options: MemoryOptions(readOnlyPaths: ["/memories/handbook"]))
        let reply = await memory.execute(json: #"{"command": "delete", "path": "/memories/handbook"}"#)
        // end
        XCTAssertEqual(reply.content, "Error: /memories/handbook is read-only: it can be viewed but not changed")
        try isOnThePage("write patterns", "write-patterns.md")
    }

    func testWrongOptionsAreToldAtOnce() {
        let wrong = [MemoryOptions(maxFiles: -1), MemoryOptions(writablePaths: ["notes"])]
        for options in wrong {
            XCTAssertThrowsError(try Memory(store: "memory:", options: options))
        }
    }

    /// Checks that a page about a policy has, after `<!-- swift: name -->`, the code here after `// name`.
    private func isOnThePage(_ name: String, _ file: String) throws {
        let page = try String(contentsOf: root.appendingPathComponent("docs/reference/policies/\(file)"), encoding: .utf8)
        let source = try String(contentsOfFile: #filePath, encoding: .utf8)
        let code = try between("        // \(name)\n", "\n        // end", in: source)
            .components(separatedBy: "\n")
            .map { $0.hasPrefix("        ") ? String($0.dropFirst(8)) : $0 }
        XCTAssertEqual(try between("<!-- swift: \(name) -->\n```swift\n", "\n```", in: page), code.joined(separator: "\n"))
    }

    private func between(_ start: String, _ end: String, in text: String) throws -> String {
        guard let from = text.range(of: start),
              let to = text.range(of: end, range: from.upperBound..<text.endIndex)
        else { throw Problem("\(start) is not there") }
        return String(text[from.upperBound..<to.lowerBound])
    }
}

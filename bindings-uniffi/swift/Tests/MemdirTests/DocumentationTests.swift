import Foundation
import Memdir
import XCTest

/// The code of `docs/languages/swift.md` is also here, and its results are as the page says.
final class DocumentationTests: XCTestCase {
    private var printed = ""

    /// Replaces Swift's own function, to record the output.
    private func print(_ items: Any..., terminator: String = "\n") {
        printed += items.map { "\($0)" }.joined(separator: " ") + terminator
    }

    func testTheQuickstartPrintsWhatThePageSays() async throws {
        try await inADirectory { place in
            try await quickstart()
            XCTAssertEqual(printed, try block("printed") + "\n")
            XCTAssertTrue(FileManager.default.fileExists(atPath: place.appendingPathComponent("memory/memories/notes.md").path))
        }
    }

    func testTheExampleOfYourOwnCodePrintsWhatThePageSays() async throws {
        try await inADirectory { _ in
            try await ownCode()
            XCTAssertEqual(printed, try block("printed", of: "docs/guides/your-own-code.md") + "\n")
        }
    }

    func testTheExampleOfAWatchPrintsWhatThePageSays() async throws {
        try await watch()
        XCTAssertEqual(printed, try block("watch-printed", of: "docs/guides/your-own-code.md") + "\n")
    }

    func testTheExampleOfTheHistoryPrintsWhatThePageSays() async throws {
        try await history()
        XCTAssertEqual(printed, try block("history-printed") + "\n")
    }

    private func inADirectory(_ work: (URL) async throws -> Void) async throws {
        let before = FileManager.default.currentDirectoryPath
        let place = try temporaryDirectory()
        XCTAssertTrue(FileManager.default.changeCurrentDirectoryPath(place.path))
        defer {
            _ = FileManager.default.changeCurrentDirectoryPath(before)
            try? FileManager.default.removeItem(at: place)
        }
        try await work(place)
    }

    func testThePageHasTheCodeThatRunsHere() throws {
        let source = try String(contentsOfFile: #filePath, encoding: .utf8)
        for (name, page) in [
            ("quickstart", "docs/languages/swift.md"), ("swift", "docs/reference/policies/sensitive-text.md"), ("swift-expiry", "docs/reference/policies/expiry.md"),
            ("swift-own-code", "docs/guides/your-own-code.md"), ("swift-watch", "docs/guides/your-own-code.md"), ("history", "docs/languages/swift.md"),
        ] {
            let code = try between("        // \(name)\n", "\n        // end", in: source)
                .components(separatedBy: "\n").map { $0.replacingOccurrences(of: "        ", with: "") }
            XCTAssertEqual(code.joined(separator: "\n"), try block(name, of: page))
        }
    }

    func testSensitiveTextIsRedacted() async throws {
        // swift
        let memory = try Memory(store: "memory:", options: MemoryOptions(sensitiveText: .redact, sensitiveOnView: true))
        let reply = try await memory.create(path: "/memories/notes.md", fileText: "Router password: sun7-Flower!\n")
        // end
        XCTAssertTrue(reply.contains("line 1 (password-assignment)"), reply)
    }

    func testUnusedFilesExpire() async throws {
        // swift-expiry
        let memory = try Memory(store: "memory:", options: MemoryOptions(recordAccess: true, neverExpire: ["/memories/handbook"]))
        let unused = try await memory.expire(olderThan: 90 * 24 * 60 * 60, dryRun: true)
        // end
        XCTAssertEqual(unused, [])
        _ = try await memory.create(path: "/memories/notes.md", fileText: "Milk is out.\n")
        _ = try await memory.create(path: "/memories/handbook/a.md", fileText: "Be brief.\n")
        let expired = try expireNow(memory)
        XCTAssertEqual(expired.map(\.path), ["/memories/notes.md"])
        XCTAssertEqual(expired.map(\.bytes), [13])
    }

    private func expireNow(_ memory: Memory) throws -> [Expired] {
        try memory.expire(olderThan: 0) { progress in progress.files == 2 }
    }

    private func ownCode() async throws {
        // swift-own-code
        let memory = try await Memory.open(store: "./memory")
        try await memory.write(path: "/memories/tea.md", text: "# Tea\n- green\n")

        // Adds a line, unless the file has changed since it was read.
        let text = try await memory.read(path: "/memories/tea.md")
        try await memory.write(path: "/memories/tea.md", text: text + "- black\n", ifUnchanged: text)

        for entry in try await memory.list(depth: nil) {
            print(entry.path, entry.size ?? 0)
        }
        for match in try await memory.grep(query: "black") {
            print("\(match.path):\(match.line ?? 0) \(match.text)")
        }
        print(try await memory.index(maxChars: 1000), terminator: "")
        // end
    }

    private func watch() async throws {
        // swift-watch
        let memory = try await Memory.open(store: "memory:", options: MemoryOptions(history: true))
        try await memory.write(path: "/memories/plan.md", text: "- water\n- tea\n")

        let watch = try await memory.watch()
        // Also reports changes by other processes, such as an editor.
        try await memory.write(path: "/memories/plan.md", text: "- water\n")
        for try await change in watch {
            print(change.path, "is", change.kind)
            break
        }

        for match in try await memory.grepHistory(query: "tea") {
            print("\(match.version.path):\(match.line ?? 0) was: \(match.text)")
        }
        let stats = try await memory.stats()
        print("\(stats.files) file, \(stats.bytes) bytes")
        // end
    }

    private func history() async throws {
        // history
        let memory = try await Memory.open(store: "memory:", options: MemoryOptions(history: true))
        let session = try memory.actingAs(actor: "session 1")
        try await session.write(path: "/memories/tea.md", text: "- green\n")
        _ = try await session.insert(path: "/memories/tea.md", insertLine: 1, insertText: "- none")
        for version in try await memory.history() {
            print(version.operation, version.path, version.size ?? 0, version.actor ?? "")
        }

        let versions = try await memory.history(path: "/memories/tea.md")
        let (newest, oldest) = (versions[0], versions[1])
        print(String(decoding: try await memory.readVersion(id: oldest.id), as: UTF8.self), terminator: "")
        print(try await memory.diff(id: newest.id), terminator: "")

        let undone = try await memory.undo(change: newest.change)
        print(undone.files.map { "\($0.operation) \($0.path)" })
        // end
    }

    private func quickstart() async throws {
        // quickstart
        let memory = try await Memory.open(store: "./memory")
        _ = try await memory.create(path: "/memories/notes.md", fileText: "- likes tea\n")
        _ = try await memory.insert(path: "/memories/notes.md", insertLine: 1, insertText: "- lives in Lisbon\n")
        print(try await memory.view(path: "/memories/notes.md"))

        // The input of a tool use, as Claude sent it; what comes back goes into the tool_result.
        let reply = await memory.execute(json: #"{"command": "delete", "path": "/memories/old.md"}"#)
        print("is_error: \(reply.isError), content: \(reply.content)")
        // end
    }

    func testThePrivacyManifestIsAPropertyListThatNamesTheTimesOfFiles() throws {
        let file = root.appendingPathComponent("bindings-uniffi/swift/Sources/Memdir/PrivacyInfo.xcprivacy")
        let all = try PropertyListSerialization.propertyList(from: Data(contentsOf: file), format: nil)
        let fields = try XCTUnwrap(all as? [String: Any])
        XCTAssertEqual(fields["NSPrivacyTracking"] as? Bool, false)
        let accessed = try XCTUnwrap(fields["NSPrivacyAccessedAPITypes"] as? [[String: Any]])
        XCTAssertEqual(
            accessed.map { $0["NSPrivacyAccessedAPIType"] as? String }, ["NSPrivacyAccessedAPICategoryFileTimestamp"])
        XCTAssertEqual(accessed[0]["NSPrivacyAccessedAPITypeReasons"] as? [String], ["C617.1", "3B52.1"])
    }

    /// The block of code after `<!-- name -->` in the page, without its imports.
    private func block(_ name: String, of page: String = "docs/languages/swift.md") throws -> String {
        let page = try String(contentsOf: root.appendingPathComponent(page), encoding: .utf8)
        let block = try between("<!-- \(name) -->\n```", "\n```", in: page)
        let code = String(block[block.index(after: block.firstIndex(of: "\n")!)...])
        return code.replacingOccurrences(of: "^(import .*\n+)+", with: "", options: .regularExpression)
    }

    private func between(_ start: String, _ end: String, in text: String) throws -> String {
        guard let from = text.range(of: start),
              let to = text.range(of: end, range: from.upperBound..<text.endIndex)
        else { throw Problem("\(start) is not there") }
        return String(text[from.upperBound..<to.lowerBound])
    }
}

import Foundation
import Memdir
import XCTest

/// Your own code's access to the files of a memory, and the definitions of the tool for other model hosts.
final class FilesTests: XCTestCase {
    private let path = "/memories/tea.md"

    private func refusal<T>(_ call: @autoclosure () throws -> T, _ line: UInt = #line) -> String {
        do {
            _ = try call()
        } catch MemdirError.refused(let reason, _) {
            return reason
        } catch {
            XCTFail("\(error)", line: line)
        }
        XCTFail("it was not refused", line: line)
        return ""
    }

    func testAFileIsWrittenAndReadAsItIs() throws {
        for store in [try openStore(address: "memory:"), MapStore()] as [any Store] {
            let memory = try Memory(store: store)
            for text in ["", "one\r\ntwo", "# Ä 🦀\n\n", "x\0y"] {
                try memory.write(path: "/memories/dir/a.md", text: text)
                XCTAssertEqual(try memory.read(path: "/memories/dir/a.md"), text)
            }
            XCTAssertTrue(try memory.exists(path: "/memories/dir"))
            XCTAssertFalse(try memory.exists(path: "/memories/none"))
        }
    }

    func testWhatIsRefusedIsThrownAndNothingIsChanged() throws {
        let options = MemoryOptions(maxFileBytes: 5, readOnlyPaths: ["/memories/rules"])
        let memory = try Memory(store: "memory:", options: options)
        let none = "/memories/none"
        let missing = "The path /memories/none does not exist. Please provide a valid path."
        XCTAssertEqual(refusal(try memory.read(path: none)), missing)
        XCTAssertEqual(refusal(try memory.list(path: none)), missing)
        XCTAssertEqual(refusal(try memory.grep(query: "x", path: none)), missing)
        XCTAssertTrue(refusal(try memory.exists(path: "/memories/../etc")).contains("would escape"))
        XCTAssertTrue(refusal(try memory.write(path: path, text: "123456")).contains("a file may hold"))
        XCTAssertTrue(refusal(try memory.write(path: "/memories/rules/a", text: "")).contains("is read-only"))
        XCTAssertEqual(try memory.list(depth: nil), [])
    }

    func testAFileThatWasChangedMeanwhileStays() throws {
        let memory = try Memory(store: "memory:")
        try memory.write(path: path, text: "green\n")
        let text = try memory.read(path: path)
        try memory.write(path: path, text: text + "black\n", ifUnchanged: text)
        let late = refusal(try memory.write(path: path, text: "", ifUnchanged: text))
        XCTAssertTrue(late.contains("does not hold what it was expected to hold"), late)
        XCTAssertEqual(try memory.read(path: path), "green\nblack\n")
    }

    func testAListingHasTheDepthThatIsAskedFor() throws {
        let memory = try Memory(store: "memory:")
        for file in ["/memories/b", "/memories/a/b/c", "/memories/.hidden"] {
            try memory.write(path: file, text: "12345")
        }
        let entries = try memory.list()
        XCTAssertEqual(entries.map(\.path), ["/memories/a", "/memories/b"])
        XCTAssertNil(entries[0].size)
        XCTAssertEqual(entries[1].size, 5)
        XCTAssertNotNil(entries[1].modified)
        XCTAssertEqual(try memory.list(path: "/memories/a").map(\.path), ["/memories/a/b"])
        XCTAssertEqual(
            try memory.list(depth: nil).map(\.path), ["/memories/a", "/memories/a/b", "/memories/a/b/c", "/memories/b"])
    }

    func testAQuestionIsAnsweredWithPassages() throws {
        let memory = try Memory(store: "memory:")
        try memory.write(path: path, text: "# 𝕏\n\n- 𝕏 trinkt grünen Tee\n")
        try memory.write(path: "/memories/b/x.md", text: "Milch")
        let results = try memory.search(query: "wer trinkt Tee?")
        XCTAssertEqual(results.filesLeftOut, 0)
        XCTAssertEqual(results.hits.map(\.path), [path])
        let passage = results.hits[0].passages[0]
        XCTAssertEqual([passage.firstLine, passage.lastLine], [1, 3])
        let text = passage.text.utf16
        let words = passage.matches.map { match in
            let start = text.index(text.startIndex, offsetBy: Int(match.start))
            return String(passage.text[start..<text.index(text.startIndex, offsetBy: Int(match.end))])
        }
        XCTAssertEqual(words, ["trinkt", "Tee"])
        XCTAssertEqual(try memory.search(query: "Tee", path: "/memories/b").hits, [])
        XCTAssertEqual(try memory.search(query: "Tee", limit: 0).hits, [])
    }

    func testNamesAndLinesAreFound() throws {
        let memory = try Memory(store: "memory:")
        try memory.write(path: path, text: "# Tea\ngreen tea\n")
        try memory.write(path: "/memories/teas/x", text: "")
        let all = [
            GrepMatch(path: path, line: nil, text: "tea.md"), GrepMatch(path: path, line: 2, text: "green tea"),
            GrepMatch(path: "/memories/teas", line: nil, text: "teas"),
        ]
        XCTAssertEqual(try memory.grep(query: "tea"), all)
        XCTAssertEqual(try memory.grep(query: "tea", limit: 2), Array(all[..<2]))
        XCTAssertEqual(try memory.grep(query: "tea", path: "/memories/teas"), [])
        XCTAssertEqual(try memory.grep(query: "TEA", ignoreCase: true).count, 4)
        XCTAssertEqual(try memory.grep(query: #"^\w+ tea$"#, regex: true), [all[1]])
    }

    func testAnIndexNamesTheFilesAndTheirFirstLines() throws {
        let memory = try Memory(store: "memory:")
        try memory.write(path: path, text: "\n# Tea\nmore")
        XCTAssertEqual(try memory.index(), "/memories/tea.md\t11B\t# Tea\n")
        XCTAssertEqual(try memory.index(maxChars: 10), "")
    }

    func testAProjectIsLaidOutOnceAndViewsAreForgotten() throws {
        let memory = try Memory(store: "memory:", options: MemoryOptions(staleGuard: .strict))
        let made = ["/memories/progress.md", "/memories/features.md", "/memories/init.md"]
        XCTAssertEqual(try memory.bootstrap(about: "Tea.", features: ["a list", "a basket"], init: "make"), made)
        XCTAssertTrue(try memory.read(path: made[1]).hasSuffix("- [ ] a list\n- [ ] a basket\n"))
        XCTAssertEqual(try memory.bootstrap(about: "", features: []), [])
        _ = try memory.view(path: made[2])
        _ = try memory.insert(path: made[2], insertLine: 0, insertText: "x")
        memory.forgetViews()
        XCTAssertThrowsError(try memory.insert(path: made[2], insertLine: 0, insertText: "x"))
    }

    func testAWrongArgumentIsNamed() throws {
        let memory = try Memory(store: "memory:")
        let wrong: [(String, () throws -> Any)] = [
            ("depth", { try memory.list(depth: -1) }),
            ("limit", { try memory.grep(query: "", limit: -1) }),
            ("regex", { try memory.grep(query: "(", regex: true) }),
            ("maxChars", { try memory.index(maxChars: -1) }),
            ("prefix", { try memory.toolDefinitions(prefix: "no spaces") }),
        ]
        for (option, call) in wrong {
            XCTAssertThrowsError(try call()) { error in
                guard case MemdirError.config(_, let named) = error else { return XCTFail("\(error)") }
                XCTAssertEqual(named, option)
            }
        }
    }

    func testTheToolIsDefinedForOtherModelHosts() throws {
        let memory = try Memory(store: "memory:")
        XCTAssertTrue(memory.toolDefinition().contains(#""command""#))
        XCTAssertTrue(memory.toolDefinition(dialect: .openAi).contains(#""strict":true"#))
        XCTAssertTrue(memory.toolDefinition(dialect: .anthropicCustom).contains(#""input_schema""#))
        XCTAssertEqual(try memory.toolDefinitions().count, 6)
        let tools = try memory.toolDefinitions(dialect: .gemini, prefix: "memory_")
        XCTAssertTrue(tools.allSatisfy { $0.contains(#""name":"memory_"#) })
        let readOnly = try Memory(store: "memory:", options: MemoryOptions(readOnly: true))
        XCTAssertEqual(try readOnly.toolDefinitions().count, 1)
    }

    func testAnEmbedderFindsWhatIsMeant() async throws {
        let words = try Memory(store: "memory:", options: MemoryOptions(embedderName: "meanings-1"))
        try await words.write(path: "/memories/garage.md", text: "The car is red.")
        try await words.write(path: path, text: "Anna likes it.")
        let unmeant = try await words.search(query: "an automobile")
        XCTAssertEqual(unmeant.hits, [])
        let memory = try words.withEmbedder(embedder: Meanings())
        let found = try await memory.search(query: "an automobile")
        XCTAssertEqual(found.hits.map(\.path), ["/memories/garage.md"])
        XCTAssertNil(found.wordsOnly)
        let failing = try words.withEmbedder(embedder: FailingEmbedder())
        let left = try await failing.search(query: "red")
        XCTAssertEqual(left.hits.map(\.path), ["/memories/garage.md"])
        XCTAssertEqual(left.wordsOnly, "the embedder failed: the service is away")
        XCTAssertThrowsError(try Memory(store: "memory:").withEmbedder(embedder: Meanings())) { error in
            guard case MemdirError.config = error else { return XCTFail("\(error)") }
        }
    }

    func testAModelSearchesWithAToolOfItsOwn() async throws {
        let memory = try Memory(store: "memory:")
        try await memory.write(path: "/memories/a.md", text: "# Anna\n\n- likes green tea\n")
        let found = Reply(
            content: "/memories/a.md\n     1\t# Anna\n     2\t\n     3\t- likes green tea", isError: false)
        let input = #"{"query": "What does Anna like?", "limit": 3}"#
        let reply = await memory.executeSearch(json: input)
        XCTAssertEqual(reply, found)
        let refused = await memory.executeSearch(json: "{}")
        XCTAssertEqual(
            refused.content, "Error: Missing `query` parameter for the `search` command: expected a string")
        XCTAssertTrue(refused.isError)
        XCTAssertTrue(try memory.searchToolDefinition().contains(#""memory_search""#))
        XCTAssertTrue(try memory.searchToolDefinition(dialect: .openAi, prefix: "").contains(#""search""#))
    }

    func testAWholeToolUseBlockIsUnderstood() throws {
        let memory = try Memory(store: "memory:")
        let block =
            #"{"type":"tool_use","id":"toolu_1","name":"memory","input":{"command":"create","path":"/memories/a","file_text":""}}"#
        XCTAssertEqual(
            memory.execute(json: block),
            Reply(content: "File created successfully at: /memories/a", isError: false))
    }

    func testEveryMethodHasAnAsynchronousVariant() async throws {
        let memory = try Memory(store: "memory:")
        try await memory.write(path: path, text: "green tea\n")
        let text = try await memory.read(path: path)
        try await memory.write(path: path, text: "black tea\n", ifUnchanged: text)
        let exists = try await memory.exists(path: path)
        XCTAssertTrue(exists)
        let paths = try await memory.list().map(\.path)
        XCTAssertEqual(paths, [path])
        let found = try await memory.grep(query: "black")
        XCTAssertEqual(found, [GrepMatch(path: path, line: 1, text: "black tea")])
        let index = try await memory.index()
        XCTAssertEqual(index, "/memories/tea.md\t10B\tblack tea\n")
        let made = try await memory.bootstrap(about: "Tea.", features: ["a list"])
        XCTAssertEqual(made.count, 3)
        do {
            _ = try await memory.read(path: "/memories/none")
            XCTFail("it was not there")
        } catch MemdirError.refused {}
    }
}

/// An embedder that knows a vehicle.
private final class Meanings: Embedder {
    func embed(texts: [String], isQuery: Bool) throws -> [[Float]] {
        texts.map { [$0.contains("car") || $0.contains("automobile") ? 1 : 0, $0.contains("tea") ? 1 : 0] }
    }
}

/// An embedder whose service is away.
private final class FailingEmbedder: Embedder {
    func embed(texts: [String], isQuery: Bool) throws -> [[Float]] {
        throw EmbedderError.failed(reason: "the service is away")
    }
}

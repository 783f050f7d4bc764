import Foundation
import Memdir
import XCTest

/// Past states and statistics of a memory: the history is searched, and shows the files at a time.
final class PastTests: XCTestCase {
    private let path = "/memories/tea.md"

    private func now() -> Date {
        Thread.sleep(forTimeInterval: 0.002)
        defer { Thread.sleep(forTimeInterval: 0.002) }
        return Date()
    }

    func testTheHistoryIsSearchedForWhatIsThereNoMore() throws {
        let memory = try Memory(store: "memory:", options: MemoryOptions(history: true))
        try memory.write(path: path, text: "green tea\nblack tea\nwater\n")
        _ = try memory.strReplace(path: path, oldStr: "green tea\n", newStr: "")
        try memory.write(path: "/memories/gone/pot.md", text: "a Teapot\n")
        _ = try memory.delete(path: "/memories/gone")
        let found = try memory.grepHistory(query: "tea", ignoreCase: true)
        XCTAssertEqual(found.map(\.version.path), ["/memories/gone/pot.md", path])
        XCTAssertEqual(found.map(\.line), [1, 1])
        XCTAssertEqual(found.map(\.text), ["a Teapot", "green tea"])
        XCTAssertEqual(found[1].version, try memory.history(path: path).last)
        XCTAssertEqual(try memory.grepHistory(query: "tea", ignoreCase: true, limit: 1), [found[0]])
        XCTAssertEqual(try memory.grepHistory(query: "^g", regex: true), [found[1]])
        XCTAssertEqual(try memory.grepHistory(query: "tea", path: path), [found[1]])
        XCTAssertThrowsError(try memory.grepHistory(query: "(", regex: true)) { error in
            guard case MemdirError.config = error else { return XCTFail("\(error)") }
        }
        XCTAssertThrowsError(try Memory(store: "memory:").grepHistory(query: "tea")) { error in
            guard case MemdirError.history(_, .off, _, _) = error else { return XCTFail("\(error)") }
        }
    }

    func testTheFilesOfATimeAreShownAndWhatOneHeld() throws {
        let memory = try Memory(store: "memory:", options: MemoryOptions(history: true))
        try memory.write(path: path, text: "green\n")
        let before = now()
        try memory.write(path: path, text: "black tea\n")
        _ = try memory.delete(path: path)
        let files = try memory.filesAt(at: before)
        XCTAssertEqual(files.map(\.path), [path])
        XCTAssertEqual(files[0].size, 6)
        XCTAssertEqual(files[0].version, try memory.history().last?.id)
        XCTAssertLessThanOrEqual(try XCTUnwrap(files[0].modified), before)
        XCTAssertEqual(try memory.filesAt(at: now()), [])
        XCTAssertEqual(try memory.readAt(path: path, at: before), Data("green\n".utf8))
        XCTAssertNil(try memory.readAt(path: path, at: now()))
        XCTAssertThrowsError(try memory.readAt(path: "elsewhere", at: before))
        XCTAssertThrowsError(try memory.filesAt(at: .distantFuture.addingTimeInterval(.infinity)))
    }

    func testEachLineHasTheVersionThatBroughtIt() throws {
        let memory = try Memory(store: "memory:", options: MemoryOptions(history: true))
        try memory.actingAs(actor: "Ann").write(path: path, text: "green\nblack\r\n")
        _ = try memory.actingAs(actor: "Ben").strReplace(path: path, oldStr: "green", newStr: "white")
        let versions = try memory.history()
        let lines = try memory.blame(path: path)
        XCTAssertEqual(lines.map(\.line), [1, 2])
        XCTAssertEqual(lines.map(\.text), ["white", "black\r"])
        XCTAssertEqual(lines.map(\.version), versions.map(\.id))
        XCTAssertEqual(lines.map(\.change), versions.map(\.change))
        XCTAssertEqual(lines.map(\.operation), versions.map(\.operation))
        XCTAssertEqual(lines.map(\.actor), ["Ben", "Ann"])
        XCTAssertEqual(lines.map(\.time), versions.map(\.time))
        XCTAssertEqual(lines.map(\.mayBeOlder), [false, false])
        XCTAssertThrowsError(try memory.blame(path: "/memories/none")) { error in
            guard case MemdirError.history(_, .noFile, _, _) = error else { return XCTFail("\(error)") }
        }
    }

    func testAnUndoNamesLeavesOutOrMergesWhatWasChangedSince() throws {
        let memory = try Memory(store: "memory:", options: MemoryOptions(history: true))
        try memory.write(path: path, text: "1\n2\n3\n")
        try memory.actingAs(actor: "Ann").write(path: path, text: "one\n2\n3\n")
        let change = try memory.history()[0].change
        try memory.actingAs(actor: "Ben").write(path: path, text: "one\n2\nthree\n")
        let later = try memory.history()[0]
        let conflicts = [
            Conflict(path: path, inTheWay: false, change: later.change, actor: "Ben", time: later.time)
        ]
        XCTAssertThrowsError(try memory.undo(change: change)) { error in
            guard case MemdirError.history(_, .conflict, _, let found) = error else { return XCTFail("\(error)") }
            XCTAssertEqual(found, conflicts)
        }
        let skipped = try memory.undo(change: change, skipConflicts: true)
        XCTAssertEqual(skipped, Restored(change: nil, files: [], skipped: conflicts))
        let merged = "1\n2\nthree\n"
        let would = try memory.undo(change: change, dryRun: true, merge: true)
        let file = RestoredFile(operation: .modified, path: path, oldPath: nil, merged: merged)
        XCTAssertEqual(would, Restored(change: nil, files: [file]))
        _ = try memory.undo(change: change, merge: true)
        XCTAssertEqual(try memory.read(path: path), merged)
    }

    func testAPartOfAnIdIsResolvedAndTheHistoryIsExported() throws {
        let memory = try Memory(store: "memory:", options: MemoryOptions(history: true, actor: "ann"))
        try memory.write(path: path, text: "green\n")
        try memory.write(path: path, text: "black\n")
        let id = try XCTUnwrap(memory.history().first).id
        XCTAssertEqual(try memory.resolveId(part: id.suffix(12).uppercased()), id)
        let kinds: [(String, HistoryErrorKind)] = [
            (String(id.prefix(6)), .ambiguous), ("01990a3c-7c00-7123-8456-789abc000000", .unknown), ("tea", .noId),
        ]
        for (part, expected) in kinds {
            XCTAssertThrowsError(try memory.resolveId(part: part)) { error in
                guard case MemdirError.history(_, expected, _, _) = error else { return XCTFail("\(error)") }
            }
        }
        let stream = String(decoding: try memory.exportHistory(), as: UTF8.self)
        XCTAssertTrue(stream.hasPrefix("feature done\n") && stream.hasSuffix("done\n"))
        XCTAssertTrue(stream.contains("committer ann <>"))
        XCTAssertThrowsError(try Memory(store: "memory:").exportHistory())
    }

    func testAFileIsReadAsAModelMaySeeItAndImagesAreRecognised() throws {
        let memory = try Memory(store: "memory:", options: MemoryOptions(sensitiveOnView: true))
        try memory.write(path: path, text: "url: postgres://app:t7Kq-9zLw2@db/app\n")
        XCTAssertTrue(try memory.read(path: path).contains("t7Kq-9zLw2"))
        XCTAssertEqual(try memory.readShown(path: path), "url: postgres://app:[REDACTED:url-password]@db/app\n")
        XCTAssertThrowsError(try memory.readShown(path: "/memories/none"))
        let header: [UInt8] = [137, 80, 78, 71, 13, 10, 26, 10, 0, 0, 0, 13, 73, 72, 68, 82, 0, 0, 0, 1, 0, 0, 0, 1]
        let cut = Data(header + [8, 2, 0, 0, 0, 1, 2, 3, 4])
        XCTAssertEqual(imageType(content: cut + Data([0, 0, 0, 0, 73, 69, 78, 68, 1, 2, 3, 4])), "image/png")
        XCTAssertNil(imageType(content: cut))
        XCTAssertNil(imageType(content: Data()))
    }

    func testSensitiveTextIsFoundAndFilesAreCounted() throws {
        let options = MemoryOptions(sensitiveRules: ["project": "Bluebird-[0-9]+"], history: true)
        let memory = try Memory(store: "memory:", options: options)
        try memory.write(path: "/memories/a.md", text: "one\nBluebird-7\n")
        try memory.write(path: "/memories/Bluebird-8/b.md", text: "nothing\n")
        let found = try memory.findSensitive()
        XCTAssertEqual(found, [
            SensitiveMatch(path: "/memories/Bluebird-8", line: nil, rule: "project"),
            SensitiveMatch(path: "/memories/a.md", line: 2, rule: "project"),
        ])
        XCTAssertEqual(try memory.findSensitive(path: "/memories/a.md", limit: 5), [found[1]])
        XCTAssertThrowsError(try memory.findSensitive(limit: -1))
        let stats = try memory.stats()
        XCTAssertEqual([stats.files, stats.directories, stats.bytes], [2, 1, 23])
        XCTAssertEqual(stats.largest, SizedPath(path: "/memories/a.md", bytes: 15))
        XCTAssertEqual(stats.oldest?.path, "/memories/a.md")
        XCTAssertEqual(stats.oldest, stats.leastRecentlyUsed)
        XCTAssertEqual(stats.history?.versions, 2)
    }

    func testEveryMethodHasAnAsynchronousVariant() async throws {
        let memory = try await Memory.open(store: "memory:", options: MemoryOptions(history: true))
        try await memory.write(path: path, text: "green\n")
        let before = now()
        try await memory.write(path: path, text: "black\n")
        let found = try await memory.grepHistory(query: "green")
        XCTAssertEqual(found.map(\.text), ["green"])
        let files = try await memory.filesAt(at: before)
        XCTAssertEqual(files.map(\.path), [path])
        let lines = try await memory.blame(path: path)
        XCTAssertEqual(lines.count, 1)
        let content = try await memory.readAt(path: path, at: before)
        XCTAssertEqual(content, Data("green\n".utf8))
        let id = try await memory.resolveId(part: String(found[0].version.id.suffix(12)))
        XCTAssertEqual(id, found[0].version.id)
        let stream = try await memory.exportHistory()
        XCTAssertTrue(stream.starts(with: Data("feature done".utf8)))
        let shown = try await memory.readShown(path: path)
        XCTAssertEqual(shown, "black\n")
        let sensitive = try await memory.findSensitive()
        XCTAssertEqual(sensitive, [])
        let stats = try await memory.stats()
        XCTAssertEqual(stats.files, 1)
    }
}

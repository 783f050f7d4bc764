// The JSON form of results, for other programs.

import Foundation
import XCTest

@testable import Memdir

final class CodableTests: XCTestCase {
    func testResultsComeBackFromJsonAndTheirEnumsAreWords() async throws {
        let memory = try await Memory.open(store: "memory:", options: MemoryOptions(history: true))
        _ = try await memory.create(path: "/memories/tea.md", fileText: "green\n")
        _ = try await memory.strReplace(path: "/memories/tea.md", oldStr: "green", newStr: "black")
        let versions = try await memory.history()
        try comesBack(versions)
        try comesBack(try await memory.stats())
        try comesBack(try await memory.list())
        try comesBack(try await memory.grep(query: "black"))
        try comesBack(try await memory.grepHistory(query: "green"))
        try comesBack(try await memory.blame(path: "/memories/tea.md"))
        try comesBack(try await memory.filesAt(at: Date()))
        try comesBack(try await memory.undo(change: versions[0].change, dryRun: true))
        try comesBack(try await memory.erase(dryRun: true))

        let encoded = try JSONSerialization.jsonObject(with: JSONEncoder().encode(versions[1]))
        let fields = try XCTUnwrap(encoded as? [String: Any])
        XCTAssertEqual(fields["operation"] as? String, "created")
        XCTAssertEqual(fields["path"] as? String, "/memories/tea.md")
        XCTAssertThrowsError(try JSONDecoder().decode([HistoryOperation].self, from: Data("[\"other\"]".utf8)))
    }

    func testEachWordIsItsEnums() {
        XCTAssertEqual(ProblemKind(rawValue: "special-file"), .specialFile)
        XCTAssertEqual(Outcome.cancelled.rawValue, "cancelled")
        XCTAssertNil(Outcome(rawValue: "Cancelled"))
    }

    private func comesBack<T: Codable & Equatable>(_ value: T) throws {
        let encoded = try JSONEncoder().encode(value)
        XCTAssertEqual(try JSONDecoder().decode(T.self, from: encoded), value)
    }
}

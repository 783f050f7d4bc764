import Foundation
import Memdir
import XCTest

@testable import ChatExample

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The chat of the iOS example against the stand-in of `examples/standin`, which compares every text and
/// flag of a request with the script. `bindings-uniffi/swift/test` starts the stand-in and passes its
/// address.
final class ChatTests: XCTestCase {
    func testAConversationGoesOnWhereTheLastOneEnded() async throws {
        guard let standin = ProcessInfo.processInfo.environment["MEMDIR_STANDIN"].flatMap(URL.init(string:)) else {
            return XCTFail("MEMDIR_STANDIN is not set: run bindings-uniffi/swift/test")
        }
        let place = FileManager.default.temporaryDirectory.appendingPathComponent("memdir-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: place) }

        for session in try sessions() {
            let memory = try Memory(store: place.path)
            let chat = Chat(memory: memory, key: "none", model: "claude-stand-in", address: standin)
            let answer = try await chat.say(session.user)
            XCTAssertEqual(answer, session.answer)
        }
        var request = URLRequest(url: standin.appendingPathComponent("standin/finish"))
        request.httpMethod = "POST"
        let report = try await URLSession.shared.data(for: request).0
        let fields = try JSONSerialization.jsonObject(with: report) as? [String: Any]
        let text = String(decoding: report, as: UTF8.self)
        XCTAssertEqual(fields?["complete"] as? Bool, true, text)
        XCTAssertEqual((fields?["failures"] as? [Any])?.count, 0, text)
        print("end to end: \(fields?["turns_played"] ?? "no") turns, \(fields?["tool_results_checked"] ?? "no") tool results")
    }

    /// The user's message in each session of the script, and Claude's last message.
    private func sessions() throws -> [(user: String, answer: String)] {
        var root = URL(fileURLWithPath: #filePath)
        for _ in 0..<5 { root.deleteLastPathComponent() }
        let script = try Data(contentsOf: root.appendingPathComponent("examples/conversations/release-notes.json"))
        let fields = try JSONSerialization.jsonObject(with: script) as? [String: Any]
        return (fields?["sessions"] as? [[String: Any]] ?? []).compactMap { session in
            guard let user = session["user"] as? String,
                  let answer = (session["turns"] as? [[String: Any]])?.last?["text"] as? String
            else { return nil }
            return (user, answer)
        }
    }
}

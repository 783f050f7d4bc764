// What the view shows.

import Combine
import Foundation
import Memdir

/// The conversation so far, and whether Claude is thinking.
@MainActor
final class ChatModel: ObservableObject {
    /// One thing that was said.
    struct Line: Identifiable {
        let id = UUID()
        let isMine: Bool
        let text: String
    }

    @Published private(set) var lines: [Line] = []
    @Published private(set) var isWaiting = false

    private let chat: Result<Chat, Error>

    init(key: String) {
        chat = Result {
            let support = try FileManager.default.url(
                for: .applicationSupportDirectory, in: .userDomainMask, appropriateFor: nil, create: true)
            return Chat(memory: try Memory(store: support.appendingPathComponent("memory").path), key: key)
        }
    }

    /// Says it, and shows what Claude answers.
    func say(_ text: String) {
        lines.append(Line(isMine: true, text: text))
        isWaiting = true
        Task {
            do {
                let answer = try await chat.get().say(text)
                lines.append(Line(isMine: false, text: answer))
            } catch {
                lines.append(Line(isMine: false, text: "That failed: \(error.localizedDescription)"))
            }
            isWaiting = false
        }
    }
}

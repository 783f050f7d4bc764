// The state of the view.

import Combine
import Foundation
import Memdir

/// The conversation so far, and whether Claude is thinking.
@MainActor
final class ChatModel: ObservableObject {
    /// One message.
    struct Line: Identifiable {
        let id = UUID()
        let isMine: Bool
        let text: String
    }

    @Published private(set) var lines: [Line] = []
    @Published private(set) var isWaiting = false

    private let key: String
    private var chat: Chat?

    init(key: String) { self.key = key }

    /// The conversation. Its memory is opened with the first message, and not on this thread.
    private func conversation() async throws -> Chat {
        if let chat { return chat }
        let support = try FileManager.default.url(
            for: .applicationSupportDirectory, in: .userDomainMask, appropriateFor: nil, create: true)
        let memory = try await Memory.open(directory: support.appendingPathComponent("memory", isDirectory: true))
        let begun = Chat(memory: memory, key: key)
        chat = begun
        return begun
    }

    /// Sends the text, and shows Claude's answer.
    func say(_ text: String) {
        lines.append(Line(isMine: true, text: text))
        isWaiting = true
        Task {
            do {
                let answer = try await conversation().say(text)
                lines.append(Line(isMine: false, text: answer))
            } catch {
                lines.append(Line(isMine: false, text: "That failed: \(error.localizedDescription)"))
            }
            isWaiting = false
        }
    }
}

// A conversation with Claude, who has a memory.

import Foundation
import Memdir

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A conversation with Claude. Its messages are kept here as long as it lasts; the files that Claude
/// wrote into the memory stay.
actor Chat {
    /// Possible failures besides the network.
    struct Failure: LocalizedError {
        let errorDescription: String?
    }

    private let memory: Memory
    private let address: URL
    private let key: String
    private let model: String
    private var messages: [[String: Any]] = []

    init(
        memory: Memory,
        key: String,
        model: String = "claude-sonnet-5-5",
        address: URL = URL(string: "https://api.anthropic.com")!
    ) {
        self.memory = memory
        self.address = address
        self.key = key
        self.model = model
    }

    /// Sends `text` to Claude, executes Claude's memory commands, and returns the answer.
    func say(_ text: String) async throws -> String {
        messages.append(["role": "user", "content": text])
        while true {
            let blocks = try await ask()
            messages.append(["role": "assistant", "content": blocks])
            let uses = blocks.filter { $0["type"] as? String == "tool_use" }
            if uses.isEmpty {
                return blocks.compactMap { $0["text"] as? String }.joined(separator: "\n")
            }
            var results: [[String: Any]] = []
            for use in uses { results.append(try await result(of: use)) }
            messages.append(["role": "user", "content": results])
        }
    }

    /// Executes one tool use: the input is passed on unchanged, and so are the resulting text and flag.
    private func result(of use: [String: Any]) async throws -> [String: Any] {
        let input = try JSONSerialization.data(withJSONObject: use["input"] ?? [:], options: [.fragmentsAllowed])
        let reply = await memory.execute(json: String(decoding: input, as: UTF8.self))
        return [
            "type": "tool_result", "tool_use_id": use["id"] ?? "",
            "content": reply.content, "is_error": reply.isError,
        ]
    }

    /// The blocks of Claude's next message.
    private func ask() async throws -> [[String: Any]] {
        var request = URLRequest(url: address.appendingPathComponent("v1/messages"))
        request.httpMethod = "POST"
        request.setValue(key, forHTTPHeaderField: "x-api-key")
        request.setValue("2023-06-01", forHTTPHeaderField: "anthropic-version")
        request.setValue("application/json", forHTTPHeaderField: "content-type")
        request.httpBody = try JSONSerialization.data(withJSONObject: [
            "model": model, "max_tokens": 2048, "messages": messages,
            "tools": [["type": "memory_20250818", "name": "memory"]],
        ])
        let (data, response) = try await URLSession.shared.data(for: request)
        let body = try JSONSerialization.jsonObject(with: data) as? [String: Any]
        guard let blocks = body?["content"] as? [[String: Any]] else {
            let status = (response as? HTTPURLResponse)?.statusCode ?? 0
            throw Failure(errorDescription: "\(status): \(String(decoding: data, as: UTF8.self))")
        }
        return blocks
    }
}

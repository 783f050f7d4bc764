import Foundation
import Memdir

// The hooks that a case describes, and the events that it expects (see `tests/README.md`).

/// Hooks that apply the first matching rule.
final class CaseHooks: MemoryHooks, @unchecked Sendable {
    private let rules: [JSON]
    private let lock = NSLock()
    private var told: [[String: JSON]] = []

    init(_ rules: [JSON]) { self.rules = rules }

    /// The events of `after` since the last call of this function.
    func take() -> [[String: JSON]] {
        lock.lock()
        defer { lock.unlock() }
        let taken = told
        told = []
        return taken
    }

    func before(command: Command, call: HookCall) throws -> HookDecision {
        let fields = command.fields
        for rule in rules {
            let rule = try rule.fields(of: ["when", "deny", "replace", "fail"])
            guard case .object(let wanted) = try expanded(rule.need("when")) else { throw Problem("when is no object") }
            guard try wanted.allSatisfy({ try fields[$0]?.encoded() == $1.encoded() }) else { continue }
            if let sentence = rule["deny"] { return .deny(reason: try text(sentence)) }
            if let problem = rule["fail"] { throw Problem(try text(problem)) }
            let texts = try rule.need("replace").items().map(text)
            guard texts.count == 2, let written = command.written else { throw Problem("there is nothing to replace") }
            return .replace(text: written.replacingOccurrences(of: texts[0], with: texts[1], options: .literal))
        }
        return .allow
    }

    func after(event: Event) throws {
        precondition(event.duration >= 0)
        let all: [String: JSON?] = [
            "command": event.command.map(JSON.string),
            "path": event.path.map(JSON.string),
            "new_path": event.newPath.map(JSON.string),
            "outcome": .string("\(event.outcome)"),
            "bytes": .integer(event.bytes),
            "lines": .integer(event.lines),
            "repairs": .array(event.repairs.map(JSON.string)),
            "content": event.content.map(JSON.string),
        ]
        let fields = try saying(.object(all.compactMapValues { $0 }))
        lock.lock()
        defer { lock.unlock() }
        told.append(fields)
    }
}

/// The fields of an event with a value: no null, no 0, no empty list.
func saying(_ event: JSON) throws -> [String: JSON] {
    let fields = try event.fields(of: ["command", "path", "new_path", "outcome", "bytes", "lines", "repairs", "content"])
    return try fields.filter { _, value in
        switch value {
        case .null, .integer(0): return false
        case .array(let items): return !items.isEmpty
        default: return true
        }
    }.mapValues(expanded)
}

/// An event as text that can be compared.
func shown(_ event: [String: JSON]) throws -> String {
    try event.sorted { $0.key < $1.key }.map { "\($0.key): \(try $0.value.encoded())" }.joined(separator: ", ")
}

extension Command {
    /// Under the names of the documentation.
    fileprivate var fields: [String: JSON] {
        switch self {
        case .view(let path, let viewRange):
            var fields: [String: JSON] = ["command": .string("view"), "path": .string(path)]
            fields["view_range"] = viewRange.map { .array($0.map(JSON.integer)) }
            return fields
        case .create(let path, let fileText):
            return ["command": .string("create"), "path": .string(path), "file_text": .string(fileText)]
        case .strReplace(let path, let oldStr, let newStr):
            return [
                "command": .string("str_replace"), "path": .string(path), "old_str": .string(oldStr),
                "new_str": .string(newStr),
            ]
        case .insert(let path, let insertLine, let insertText):
            return [
                "command": .string("insert"), "path": .string(path), "insert_line": .integer(insertLine),
                "insert_text": .string(insertText),
            ]
        case .delete(let path):
            return ["command": .string("delete"), "path": .string(path)]
        case .rename(let oldPath, let newPath):
            return ["command": .string("rename"), "old_path": .string(oldPath), "new_path": .string(newPath)]
        }
    }

    /// The text that it writes.
    fileprivate var written: String? {
        switch self {
        case .create(_, let text), .strReplace(_, _, let text), .insert(_, _, let text): return text
        case .view, .delete, .rename: return nil
        }
    }
}

import Foundation
import Memdir

// Reads the case files, and rejects everything that is not in the format (see `tests/README.md`).

/// An error in a case.
struct Problem: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

/// The project's root.
let root: URL = {
    var here = URL(fileURLWithPath: #filePath)
    for _ in 0..<5 { here.deleteLastPathComponent() }
    return here
}()

/// All entries of a store: canonical path → content, nil for an empty directory.
typealias Tree = [Path: Data?]

enum Step {
    /// A tool call.
    case call(Call)
    /// A write by another program.
    case meanwhile(Tree)
    /// Time passes, or files expire.
    case upkeep(Upkeep)
}

struct Call {
    let input: JSON
    let content: String
    let isError: Bool
    /// The kind of error, as Swift spells it.
    var kind: String?
    /// The event that the hook `after` gets.
    var event: [String: JSON]?
    var expires = false
    var image: ReplyImage?
}

/// A step that is not a tool call.
enum Upkeep {
    /// Seconds by path.
    case age([String: Double])
    /// `removed` is nil if the memory refuses.
    case expire(olderThan: Double, dryRun: Bool, removed: [String]?)
}

struct Case {
    let name: String
    let options: MemoryOptions
    let hooks: [JSON]?
    let given: Tree
    let steps: [Step]
    let then: Tree?
}

/// All cases, in the order of the files' names.
func cases() throws -> [Case] {
    let directory = root.appendingPathComponent("tests/cases")
    let names = try FileManager.default.contentsOfDirectory(atPath: directory.path)
    return try names.filter { $0.hasSuffix(".json") }.sorted().flatMap { name in
        let file = try Data(contentsOf: directory.appendingPathComponent(name))
        let fields = try JSONDecoder().decode(JSON.self, from: file).fields(of: ["about", "cases"])
        return try fields.need("cases").items().map { try parseCase(name, $0) }
    }
}

private func parseCase(_ file: String, _ json: JSON) throws -> Case {
    let fields = try json.fields(of: ["name", "rule", "options", "hooks", "given", "steps", "then"])
    return Case(
        name: try "\(file), case \(fields.need("name").string())",
        options: try options(fields["options"]),
        hooks: try fields["hooks"]?.fields(of: ["before"]).need("before").items(),
        given: try fields["given"].map(tree) ?? [:],
        steps: try fields.need("steps").items().map(step),
        then: try fields["then"].map(tree)
    )
}

private func step(_ json: JSON) throws -> Step {
    if case .object(let fields) = json, let meanwhile = fields["meanwhile"] {
        _ = try json.fields(of: ["meanwhile"])
        return .meanwhile(try tree(meanwhile))
    }
    if let upkeep = try upkeep(json) { return .upkeep(upkeep) }
    let fields = try json.fields(of: ["input", "content", "is_error", "without_images", "kind", "event", "expires"])
    let event = try fields["event"].map(saying)
    guard case .bool(let isError) = try fields.need("is_error") else {
        throw Problem("is_error must be true or false")
    }
    let image = try image(fields.need("content"))
    return .call(Call(
        input: try expanded(fields.need("input")),
        content: try image.map { "[\($0.mediaType), \($0.bytes.count) bytes]" } ?? text(fields.need("content")),
        isError: isError,
        kind: try fields["kind"].map { try camelCase($0.string()) },
        event: event,
        expires: fields["expires"] != nil,
        image: image
    ))
}

private func camelCase(_ word: String) -> String {
    let parts = word.split(separator: "_")
    return parts.prefix(1).joined() + parts.dropFirst().map(\.capitalized).joined()
}

private func image(_ content: JSON) throws -> ReplyImage? {
    guard case .object(let fields) = content, let mediaType = fields["$image"] else { return nil }
    guard let bytes = try Data(base64Encoded: fields.need("$base64").string()) else { throw Problem("$base64 is none") }
    return ReplyImage(mediaType: try mediaType.string(), bytes: bytes)
}

private func upkeep(_ json: JSON) throws -> Upkeep? {
    guard case .object(let all) = json else { return nil }
    if case .object(let ages) = all["age"] {
        _ = try json.fields(of: ["age"])
        return .age(try ages.mapValues(seconds))
    }
    guard let expire = all["expire"] else { return nil }
    let fields = try json.fields(of: ["expire", "removed", "refused"])
    let given = try expire.fields(of: ["older_than", "dry_run"])
    let removed = try fields["removed"].map { try $0.items().map { try $0.string() } }
    guard (removed == nil) == (fields["refused"] != nil) else { throw Problem("removed, or refused") }
    var dryRun = false
    if case .bool(true) = given["dry_run"] { dryRun = true }
    return .expire(olderThan: try seconds(given.need("older_than")), dryRun: dryRun, removed: removed)
}

private func seconds(_ json: JSON) throws -> Double {
    switch json {
    case .integer(let seconds): return Double(seconds)
    case .number(let seconds): return seconds
    default: throw Problem("\(json) is no number of seconds")
    }
}

private func options(_ json: JSON?) throws -> MemoryOptions {
    guard let fields = try json?.fields(of: OptionFields.names) else { return MemoryOptions(durability: .relaxed) }
    return try OptionFields(fields: fields).options()
}

/// The readers of options, which the generated `options()` calls.
extension OptionFields {
    func limit(_ name: String, _ standard: Int64?) throws -> Int64? {
        switch fields[name] {
        case nil: return standard
        case .null: return nil
        case .integer(let limit): return limit
        case let other: throw Problem("\(name): \(String(describing: other)) is no limit")
        }
    }

    func word<T>(_ name: String, _ words: [String: T]) throws -> T? {
        guard let word = try fields[name]?.string() else { return nil }
        guard let value = words[word] else { throw Problem("\(name): \(word) is not in the format") }
        return value
    }

    func flag(_ name: String) throws -> Bool {
        switch fields[name] {
        case nil: return false
        case .bool(let flag): return flag
        case let other: throw Problem("\(name): \(String(describing: other)) is no flag")
        }
    }

    func rules(_ name: String) throws -> [String: String]? {
        guard let rules = fields[name] else { return nil }
        guard case .object(let fields) = rules else { throw Problem("\(rules) are no patterns") }
        return try fields.mapValues { try $0.string() }
    }

    func patterns(_ name: String) throws -> [String]? {
        if case .null? = fields[name] { return nil }
        return try fields[name]?.items().map { try $0.string() }
    }

    func duration(_ name: String, _ standard: Double?) throws -> Double? {
        switch fields[name] {
        case nil: return standard
        case .null: return nil
        case let given?: return try seconds(given)
        }
    }

    func text(_ name: String) throws -> String? {
        if case .null? = fields[name] { return nil }
        return try fields[name]?.string()
    }

    func key(_ name: String) throws -> EncryptionKey? {
        try text(name).map { EncryptionKey($0) }
    }
}

private func tree(_ json: JSON) throws -> Tree {
    guard case .object(let fields) = json else { throw Problem("\(json) is no tree") }
    var tree: Tree = [:]
    for (path, value) in fields { tree[Path(path)] = .some(try content(value)) }
    return tree
}

private func content(_ value: JSON) throws -> Data? {
    switch value {
    case .null: return nil
    case .object(let fields) where fields.count == 1 && fields["$base64"] != nil:
        guard let bytes = Data(base64Encoded: try fields.need("$base64").string()) else {
            throw Problem("\(value) is no base64")
        }
        return bytes
    default: return Data(try text(value).utf8)
    }
}

/// The text that `value` contains or describes.
func text(_ value: JSON) throws -> String {
    switch value {
    case .string(let text): return text
    case .object(let form): return try made(form)
    default: throw Problem("\(value) is not a text")
    }
}

/// `value` with every description of a text in it replaced by the text.
func expanded(_ value: JSON) throws -> JSON {
    switch value {
    case .array(let items): return .array(try items.map(expanded))
    case .object(let form) where form.keys.contains(where: { $0.hasPrefix("$") }):
        return .string(try made(form))
    case .object(let fields): return .object(try fields.mapValues(expanded))
    default: return value
    }
}

private func made(_ form: [String: JSON]) throws -> String {
    switch form.keys.sorted() {
    case ["$text"]:
        return try form.need("$text").items().map(text).joined()
    case ["$repeat", "$times"]:
        return String(repeating: try form.need("$repeat").string(), count: Int(try form.need("$times").integer()))
    case ["$count", "$each"]:
        let bounds = try form.need("$count").items().map { try $0.integer() }
        guard bounds.count == 2 else { throw Problem("$count must be two numbers") }
        let each = try form.need("$each").string()
        return (bounds[0]...bounds[1]).map { number in
            let aligned = String(repeating: " ", count: max(0, 6 - "\(number)".count)) + "\(number)"
            return each.replacingOccurrences(of: "{n}", with: "\(number)", options: .literal)
                .replacingOccurrences(of: "{n:6}", with: aligned, options: .literal)
        }.joined()
    case let keys:
        throw Problem("an object with the keys \(keys) describes no text")
    }
}

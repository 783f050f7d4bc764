// Made from the documents by bindings-uniffi/scripts/snippets.

import Foundation
import Memdir
import StoreExample
import XCTest

private func ask(_ question: String) async -> Bool { false }

private func docs_guides_encrypted_1(_ memory: Memory, _ store: any Store, _ file: URL, _ directory: URL) async throws {
let key = try EncryptionKey.fromFile(URL(fileURLWithPath: "memory.key"))
let memory = try await Memory.open(store: "./memory", options: MemoryOptions(history: true, encryptionKey: key))
try await memory.write(path: "/memories/plan.md", text: "- order tea\n")
print(try await memory.read(path: "/memories/plan.md"), terminator: "")
}

private func docs_guides_encrypted_2(_ memory: Memory, _ store: any Store, _ file: URL, _ directory: URL) async throws {
let (old, new) = (URL(fileURLWithPath: "memory.key"), URL(fileURLWithPath: "new.key"))
_ = try rekey(address: "./memory", oldKey: EncryptionKey.fromFile(old), newKey: EncryptionKey.fromFile(new))
}

private func docs_guides_review_1(_ memory: Memory, _ store: any Store, _ file: URL, _ directory: URL) async throws {
final class Approval: AsyncMemoryHooks {
    func before(command: Command, call: HookCall) async throws -> HookDecision {
        if case .view = command { return .allow }
        let diff = try await call.diff()
        if await ask("\(call.actor() ?? "") asks for this change:\n\(diff)") { return .allow }
        return .deny(reason: "Error: The user does not want this change. Nothing was changed.")
    }
}
// Asynchronous hooks need the asynchronous methods, which the top level of a script does not call.
func review() async throws {
    let memory = try await Memory.open(store: "memory:", options: MemoryOptions(history: true), hooks: Approval())
    try await memory.write(path: "/memories/tea.md", text: "- green\n")
    let agent = try memory.actingAs(actor: "session-7")
    for text in ["- mint", "- black"] {
        let insert = #"{"command": "insert", "path": "/memories/tea.md", "insert_line": 1, "insert_text": "\#(text)"}"#
        print(await agent.execute(json: insert).content)
    }
}
try await review()
}

private func docs_guides_review_2(_ memory: Memory, _ store: any Store, _ file: URL, _ directory: URL) async throws {
let memory = try await Memory.open(store: "./memory", options: MemoryOptions(history: true, actor: "Ann"))
let hour = Date(timeIntervalSinceNow: -60 * 60)
let undone = try await memory.undo(since: hour, actor: "session-7")
}

private func docs_guides_several_processes_1(_ memory: Memory, _ store: any Store, _ file: URL, _ directory: URL) async throws {
let memory = try await Memory.open(store: "sqlite:team.db", options: MemoryOptions(staleGuard: .on, history: true))
let agent = try memory.actingAs(actor: "agent 7")
}

private func docs_guides_your_own_code_1(_ memory: Memory, _ store: any Store, _ file: URL, _ directory: URL) async throws {
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
}

private func docs_guides_your_own_code_2(_ memory: Memory, _ store: any Store, _ file: URL, _ directory: URL) async throws {
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
}

private func docs_languages_swift_1(_ memory: Memory, _ store: any Store, _ file: URL, _ directory: URL) async throws {
let memory = try await Memory.open(store: "./memory")
_ = try await memory.create(path: "/memories/notes.md", fileText: "- likes tea\n")
_ = try await memory.insert(path: "/memories/notes.md", insertLine: 1, insertText: "- lives in Lisbon\n")
print(try await memory.view(path: "/memories/notes.md"))

// The input of a tool use, as Claude sent it; what comes back goes into the tool_result.
let reply = await memory.execute(json: #"{"command": "delete", "path": "/memories/old.md"}"#)
print("is_error: \(reply.isError), content: \(reply.content)")
}

private func docs_languages_swift_2(_ memory: Memory, _ store: any Store, _ file: URL, _ directory: URL) async throws {
let support = try FileManager.default.url(
    for: .applicationSupportDirectory, in: .userDomainMask, appropriateFor: nil, create: true)
let memory = try await Memory.open(directory: support.appendingPathComponent("memory", isDirectory: true))
}

private func docs_languages_swift_3(_ memory: Memory, _ store: any Store, _ file: URL, _ directory: URL) async throws {
for await change in memory.changes {
    print(change.kind, change.path)
}
}

private func docs_languages_swift_4(_ memory: Memory, _ store: any Store, _ file: URL, _ directory: URL) async throws {
for try await change in try await memory.watch() {
    print(change.kind, change.path)
}
}

private func docs_languages_swift_5(_ memory: Memory, _ store: any Store, _ file: URL, _ directory: URL) async throws {
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
}

private func docs_languages_swift_6(_ memory: Memory, _ store: any Store, _ file: URL, _ directory: URL) async throws {
let key = try EncryptionKey.fromFile(file)
let memory = try await Memory.open(directory: directory, options: MemoryOptions(encryptionKey: key))
}

private func docs_reference_policies_expiry_1(_ memory: Memory, _ store: any Store, _ file: URL, _ directory: URL) async throws {
let memory = try Memory(store: "memory:", options: MemoryOptions(recordAccess: true, neverExpire: ["/memories/handbook"]))
let unused = try await memory.expire(olderThan: 90 * 24 * 60 * 60, dryRun: true)
}

private func docs_reference_policies_hooks_1(_ memory: Memory, _ store: any Store, _ file: URL, _ directory: URL) async throws {
final class Careful: MemoryHooks {
    func before(command: Command, call: HookCall) -> HookDecision {
        switch command {
        case .delete: return .deny(reason: "Nothing is deleted here: rename it to /memories/archive instead.")
        case .create(_, let text): return .replace(text: text.replacingOccurrences(of: "Anna Kareva", with: "A. K."))
        default: return .allow
        }
    }
}
let memory = try Memory(store: "memory:", hooks: Careful())
}

private func docs_reference_policies_hooks_2(_ memory: Memory, _ store: any Store, _ file: URL, _ directory: URL) async throws {
final class Approval: AsyncMemoryHooks {
    func before(command: Command, call: HookCall) async throws -> HookDecision {
        guard case .delete = command else { return .allow }
        if await ask(try await call.diff()) { return .allow }
        return .deny(reason: "Error: The user does not want this to be deleted. Nothing was changed.")
    }
}
let memory = try Memory(store: "memory:", hooks: Approval())
}

private func docs_reference_policies_limits_1(_ memory: Memory, _ store: any Store, _ file: URL, _ directory: URL) async throws {
let memory = try Memory(store: "memory:", options: MemoryOptions(maxTotalBytes: 64 * 1024, maxFiles: 100))
let reply = try await memory.view(path: "/memories")
}

private func docs_reference_policies_sensitive_text_1(_ memory: Memory, _ store: any Store, _ file: URL, _ directory: URL) async throws {
let memory = try Memory(store: "memory:", options: MemoryOptions(sensitiveText: .redact, sensitiveOnView: true))
let reply = try await memory.create(path: "/memories/notes.md", fileText: "Router password: sun7-Flower!\n")
}

private func docs_reference_policies_stale_guard_1(_ memory: Memory, _ store: any Store, _ file: URL, _ directory: URL) async throws {
let memory = try Memory(store: store, options: MemoryOptions(staleGuard: .strict))
let reply = await memory.execute(
    json: #"{"command": "insert", "path": "/memories/list.md", "insert_line": 1, "insert_text": "bread"}"#
)
}

private func docs_reference_policies_write_patterns_1(_ memory: Memory, _ store: any Store, _ file: URL, _ directory: URL) async throws {
let memory = try Memory(store: "memory:", options: MemoryOptions(readOnlyPaths: ["/memories/handbook"]))
let reply = await memory.execute(json: #"{"command": "delete", "path": "/memories/handbook"}"#)
}

private func docs_start_swift_2(_ memory: Memory, _ store: any Store, _ file: URL, _ directory: URL) async throws {
func remember() async throws {
    let memory = try await Memory.open(store: "./memory")
    let calls = [
        #"{"command": "create", "path": "/memories/notes.md", "file_text": "- likes tea\n"}"#,
        #"{"command": "insert", "path": "/memories/notes.md", "insert_line": 1, "insert_text": "- lives in Lisbon\n"}"#,
        #"{"command": "view", "path": "/memories/notes.md"}"#,
        #"{"command": "view", "path": "/memories/../etc/passwd"}"#,
    ]
    for call in calls {
        let reply = await memory.execute(json: call)
        print(reply.isError ? "refused:" : "done:", reply.content)
    }
}
try await remember()
}

private func docs_stores_mounts_1(_ memory: Memory, _ store: any Store, _ file: URL, _ directory: URL) async throws {
let stores = try openMounts(mounts: [
    Mount(path: "/memories", store: "./memory"),
    Mount(path: "/memories/handbook", store: "./docs", readOnly: true),
])
let memory = try Memory(store: stores)
}

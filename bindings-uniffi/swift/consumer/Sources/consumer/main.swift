import Memdir

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

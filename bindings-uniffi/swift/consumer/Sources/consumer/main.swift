import Memdir

let memory = try await Memory.open(store: "memory:")
let reply = await memory.execute(json: #"{"command": "view", "path": "/memories"}"#)
print(reply.isError ? "That failed: \(reply.content)" : "A package that depends on memdir works.")

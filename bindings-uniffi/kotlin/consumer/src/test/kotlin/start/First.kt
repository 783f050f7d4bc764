package start.first

import dev.memdir.Memory

fun main() {
    val calls = listOf(
        """{"command": "create", "path": "/memories/notes.md", "file_text": "- likes tea\n"}""",
        """{"command": "insert", "path": "/memories/notes.md", "insert_line": 1, "insert_text": "- lives in Lisbon\n"}""",
        """{"command": "view", "path": "/memories/notes.md"}""",
        """{"command": "view", "path": "/memories/../etc/passwd"}""",
    )
    Memory("./memory").use { memory ->
        for (call in calls) {
            val reply = memory.execute(call)
            println((if (reply.isError) "refused: " else "done: ") + reply.content)
        }
    }
}

//! The example of `docs/start/rust.md`. `core/tests/integration/readme.rs` checks that both are the same, and what it
//! prints.
#![expect(clippy::print_stdout, reason = "it shows the replies")]

use memdir::{Memory, MemoryOptions};

fn main() -> Result<(), memdir::Error> {
    let memory = Memory::open("./memory", MemoryOptions::default())?;
    let calls = [
        r#"{"command": "create", "path": "/memories/notes.md", "file_text": "- likes tea\n"}"#,
        r#"{"command": "insert", "path": "/memories/notes.md", "insert_line": 1, "insert_text": "- lives in Lisbon\n"}"#,
        r#"{"command": "view", "path": "/memories/notes.md"}"#,
        r#"{"command": "view", "path": "/memories/../etc/passwd"}"#,
    ];
    for call in calls {
        let reply = memory.execute(call);
        let outcome = if reply.is_error { "refused:" } else { "done:" };
        println!("{outcome} {}", reply.content.as_text().unwrap_or_default());
    }
    Ok(())
}

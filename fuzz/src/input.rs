//! Input decoding: any text gets a reply, and a refused one changes nothing.

use memdir::command::Decoded;
use memdir::{Memory, MemoryOptions};

use crate::tree;

/// The input is the JSON text of a tool call, which may be malformed.
pub fn input(data: &[u8]) {
    let json = String::from_utf8_lossy(data);
    let mut options = MemoryOptions::default();
    options.max_view_chars = Some(2_000);
    let memory = Memory::open("memory:", options).unwrap();
    memory.create("/memories/notes.md", "one\ntwo\nthree").unwrap();
    memory.create("/memories/d/.hidden", "").unwrap();
    let before = tree::of(&**memory.store());

    let reply = memory.execute(&json);
    let text = reply.content.as_text().unwrap_or_default();
    assert!(!text.is_empty());
    assert!(reply.cause.is_none(), "{:?}", reply.cause);
    let after = tree::of(&**memory.store());
    let changed = before != after;
    assert!(!(reply.is_error && changed), "refused and changed: {text}");
    assert!(after.keys().all(|path| !path.is_reserved()));

    let Ok(value) = serde_json::from_str::<serde_json::Value>(&json) else {
        assert!(
            reply.is_error && text.starts_with("Error: The input is not valid JSON: "),
            "{text}"
        );
        return;
    };
    // A whole block counts as its input.
    let is_block =
        value.get("type").is_some_and(|kind| kind == "tool_use") && value.get("command").is_none();
    let value = match value.get("input") {
        Some(input) if is_block && input.is_object() => input.clone(),
        _ => value,
    };
    let command = value.get("command").and_then(|command| command.as_str());
    let known = ["view", "create", "str_replace", "insert", "delete", "rename"];
    if !command.is_some_and(|command| known.contains(&command)) {
        assert!(reply.is_error, "{text}");
    }
    if command == Some("view") {
        assert!(!changed);
    }
    // Fields without a command behave the same under the command's name.
    if let (Some(command), Some(fields)) = (command, value.as_object()) {
        let again = Memory::open("memory:", memory.options().clone()).unwrap();
        again.create("/memories/notes.md", "one\ntwo\nthree").unwrap();
        again.create("/memories/d/.hidden", "").unwrap();
        let named = again.execute_decoded(Decoded::named(command, fields));
        assert_eq!(
            (named.content.as_text().unwrap_or_default(), named.is_error),
            (text, reply.is_error)
        );
        assert_eq!(tree::of(&**again.store()), after);
    }
}

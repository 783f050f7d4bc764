//! Hostile inputs (`tests/hostile`) in Rust: each gets a reply. The tests of C cover the options, which C reads from JSON as Rust
//! does.
#![expect(clippy::unwrap_used, reason = "a test fails where it cannot go on")]

use memdir::{Memory, MemoryOptions};
use serde_json::Value;

fn table(name: &str) -> Vec<Value> {
    let file = format!("{}/hostile/{name}.json", env!("CARGO_MANIFEST_DIR"));
    serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap()
}

/// `None` for a text that Rust cannot represent.
fn put(text: &str) -> Option<String> {
    let put = text
        .replace("@long@", &"x".repeat(1_000_000))
        .replace("@deep@", &"[".repeat(100_000))
        .replace("@digits@", &"9".repeat(5_000));
    (!put.contains("@half@")).then_some(put)
}

#[test]
fn input_that_nobody_should_send_is_answered() {
    let memory = Memory::open("memory:", MemoryOptions::default()).unwrap();
    for row in table("inputs") {
        let Some(json) = put(row["json"].as_str().unwrap()) else { continue };
        let reply = memory.execute(&json);
        let length = reply.content.as_text().unwrap_or_default().len();
        assert!(reply.is_error && (1..50_000).contains(&length), "{row}: {length}");
        assert!(reply.cause.is_none(), "{row}");
    }
    assert!(memory.view("/memories", None).unwrap().ends_with("4.0K\t/memories"));
}

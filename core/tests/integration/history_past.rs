//! The content of a memory at an earlier time, on every store.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a panic is how a test fails")]

#[cfg(unix)]
#[path = "../../store/examples/map_store.rs"]
#[allow(dead_code, reason = "it is a program")]
mod six_methods;

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use memdir::history::{HistoryError, HistoryQuery};
use memdir::{Memory, MemoryOptions, Store};

fn remembering(store: Arc<dyn Store>) -> Memory {
    let mut options = MemoryOptions::default();
    options.history = true;
    Memory::with_store(store, options)
}

on_every_store!(the_files_of_a_time_are_those_that_were_there);
fn the_files_of_a_time_are_those_that_were_there(store: Arc<dyn Store>) {
    // These have not changed since the history began. The second one is changed later.
    let plain = Memory::with_store(Arc::clone(&store), MemoryOptions::default());
    plain.create("/memories/old.md", "old\n").unwrap();
    plain.create("/memories/later.md", "first\n").unwrap();
    let memory = remembering(store);
    memory.create("/memories/a.md", "one\n").unwrap();
    memory.create("/memories/d/b.md", "b\n").unwrap();
    memory.rename("/memories/d", "/memories/e").unwrap();
    memory.str_replace("/memories/a.md", "one", "two").unwrap();
    memory.str_replace("/memories/later.md", "first", "second").unwrap();
    memory.delete("/memories/a.md").unwrap();
    let mut versions = memory.history(&HistoryQuery::default()).unwrap();
    versions.reverse();
    let shown = |at: SystemTime| -> Vec<String> {
        let files = memory.files_at(at).unwrap();
        let shown = |file: &memdir::history::PastFile| format!("{} {:?}", file.path, file.size);
        files.iter().map(shown).collect()
    };
    let read = |path: &str, at: SystemTime| memory.read_at(path, at).unwrap();
    let (old, later) = ("/memories/old.md Some(4)", "/memories/later.md Some(6)");
    for (operation, expected) in [
        ("created", &["/memories/a.md Some(4)", later, old][..]),
        ("renamed", &["/memories/a.md Some(4)", "/memories/e/b.md Some(2)", later, old]),
        ("deleted", &["/memories/e/b.md Some(2)", "/memories/later.md Some(7)", old]),
    ] {
        let version = versions.iter().find(|version| version.operation.as_str() == operation);
        assert_eq!(shown(version.unwrap().time), expected, "{operation}");
    }
    let created = versions[0].time;
    assert_eq!(read("/memories/a.md", created), Some(b"one\n".to_vec()));
    assert_eq!(read("/memories/later.md", created), Some(b"first\n".to_vec()));
    assert_eq!(read("/memories/old.md", created), Some(b"old\n".to_vec()));
    assert_eq!(read("/memories/a.md", SystemTime::now()), None);
    assert_eq!(read("/memories/e", SystemTime::now()), None);
    assert_eq!(read("/memories/d/b.md", created), None);
    let before = created - Duration::from_micros(1);
    assert!(!shown(before).iter().any(|file| file.contains("/a.md")));
    assert_eq!(read("/memories/a.md", before), None);
    assert!(matches!(memory.read_at("notes", created), Err(HistoryError::Path(_))));
    let off = Memory::open("memory:", MemoryOptions::default()).unwrap();
    assert!(matches!(off.files_at(created), Err(HistoryError::Off)));
}

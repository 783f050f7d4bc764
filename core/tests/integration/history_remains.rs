//! A redacted or erased text is not in the bytes of the files either: not in free space, and not in a log.
#![cfg(all(any(unix, windows), feature = "sqlite"))]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a panic is how a test fails")]

use std::fs;
use std::path::Path;

use crate::common::effort;
use memdir::history::{HistoryQuery, Operation};
use memdir::{Durability, GrepQuery, Memory, MemoryOptions};
use proptest::prelude::*;

/// The test searches for each run of eight of its bytes. None of them occurs by chance.
const SECRET: &str = "correct-horse-battery-staple-9-xK2vQ7pLw4ZtR8nYb";

const FILES: usize = 5;

#[derive(Debug, Clone)]
enum Action {
    /// Writes a content of this many bytes, with the secret at this position, if any.
    Write(usize, usize, Option<usize>),
    /// Replaces the secret in a file with another text.
    TakeOut(usize, usize),
    Append(usize, usize),
    Rename(usize, usize),
    Delete(usize),
    /// The memory is opened again.
    Reopen,
}

fn actions() -> impl Strategy<Value = Vec<Action>> {
    // About the size of a page, and up to more than a chunk of content.
    let size = prop_oneof![4 => 0..200_usize, 4 => 200..5_000_usize, 1 => 60_000..140_000_usize];
    let action = prop_oneof![
        6 => (0..FILES, size.clone(), proptest::option::of(any::<usize>()))
            .prop_map(|(file, size, place)| Action::Write(file, size, place)),
        3 => (0..FILES, 0..100_usize).prop_map(|(file, size)| Action::TakeOut(file, size)),
        4 => (0..FILES, 1..3_000_usize).prop_map(|(file, size)| Action::Append(file, size)),
        1 => (0..FILES, 0..FILES).prop_map(|(from, to)| Action::Rename(from, to)),
        2 => (0..FILES).prop_map(Action::Delete),
        1 => Just(Action::Reopen),
    ];
    proptest::collection::vec(action, 1..40)
}

fn filling(size: usize) -> String {
    "lorem ipsum\n".repeat(size / 12 + 1)[..size].to_owned()
}

/// Two of the files have the secret in their names.
fn path(file: usize) -> String {
    match file {
        0..3 => format!("/memories/{file}.md"),
        _ => format!("/memories/{SECRET}/{file}.md"),
    }
}

fn act(memory: &Memory, action: &Action) {
    // A file may be missing, or not contain the old text: then nothing is done.
    let _ = match action {
        Action::Write(file, size, place) => {
            let mut text = filling(*size);
            if let Some(place) = place {
                text.insert_str(place % (size + 1), SECRET);
            }
            memory.write(&path(*file), &text, None)
        }
        Action::TakeOut(file, size) => {
            memory.str_replace(&path(*file), SECRET, &filling(*size)).map(drop)
        }
        Action::Append(file, size) => memory.insert(&path(*file), 0, &filling(*size)).map(drop),
        Action::Rename(from, to) => memory.rename(&path(*from), &path(*to)).map(drop),
        Action::Delete(file) => memory.delete(&path(*file)).map(drop),
        Action::Reopen => Ok(()),
    };
}

/// The positions of runs of eight bytes of the text in the files below a directory.
fn remains(directory: &Path, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(remains(&path, text));
            continue;
        }
        let bytes = fs::read(&path).unwrap();
        let runs: Vec<&[u8]> = text.as_bytes().windows(8).collect();
        let places = bytes.windows(8).enumerate().filter(|(_, eight)| runs.contains(eight));
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        found.extend(places.map(|(at, _)| format!("{name} at {at}")));
    }
    found
}

fn open(address: &str) -> Memory {
    let mut options = MemoryOptions::default();
    (options.history, options.durability) = (true, Durability::Relaxed);
    Memory::open(address, options).unwrap()
}

fn nothing_remains(address: &str, place: &Path, actions: &[Action]) {
    let mut memory = open(address);
    for action in actions {
        if matches!(action, Action::Reopen) {
            memory = open(address);
        }
        act(&memory, action);
    }
    for file in 0..FILES {
        while memory.str_replace(&path(file), SECRET, "[gone]").is_ok() {}
    }
    // Newest first, so an older version is computed from a newer one that is marked already.
    for version in memory.history(&HistoryQuery::default()).unwrap() {
        let has_content = version.operation != Operation::Redacted && version.redacted.is_none();
        let content = memory.read_version(version.id);
        let has_secret = |content: &[u8]| String::from_utf8_lossy(content).contains(SECRET);
        if has_content && content.is_ok_and(|content| has_secret(&content)) {
            memory.redact(version.id, "a password").unwrap();
        }
    }
    // It is removed from the names as well, if no file has them now.
    for file in 3..FILES {
        let _ = memory.rename(&path(file), &format!("/memories/plain/{file}.md"));
    }
    let _ = memory.delete(&format!("/memories/{SECRET}"));
    let by_text = memory.redact_text(&GrepQuery::text(SECRET), "a password", false).unwrap();
    assert_eq!((by_text.versions.len(), by_text.kept_names.len()), (0, 0));
    let kept = memory.history(&HistoryQuery::default()).unwrap();
    drop(memory);
    assert_eq!(remains(place, SECRET), [""; 0], "after the redaction, {address}");

    let memory = open(address);
    assert_eq!(memory.history(&HistoryQuery::default()).unwrap(), kept);
    memory.erase(false).unwrap();
    drop(memory);
    assert_eq!(remains(place, "lorem ipsum\n"), [""; 0], "after the erasure, {address}");
    for file in 0..FILES {
        assert_eq!(remains(place, &path(file)), [""; 0], "after the erasure, {address}");
    }
}

proptest! {
    #![proptest_config(effort::cases(12))]

    #[test]
    fn nothing_redacted_or_erased_remains_in_the_bytes_of_a_database(actions in actions()) {
        let place = tempfile::tempdir().unwrap();
        let address = format!("sqlite:{}", place.path().join("a.db").display());
        nothing_remains(&address, place.path(), &actions);
    }

    #[test]
    fn nothing_redacted_or_erased_remains_in_the_bytes_of_a_directory(actions in actions()) {
        let place = tempfile::tempdir().unwrap();
        nothing_remains(place.path().to_str().unwrap(), place.path(), &actions);
    }
}

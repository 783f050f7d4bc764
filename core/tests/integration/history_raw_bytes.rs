//! Redaction in the stored bytes: after random histories with secrets in contents and names, no file of a directory and no record of an
//! encrypted directory contains a part of a redacted secret.
#![cfg(all(any(unix, windows), feature = "encryption"))]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a panic is how a test fails")]

use std::path::Path;

use memdir::history::{HistoryError, HistoryQuery, UndoOptions};
use memdir::store::walk_files;
use memdir::{Durability, GrepQuery, Memory, MemoryOptions, MemoryPath, open_store};
use proptest::prelude::*;

use crate::common::effort;
use crate::common::raw_bytes::{files_with_parts, parts_in};
use crate::common::store_helpers::key;

#[derive(Debug, Clone)]
enum Action {
    /// Writes a text, with a secret at this position or without one.
    Write(usize, Option<usize>),
    Insert(usize, Option<usize>),
    /// Removes the secret from the file.
    TakeOut(usize),
    Rename(usize, usize),
    Delete(usize),
    Undo(usize),
    /// Redacts a version with the secret, perhaps one of several.
    Redact(usize),
    Trim,
    Reopen,
}

/// `*` is the secret. The last two are directories, which are only moved and deleted.
const PATHS: [&str; 8] = [
    "/memories/a",
    "/memories/b",
    "/memories/d/a",
    "/memories/*",
    "/memories/d/x*.md",
    "/memories/*y/a",
    "/memories/*y",
    "/memories/d",
];
const FILES: usize = PATHS.len() - 2;

fn actions() -> impl Strategy<Value = Vec<Action>> {
    let path = || 0..FILES;
    let any_path = || 0..PATHS.len();
    let secret = || proptest::option::of(0..3_usize);
    let action = prop_oneof![
        4 => (path(), secret()).prop_map(|(path, secret)| Action::Write(path, secret)),
        4 => (path(), secret()).prop_map(|(path, secret)| Action::Insert(path, secret)),
        3 => path().prop_map(Action::TakeOut),
        3 => (any_path(), any_path()).prop_map(|(from, to)| Action::Rename(from, to)),
        2 => any_path().prop_map(Action::Delete),
        1 => any::<usize>().prop_map(Action::Undo),
        1 => any::<usize>().prop_map(Action::Redact),
        1 => Just(Action::Trim),
        1 => Just(Action::Reopen),
    ];
    proptest::collection::vec(action, 1..30)
}

fn options(is_encrypted: bool) -> MemoryOptions {
    let mut options = MemoryOptions::default();
    options.history = true;
    options.history_max_versions = Some(3);
    options.durability = Durability::Relaxed;
    options.encryption_key = is_encrypted.then(|| key(7));
    options
}

fn open(place: &Path, is_encrypted: bool) -> Memory {
    Memory::open(place.to_str().unwrap(), options(is_encrypted)).unwrap()
}

fn text(secret: &str, at: Option<usize>, number: usize) -> String {
    match at {
        None => format!("line {number}\n"),
        Some(0) => format!("{secret} {number}\n"),
        Some(1) => format!("line {number} {secret}\n"),
        Some(_) => format!("{number}\n{secret}\n{number}\n"),
    }
}

fn files(memory: &Memory) -> Vec<String> {
    let mut paths = Vec::new();
    walk_files(&**memory.store(), &mut |entry| paths.push(entry.path.to_string())).unwrap();
    paths
}

fn follow(place: &Path, is_encrypted: bool, secret: &str, actions: &[Action]) {
    let mut memory = open(place, is_encrypted);
    let paths = PATHS.map(|path| path.replace('*', secret));
    let versions = |memory: &Memory| memory.history(&HistoryQuery::default()).unwrap();
    for (number, action) in actions.iter().enumerate() {
        // A refusal does not matter here.
        match action {
            Action::Write(at, with) => {
                let _ = memory.write(&paths[*at], &text(secret, *with, number), None);
            }
            Action::Insert(at, with) => {
                let _ = memory.insert(&paths[*at], 0, &text(secret, *with, number));
            }
            Action::TakeOut(at) => {
                let _ = memory.str_replace(&paths[*at], secret, "-");
            }
            Action::Rename(from, to) => {
                let _ = memory.rename(&paths[*from], &paths[*to]);
            }
            Action::Delete(at) => {
                let _ = memory.delete(&paths[*at]);
            }
            Action::Undo(chosen) | Action::Redact(chosen) => {
                let versions = versions(&memory);
                if versions.is_empty() {
                    continue;
                }
                let version = &versions[chosen % versions.len()];
                if matches!(action, Action::Undo(_)) {
                    let _ = memory.undo(version.change, UndoOptions::default());
                } else {
                    let _ = memory.redact(version.id, "a secret");
                }
            }
            Action::Trim => {
                memory.trim_history().unwrap();
            }
            Action::Reopen => memory = open(place, is_encrypted),
        }
    }
    // The secret is removed from the files, and from each version that has it.
    for path in files(&memory) {
        let now = memory.read(&path).unwrap();
        if now.contains(secret) {
            memory.write(&path, &now.replace(secret, "-"), None).unwrap();
        }
    }
    for version in versions(&memory) {
        match memory.read_version(version.id) {
            Ok(content) if String::from_utf8_lossy(&content).contains(secret) => {
                memory.redact(version.id, "a secret").unwrap();
            }
            // A deletion has the content of the file if the versions before it were trimmed.
            Err(HistoryError::NoContent(_)) => drop(memory.redact(version.id, "a secret")),
            Ok(_) | Err(HistoryError::Redacted(_)) => {}
            Err(error) => panic!("{version:?}: {error:?}"),
        }
    }
    let by_text = memory.redact_text(&GrepQuery::text(secret), "a secret", false).unwrap();
    // A name stays if a file or directory has it.
    for version in versions(&memory) {
        for path in version.old_path.iter().chain([&version.path]) {
            let above = std::iter::successors(Some(path.clone()), MemoryPath::parent);
            let with_secret =
                above.filter(|path| path.name().is_some_and(|name| name.contains(secret)));
            for path in with_secret {
                let kept = &by_text.kept_names;
                let is_kept = kept.iter().any(|kept| *kept == path || path.is_above(kept));
                assert!(is_kept, "{path} of {kept:?}");
            }
        }
    }
    let mut living: Vec<String> =
        files(&memory).iter().map(|path| memory.read(path).unwrap()).collect();
    living.extend(by_text.kept_names.iter().map(ToString::to_string));
    drop(memory);
    assert_eq!(files_with_parts(place, secret.as_bytes(), &living), [""; 0]);
    if is_encrypted {
        // Hidden files as well, as they are before encryption.
        let store = open_store(place.to_str().unwrap(), &options(true)).unwrap();
        let mut paths = Vec::new();
        walk_files(&*store, &mut |entry| paths.push(entry.path)).unwrap();
        for path in paths {
            let parts = parts_in(&store.read(&path).unwrap(), secret.as_bytes(), &living);
            assert!(parts.is_empty(), "{path}: {parts:?}");
        }
    }
    // The rest of the history is intact.
    let memory = open(place, is_encrypted);
    let mut problems = Vec::new();
    memory.store().inspect(&mut |problem| problems.push(problem.to_string())).unwrap();
    assert!(problems.is_empty(), "{problems:?}");
}

proptest! {
    #![proptest_config(ProptestConfig { max_shrink_iters: 1000, ..effort::cases(10) })]

    #[test]
    fn nothing_of_a_redacted_secret_is_left_in_any_file(secret in "[a-zA-Z0-9]{24}", actions in actions()) {
        for is_encrypted in [false, true] {
            let place = tempfile::tempdir().unwrap();
            follow(place.path(), is_encrypted, &secret, &actions);
        }
    }
}

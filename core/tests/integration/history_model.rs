//! The history compared with a model that keeps whole copies: random commands, external changes, undo, restore, redact
//! and retention, on two stores at a time.
#![cfg(any(unix, windows))]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a panic is how a test fails")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::SystemTime;

use crate::common::effort;
use memdir::history::{HistoryError, HistoryId, HistoryQuery, Operation, UndoOptions, Version};
use memdir::{Durability, EncryptionKey, Memory, MemoryOptions, MemoryPath, OnExisting};
use proptest::prelude::*;

/// All files with their contents.
type Tree = BTreeMap<String, String>;

#[derive(Debug, Clone)]
enum Action {
    Create(usize, String),
    Insert(usize, String),
    Replace(usize, usize),
    Write(usize, String),
    Rename(usize, usize),
    Delete(usize),
    /// Another program writes, or deletes.
    Outside(usize, Option<String>),
    Restore(usize),
    Undo(usize),
    UndoSince(usize),
    RestoreAll(usize),
    Redact(usize),
    /// Removes versions that are too old, or beyond the limit.
    Trim,
    /// The memory is opened again.
    Reopen,
}

const PATHS: [&str; 7] = ["a", "b", "d/a", "d/b", "d/e/a", "x/y", "d"];

fn actions() -> impl Strategy<Value = Vec<Action>> {
    let path = 0..PATHS.len();
    let text = "[ab\n]{0,6}";
    let action = prop_oneof![
        4 => (path.clone(), text).prop_map(|(path, text)| Action::Create(path, text)),
        4 => (path.clone(), text).prop_map(|(path, text)| Action::Insert(path, text)),
        2 => (path.clone(), 0..3_usize).prop_map(|(path, which)| Action::Replace(path, which)),
        2 => (path.clone(), text).prop_map(|(path, text)| Action::Write(path, text)),
        2 => (path.clone(), path.clone()).prop_map(|(from, to)| Action::Rename(from, to)),
        2 => path.clone().prop_map(Action::Delete),
        2 => (path, proptest::option::of(text)).prop_map(|(path, text)| Action::Outside(path, text)),
        2 => any::<usize>().prop_map(Action::Restore),
        2 => any::<usize>().prop_map(Action::Undo),
        1 => any::<usize>().prop_map(Action::UndoSince),
        1 => any::<usize>().prop_map(Action::RestoreAll),
        1 => any::<usize>().prop_map(Action::Redact),
        1 => Just(Action::Trim),
        1 => Just(Action::Reopen),
    ];
    proptest::collection::vec(action, 1..30)
}

/// One memory, and its expected state as whole copies.
struct Subject {
    memory: Memory,
    open: Box<dyn Fn() -> Memory>,
    /// The directory of the files, if another program can write there.
    outside: Option<PathBuf>,
    /// Each version that was ever listed, with its content.
    contents: BTreeMap<HistoryId, Option<String>>,
    redacted: BTreeSet<HistoryId>,
    /// Trees at times between changes.
    moments: Vec<(SystemTime, Tree)>,
}

fn path(index: usize) -> String {
    format!("/memories/{}", PATHS[index])
}

impl Subject {
    fn new(open: Box<dyn Fn() -> Memory>) -> Self {
        let memory = open();
        let outside = memory.store().info().directory;
        Self {
            memory,
            open,
            outside,
            contents: BTreeMap::new(),
            redacted: BTreeSet::new(),
            moments: vec![(SystemTime::now(), Tree::new())],
        }
    }

    fn tree(&self) -> Tree {
        let mut tree = Tree::new();
        let mut paths = Vec::new();
        self.memory.store().files(&mut |entry| paths.push(entry.path)).unwrap();
        paths.retain(|path| !path.as_str().contains(".memdir-"));
        for path in paths {
            let content = self.memory.store().read(&path).unwrap();
            tree.insert(path.to_string(), String::from_utf8(content).unwrap());
        }
        tree
    }

    fn versions(&self) -> Vec<Version> {
        self.memory.history(&HistoryQuery::default()).unwrap()
    }

    /// The version with this number, if there is one.
    fn version(&self, number: usize) -> Option<Version> {
        let versions = self.versions();
        (!versions.is_empty()).then(|| versions[number % versions.len()].clone())
    }

    fn act(&mut self, action: &Action) {
        let before = self.tree();
        let refused = |error: HistoryError| {
            assert!(
                matches!(
                    error,
                    HistoryError::Conflict { .. }
                        | HistoryError::Redacted(_)
                        | HistoryError::IsCurrent { .. }
                        | HistoryError::Trimmed { .. }
                        | HistoryError::NoContent(_)
                ),
                "{error:?}"
            );
        };
        let mut may_change = true;
        match action {
            Action::Create(at, text) => {
                let _ = self.memory.create(&path(*at), text);
            }
            Action::Insert(at, text) => {
                let _ = self.memory.insert(&path(*at), 0, text);
            }
            Action::Replace(at, which) => {
                let (old, new) = [("a", "b"), ("b\n", "a"), ("\n", "ab")][*which];
                let _ = self.memory.str_replace(&path(*at), old, new);
            }
            Action::Write(at, text) => {
                let path = MemoryPath::parse(&path(*at)).unwrap();
                let _ = self.memory.store().write(&path, text.as_bytes(), OnExisting::Overwrite);
            }
            Action::Rename(from, to) => {
                let _ = self.memory.rename(&path(*from), &path(*to));
            }
            Action::Delete(at) => {
                let _ = self.memory.delete(&path(*at));
            }
            Action::Outside(at, text) => {
                let Some(outside) = &self.outside else { return };
                let file = outside.join(PATHS[*at]);
                let _ = match text {
                    Some(text) if file.parent().unwrap().is_dir() && !file.is_dir() => {
                        std::fs::write(file, text)
                    }
                    Some(_) => Ok(()),
                    None => std::fs::remove_file(file),
                };
            }
            Action::Restore(number) => {
                let Some(version) = self.version(*number) else { return };
                match self.memory.restore(version.id, true) {
                    Err(error) => {
                        refused(error);
                        may_change = false;
                    }
                    Ok(_) => {
                        if let Some(Some(content)) = self.contents.get(&version.id) {
                            let after = self.tree();
                            assert!(after.values().any(|text| text == content), "{version:?}");
                        }
                    }
                }
            }
            Action::Undo(number) => {
                let Some(version) = self.version(*number) else { return };
                if version.operation == Operation::External
                    || version.operation == Operation::Redacted
                {
                    return;
                }
                match self.memory.undo(version.change, UndoOptions::default()) {
                    Err(error) => {
                        refused(error);
                        may_change = false;
                    }
                    Ok(done) => {
                        // The undo can be undone, too.
                        if let Some(change) = done.change {
                            self.note();
                            self.memory.undo(change, UndoOptions::default()).unwrap();
                            assert_eq!(self.tree(), before, "undo of an undo");
                        }
                    }
                }
            }
            Action::UndoSince(number) => {
                let Some(version) = self.version(*number) else { return };
                if let Err(error) =
                    self.memory.undo_since(version.time, None, UndoOptions::default())
                {
                    refused(error);
                    may_change = false;
                }
            }
            Action::RestoreAll(number) => {
                let (at, tree) = self.moments[number % self.moments.len()].clone();
                match self.memory.restore_all(at, false) {
                    Err(error) => {
                        refused(error);
                        may_change = false;
                    }
                    // A write by another program is known only after the next change.
                    Ok(_) if self.outside.is_none() => assert_eq!(self.tree(), tree),
                    Ok(_) => {}
                }
            }
            Action::Redact(number) => {
                let Some(version) = self.version(*number) else { return };
                match self.memory.redact(version.id, "because") {
                    Err(error) => refused(error),
                    Ok(_) => {
                        let hash = version.sha256.clone();
                        let gone: Vec<_> = self
                            .contents
                            .iter()
                            .filter(|(_, content)| {
                                hash.is_some()
                                    && content.as_ref() == self.contents[&version.id].as_ref()
                            })
                            .map(|(id, _)| *id)
                            .collect();
                        self.redacted.extend(gone);
                    }
                }
                assert_eq!(self.tree(), before);
            }
            Action::Trim => {
                self.memory.trim_history().unwrap();
                assert_eq!(self.tree(), before);
            }
            Action::Reopen => self.memory = (self.open)(),
        }
        if !may_change {
            assert_eq!(self.tree(), before, "{action:?}");
        }
        self.note();
        std::thread::sleep(std::time::Duration::from_micros(2));
        self.moments.push((SystemTime::now(), self.tree()));
        std::thread::sleep(std::time::Duration::from_micros(2));
    }

    /// Checks that every version still has the content that it had when it was first seen, and that the current
    /// ones match the files.
    fn note(&mut self) {
        let tree = self.tree();
        let versions = self.versions();
        assert!(versions.windows(2).all(|two| two[0].id != two[1].id));
        for version in &versions {
            let content = match self.memory.read_version(version.id) {
                Ok(content) => Some(String::from_utf8(content).unwrap()),
                Err(HistoryError::NoContent(_)) => None,
                // The version that records a redaction has no content either.
                Err(HistoryError::Redacted(_)) if version.operation == Operation::Redacted => {
                    continue;
                }
                Err(HistoryError::Redacted(_)) => {
                    assert!(self.redacted.contains(&version.id), "{version:?}");
                    continue;
                }
                Err(error) => panic!("{version:?}: {error:?}"),
            };
            assert!(!self.redacted.contains(&version.id), "{version:?}");
            if version.is_current && self.outside.is_none() {
                assert_eq!(tree.get(version.path.as_str()), content.as_ref(), "{version:?}");
            }
            // A moved directory was not read.
            if version.size.is_some() || content.is_none() {
                let first = self.contents.entry(version.id).or_insert_with(|| content.clone());
                assert_eq!(*first, content, "{version:?}");
            }
        }
        if self.outside.is_none() {
            let current = versions.iter().filter(|version| version.is_current);
            let current: BTreeSet<&str> = current.map(|version| version.path.as_str()).collect();
            assert_eq!(current, tree.keys().map(String::as_str).collect());
        }
    }
}

fn options() -> MemoryOptions {
    let mut options = MemoryOptions::default();
    options.history = true;
    options.durability = Durability::Relaxed;
    // A deleted file keeps two versions, an existing one ten.
    options.history_max_versions = Some(2);
    options
}

proptest! {
    #![proptest_config(ProptestConfig { max_shrink_iters: 2000, ..effort::cases(16) })]

    #[test]
    fn every_version_is_what_was_there(actions in actions()) {
        let place = tempfile::tempdir().unwrap();
        let address = place.path().join("m").to_string_lossy().into_owned();
        let database = format!("sqlite:{}", place.path().join("a.db").display());
        let secret = place.path().join("s").to_string_lossy().into_owned();
        let encrypted = move || {
            let mut options = options();
            options.encryption_key = Some(EncryptionKey::from_bytes([7; 32]));
            Memory::open(&secret, options).unwrap()
        };
        let mut subjects = [
            Subject::new(Box::new(move || Memory::open(&address, options()).unwrap())),
            Subject::new(Box::new(move || Memory::open(&database, options()).unwrap())),
            Subject::new(Box::new(encrypted)),
        ];
        for action in &actions {
            for subject in &mut subjects {
                subject.act(action);
            }
        }
    }
}

//! Fault matrix: every operation of the underlying store fails in turn, before it did anything, halfway, and
//! after it was done. This is tried with every command, on every layer over a store. The reply is always accurate.
#![cfg(all(unix, feature = "encryption", feature = "sqlite"))]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a panic is how a test fails")]

use std::sync::Arc;

use crate::common::effort::is_turn;
use crate::common::faulty_store::{Fault, FaultyStore, Say, When, answer_lost};
use crate::common::store_helpers::{Tree, at, put, tree};
use memdir::history::{HistoryError, HistoryQuery, Operation};
use memdir::store::{Encrypted, InProcess, Mounts};
use memdir::{Content, EncryptionKey, Memory, MemoryOptions, Reply, Store, StoreError};

const UNCHANGED: &str = "Nothing was changed";
const UNKNOWN: &str = "The change may or may not have been saved";
const READ: &str = "cannot be reached at the moment. Try again later.";

/// How a memory is built from two stores. The second one is used only with mounts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Layers {
    Plain,
    Limited,
    Encrypted,
    EncryptedNames,
    Mounted,
    MountedEncrypted,
    /// With a history, in the store itself.
    Recorded,
    RecordedEncrypted,
}

impl Layers {
    const ALL: [Self; 8] = [
        Self::Plain,
        Self::Limited,
        Self::Encrypted,
        Self::EncryptedNames,
        Self::Mounted,
        Self::MountedEncrypted,
        Self::Recorded,
        Self::RecordedEncrypted,
    ];

    fn over(self, first: Arc<dyn Store>, second: Arc<dyn Store>) -> Arc<dyn Store> {
        let key = EncryptionKey::from_bytes([1; 32]);
        // As a store on another machine is opened: no request before the first command.
        let encrypted = |store, names| Arc::new(Encrypted::lazy(store, &key, names));
        let mounted = |first, second| {
            Arc::new(Mounts::new(first).mount(at("/memories/other"), second).unwrap())
        };
        match self {
            Self::Plain | Self::Limited | Self::Recorded => first,
            Self::Encrypted | Self::RecordedEncrypted => encrypted(first, false),
            Self::EncryptedNames => encrypted(first, true),
            Self::Mounted => mounted(first, second),
            Self::MountedEncrypted => mounted(encrypted(first, false), encrypted(second, false)),
        }
    }

    fn options(self) -> MemoryOptions {
        let mut options = MemoryOptions::default();
        if self == Self::Limited {
            options.max_total_bytes = Some(1000);
            options.max_files = Some(10);
        }
        options.history = self.is_recorded();
        options
    }

    fn commands(self) -> Vec<&'static str> {
        match self {
            // Changes within one store behave as without the other store.
            Self::MountedEncrypted => COMMANDS_OF_MOUNTS.to_vec(),
            Self::Mounted => [COMMANDS, COMMANDS_OF_MOUNTS].concat(),
            _ => COMMANDS.to_vec(),
        }
    }

    fn is_recorded(self) -> bool {
        matches!(self, Self::Recorded | Self::RecordedEncrypted)
    }

    fn has_mounts(self) -> bool {
        matches!(self, Self::Mounted | Self::MountedEncrypted)
    }
}

const COMMANDS: &[&str] = &[
    r#"{"command": "view", "path": "/memories"}"#,
    r#"{"command": "view", "path": "/memories/a.md"}"#,
    r#"{"command": "create", "path": "/memories/new/deep/n.md", "file_text": "new"}"#,
    r#"{"command": "create", "path": "/memories/a.md", "file_text": "never"}"#,
    r#"{"command": "str_replace", "path": "/memories/a.md", "old_str": "one", "new_str": "two"}"#,
    r#"{"command": "insert", "path": "/memories/d/b.md", "insert_line": 0, "insert_text": "zero"}"#,
    r#"{"command": "delete", "path": "/memories/a.md"}"#,
    r#"{"command": "delete", "path": "/memories/d"}"#,
    r#"{"command": "rename", "old_path": "/memories/a.md", "new_path": "/memories/new/a.md"}"#,
    r#"{"command": "rename", "old_path": "/memories/d", "new_path": "/memories/new/d"}"#,
    CLEAR,
];

/// Not a command of a model.
const CLEAR: &str = "clear";

const COMMANDS_OF_MOUNTS: &[&str] = &[
    r#"{"command": "rename", "old_path": "/memories/a.md", "new_path": "/memories/other/new/a.md"}"#,
    r#"{"command": "rename", "old_path": "/memories/d", "new_path": "/memories/other/new/d"}"#,
    r#"{"command": "rename", "old_path": "/memories/other/e", "new_path": "/memories/new/e"}"#,
];

/// The part of a memory that the model can see.
fn in_view(store: &dyn Store) -> Tree {
    let mut tree = tree(store, "/memories");
    tree.retain(|path, _| !path.contains("/.memdir-"));
    tree
}

fn contents(tree: &Tree) -> Vec<&Vec<u8>> {
    let mut contents: Vec<_> = tree.values().flatten().collect();
    contents.sort();
    contents
}

/// One command on a memory, one of whose stores fails.
struct Run {
    before: Tree,
    now: Tree,
    content: String,
    is_error: bool,
    met: bool,
}

fn run(layers: Layers, command: &str, first_fails: bool, when: When, how: (Fault, Say)) -> Run {
    let (first, second): (Arc<dyn Store>, Arc<dyn Store>) =
        (Arc::new(InProcess::new()), Arc::new(InProcess::new()));
    let healthy = layers.over(Arc::clone(&first), Arc::clone(&second));
    for path in ["a.md", "d/b.md", "d/c.md", "d/sub/d.md", "d/sub/e.md"] {
        put(&*healthy, &format!("/memories/{path}"), format!("one {path}\n"));
    }
    if layers.has_mounts() {
        for path in ["e/f.md", "e/g.md", "e/sub/h.md"] {
            put(&*healthy, &format!("/memories/other/{path}"), format!("one {path}\n"));
        }
    }
    let before = in_view(&*healthy);
    let faulty = |store: &Arc<dyn Store>, fails: bool| {
        let when = if fails { when } else { When::Never };
        Arc::new(FaultyStore::over(Arc::clone(store), when, how.0, how.1))
    };
    let stores = (faulty(&first, first_fails), faulty(&second, !first_fails));
    let memory = Memory::with_store(
        layers.over(Arc::clone(&stores.0) as _, Arc::clone(&stores.1) as _),
        layers.options(),
    );
    let reply = match command {
        CLEAR => Reply::from(memory.clear().map(Content::Text)),
        command => memory.execute(command),
    };
    let fails = if first_fails { &stores.0 } else { &stores.1 };
    let met = match when {
        When::Never => false,
        When::One(number) | When::From(number) => fails.operations() > number,
    };
    let content = reply.content.as_text().unwrap_or_default().to_owned();
    // The tree that a new process would see.
    let again = layers.over(first, second);
    let now = in_view(&*again);
    if layers.is_recorded() {
        let memory = Memory::with_store(again, layers.options());
        let what = format!("{layers:?} {command} {when:?} {how:?}: {content}");
        check_history(&what, &memory, &before, &now, how.0);
    }
    Run { before, now, content, is_error: reply.is_error, met }
}

/// Checks that every version can be read, and that every change that was made has a version, and no other.
fn check_history(what: &str, memory: &Memory, before: &Tree, now: &Tree, fault: Fault) {
    let mut versions = memory.history(&HistoryQuery::default()).unwrap();
    for version in &versions {
        match memory.read_version(version.id) {
            Ok(content) if version.is_current => {
                let path = version.path.as_str();
                assert_eq!(now.get(path), Some(&Some(content)), "{what}: {version:?}");
            }
            Ok(_) | Err(HistoryError::NoContent(_)) => {}
            Err(error) => panic!("{what}: {version:?}: {error:?}"),
        }
    }
    // Changes before the recording started.
    versions.retain(|version| version.operation != Operation::External);
    if fault != Fault::Halfway {
        assert_eq!(now == before, versions.is_empty(), "{what}: {versions:?}");
    }
}

/// Checks the reply of one run against the resulting tree. `done` is the result without a fault.
fn check(what: &str, run: &Run, done: &Run, fault: Fault) {
    let Run { before, now, content, is_error, .. } = run;
    if !is_error {
        assert_eq!(*now, done.now, "{what}: it says that it is done");
    } else if content.contains(UNKNOWN) {
        assert!(!content.contains(UNCHANGED), "{what}");
        let deletes = what.contains(r#""command": "delete""#) || what.contains(CLEAR);
        for held in contents(before) {
            // A layer cannot restore what a store lost halfway.
            assert!(
                deletes || done_without(held, done) || contents(now).contains(&held),
                "{what}: a content is lost"
            );
        }
        // Of several stores some can be cleared and others not.
        let in_parts = what.contains("/memories/other") || what.contains(CLEAR);
        if fault != Fault::Halfway && !in_parts {
            assert!(*now == *before || *now == done.now, "{what}: half of it is done: {now:?}");
        }
    } else {
        assert_eq!(now, before, "{what}: it does not say that anything may have been changed");
    }
    // A view reports nothing about changes.
    if what.contains(r#""command": "view""#) && *is_error {
        assert!(content.ends_with(READ) || !content.contains("reached"), "{what}");
        assert!(!content.contains(UNKNOWN), "{what}");
    }
}

/// Whether an edit replaces this content.
fn done_without(held: &Vec<u8>, done: &Run) -> bool {
    !contents(&done.now).contains(&held)
}

fn matrix(faults: &[Fault], say: Say) -> usize {
    let thorough = faults.len() > 1;
    let (mut runs, mut turn) = (0, 0);
    for layers in Layers::ALL {
        for command in layers.commands() {
            let done = run(layers, command, true, When::Never, (Fault::Before, say));
            for first_fails in [true, false] {
                if !first_fails && !layers.has_mounts() {
                    continue;
                }
                for &fault in faults {
                    for when in [When::One, When::From] {
                        // Only where a change is rolled back can more operations fail afterwards.
                        let more = layers.has_mounts() || (thorough && fault == Fault::Before);
                        if when(0) == When::From(0) && !more {
                            continue;
                        }
                        turn += 1;
                        for number in 0.. {
                            if !is_turn(turn + number, 3) {
                                continue;
                            }
                            let run = run(layers, command, first_fails, when(number), (fault, say));
                            let what = format!(
                                "{layers:?} {command} {first_fails} {:?} {fault:?}: {}",
                                when(number),
                                run.content
                            );
                            check(&what, &run, &done, fault);
                            runs += 1;
                            if !run.met {
                                break;
                            }
                        }
                    }
                }
            }
        }
    }
    runs
}

#[test]
fn a_store_that_fails_anywhere_is_told_of_truly() {
    let runs = matrix(&Fault::ALL, answer_lost);
    assert!(runs > 700, "{runs}");
}

#[test]
fn what_fails_before_anything_is_written_says_that_nothing_was_changed() {
    let changes = |command: &&&str| !command.contains(r#""command": "view""#);
    let mut checked = 0;
    for layers in [Layers::Encrypted, Layers::EncryptedNames, Layers::MountedEncrypted] {
        for command in layers.commands().iter().filter(changes) {
            for first_fails in [true, false] {
                let how = (Fault::Before, answer_lost as Say);
                let run = run(layers, command, first_fails, When::One(0), how);
                if run.met {
                    // The failed operation read the record or the destination.
                    assert!(run.content.contains(UNCHANGED), "{command}: {}", run.content);
                    assert_eq!(run.now, run.before);
                    checked += 1;
                }
            }
        }
    }
    assert!(checked > 16, "{checked}");
}

#[test]
fn a_store_that_knows_that_it_changed_nothing_is_believed_only_for_its_own_part() {
    matrix(&[Fault::Before], || answer_lost().unchanged());
}

#[test]
fn a_busy_store_is_told_of_truly() {
    matrix(&[Fault::Before], || StoreError::Busy);
}

#[test]
fn a_call_that_was_cancelled_is_told_of_truly() {
    matrix(&[Fault::Before], || StoreError::Cancelled);
}

#[test]
fn a_store_that_does_not_allow_something_or_is_full_is_told_of_truly() {
    matrix(&[Fault::Before], || StoreError::PermissionDenied);
    matrix(&[Fault::Before], || StoreError::Full);
}

#[test]
fn limits_are_exact_again_after_every_fault() {
    for command in COMMANDS {
        for fault in Fault::ALL {
            for number in 0.. {
                let first: Arc<dyn Store> = Arc::new(InProcess::new());
                for path in ["a.md", "d/b.md", "d/c.md", "d/sub/d.md", "d/sub/e.md"] {
                    put(&*first, &format!("/memories/{path}"), format!("one {path}\n"));
                }
                let when = When::One(number);
                let store = FaultyStore::over(Arc::clone(&first), when, fault, answer_lost);
                let store = Arc::new(store);
                let memory = Memory::with_store(Arc::clone(&store) as _, Layers::Limited.options());
                let _ = memory.execute(command);
                let met = store.operations() > number;
                // Fills the memory, once with a memory that knows what failed, and once with one that measures.
                let full = |memory: &Memory, kind: &str| {
                    (0..20).any(|file| {
                        let path = format!("/memories/{kind}-{file}");
                        memory.create(&path, &"x".repeat(300)).is_err()
                    })
                };
                assert!(!met || full(&memory, "first"), "{command} {fault:?} {number}");
                let held: usize = contents(&in_view(&*first)).iter().map(|held| held.len()).sum();
                assert!(held <= 1000, "{command} {fault:?} {number}: {held}");
                assert!(!met || held > 1000 - 300, "{command} {fault:?} {number}: {held}");
                if !met {
                    break;
                }
            }
        }
    }
}

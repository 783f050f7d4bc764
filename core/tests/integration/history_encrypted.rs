//! The history of an encrypted store: it is where the underlying store keeps its own, and it is
//! encrypted there.
#![cfg(any(unix, windows))]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a panic is how a test fails")]

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::thread;

use crate::common::store_helpers::at;
use memdir::check;
use memdir::history::{HistoryQuery, UndoOptions, Version};
use memdir::store::{Context, Layer, Mutation, ReadOnly, Sealing, rekey};
use memdir::{EncryptionKey, Memory, MemoryOptions, Store, StoreError, open_store};

const SECRETS: [&str; 4] = ["ginger with lemon", "green or black", "elderberries", "session-42"];

fn key(byte: u8) -> EncryptionKey {
    EncryptionKey::from_bytes([byte; 32])
}

fn options(key: EncryptionKey) -> MemoryOptions {
    let mut options = MemoryOptions::default();
    (options.history, options.encryption_key) = (true, Some(key));
    options
}

fn fill(memory: &Memory) {
    let memory = memory.acting_as("session-42");
    memory.create("/memories/tea.md", "green or black\n").unwrap();
    memory.insert("/memories/tea.md", 1, "ginger with lemon\n").unwrap();
    memory.create("/memories/fruit/elderberries.md", "sweet\n").unwrap();
    memory.rename("/memories/fruit", "/memories/food").unwrap();
    memory.str_replace("/memories/tea.md", "ginger with lemon", "mint").unwrap();
    memory.delete("/memories/tea.md").unwrap();
}

/// All versions with their contents.
type Told = Vec<(Version, Option<Vec<u8>>)>;

/// The history of a memory, with the contents of the versions.
fn told(memory: &Memory) -> Told {
    let versions = memory.history(&HistoryQuery::default()).unwrap();
    versions
        .into_iter()
        .map(|version| {
            let content = memory.read_version(version.id).ok();
            (version, content)
        })
        .collect()
}

/// The bytes of every file below a directory.
fn bytes_below(directory: &Path) -> Vec<u8> {
    let mut bytes = Vec::new();
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        bytes.extend(path.to_str().unwrap().as_bytes());
        bytes.extend(if path.is_dir() { bytes_below(&path) } else { fs::read(&path).unwrap() });
    }
    bytes
}

fn has(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|window| window == text.as_bytes())
}

fn problems(store: &Arc<dyn Store>) -> Vec<String> {
    let mut problems = Vec::new();
    check(store, &mut |problem| problems.push(format!("{problem:?}"))).unwrap();
    problems
}

/// Addresses below a directory, one for each place where the underlying store can keep its history.
fn addresses(place: &Path) -> Vec<String> {
    let place = place.to_str().unwrap();
    vec![
        format!("{place}/memory"),
        format!("dir:{place}/notes"),
        format!("sqlite:{place}/memory.db"),
    ]
}

#[test]
fn it_lies_beneath_and_shows_no_text() {
    for encrypt_names in [false, true] {
        let place = tempfile::tempdir().unwrap();
        fs::create_dir(place.path().join("notes")).unwrap();
        for address in addresses(place.path()) {
            let mut options = options(key(1));
            options.encrypt_names = encrypt_names;
            let memory = Memory::open(&address, options.clone()).unwrap();
            fill(&memory);
            let before = told(&memory);
            assert_eq!(before.len(), 6, "{address}");
            drop(memory);
            let memory = Memory::open(&address, options.clone()).unwrap();
            assert_eq!(told(&memory), before, "{address}");
            assert_eq!(memory.list("/memories", None).unwrap().len(), 2, "{address}");
            let store = open_store(&address, &options).unwrap();
            assert_eq!(problems(&store), [""; 0], "{address}");
            // A record in the store itself would be a file.
            let hidden = store.list(&at("/memories/.memdir-history"));
            let is_beside = address.starts_with("dir:") && !encrypt_names;
            assert_eq!(hidden.is_ok(), is_beside, "{address}: {hidden:?}");
            memory.undo(before[0].0.change, UndoOptions::default()).unwrap();
            assert_eq!(memory.read("/memories/tea.md").unwrap(), "green or black\nmint\n");
            memory.clear().unwrap();
            assert_eq!(told(&memory).len(), 9, "{address}");
        }
        let bytes = bytes_below(place.path());
        for secret in SECRETS {
            assert!(!has(&bytes, secret), "{secret}");
        }
    }
}

/// The store as an earlier build saw it, which kept the records in the store itself.
struct Earlier(Arc<dyn Store>);

impl Layer for Earlier {
    fn inner(&self) -> &dyn Store {
        &*self.0
    }

    fn sealing(&self) -> Option<&dyn Sealing> {
        None
    }
}

fn with_history(store: Arc<dyn Store>) -> Memory {
    let mut options = MemoryOptions::default();
    options.history = true;
    Memory::with_store(store, options)
}

/// A store with a history written by an earlier build, the memory of that build, and its history.
fn written_by_an_earlier_build(address: &str) -> (Arc<dyn Store>, Memory, Told) {
    let store = open_store(address, &options(key(1))).unwrap();
    let earlier = with_history(Arc::new(Earlier(Arc::clone(&store))));
    fill(&earlier);
    let before = told(&earlier);
    (store, earlier, before)
}

#[test]
fn records_in_the_store_itself_are_moved_once() {
    let place = tempfile::tempdir().unwrap();
    fs::create_dir(place.path().join("notes")).unwrap();
    for address in addresses(place.path()) {
        let (store, _, before) = written_by_an_earlier_build(&address);
        let hidden = at("/memories/.memdir-history/1");
        assert_eq!(store.list(&hidden).unwrap().len(), 6, "{address}");

        // A read-only process sees them where they are.
        let reader = with_history(Arc::new(ReadOnly::from(Arc::clone(&store))));
        assert_eq!(told(&reader), before, "{address}");
        assert_eq!(store.list(&hidden).unwrap().len(), 6, "{address}");

        // Several processes at once.
        thread::scope(|threads| {
            for _ in 0..8 {
                threads.spawn(|| {
                    let memory = Memory::open(&address, options(key(1))).unwrap();
                    assert!(told(&memory) == before, "{address}");
                });
            }
        });
        assert!(store.list(&hidden).is_err(), "{address}");
        let memory = Memory::open(&address, options(key(1))).unwrap();
        memory.create("/memories/new.md", "new\n").unwrap();
        assert_eq!(told(&memory)[1..], before, "{address}");
        assert_eq!(problems(&store), [""; 0], "{address}");
    }
}

/// A process that is killed before it removes the old records.
struct KilledBeforeRemoving(Arc<dyn Store>);

impl Layer for KilledBeforeRemoving {
    fn inner(&self) -> &dyn Store {
        &*self.0
    }

    fn mutate(&self, context: &Context, mutation: Mutation<'_>) -> Result<bool, StoreError> {
        match mutation {
            Mutation::Delete { path } if path.is_reserved() => Err(StoreError::Busy),
            mutation => self.inner().mutate(context, mutation),
        }
    }
}

#[test]
fn a_move_that_was_killed_doubles_no_record() {
    let place = tempfile::tempdir().unwrap();
    fs::create_dir(place.path().join("notes")).unwrap();
    for address in addresses(place.path()) {
        let (store, earlier, before) = written_by_an_earlier_build(&address);
        let killed = with_history(Arc::new(KilledBeforeRemoving(Arc::clone(&store))));
        assert!(killed.history(&HistoryQuery::default()).is_err());
        // The old records are still there, and a process of an earlier build continues them.
        assert_eq!(told(&earlier), before, "{address}");
        earlier.create("/memories/late.md", "late\n").unwrap();
        let memory = Memory::open(&address, options(key(1))).unwrap();
        assert_eq!(told(&memory)[1..], before, "{address}");
        let ids: BTreeSet<_> = told(&memory).iter().map(|(version, _)| version.id).collect();
        assert_eq!(ids.len(), 7, "{address}");
    }
}

#[test]
fn a_change_that_was_not_made_is_not_moved() {
    let place = tempfile::tempdir().unwrap();
    let address = format!("sqlite:{}/memory.db", place.path().to_str().unwrap());
    let (store, earlier, before) = written_by_an_earlier_build(&address);
    earlier.create("/memories/late.md", "late\n").unwrap();
    // As if the process had been killed after it wrote the record.
    store.delete(&at("/memories/late.md")).unwrap();
    let memory = Memory::open(&address, options(key(1))).unwrap();
    assert_eq!(told(&memory), before);
}

#[test]
fn its_key_changes_with_that_of_the_files() {
    let place = tempfile::tempdir().unwrap();
    fs::create_dir(place.path().join("notes")).unwrap();
    for address in addresses(place.path()) {
        let memory = Memory::open(&address, options(key(1))).unwrap();
        fill(&memory);
        let before = told(&memory);
        drop(memory);
        let raw = memdir::store::open_raw_store(&address, &MemoryOptions::default()).unwrap();
        for round in 1..5 {
            rekey(&raw, &key(round), &key(round + 1)).unwrap();
            let memory = Memory::open(&address, options(key(round + 1))).unwrap();
            assert_eq!(told(&memory), before, "{address}, round {round}");
            assert!(Memory::open(&address, options(key(round))).is_err());
        }
        let store = open_store(&address, &options(key(5))).unwrap();
        assert_eq!(problems(&store), [""; 0], "{address}");
    }
}

#[test]
fn a_plain_record_in_a_sealed_log_is_damage() {
    let place = tempfile::tempdir().unwrap();
    let address = place.path().join("memory").to_str().unwrap().to_owned();
    let mut plain = MemoryOptions::default();
    plain.history = true;
    let memory = Memory::open(&address, plain).unwrap();
    fill(&memory);
    memory.clear().unwrap();
    drop(memory);
    let memory = Memory::open(&address, options(key(1))).unwrap();
    memory.create("/memories/new.md", "new\n").unwrap();
    let told = told(&memory);
    assert_eq!(told.len(), 1);
    assert_eq!(told[0].0.path.as_str(), "/memories/new.md");
    let store = open_store(&address, &options(key(1))).unwrap();
    assert!(problems(&store).iter().all(|problem| problem.contains("are no record")));
    assert!(!problems(&store).is_empty());
}

//! Concurrent use of encrypted stores: renames beside edits, key changes beside commands, and
//! processes that are killed in the middle of either.
#![cfg(all(unix, feature = "encryption"))]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a panic is how a test fails")]
#![allow(clippy::print_stdout, reason = "the figures of a soak")]

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Child;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, SystemTime};

use crate::common::effort::times;
use crate::common::process;
use crate::common::store_helpers::{self, append, at, key};
use memdir::store::{Encrypted, EntryKind, InProcess, LocalDirectory, rekey};
use memdir::{Durability, EncryptionKey, Error, MemoryPath, OnExisting, Store, StoreError};

fn open(inner: &Arc<dyn Store>, number: u8) -> Encrypted {
    Encrypted::open(Arc::clone(inner), &key(number), false).unwrap()
}

fn local(base: &Path) -> Arc<dyn Store> {
    Arc::new(LocalDirectory::open(base, Durability::Relaxed).unwrap())
}

/// Every file below the root with its content. Each must be readable.
fn files(store: &dyn Store) -> BTreeMap<String, String> {
    let tree = store_helpers::tree(store, "/memories").into_iter();
    tree.filter_map(|(path, content)| Some((path, String::from_utf8(content?).unwrap()))).collect()
}

#[test]
fn edits_beside_renames_are_not_lost_and_every_file_is_readable_at_any_moment() {
    const EDITORS: usize = 4;
    let inner: Arc<dyn Store> = Arc::new(InProcess::new());
    // One store object for all threads, and one for each, as separate processes have it.
    let shared = open(&inner, 1);
    for name in ["one", "two", "three"] {
        for file in ["a", "b/c"] {
            let path = at(&format!("/memories/{name}/{file}"));
            shared.write(&path, b"", OnExisting::Error).unwrap();
        }
    }
    let (stop, edits, moves) = (AtomicBool::new(false), AtomicUsize::new(0), AtomicUsize::new(0));
    let names = ["one", "two", "three", "four", "five"];
    let path_of = |name: &str| at(&format!("/memories/{name}"));
    thread::scope(|scope| {
        for mover in 0..4 {
            let (inner, stop, moves) = (&inner, &stop, &moves);
            scope.spawn(move || {
                let own = open(inner, 1);
                for round in 0.. {
                    if stop.load(Ordering::Relaxed) {
                        break;
                    }
                    // Chains, cycles, and races for one source or destination.
                    let from = names[(round * 3 + mover) % names.len()];
                    let to = names[(round + mover * 2 + 1) % names.len()];
                    let (from, to) = match round % 3 {
                        0 => (format!("{from}/b"), format!("{to}/d")),
                        1 => (format!("{from}/d"), format!("{to}/b")),
                        _ => (from.to_owned(), to.to_owned()),
                    };
                    match own.rename(&path_of(&from), &path_of(&to)) {
                        Ok(()) => drop(moves.fetch_add(1, Ordering::Relaxed)),
                        Err(broken @ StoreError::Failed { .. }) => {
                            panic!("{from} to {to}: {broken}")
                        }
                        Err(_) => {}
                    }
                }
            });
        }
        let editors: Vec<_> = (0..EDITORS)
            .map(|editor| {
                let (inner, shared, edits, moves) = (&inner, &shared, &edits, &moves);
                scope.spawn(move || {
                    let own = open(inner, 1);
                    let store = if editor % 2 == 0 { &own } else { shared };
                    for round in 0..50_000 {
                        if round > times(100) && moves.load(Ordering::Relaxed) > times(30) {
                            break;
                        }
                        let name = names[(round + editor) % names.len()];
                        for file in ["a", "b/c", "d/c"] {
                            let path = at(&format!("/memories/{name}/{file}"));
                            match append(store, path.as_str(), "+") {
                                Ok(()) => drop(edits.fetch_add(1, Ordering::Relaxed)),
                                Err(broken @ StoreError::Failed { .. }) => {
                                    panic!("{path}: {broken}")
                                }
                                Err(_) => {}
                            }
                            if let Err(broken @ StoreError::Failed { .. }) = store.read(&path) {
                                panic!("{path}: {broken}");
                            }
                        }
                    }
                })
            })
            .collect();
        let finished: Vec<_> = editors.into_iter().map(thread::ScopedJoinHandle::join).collect();
        stop.store(true, Ordering::Relaxed);
        assert!(finished.iter().all(Result::is_ok));
    });
    let files = files(&shared);
    assert_eq!(files.len(), 6, "{files:?}");
    let counted: usize = files.values().map(String::len).sum();
    assert_eq!(counted, edits.into_inner());
    let moves = moves.into_inner();
    assert!(counted > 100 && moves > 20, "{counted} edits, {moves} renames");
    // Nothing is left over: each file is bound to its path.
    let record = inner.read(&at("/memories/.memdir-encryption")).unwrap();
    assert!(String::from_utf8(record).unwrap().contains("\"renames\":null"));
}

/// A tree for key changes, with its own times.
fn tree(store: &dyn Store, count: usize) -> BTreeMap<String, String> {
    let time = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
    for number in 0..count {
        let path = at(&format!("/memories/{}/{number}", number % 7));
        store.write(&path, format!("file {number}").as_bytes(), OnExisting::Error).unwrap();
        store.set_modified(&path, time).unwrap();
    }
    files(store)
}

#[test]
fn a_new_key_takes_the_place_of_the_old_one() {
    let inner: Arc<dyn Store> = Arc::new(InProcess::new());
    let store = open(&inner, 1);
    let before = tree(&store, 20);
    let ciphertexts = files_of(&*inner);
    assert_eq!(rekey(&inner, &key(1), &key(2)).unwrap(), 20);
    assert!(matches!(Encrypted::open(Arc::clone(&inner), &key(1), false), Err(Error::Config(_))));
    let new = open(&inner, 2);
    assert_eq!(files(&new), before);
    for (path, bytes) in files_of(&*inner) {
        // Everything is encrypted again, including the key of the content.
        assert_ne!(bytes[80..], ciphertexts[&path][80..], "{path}");
        assert_eq!(new.modified(&at(&path)).unwrap(), store.modified(&at(&path)).unwrap());
    }
    let modified = new.modified(&at("/memories/3/3")).unwrap().unwrap();
    assert_eq!(modified.duration_since(SystemTime::UNIX_EPOCH).unwrap().as_secs(), 1_000_000_000);
    // A store that is open with the old key gets an error, and writes nothing with it.
    for refused in [
        store.read(&at("/memories/0/0")).map(drop),
        store.write(&at("/memories/new"), b"x", OnExisting::Error),
        append(&store, "/memories/0/0", "x"),
        store.rename(&at("/memories/0"), &at("/memories/x")),
    ] {
        assert!(refused.unwrap_err().to_string().contains("key was changed"));
    }
    assert_eq!(files(&new), before);
    // Once more, then to a passphrase and back.
    assert_eq!(rekey(&inner, &key(1), &key(2)).unwrap(), 0);
    let phrase = EncryptionKey::passphrase("correct horse").unwrap();
    assert_eq!(rekey(&inner, &key(2), &phrase).unwrap(), 20);
    assert_eq!(rekey(&inner, &phrase, &key(3)).unwrap(), 20);
    assert_eq!(files(&open(&inner, 3)), before);
}

/// The files of the underlying store, except the record.
fn files_of(inner: &dyn Store) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    for directory in inner.list(&MemoryPath::root()).unwrap() {
        if directory.kind == EntryKind::Directory {
            for file in inner.list(&directory.path).unwrap() {
                files.insert(file.path.to_string(), inner.read(&file.path).unwrap());
            }
        }
    }
    files
}

#[test]
fn a_change_of_the_key_needs_its_keys() {
    let inner: Arc<dyn Store> = Arc::new(InProcess::new());
    let refused = |old: u8, new: u8| {
        let error = rekey(&inner, &key(old), &key(new)).unwrap_err();
        assert!(matches!(error, Error::Config(_)), "{error}");
        error.to_string()
    };
    assert!(refused(1, 2).contains("not encrypted"));
    let before = tree(&open(&inner, 1), 3);
    assert!(refused(1, 1).contains("same"));
    assert!(refused(2, 3).contains("another key"));
    assert_eq!(files(&open(&inner, 1)), before);
}

#[test]
fn a_damaged_file_keeps_the_old_key() {
    let inner: Arc<dyn Store> = Arc::new(InProcess::new());
    let before = tree(&open(&inner, 1), 10);
    let damaged = at("/memories/5/5");
    let good = inner.read(&damaged).unwrap();
    inner.write(&damaged, b"damaged", OnExisting::Overwrite).unwrap();
    let error = rekey(&inner, &key(1), &key(2)).unwrap_err();
    assert!(error.to_string().contains("/memories/5/5"), "{error}");
    inner.write(&damaged, &good, OnExisting::Overwrite).unwrap();
    assert_eq!(files(&open(&inner, 1)), before);
    rekey(&inner, &key(1), &key(2)).unwrap();
    assert_eq!(files(&open(&inner, 2)), before);
}

#[test]
fn commands_go_on_while_the_key_is_changed() {
    let inner: Arc<dyn Store> = Arc::new(InProcess::new());
    let store = open(&inner, 1);
    tree(&store, 40);
    let (done, edits) = (AtomicBool::new(false), AtomicUsize::new(0));
    thread::scope(|scope| {
        for writer in 0..3 {
            let (store, inner, done, edits) = (&store, &inner, &done, &edits);
            scope.spawn(move || {
                let mut own = None;
                for number in 0..3000 {
                    let store = own.as_ref().unwrap_or(store);
                    let path = at(&format!("/memories/new-{writer}/{number}"));
                    let shared = format!("/memories/{}/{}", number % 7, number % 40);
                    let wrote = store.write(&path, b"new", OnExisting::Error);
                    let edited = append(store, &shared, "+");
                    if edited.is_ok() {
                        edits.fetch_add(1, Ordering::Relaxed);
                    }
                    for result in [wrote, edited] {
                        match result {
                            // The old key is no longer valid: open with the new one.
                            Err(error @ StoreError::Failed { .. }) => {
                                assert!(error.to_string().contains("key was changed"), "{error}");
                                own = Some(open(inner, 2));
                            }
                            Err(StoreError::NotFound) | Ok(()) => {}
                            Err(error) => panic!("{error}"),
                        }
                    }
                    if done.load(Ordering::Relaxed) && own.is_some() {
                        break;
                    }
                }
            });
        }
        rekey(&inner, &key(1), &key(2)).unwrap();
        done.store(true, Ordering::Relaxed);
    });
    // All acknowledged changes are readable with the new key.
    let files = files(&open(&inner, 2));
    let pluses: usize = files.values().map(|text| text.matches('+').count()).sum();
    assert_eq!(pluses, edits.into_inner());
}

/// Not a real test: the work of the processes that the tests below start.
#[test]
fn worker() {
    let Ok(job) = std::env::var("MEMDIR_JOB") else { return };
    let base = std::env::var("MEMDIR_BASE").unwrap();
    let inner = local(Path::new(&base));
    match job.as_str() {
        // Runs until it is killed.
        "rename" => {
            let store = open(&inner, 1);
            let (a, b) = (at("/memories/a"), at("/memories/b"));
            loop {
                let _ = store.rename(&a, &b);
                let _ = store.rename(&b, &a);
            }
        }
        "rekey" => {
            let [old, new] = ["MEMDIR_OLD", "MEMDIR_NEW"]
                .map(|name| key(std::env::var(name).unwrap().parse().unwrap()));
            rekey(&inner, &old, &new).unwrap();
        }
        other => panic!("no such job: {other}"),
    }
}

fn work(base: &Path, job: &str, more: &[(&str, &str)]) -> Child {
    let base = base.to_str().unwrap();
    process(here!("worker"), &[&[("MEMDIR_JOB", job), ("MEMDIR_BASE", base)], more].concat())
}

#[test]
fn a_kill_in_the_middle_of_renames_leaves_every_file_readable() {
    let place = tempfile::tempdir().unwrap();
    let inner = local(place.path());
    let store = open(&inner, 1);
    for file in ["one", "deep/two", "deep/er/three", ".hidden"] {
        let path = at(&format!("/memories/a/{file}"));
        store.write(&path, file.as_bytes(), OnExisting::Error).unwrap();
    }
    let (mut seen, mut pending) = (BTreeMap::new(), 0);
    let enough = times(10);
    // The start time of a process depends on the machine: later rounds give it longer.
    for round in 0..500.max(enough) {
        if round >= enough && pending > 0 && seen.len() == 2 {
            break;
        }
        let mut victim = work(place.path(), "rename", &[]);
        thread::sleep(Duration::from_millis(15 + round * 7 % (23 + round)));
        victim.kill().unwrap();
        victim.wait().unwrap();
        // With its cache, and newly opened as by the next process.
        for store in [&store, &open(&inner, 1)] {
            let files = files(store);
            assert_eq!(files.len(), 4, "{files:?}");
            let directory = files.keys().next().unwrap()[.."/memories/a".len()].to_owned();
            for (path, content) in &files {
                assert_eq!(path, &format!("{directory}/{content}"));
            }
            *seen.entry(directory).or_insert(0) += 1;
        }
        let record = inner.read(&at("/memories/.memdir-encryption")).unwrap();
        pending += usize::from(!String::from_utf8(record).unwrap().contains("\"renames\":null"));
    }
    assert!(pending > 0, "no process was killed in the middle of a rename");
    assert_eq!(seen.len(), 2, "{seen:?}");
    println!("killed in the middle of a rename: {pending}");
}

#[test]
fn a_kill_in_the_middle_of_a_change_of_the_key_loses_nothing_and_it_goes_on() {
    let place = tempfile::tempdir().unwrap();
    let inner = local(place.path());
    let before = tree(&open(&inner, 1), 120);
    let (mut old, mut new, mut broken_off, mut kills) = (1, 2, 0, 0);
    let enough = times(5);
    for round in 0.. {
        let keys = [old, new].map(|key: u8| key.to_string());
        let mut victim =
            work(place.path(), "rekey", &[("MEMDIR_OLD", &keys[0]), ("MEMDIR_NEW", &keys[1])]);
        thread::sleep(Duration::from_millis(2 + round * 3 % (17 + round)));
        victim.kill().unwrap();
        let finished = victim.wait().unwrap().success();
        kills += u64::from(!finished);
        let opens = [old, new].map(|number| {
            let opened = Encrypted::open(Arc::clone(&inner), &key(number), false);
            opened.is_ok_and(|store| {
                assert_eq!(files(&store), before, "with key {number} of {old} and {new}");
                true
            })
        });
        assert!(opens[0] || opens[1], "no key opens the store");
        broken_off += u64::from(opens[0] && opens[1]);
        if finished || !opens[0] {
            rekey(&inner, &key(old), &key(new)).unwrap();
            assert_eq!(files(&open(&inner, new)), before);
            (old, new) = (new, new % 200 + 1);
        }
        if kills >= enough && broken_off > 2 || round > 500 {
            break;
        }
    }
    rekey(&inner, &key(old), &key(new)).unwrap();
    assert_eq!(files(&open(&inner, new)), before);
    assert!(broken_off > 2, "no process was killed in the middle of it");
    println!("broken off with both keys valid: {broken_off} of {kills} kills");
}

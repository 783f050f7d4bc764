//! Checking a store that has a history: the same result in every language, however the store was
//! opened.
#![cfg(all(unix, feature = "sqlite"))]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a panic is how a test fails")]

use std::fs;
use std::sync::Arc;

use crate::common::store_helpers::{at, put};
use memdir::store::{InProcess, ProblemKind, open_existing_store};
use memdir::{Checked, Memory, MemoryOptions, Store, check};

fn with_history(store: Arc<dyn Store>) -> Memory {
    let mut options = MemoryOptions::default();
    options.history = true;
    Memory::with_store(store, options)
}

/// The result of a check. Every problem is about the history.
fn checked(store: &Arc<dyn Store>) -> (Checked, Vec<String>) {
    let mut details = Vec::new();
    let checked = check(store, &mut |problem| {
        assert_eq!((problem.kind, problem.path.as_str()), (ProblemKind::Damaged, "/memories"));
        assert!(problem.details.starts_with("the history: "), "{problem}");
        details.push(problem.details);
    });
    let checked = checked.unwrap();
    assert_eq!(checked.problems, details.len() as u64);
    (checked, details)
}

fn fill(memory: &Memory) {
    memory.create("/memories/a.md", "one\n").unwrap();
    memory.str_replace("/memories/a.md", "one", "two").unwrap();
    memory.create("/memories/d/b.md", "three\n").unwrap();
    memory.delete("/memories/d/b.md").unwrap();
}

#[test]
fn a_check_counts_the_versions_of_the_history_and_hides_its_files() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().display();
    for address in [format!("{path}/a"), format!("dir:{path}/b"), format!("sqlite:{path}/c.db")] {
        let options = MemoryOptions::default();
        let store = memdir::open_store(&address, &options).unwrap();
        assert_eq!(checked(&store).0.versions, None, "{address}");
        let memory = with_history(Arc::clone(&store));
        fill(&memory);
        // As the memory wraps it, as it was opened, and opened read-only.
        let mut to_be_read = options.clone();
        to_be_read.read_only = true;
        let read_only = open_existing_store(&address, &to_be_read).unwrap().unwrap();
        for store in [memory.store(), &store, &read_only] {
            let (checked, problems) = checked(store);
            let counts = (checked.directories, checked.files, checked.bytes);
            assert_eq!((counts, &problems), ((2, 1, 4), &Vec::new()), "{address}");
        }
        assert_eq!(checked(&store).0.versions, Some(4), "{address}");
    }
    let store: Arc<dyn Store> = Arc::new(InProcess::new());
    fill(&with_history(Arc::clone(&store)));
    let (checked, problems) = checked(&store);
    assert_eq!((checked.files, checked.versions, problems), (1, Some(4), Vec::new()));
}

#[test]
fn a_check_finds_what_is_damaged_in_the_history() {
    // In a log next to the files.
    let place = tempfile::tempdir().unwrap();
    let store = memdir::open_store(place.path().to_str().unwrap(), &MemoryOptions::default());
    let store = store.unwrap();
    let memory = with_history(Arc::clone(&store));
    fill(&memory);
    drop(memory);
    let log = place.path().join("history/active");
    let mut bytes = fs::read(&log).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle..middle + 8].fill(0xa5);
    fs::write(&log, bytes).unwrap();
    assert!(!checked(&store).1.is_empty());
    // The memory with the history finds the same problems, each once.
    let memory = with_history(Arc::clone(&store));
    assert_eq!(checked(memory.store()).1, checked(&store).1);

    // In files of the store itself.
    let store: Arc<dyn Store> = Arc::new(InProcess::new());
    fill(&with_history(Arc::clone(&store)));
    let record = store.list(&at("/memories/.memdir-history/1")).unwrap().remove(0).path;
    store.delete(&record).unwrap();
    put(&*store, record.as_str(), "no record");
    let (found, problems) = checked(&store);
    assert_eq!(found.files, 1);
    assert!(!problems.is_empty());
}

//! The identity of a memory that a sync only reads: no other memory is taken for it, so nothing of another one is deleted.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a panic is how a test fails")]

use std::fs;
use std::sync::Arc;

use crate::common::approving::SixMethods;
use crate::common::store_helpers::at;
use crate::sync::{done, files, memory, on, options, try_sync};
use memdir::store::{InProcess, Layer, StoreInfo};
use memdir::{Memory, MemoryOptions, OnExisting, Store, SyncError, SyncOptions};

fn one_way() -> SyncOptions {
    let mut options = options();
    options.one_way = true;
    options
}

fn read_only(store: Arc<dyn Store>) -> Memory {
    let mut options = MemoryOptions::default();
    options.read_only = true;
    Memory::with_store(store, options)
}

fn fill(store: &dyn Store, names: &[&str]) {
    for name in names {
        let path = at(&format!("/memories/{name}"));
        store.write(&path, name.as_bytes(), OnExisting::Error).unwrap();
    }
}

/// A view of a store that does not say where the store is.
struct Placeless(Arc<dyn Store>);

impl Layer for Placeless {
    fn inner(&self) -> &dyn Store {
        &*self.0
    }

    fn info(&self) -> StoreInfo {
        let mut info = self.0.info();
        info.locations.clear();
        info
    }
}

#[test]
fn stores_of_an_application_are_not_taken_for_each_other() {
    type Open = fn(Arc<dyn Store>) -> Memory;
    let opens: [Open; 2] = [read_only, |store| on(&store)];
    for open in opens {
        let b = memory();
        for names in [["a.md", "b.md"], ["c.md", "d.md"]] {
            let six = SixMethods::default();
            fill(&six, &names);
            let synced = try_sync(&open(Arc::new(six)), &b, &one_way()).unwrap();
            assert!(!synced.has_baseline);
            assert_eq!(synced.changes.len(), 2, "{synced:?}");
        }
        assert_eq!(files(&b).len(), 4);
    }
}

#[test]
fn a_store_in_this_process_is_not_taken_for_an_earlier_one() {
    let b = memory();
    for number in 0..50 {
        let store = InProcess::new();
        fill(&store, &[&format!("{number}.md")]);
        try_sync(&read_only(Arc::new(store)), &b, &one_way()).unwrap();
    }
    assert_eq!(files(&b).len(), 50);
}

#[test]
fn another_memory_at_the_place_of_a_read_only_one_deletes_nothing() {
    let place = tempfile::tempdir().unwrap();
    let directory = place.path().join("handbook");
    let sync = |names: &[&str], b: &Memory| {
        let _ = fs::remove_dir_all(&directory);
        fs::create_dir_all(directory.join("memories")).unwrap();
        for name in names {
            fs::write(directory.join("memories").join(name), name).unwrap();
        }
        let mut options = MemoryOptions::default();
        options.read_only = true;
        let a = Memory::open(directory.to_str().unwrap(), options).unwrap();
        done(&try_sync(&a, b, &one_way()).unwrap())
    };
    let b = memory();
    sync(&["a.md", "b.md", "c.md"], &b);
    // The same memory, of which a file was deleted.
    assert_eq!(sync(&["a.md", "b.md"], &b), ["b deleted c.md"]);
    // The same memory, of which most files are excluded for once.
    let mut options = MemoryOptions::default();
    options.read_only = true;
    let a = Memory::open(directory.to_str().unwrap(), options).unwrap();
    let mut excluding = one_way();
    excluding.exclude = vec!["/memories/?.md".parse().unwrap()];
    assert!(try_sync(&a, &b, &excluding).unwrap().has_baseline);
    // Another one.
    assert_eq!(sync(&["x.md", "y.md"], &b), ["b created x.md", "b created y.md"]);
    assert_eq!(files(&b).len(), 4);
    // An empty one.
    assert_eq!(sync(&[], &b), [""; 0]);
    assert_eq!(files(&b).len(), 4);
}

#[test]
fn a_store_that_was_opened_twice_is_one_memory() {
    for options in [options(), one_way()] {
        let store: Arc<dyn Store> = Arc::new(InProcess::new());
        fill(&*store, &["a.md"]);
        let twice = [(); 2].map(|()| {
            let view: Arc<dyn Store> = Arc::new(Placeless(Arc::clone(&store)));
            on(&view)
        });
        for _ in 0..3 {
            let refused = try_sync(&twice[0], &twice[1], &options);
            assert!(matches!(refused, Err(SyncError::Overlapping)), "{refused:?}");
        }
        assert_eq!(files(&twice[0]).len(), 1);
    }
}

#[test]
fn a_memory_that_cannot_be_written_is_still_read() {
    /// Refuses every change, but does not say that it is read-only.
    struct Unwritable(Arc<dyn Store>);

    impl Layer for Unwritable {
        fn inner(&self) -> &dyn Store {
            &*self.0
        }

        fn mutate(
            &self,
            _: &memdir::store::Context,
            _: memdir::store::Mutation<'_>,
        ) -> Result<bool, memdir::StoreError> {
            Err(memdir::StoreError::ReadOnly)
        }
    }

    let store: Arc<dyn Store> = Arc::new(InProcess::new());
    fill(&*store, &["a.md", "b.md", "c.md"]);
    let unwritable: Arc<dyn Store> = Arc::new(Unwritable(Arc::clone(&store)));
    let (a, b) = (on(&unwritable), memory());
    assert_eq!(try_sync(&a, &b, &one_way()).unwrap().changes.len(), 3);
    store.delete(&at("/memories/a.md")).unwrap();
    assert_eq!(done(&try_sync(&a, &b, &one_way()).unwrap()), ["b deleted a.md"]);
}

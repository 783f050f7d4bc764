//! Directories that are removed only if they are empty.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a panic is how a test fails")]

use std::sync::Arc;

use crate::common::store_helpers::at;
use memdir::store::{InProcess, Mounts};
use memdir::{Memory, MemoryOptions, OnExisting, Store, StoreError};

/// A store may leave the method out, so the contract check alone would not notice that one of memdir's own does.
#[allow(clippy::needless_pass_by_value, reason = "every check gets its store")]
fn every_store_removes_an_empty_directory(store: Arc<dyn Store>) {
    for directory in ["/memories/a/empty", "/memories/mounted/a/empty"] {
        let directory = at(directory);
        store.make_directory(&directory).unwrap();
        assert!(!store.remove_directory(&directory.parent().unwrap()).unwrap());
        assert!(store.remove_directory(&directory).unwrap());
        assert!(matches!(store.remove_directory(&directory), Err(StoreError::NotFound)));
        assert!(store.remove_directory(&directory.parent().unwrap()).unwrap());
    }
    let file = at("/memories/file");
    store.write(&file, b"", OnExisting::Error).unwrap();
    assert!(matches!(store.remove_directory(&file), Err(StoreError::NotADirectory)));
}

on_every_store!(every_store_removes_an_empty_directory);

#[test]
fn a_mount_point_and_the_directories_above_it_are_not_removed() {
    let outer = Arc::new(InProcess::new());
    outer.make_directory(&at("/memories/a")).unwrap();
    let mounts = Mounts::new(outer).mount(at("/memories/a/docs"), Arc::new(InProcess::new()));
    let mounts = mounts.unwrap();
    mounts.make_directory(&at("/memories/a/docs/empty")).unwrap();
    for fixed in ["/memories/a", "/memories/a/docs"] {
        assert!(!mounts.remove_directory(&at(fixed)).unwrap(), "{fixed}");
    }
    assert!(mounts.remove_directory(&at("/memories/a/docs/empty")).unwrap());
}

#[test]
fn a_history_does_not_record_the_removal_of_a_directory() {
    let mut options = MemoryOptions::default();
    options.history = true;
    let memory = Memory::open("memory:", options).unwrap();
    memory.create("/memories/dir/a", "").unwrap();
    memory.delete("/memories/dir/a").unwrap();
    let versions = || memory.history(&memdir::history::HistoryQuery::default()).unwrap().len();
    let before = versions();
    assert!(memory.store().remove_directory(&at("/memories/dir")).unwrap());
    assert_eq!(versions(), before);
    let hidden = memory.store().remove_directory(&at("/memories/.memdir-history"));
    assert!(matches!(hidden, Err(StoreError::PermissionDenied)));
}

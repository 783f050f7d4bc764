//! The local directory on Windows: names, case, and what a killed process leaves.
#![cfg(windows)]

use std::fs;
use std::path::Path;

use memdir::store::{LocalDirectory, Store};
use memdir::{Durability, MemoryPath, OnExisting, StoreError};

fn open(place: &Path) -> LocalDirectory {
    LocalDirectory::open(place, Durability::Relaxed).unwrap()
}

fn at(path: &str) -> MemoryPath {
    MemoryPath::parse(path).unwrap()
}

fn on_disk(place: &Path) -> Vec<String> {
    let entries = fs::read_dir(place.join("memories")).unwrap();
    let mut names: Vec<_> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_name_that_windows_forbids_is_spelled_otherwise_and_comes_back() {
    let place = tempfile::tempdir().unwrap();
    let store = open(place.path());
    let mut paths: Vec<_> = ["a:b", "aux.txt", "end.", "what?"]
        .iter()
        .map(|name| at(&format!("/memories/{name}")))
        .collect();
    for path in &paths {
        store.write(path, path.as_str().as_bytes(), OnExisting::Error).unwrap();
    }
    let names = on_disk(place.path());
    assert!(
        names.iter().all(|name| !name.contains([':', '?']) && !name.ends_with('.')),
        "{names:?}"
    );
    let mut listed: Vec<_> =
        store.list(&MemoryPath::root()).unwrap().into_iter().map(|entry| entry.path).collect();
    listed.sort();
    paths.sort();
    assert_eq!(listed, paths);
    for path in &paths {
        assert_eq!(store.read(path).unwrap(), path.as_str().as_bytes());
    }
}

#[test]
fn names_that_differ_in_case_are_one_file_which_keeps_its_own() {
    let place = tempfile::tempdir().unwrap();
    let store = open(place.path());
    store.write(&at("/memories/Notes.md"), b"one", OnExisting::Error).unwrap();
    let other = at("/memories/NOTES.md");
    assert!(matches!(
        store.write(&other, b"two", OnExisting::Error),
        Err(StoreError::AlreadyExists)
    ));
    store.write(&other, b"two", OnExisting::Overwrite).unwrap();
    store
        .update(&other, &mut |content| {
            Some(memdir::store::Splice { range: 0..content.len(), text: b"three".to_vec() })
        })
        .unwrap();
    assert_eq!(on_disk(place.path()), ["Notes.md"]);
    assert_eq!(store.read(&at("/memories/notes.md")).unwrap(), b"three");
    // Wine cannot change only the case of a name; then nothing is changed.
    match store.rename(&at("/memories/Notes.md"), &at("/memories/notes.md")) {
        Ok(()) => assert_eq!(on_disk(place.path()), ["notes.md"]),
        Err(error) => {
            assert!(matches!(error, StoreError::AlreadyExists), "{error}");
            assert_eq!(on_disk(place.path()), ["Notes.md"]);
        }
    }
}

#[test]
fn what_a_killed_process_left_is_never_seen_and_goes_when_the_store_is_opened() {
    let place = tempfile::tempdir().unwrap();
    let store = open(place.path());
    store.write(&at("/memories/a"), b"a", OnExisting::Error).unwrap();
    let memories = place.path().join("memories");
    fs::write(memories.join(".memdir-staged%2F0"), "half").unwrap();
    fs::create_dir_all(memories.join(".memdir-deleted%2F0/deep")).unwrap();
    let listed = store.list(&MemoryPath::root()).unwrap();
    assert_eq!(listed.len(), 1);
    open(place.path());
    assert_eq!(on_disk(place.path()), ["a"]);
}

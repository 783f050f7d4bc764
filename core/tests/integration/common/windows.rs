//! Helpers for the tests of the local directory on Windows: shortcuts to a store and to the system's own programs.

use std::fs;
use std::path::Path;
use std::process::Command;

use memdir::store::{LocalDirectory, Splice, Store};
use memdir::{Durability, MemoryPath, OnExisting, StoreError};

pub(crate) fn open(place: &Path) -> LocalDirectory {
    LocalDirectory::open(place, Durability::Relaxed).unwrap()
}

pub(crate) fn at(path: &str) -> MemoryPath {
    MemoryPath::parse(path).unwrap()
}

pub(crate) fn on_disk(place: &Path) -> Vec<String> {
    let entries = fs::read_dir(place.join("memories")).unwrap();
    let mut names: Vec<_> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// Inserts `text` at the beginning of the file.
pub(crate) fn prepend(store: &LocalDirectory, path: &str, text: &str) -> Result<(), StoreError> {
    store.update(&at(path), &mut |_| Some(Splice { range: 0..0, text: text.into() }))
}

pub(crate) fn put(store: &LocalDirectory, path: &str, content: &str) {
    store.write(&at(path), content.as_bytes(), OnExisting::Error).unwrap();
}

pub(crate) fn read(store: &LocalDirectory, path: &str) -> String {
    String::from_utf8(store.read(&at(path)).unwrap()).unwrap()
}

/// The output of a program of the system.
pub(crate) fn run(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).output().unwrap();
    assert!(output.status.success(), "{program} {arguments:?}: {output:?}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

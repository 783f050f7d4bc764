//! Helpers for the tests of `memdir import`.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use super::program::{lines, well};

/// A directory `notes` of text files, in a separate place.
pub(crate) fn notes() -> tempfile::TempDir {
    let place = tempfile::tempdir().unwrap();
    for (name, text) in [
        ("CLAUDE.md", "# Rules\nBe brief.\n"),
        ("drinks/tea.md", "green\n"),
        ("drinks/été.txt", "iced\n"),
        ("empty.md", ""),
    ] {
        let file = place.path().join("notes").join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }
    place
}

/// The paths of the files of a store.
pub(crate) fn files(place: &Path, store: &str) -> Vec<String> {
    let tree = lines(&well(place, &["tree", store, "--all", "--json"]));
    let files = tree.iter().filter(|entry| entry["type"] == "file");
    files.map(|entry| entry["path"].as_str().unwrap().to_owned()).collect()
}

/// The objects of a type.
pub(crate) fn of_type<'v>(objects: &'v [Value], kind: &str) -> Vec<&'v Value> {
    objects.iter().filter(|object| object["type"] == kind).collect()
}

/// Runs tar, if it is installed.
pub(crate) fn tar(place: &Path, arguments: &[&str]) -> bool {
    let ran =
        Command::new("tar").args(arguments).env("LC_ALL", "C.UTF-8").current_dir(place).status();
    if ran.is_err() {
        eprintln!("==> LEFT OUT: a tar file of another program, because tar is not installed");
    }
    let is_there = ran.is_ok();
    assert!(ran.is_ok_and(|status| status.success()) || !is_there, "{arguments:?}");
    is_there
}

//! `memdir conflicts` and `memdir resolve`.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use crate::common::program::{memdir, run, said};

/// Two memories with a conflict: the first has `mine`, the second had `theirs`.
fn conflict(mine: &[u8], theirs: &[u8]) -> tempfile::TempDir {
    let place = tempfile::tempdir().unwrap();
    for (memory, content) in [("one", mine), ("two", theirs)] {
        let directory = place.path().join(memory).join("memories");
        fs::create_dir_all(&directory).unwrap();
        fs::write(directory.join("tea.md"), content).unwrap();
    }
    assert_eq!(run(place.path(), &["sync", "one", "two"]).0, 1);
    place
}

fn names(place: &Path, memory: &str) -> Vec<String> {
    let entries = fs::read_dir(place.join(memory).join("memories")).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.filter(|name| !name.starts_with('.')).collect();
    names.sort();
    names
}

fn read(place: &Path, memory: &str) -> Vec<u8> {
    fs::read(place.join(memory).join("memories/tea.md")).unwrap()
}

#[test]
fn conflicts_are_listed_with_both_files() {
    let place = conflict(b"tea\ngreen\n", b"tea\nblack\n");
    let place = place.path();
    for memory in ["one", "two"] {
        let (code, stdout, stderr) = run(place, &["conflicts", memory]);
        assert_eq!((code, stderr.as_str()), (1, ""));
        let start = "/memories/tea.md  /memories/tea (conflict from two ";
        assert!(stdout.starts_with(start) && stdout.lines().count() == 1, "{stdout}");
    }
    let (_, stdout, _) = run(place, &["conflicts", "one", "--diff"]);
    assert!(stdout.contains("\n tea\n-green\n+black\n"), "{stdout}");
    let (_, stdout, _) = run(place, &["conflicts", "one", "--json"]);
    let object: serde_json::Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!((&object["type"], &object["origin"]), (&"conflict".into(), &"two".into()));
    assert!(object["modified"].as_str().unwrap().ends_with('Z'));
    fs::write(place.join("one/memories/plain.md"), "").unwrap();
    assert_eq!(run(place, &["resolve", "one", "/memories/tea.md", "--keep", "original"]).0, 0);
    assert_eq!(run(place, &["conflicts", "one"]), (0, String::new(), String::new()));
}

#[test]
fn a_resolved_conflict_ends_in_every_memory() {
    for (mine, theirs) in [(&b"green\n"[..], &b"black\n"[..]), (b"\xff\x00", b"\xfe\x00")] {
        for (keep, kept) in [("original", mine), ("copy", theirs)] {
            let place = conflict(mine, theirs);
            let place = place.path();
            let (code, stdout, stderr) =
                run(place, &["resolve", "two", "/memories/tea.md", "--keep", keep]);
            assert_eq!((code, stderr.as_str()), (0, ""));
            assert_eq!(stdout, "resolved  /memories/tea.md\n");
            assert_eq!(
                (names(place, "two"), read(place, "two")),
                (vec!["tea.md".into()], kept.into())
            );
            assert_eq!(run(place, &["sync", "one", "two"]).0, 0);
            assert_eq!(
                (names(place, "one"), read(place, "one")),
                (vec!["tea.md".into()], kept.into())
            );
        }
    }
}

#[test]
fn both_contents_are_merged_in_the_editor() {
    let place = conflict(b"tea\ngreen\n", b"tea\nblack\n");
    let place = place.path();
    let edit = |script: &str| {
        let editor = place.join("editor");
        fs::write(&editor, format!("#!/bin/sh\ncp \"$1\" {}/seen\n{script}\n", place.display()))
            .unwrap();
        fs::set_permissions(&editor, fs::Permissions::from_mode(0o700)).unwrap();
        let mut command = memdir(place);
        command.args(["resolve", "one", "/memories/tea.md", "--edit"]);
        command.env("EDITOR", &editor).env_remove("VISUAL");
        said(&command.output().unwrap())
    };
    // Conflict marks must not get into the memory.
    let (code, _, stderr) = edit("");
    assert_eq!(code, 1);
    assert!(stderr.contains("the text still has lines such as `<<<<<<<`"), "{stderr}");
    assert_eq!(
        fs::read_to_string(place.join("seen")).unwrap(),
        "tea\n<<<<<<< yours\ngreen\n=======\nblack\n>>>>>>> there now\n"
    );
    // A change meanwhile is not overwritten.
    let changed = format!("echo other > {}/one/memories/tea.md; echo x > \"$1\"", place.display());
    let (code, _, stderr) = edit(&changed);
    assert_eq!(code, 1);
    assert!(stderr.contains("Your text is in "), "{stderr}");
    assert_eq!((read(place, "one"), names(place, "one").len()), (b"other\n".to_vec(), 2));
    assert_eq!(edit("printf 'green or black\\n' > \"$1\"").0, 0);
    assert_eq!((read(place, "one"), names(place, "one").len()), (b"green or black\n".to_vec(), 1));
}

#[test]
fn nothing_is_resolved_that_is_not_a_conflict() {
    let place = conflict(b"green\n", b"black\n");
    let place = place.path();
    fs::write(place.join("one/memories/other.md"), "").unwrap();
    let resolve = |path: &str, keep: &str| run(place, &["resolve", "one", path, "--keep", keep]);
    let (code, _, stderr) = resolve("/memories/other.md", "copy");
    assert_eq!(code, 1);
    assert!(stderr.contains("/memories/other.md has no conflict"), "{stderr}");
    assert_eq!(run(place, &["resolve", "one", "/memories/tea.md"]).0, 2);
    // Two copies of the same file.
    let copy = names(place, "one").into_iter().find(|name| name.contains("conflict")).unwrap();
    let second = copy.replace("two", "three");
    fs::write(place.join("one/memories").join(&second), "white\n").unwrap();
    let (code, _, stderr) = resolve("/memories/tea.md", "copy");
    assert_eq!(code, 1);
    assert!(
        stderr.contains("/memories/tea.md has 2 conflict copies: name one of them"),
        "{stderr}"
    );
    assert_eq!(resolve(&format!("/memories/{second}"), "copy").0, 0);
    assert_eq!(read(place, "one"), b"white\n");
    // The file is gone: its content would be in no file.
    fs::remove_file(place.join("one/memories/tea.md")).unwrap();
    assert_eq!(resolve("/memories/tea.md", "original").0, 1);
    assert_eq!(resolve("/memories/tea.md", "copy").0, 0);
    assert_eq!((read(place, "one"), names(place, "one").len()), (b"black\n".to_vec(), 2));
}

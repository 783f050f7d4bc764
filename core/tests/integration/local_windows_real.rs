//! Tests of the local directory that need real Windows: links, attributes, permissions, short names, open files, shares.
//!
//! Wine does not support these, or has its own rules. So these tests are ignored, and `make test-windows` runs them on
//! Windows.
#![cfg(windows)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a panic is how a test fails")]
#![allow(clippy::print_stderr, reason = "what is left out is said")]

use std::fs;
use std::io::Read;
use std::os::windows::fs::{symlink_dir, symlink_file};
use std::path::Path;
use std::time::{Duration, Instant};

use crate::common::windows::{at, on_disk, open, prepend, put, read, run};
use memdir::store::{Node, Splice, Store};
use memdir::{MemoryOptions, MemoryPath, OnExisting, StoreError, open_store};

/// The short form that the system gave to a name, if it has one.
fn short_form(path: &Path) -> Option<String> {
    let command = format!("for %I in (\"{}\") do @echo %~snxI", path.display());
    let short = run("cmd", &["/d", "/c", &command]).trim().to_owned();
    (short.contains('~') && !path.ends_with(&short)).then_some(short)
}

#[test]
#[ignore = "needs a real Windows: wine gives no short forms"]
fn a_short_form_is_no_other_name() {
    let place = tempfile::tempdir().unwrap();
    let store = open(place.path());
    put(&store, "/memories/a long directory name/a long file name.markdown", "content");
    put(&store, "/memories/really~1", "its own name");
    let directory = place.path().join("memories").join("a long directory name");
    let file = directory.join("a long file name.markdown");
    let (Some(short_directory), Some(short_file)) = (short_form(&directory), short_form(&file))
    else {
        eprintln!("==> LEFT OUT: a_short_form_is_no_other_name, because the volume gives none");
        return;
    };
    for path in [
        format!("/memories/{short_directory}/a long file name.markdown"),
        format!("/memories/a long directory name/{short_file}"),
    ] {
        let path = at(&path);
        assert!(matches!(store.read(&path), Err(StoreError::NotFound)), "{path}");
        let edited = store.update(&path, &mut |_| panic!("it was found"));
        assert!(matches!(edited, Err(StoreError::NotFound)), "{path}: {edited:?}");
        assert!(matches!(store.delete(&path), Err(StoreError::NotFound)), "{path}");
        assert!(matches!(store.rename(&path, &at("/memories/x")), Err(StoreError::NotFound)));
        for existing in [OnExisting::Error, OnExisting::Overwrite] {
            store.write(&path, b"x", existing).unwrap_err();
        }
    }
    assert!(store.delete(&at(&format!("/memories/{short_directory}"))).is_err());
    assert_eq!(
        read(&store, "/memories/a long directory name/a long file name.markdown"),
        "content"
    );
    assert_eq!(read(&store, "/memories/really~1"), "its own name");
}

#[test]
#[ignore = "needs a real Windows: wine has no attributes of its own"]
fn a_file_keeps_its_attributes_its_rights_and_its_time_of_creation() {
    let place = tempfile::tempdir().unwrap();
    let store = open(place.path());
    put(&store, "/memories/a", "a");
    let name = place.path().join("memories/a");
    let shown = name.to_str().unwrap().trim_start_matches(r"\\?\");
    run("icacls", &[shown, "/grant", "*S-1-1-0:(R)"]);
    run("attrib", &["+h", "+r", shown]);
    let rights = run("icacls", &[shown]);
    let created = name.metadata().unwrap().created().unwrap();
    prepend(&store, "/memories/a", "b").unwrap();
    store.write(&at("/memories/a"), b"whole", OnExisting::Overwrite).unwrap();
    assert_eq!(read(&store, "/memories/a"), "whole");
    assert_eq!(run("icacls", &[shown]), rights);
    let attributes = run("attrib", &[shown]);
    assert!(attributes.contains('H') && attributes.contains('R'), "{attributes}");
    assert_eq!(name.metadata().unwrap().created().unwrap(), created);
    store.delete(&at("/memories/a")).unwrap();
}

#[test]
#[ignore = "needs a real Windows: wine refuses to replace an open file"]
fn a_reader_reads_what_it_opened_to_its_end_while_the_file_is_replaced_moved_or_deleted() {
    let place = tempfile::tempdir().unwrap();
    let store = open(place.path());
    type Change<'c> = &'c dyn Fn(&MemoryPath) -> Result<(), StoreError>;
    let changes: [Change<'_>; 5] = [
        &|path| store.write(path, b"new", OnExisting::Overwrite),
        &|path| store.update(path, &mut |_| Some(Splice { range: 0..1, text: b"new".to_vec() })),
        &|path| store.delete(path),
        &|path| store.rename(path, &at("/memories/moved")),
        &|path| store.delete(&path.parent().unwrap()),
    ];
    for (number, change) in changes.iter().enumerate() {
        let path = at(&format!("/memories/{number}/a"));
        let content = "old".repeat(100_000);
        store.write(&path, content.as_bytes(), OnExisting::Error).unwrap();
        let Node::File(_, mut stream) = store.open(&path, 0).unwrap() else { panic!("{path}") };
        let mut start = [0; 1000];
        stream.read_exact(&mut start).unwrap();
        let begun = Instant::now();
        change(&path).unwrap();
        assert!(begun.elapsed() < Duration::from_secs(5), "{number} waited for the reader");
        let mut rest = Vec::new();
        stream.read_to_end(&mut rest).unwrap();
        assert_eq!([&start[..], &rest].concat(), content.as_bytes(), "{number}");
    }
}

#[test]
#[ignore = "needs a real Windows: wine has no links of its own"]
fn no_link_junction_or_mount_point_is_followed() {
    let place = tempfile::tempdir().unwrap();
    let outside = place.path().join("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("secret"), "secret").unwrap();
    let store = open(place.path());
    put(&store, "/memories/d/a", "a");
    let memories = place.path().join("memories");
    symlink_dir(&outside, memories.join("directory-link")).unwrap();
    symlink_file(outside.join("secret"), memories.join("file-link")).unwrap();
    let (junction, target) = (memories.join("junction"), outside.display().to_string());
    let plain = |path: &str| path.trim_start_matches(r"\\?\").to_owned();
    let junction = plain(junction.to_str().unwrap());
    run("cmd", &["/d", "/c", "mklink", "/J", &junction, &plain(&target)]);
    assert_eq!(store.list(&MemoryPath::root()).unwrap().len(), 1);
    for link in ["directory-link", "junction"] {
        let (below, new) =
            (at(&format!("/memories/{link}/secret")), at(&format!("/memories/{link}/new")));
        for refused in [
            store.read(&below).map(drop),
            store.open(&below, 0).map(drop),
            store.list(&at(&format!("/memories/{link}"))).map(drop),
            store.update(&below, &mut |_| panic!("it was followed")),
            store.write(&new, b"x", OnExisting::Error),
            store.write(&below, b"x", OnExisting::Overwrite),
            store.delete(&below),
            store.rename(&below, &at("/memories/stolen")),
            store.rename(&at("/memories/d"), &new),
            store.make_directory(&new),
        ] {
            assert!(refused.is_err(), "{link}");
        }
    }
    let file = at("/memories/file-link");
    assert!(matches!(store.read(&file), Err(StoreError::Symlink)));
    assert!(matches!(
        store.write(&file, b"x", OnExisting::Overwrite),
        Err(StoreError::Symlink | StoreError::AlreadyExists)
    ));
    for link in ["directory-link", "junction", "file-link"] {
        store.delete(&at(&format!("/memories/{link}"))).unwrap();
    }
    // Also within a directory that is deleted or cleared.
    symlink_dir(&outside, memories.join("d/link")).unwrap();
    store.delete(&at("/memories/d")).unwrap();
    symlink_dir(&outside, memories.join("link")).unwrap();
    store.clear().unwrap();
    assert!(on_disk(place.path()).is_empty());
    assert_eq!(fs::read(outside.join("secret")).unwrap(), b"secret");
    // The root itself.
    fs::remove_dir(&memories).unwrap();
    symlink_dir(&outside, &memories).unwrap();
    assert!(store.read(&at("/memories/secret")).is_err());
    assert!(store.write(&at("/memories/new"), b"x", OnExisting::Error).is_err());
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 1);
}

#[test]
#[ignore = "needs a real Windows: wine cannot change only the case of a name"]
fn a_rename_changes_only_the_case_of_a_name() {
    let place = tempfile::tempdir().unwrap();
    let store = open(place.path());
    put(&store, "/memories/Notes/A.md", "a");
    store.rename(&at("/memories/notes/a.md"), &at("/memories/Notes/a.MD")).unwrap();
    store.rename(&at("/memories/Notes"), &at("/memories/NOTES")).unwrap();
    assert_eq!(on_disk(place.path()), ["NOTES"]);
    assert_eq!(store.list(&at("/memories/notes")).unwrap()[0].path.name(), Some("a.MD"));
}

#[test]
#[ignore = "needs a real Windows: the share of its drive"]
fn an_address_may_be_a_share() {
    let place = tempfile::tempdir().unwrap();
    let plain = place.path().to_str().unwrap().trim_start_matches(r"\\?\").to_owned();
    put(&open(place.path()), "/memories/a", "a");
    let (drive, below) = plain.split_once(':').unwrap();
    for base in
        [format!(r"\\localhost\{drive}${below}"), format!(r"\\?\UNC\localhost\{drive}${below}")]
    {
        let store = open_store(&base, &MemoryOptions::default()).unwrap();
        assert_eq!(store.read(&at("/memories/a")).unwrap(), b"a", "{base}");
        store.write(&at("/memories/a"), b"b", OnExisting::Overwrite).unwrap();
        store.write(&at("/memories/a"), b"a", OnExisting::Overwrite).unwrap();
    }
}

//! The local directory on Windows: names, case, leftovers of killed processes, the lock, and interference by other
//! programs.
//!
//! Wine passes these tests, too. Tests that Wine cannot run are in `local_windows_real.rs`.
#![cfg(windows)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a panic is how a test fails")]

use std::fs::{self, File, OpenOptions};
use std::os::windows::fs::OpenOptionsExt;
use std::thread;
use std::time::{Duration, Instant};

use crate::common::windows::{at, on_disk, open, prepend, put, read};
use memdir::store::{Splice, Store};
use memdir::{MemoryOptions, MemoryPath, OnExisting, StoreError, open_store};

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
    // Wine cannot change only the case of a name. Then nothing is changed.
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

#[test]
fn addresses_are_paths_with_drives() {
    let place = tempfile::tempdir().unwrap();
    let plain = place.path().to_str().unwrap().trim_start_matches(r"\\?\").to_owned();
    assert!(plain[1..].starts_with(r":\"), "{plain}");
    put(&open(place.path()), "/memories/a", "a");
    let slashes = plain.replace('\\', "/");
    let verbatim = format!(r"\\?\{plain}");
    for base in [&plain, &slashes, &verbatim] {
        for address in [base.clone(), format!(r"dir:{base}\memories")] {
            let store = open_store(&address, &MemoryOptions::default()).unwrap();
            assert_eq!(store.read(&at("/memories/a")).unwrap(), b"a", "{address}");
        }
        let address = format!(r"sqlite:{base}\a.db");
        let store = open_store(&address, &MemoryOptions::default()).unwrap();
        store.write(&at("/memories/b"), b"b", OnExisting::Overwrite).unwrap();
    }
    assert!(place.path().join("a.db").is_file());
}

#[test]
fn what_other_programs_would_take_for_a_device_or_a_stream_is_a_file() {
    let place = tempfile::tempdir().unwrap();
    let store = open(place.path());
    let names = [
        "CON",
        "con",
        "aux.txt",
        "NUL",
        "nul.tar.gz",
        "COM1",
        "lpt9.x",
        "conin$",
        "end.",
        "end..",
        "space ",
        "a:b",
        "a:b:$DATA",
        "a::$DATA",
        "COM\u{b9}",
        "x?",
        "x*",
        "<>",
        "\"",
    ];
    for (number, name) in names.iter().enumerate() {
        let path = format!("/memories/{number}/{name}/{name}");
        put(&store, &path, name);
        assert_eq!(read(&open(place.path()), &path), *name);
        let listed = store.list(&at(&format!("/memories/{number}"))).unwrap();
        assert_eq!(listed.len(), 1);
        assert_eq!(listed[0].path.name(), Some(*name));
        store.delete(&at(&format!("/memories/{number}/{name}"))).unwrap();
    }
}

#[test]
fn a_path_may_be_longer_than_260_characters() {
    let place = tempfile::tempdir().unwrap();
    let store = open(place.path());
    let deep = format!("/memories/{}", ["directory with a name"; 40].join("/"));
    let file = format!("{deep}/{}", "n".repeat(200));
    put(&store, &file, "deep");
    prepend(&store, &file, "very ").unwrap();
    store.rename(&at(&deep), &at("/memories/up")).unwrap();
    assert_eq!(read(&store, &format!("/memories/up/{}", "n".repeat(200))), "very deep");
    store.rename(&at("/memories/up"), &at(&deep)).unwrap();
    store.delete(&at("/memories/directory with a name")).unwrap();
    assert!(on_disk(place.path()).is_empty());
}

#[test]
fn a_writer_holds_no_lock_while_it_prepares() {
    let place = tempfile::tempdir().unwrap();
    let store = open(place.path()).with_lock_timeout(Some(Duration::from_millis(500)));
    put(&store, "/memories/a", "a");
    let mut times = 0;
    store
        .update(&at("/memories/a"), &mut |old| {
            times += 1;
            let other = || store.write(&at(&format!("/memories/{times}")), b"", OnExisting::Error);
            thread::scope(|scope| scope.spawn(other).join().unwrap()).unwrap();
            Some(Splice { range: old.len()..old.len(), text: b"+".to_vec() })
        })
        .unwrap();
    assert_eq!((times, read(&store, "/memories/a").as_str()), (1, "a+"));
    assert_eq!(on_disk(place.path()), ["1", "a"]);
}

#[test]
fn an_edit_that_came_too_late_is_computed_again_and_under_the_lock_in_the_end() {
    let place = tempfile::tempdir().unwrap();
    let store = open(place.path()).with_lock_timeout(Some(Duration::from_millis(200)));
    put(&store, "/memories/a", "");
    let (mut times, mut last) = (0, None);
    store
        .update(&at("/memories/a"), &mut |old| {
            times += 1;
            // Another writer is always faster, as long as it can be.
            let other = || prepend(&store, "/memories/a", "+");
            last = Some(thread::scope(|scope| scope.spawn(other).join().unwrap()));
            Some(Splice { range: old.len()..old.len(), text: b".".to_vec() })
        })
        .unwrap();
    assert_eq!(times, 4);
    assert!(matches!(last, Some(Err(StoreError::Busy))), "{last:?}");
    assert_eq!(read(&store, "/memories/a"), "+++.");
}

#[test]
fn a_lock_that_another_program_holds_is_waited_for_with_a_limit_and_not_by_readers() {
    let place = tempfile::tempdir().unwrap();
    let store = open(place.path()).with_lock_timeout(Some(Duration::from_millis(300)));
    put(&store, "/memories/a", "a");
    let name = place.path().join("memories/.memdir-lock%2F");
    let lock = File::create(&name).unwrap();
    lock.lock().unwrap();
    let begun = Instant::now();
    let refused = store.write(&at("/memories/b"), b"b", OnExisting::Error);
    assert!(matches!(refused, Err(StoreError::Busy)), "{refused:?}");
    assert!(matches!(prepend(&store, "/memories/a", "x"), Err(StoreError::Busy)));
    assert!(matches!(store.delete(&at("/memories/a")), Err(StoreError::Busy)));
    let waited = begun.elapsed();
    assert!(waited > Duration::from_millis(800) && waited < Duration::from_secs(20), "{waited:?}");
    assert_eq!(read(&open(place.path()), "/memories/a"), "a");
    drop(lock);
    prepend(&store, "/memories/a", "b").unwrap();
    assert_eq!(read(&store, "/memories/a"), "ba");
    assert_eq!(on_disk(place.path()), ["a"]);
}

#[test]
fn a_content_that_is_being_written_is_not_taken_for_a_leftover() {
    let place = tempfile::tempdir().unwrap();
    let store = open(place.path());
    let staged = place.path().join("memories/.memdir-staged%2F0");
    let writing = File::create(&staged).unwrap();
    put(&store, "/memories/a", "a");
    open(place.path());
    assert!(staged.exists());
    let mut problems = 0;
    store.inspect(&mut |_| problems += 1).unwrap();
    assert_eq!(problems, 0);
    drop(writing);
    store.inspect(&mut |_| problems += 1).unwrap();
    assert_eq!(problems, 1);
    put(&store, "/memories/b", "b");
    assert_eq!(on_disk(place.path()), ["a", "b"]);
}

#[test]
fn a_file_that_another_program_keeps_for_itself_is_refused_and_stays() {
    let place = tempfile::tempdir().unwrap();
    let store = open(place.path()).with_lock_timeout(Some(Duration::from_millis(300)));
    put(&store, "/memories/d/a", "a");
    let name = place.path().join("memories/d/a");
    let theirs = OpenOptions::new().read(true).share_mode(0).open(&name).unwrap();
    for refused in [
        store.read(&at("/memories/d/a")).map(drop),
        prepend(&store, "/memories/d/a", "x"),
        store.write(&at("/memories/d/a"), b"x", OnExisting::Overwrite),
        store.delete(&at("/memories/d/a")),
        store.delete(&at("/memories/d")),
    ] {
        assert!(matches!(refused, Err(StoreError::PermissionDenied)), "{refused:?}");
    }
    drop(theirs);
    prepend(&store, "/memories/d/a", "b").unwrap();
    assert_eq!(read(&store, "/memories/d/a"), "ba");
    assert_eq!(on_disk(place.path()), ["d"]);
}

#[test]
fn an_access_is_forgotten_with_its_file() {
    let place = tempfile::tempdir().unwrap();
    let store = open(place.path());
    let time = std::time::SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
    let noted = || fs::read_dir(place.path().join("memories/.memdir-accessed%2F")).unwrap().count();
    for path in ["/memories/a", "/memories/d/b", "/memories/d/c", "/memories/e"] {
        put(&store, path, "x");
        store.record_access(&at(path), time).unwrap();
        assert_eq!(store.accessed(&at(path)).unwrap(), Some(time));
    }
    assert_eq!(noted(), 4);
    store.rename(&at("/memories/d"), &at("/memories/f")).unwrap();
    assert_eq!(store.accessed(&at("/memories/f/c")).unwrap(), Some(time));
    prepend(&store, "/memories/a", "new ").unwrap();
    assert_eq!((noted(), store.accessed(&at("/memories/a")).unwrap()), (3, None));
    store.delete(&at("/memories/f")).unwrap();
    assert_eq!(noted(), 1);
    // No command and no listing reaches them.
    assert_eq!(store.list(&MemoryPath::root()).unwrap().len(), 2);
    assert_eq!(on_disk(place.path()), [".memdir-accessed%2F", "a", "e"]);
    store.clear().unwrap();
    assert_eq!(on_disk(place.path()), [""; 0]);
}

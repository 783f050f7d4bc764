//! The local directory on Windows: names, case, what a killed process leaves, the lock, links, and what other programs do.
//!
//! Tests that wine cannot pass are ignored, and run on a real Windows with `--include-ignored`.
#![cfg(windows)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a panic is how a test fails")]
#![allow(clippy::print_stderr, reason = "what is left out is said")]

use std::fs::{self, File, OpenOptions};
use std::io::Read;
use std::os::windows::fs::{OpenOptionsExt, symlink_dir, symlink_file};
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use memdir::store::{LocalDirectory, Node, Splice, Store};
use memdir::{Durability, MemoryOptions, MemoryPath, OnExisting, StoreError, open_store};

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

/// Puts `text` before what the file holds.
fn prepend(store: &LocalDirectory, path: &str, text: &str) -> Result<(), StoreError> {
    store.update(&at(path), &mut |_| Some(Splice { range: 0..0, text: text.into() }))
}

fn put(store: &LocalDirectory, path: &str, content: &str) {
    store.write(&at(path), content.as_bytes(), OnExisting::Error).unwrap();
}

fn read(store: &LocalDirectory, path: &str) -> String {
    String::from_utf8(store.read(&at(path)).unwrap()).unwrap()
}

/// What a program of the system printed.
fn run(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).output().unwrap();
    assert!(output.status.success(), "{program} {arguments:?}: {output:?}");
    String::from_utf8_lossy(&output.stdout).into_owned()
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
        let program = env!("CARGO_BIN_EXE_memdir");
        let shown = run(program, &["show", base, "/memories/a"]);
        assert!(shown.trim_end().ends_with('a'), "{base}: {shown}");
        let listed = run(program, &["tree", &format!("dir:{base}")]);
        assert!(listed.contains("a.db"), "{base}: {listed}");
    }
    assert!(place.path().join("a.db").is_file());
    let to = format!(r"{plain}\copy");
    run(env!("CARGO_BIN_EXE_memdir"), &["copy", &format!("sqlite:{slashes}/a.db"), &to]);
    assert_eq!(fs::read(format!(r"{to}\memories\b")).unwrap(), b"b");
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

/// The short form that the system has given a name, if it has.
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
    // Within a directory that is deleted, or cleared, too.
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

//! The SQLite store: its files on disk, and the errors for files that are not databases.
#![cfg(feature = "sqlite")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a panic is how a test fails")]

use std::fs;
use std::io::Read;
use std::path::Path;
use std::time::Duration;

#[cfg(unix)]
use crate::common;
use crate::common::store_helpers::{self, append, at};
use memdir::store::{Context, Effect, InContext, Node, Splice, SqliteDatabase};
use memdir::{
    Cancellation, Durability, Error, Memory, MemoryOptions, MemoryPath, OnExisting, Store,
    StoreError,
};

fn open(path: &Path) -> Result<SqliteDatabase, StoreError> {
    SqliteDatabase::open(path, Durability::Relaxed)
}

/// The error for the developer when the database cannot be opened.
fn refusal(path: &Path) -> String {
    match open(path) {
        Err(error @ StoreError::Failed { .. }) => error.to_string(),
        Err(error) => panic!("not a failure but a condition: {error}"),
        Ok(_) => panic!("{} was opened", path.display()),
    }
}

fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn an_address_opens_it_and_what_was_written_is_there_again() {
    let place = tempfile::tempdir().unwrap();
    let address = format!("sqlite:{}", place.path().join("agent.db").display());
    for round in 0..2 {
        let memory = Memory::open(&address, MemoryOptions::default()).unwrap();
        assert_eq!(memory.create("/memories/dir/a", "kept").is_ok(), round == 0);
        assert!(memory.view("/memories/dir/a", None).unwrap().ends_with("\tkept"));
        drop(memory);
        // The last process that closes it leaves one file.
        assert_eq!(names(place.path()), ["agent.db"]);
    }
}

#[cfg(unix)]
#[test]
fn its_files_are_for_their_owner_only() {
    use std::os::unix::fs::PermissionsExt;

    let place = tempfile::tempdir().unwrap();
    let store = open(&place.path().join("a.db")).unwrap();
    store.write(&at("/memories/a"), b"x", OnExisting::Error).unwrap();
    assert_eq!(names(place.path()), ["a.db", "a.db-shm", "a.db-wal"]);
    for name in names(place.path()) {
        let mode = fs::metadata(place.path().join(&name)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{name}");
    }
}

#[test]
fn what_is_no_database_is_refused_and_left_alone() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("text.db");
    fs::write(&path, "no database, but a text that somebody needs\n".repeat(100)).unwrap();
    let before = fs::read(&path).unwrap();
    assert!(refusal(&path).contains("not an SQLite database"), "{}", refusal(&path));
    assert_eq!(fs::read(&path).unwrap(), before);

    let directory = place.path().join("directory.db");
    fs::create_dir(&directory).unwrap();
    assert!(refusal(&directory).contains("it is a directory"), "{}", refusal(&directory));

    let nowhere = place.path().join("none").join("a.db");
    assert!(refusal(&nowhere).contains("none"), "{}", refusal(&nowhere));
    assert_eq!(names(place.path()), ["directory.db", "text.db"]);
}

#[cfg(unix)]
#[test]
fn a_special_file_is_refused_and_not_opened() {
    let place = tempfile::tempdir().unwrap();
    let socket = place.path().join("a.db");
    let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    assert!(refusal(&socket).contains("not a plain file"), "{}", refusal(&socket));
}

#[test]
fn databases_of_others_are_refused_and_left_alone() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("a.db");
    let db = rusqlite::Connection::open(&path).unwrap();
    db.execute_batch("CREATE TABLE theirs (a); INSERT INTO theirs VALUES (1)").unwrap();
    drop(db);
    let before = fs::read(&path).unwrap();
    assert!(refusal(&path).contains("another program"), "{}", refusal(&path));
    assert_eq!(fs::read(&path).unwrap(), before);

    let path = place.path().join("newer.db");
    drop(open(&path).unwrap());
    let db = rusqlite::Connection::open(&path).unwrap();
    db.pragma_update(None, "user_version", 7).unwrap();
    drop(db);
    assert!(refusal(&path).contains("newer memdir"), "{}", refusal(&path));
}

#[test]
fn files_of_an_older_database_have_fingerprints_which_differ_after_the_next_write() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("a.db");
    let (store, file) = (open(&path).unwrap(), at("/memories/a"));
    store.write(&file, b"one", OnExisting::Error).unwrap();
    let db = rusqlite::Connection::open(&path).unwrap();
    // As after the step that upgraded the database.
    db.execute_batch("UPDATE node SET written = NULL").unwrap();
    let fingerprint = || {
        let listed = store.list(&MemoryPath::root()).unwrap();
        listed[0].fingerprint.clone().unwrap()
    };
    let (before, time) = (fingerprint(), store.modified(&file).unwrap().unwrap());
    assert_eq!(before, fingerprint());
    store.write(&file, b"two", OnExisting::Overwrite).unwrap();
    store.set_modified(&file, time).unwrap();
    assert_ne!(before, fingerprint());
}

#[test]
fn a_damaged_page_is_an_error_for_the_developer_and_one_sentence_for_the_model() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("a.db");
    let store = open(&path).unwrap();
    for number in 0..50 {
        let file = at(&format!("/memories/file {number}"));
        store.write(&file, &b"text ".repeat(1000), OnExisting::Error).unwrap();
    }
    drop(store);
    let mut bytes = fs::read(&path).unwrap();
    // The first page, with the header and the tables' names, stays intact.
    bytes[4096..].fill(0xa5);
    fs::write(&path, bytes).unwrap();

    let address = format!("sqlite:{}", path.display());
    let memory = Memory::open(&address, MemoryOptions::default()).unwrap();
    let Err(Error::Store(error)) = memory.view("/memories/file 7", None) else {
        panic!("a damaged database answered")
    };
    assert!(error.to_string().contains("damaged"), "{error}");
    let reply = memory.execute(r#"{"command": "view", "path": "/memories/file 7"}"#);
    assert!(reply.is_error && reply.cause.is_some());
    assert!(
        reply.content.as_text().unwrap_or_default().contains("cannot be reached"),
        "{}",
        reply.content
    );
    for word in ["a.db", "sqlite", "SQL", "damaged"] {
        assert!(!reply.content.as_text().unwrap_or_default().contains(word), "{}", reply.content);
    }
}

#[test]
fn a_missing_piece_is_noticed() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("a.db");
    let file = at("/memories/large");
    let store = open(&path).unwrap();
    store.write(&file, &vec![b'x'; 300_000], OnExisting::Error).unwrap();
    drop(store);
    let db = rusqlite::Connection::open(&path).unwrap();
    db.execute("DELETE FROM chunk WHERE number = 2", []).unwrap();
    drop(db);
    let store = open(&path).unwrap();
    assert!(matches!(store.read(&file), Err(StoreError::Failed { .. })));
    let Node::File(_, mut stream) = store.open(&file, 1).unwrap() else { panic!("no file") };
    assert!(stream.read_to_end(&mut Vec::new()).is_err());
}

#[cfg(unix)]
#[test]
fn a_file_that_is_removed_or_replaced_is_noticed() {
    let place = tempfile::tempdir().unwrap();
    let [path, other] = ["a.db", "b.db"].map(|name| place.path().join(name));
    let store = open(&path).unwrap();
    store.write(&at("/memories/first"), b"1", OnExisting::Error).unwrap();
    let second = open(&other).unwrap();
    second.write(&at("/memories/second"), b"2", OnExisting::Error).unwrap();
    drop(second);

    fs::remove_file(&path).unwrap();
    let removed = store.write(&at("/memories/lost"), b"", OnExisting::Error);
    assert!(matches!(removed, Err(StoreError::Failed { .. })), "{removed:?}");
    assert!(!path.exists(), "an empty memory was made in place of the one that is gone");

    for log in ["a.db-wal", "a.db-shm"] {
        fs::remove_file(place.path().join(log)).unwrap();
    }
    fs::rename(&other, &path).unwrap();
    assert_eq!(store.read(&at("/memories/second")).unwrap(), b"2");
    assert!(matches!(store.read(&at("/memories/first")), Err(StoreError::NotFound)));
    store.write(&at("/memories/third"), b"3", OnExisting::Error).unwrap();
    assert_eq!(open(&path).unwrap().read(&at("/memories/third")).unwrap(), b"3");
}

#[test]
fn a_large_file_streams_as_it_was_when_it_was_opened() {
    let place = tempfile::tempdir().unwrap();
    let store = open(&place.path().join("a.db")).unwrap();
    let file = at("/memories/large");
    let content: Vec<u8> = (0..1_000_000_u32).flat_map(u32::to_le_bytes).collect();
    store.write(&file, &content, OnExisting::Error).unwrap();
    let Node::File(size, mut stream) = store.open(&file, 1).unwrap() else { panic!("no file") };
    assert_eq!(size, content.len() as u64);
    let mut seen = vec![0; 1000];
    stream.read_exact(&mut seen).unwrap();
    // A reader blocks no writer, and is not affected by one.
    store.delete(&file).unwrap();
    store.write(&file, b"another", OnExisting::Error).unwrap();
    stream.read_to_end(&mut seen).unwrap();
    assert!(seen == content, "the stream was disturbed");
    assert_eq!(store.read(&file).unwrap(), b"another");
}

#[test]
fn edits_around_the_borders_of_pieces_change_what_they_should() {
    const PIECE: usize = 64 * 1024;
    let place = tempfile::tempdir().unwrap();
    let store = open(&place.path().join("a.db")).unwrap();
    let file = at("/memories/large");
    let mut expected: Vec<u8> = (0..u8::MAX).cycle().take(3 * PIECE + 5).collect();
    store.write(&file, &expected, OnExisting::Error).unwrap();
    for (range, text) in [
        (0..0, "at the start".len()),
        (PIECE - 1..PIECE + 1, 0),
        (PIECE..PIECE, PIECE),
        (2 * PIECE..4 * PIECE, 7),
        (PIECE..2 * PIECE + 10, 0),
        (0..PIECE, PIECE),
        (1..PIECE, 0),
        (0..1, 0),
    ] {
        let range = range.start.min(expected.len())..range.end.min(expected.len());
        let splice = Splice { range, text: vec![b'+'; text] };
        store.update(&file, &mut |_| Some(splice.clone())).unwrap();
        expected = splice.apply(&expected);
        assert!(store.read(&file).unwrap() == expected, "{splice:?}");
        let Node::File(size, mut stream) = store.open(&file, 1).unwrap() else { panic!() };
        let mut streamed = Vec::new();
        stream.read_to_end(&mut streamed).unwrap();
        assert!(size == expected.len() as u64 && streamed == expected, "{splice:?}");
    }
}

#[test]
fn an_edit_that_panics_changes_nothing_and_keeps_nobody_waiting() {
    let place = tempfile::tempdir().unwrap();
    let store = open(&place.path().join("a.db")).unwrap();
    store_helpers::an_edit_that_panics_changes_nothing_and_keeps_nobody_waiting(&store);
}

#[test]
fn a_writer_waits_while_another_program_has_the_database() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("a.db");
    let store = open(&path).unwrap();
    let file = at("/memories/a");
    store.write(&file, b"one", OnExisting::Error).unwrap();
    // To SQLite, another thread's connection is the same as another program's.
    let other = rusqlite::Connection::open(&path).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| store.write(&file, b"two", OnExisting::Overwrite));
        std::thread::sleep(Duration::from_millis(50));
        assert!(!writer.is_finished());
        // Readers do not wait.
        assert_eq!(store.read(&file).unwrap(), b"one");
        other.execute_batch("COMMIT").unwrap();
        writer.join().unwrap().unwrap();
    });
    assert_eq!(store.read(&file).unwrap(), b"two");
}

/// Does `work` while another program has locked the database.
fn while_locked<T>(path: &Path, work: impl FnOnce() -> T) -> T {
    let other = rusqlite::Connection::open(path).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let done = work();
    other.execute_batch("ROLLBACK").unwrap();
    done
}

#[test]
fn a_writer_waits_for_others_as_long_as_it_may_and_changes_nothing() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("a.db");
    let store = open(&path).unwrap().with_lock_timeout(Some(Duration::from_millis(50)));
    let file = at("/memories/a");
    store.write(&file, b"one", OnExisting::Error).unwrap();
    let mut options = MemoryOptions::default();
    options.lock_timeout = Some(Duration::from_millis(20));
    let memory = Memory::open(&format!("sqlite:{}", path.display()), options).unwrap();
    while_locked(&path, || {
        let other = at("/memories/b");
        let since = std::time::SystemTime::now();
        let mut never = |_: &[u8]| panic!("it was not its turn");
        for refused in [
            store.write(&file, b"two", OnExisting::Overwrite),
            store.update(&file, &mut never),
            store.rename(&file, &other),
            store.delete(&file),
            store.make_directory(&other),
            store.set_modified(&file, since),
            store.delete_unused(&file, since).map(drop),
            store.clear(),
        ] {
            assert!(matches!(refused, Err(StoreError::Busy)), "{refused:?}");
        }
        let reply = memory.execute(r#"{"command": "delete", "path": "/memories/a"}"#);
        let said = reply.content.as_text().unwrap_or_default();
        assert!(reply.is_error && said.contains("busy") && said.contains("Nothing was changed"));
        // Views and opening do not wait.
        assert_eq!(store.read(&file).unwrap(), b"one");
        open(&path).unwrap();
    });
    store.write(&file, b"two", OnExisting::Overwrite).unwrap();
}

#[test]
fn a_change_whose_caller_has_gone_does_not_happen() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("a.db");
    let store = open(&path).unwrap().with_lock_timeout(None);
    let file = at("/memories/a");
    store.write(&file, b"one", OnExisting::Error).unwrap();
    let cancellation = Cancellation::new();
    // With a lock that is not released before.
    while_locked(&path, || {
        std::thread::scope(|scope| {
            let (sender, started) = std::sync::mpsc::channel();
            let (store, file, cancellation) = (&store, &file, &cancellation);
            let waiting: Vec<_> = (0..10)
                .map(|_| {
                    let sender = sender.clone();
                    scope.spawn(move || {
                        sender.send(()).unwrap();
                        let context = Context::new().cancelled_by(cancellation);
                        let store = InContext::new(store, &context);
                        store.write(file, b"late", OnExisting::Overwrite)
                    })
                })
                .collect();
            (0..10).for_each(|_| started.recv().unwrap());
            std::thread::sleep(Duration::from_millis(20));
            assert!(waiting.iter().all(|waiting| !waiting.is_finished()));
            cancellation.cancel();
            for waiting in waiting {
                let done = waiting.join().unwrap();
                assert!(matches!(done, Err(StoreError::Cancelled)), "{done:?}");
            }
        });
    });
    // The same if the lock is free when it is checked.
    let context = Context::new().cancelled_by(&cancellation);
    let done = InContext::new(&store, &context).delete(&file);
    assert!(matches!(done, Err(StoreError::Cancelled)), "{done:?}");
    assert_eq!(store.read(&file).unwrap(), b"one");
}

#[test]
fn what_is_too_large_is_not_read_to_be_edited() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("a.db");
    let store = open(&path).unwrap().with_max_file_bytes(Some(10));
    store_helpers::what_is_too_large_is_not_read_to_be_edited(&store);
    // A size beyond any memory does not end the process.
    let db = rusqlite::Connection::open(&path).unwrap();
    db.execute("UPDATE node SET size = 1 << 50 WHERE name = 'a'", []).unwrap();
    let store = store.with_max_file_bytes(None);
    let refused = append(&store, "/memories/a", "+");
    assert!(matches!(refused, Err(StoreError::TooLarge { .. })), "{refused:?}");
    assert!(store.read(&at("/memories/a")).is_err());
}

#[test]
fn what_broke_before_anything_was_committed_changed_nothing_and_says_so() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("a.db");
    let store = open(&path).unwrap();
    let file = at("/memories/a");
    store.write(&file, &vec![b'x'; 200_000], OnExisting::Error).unwrap();
    let db = rusqlite::Connection::open(&path).unwrap();
    db.execute("DELETE FROM chunk WHERE number = 1", []).unwrap();
    let broken = store.update(&file, &mut |_| None);
    assert!(matches!(broken, Err(StoreError::Failed { effect: Effect::Unchanged, .. })));
    drop((db, store));
    fs::remove_file(&path).unwrap();
    if cfg!(windows) {
        // On Windows an open database cannot be removed.
        return;
    }
    let memory =
        Memory::open(&format!("sqlite:{}", path.display()), MemoryOptions::default()).unwrap();
    fs::remove_file(&path).unwrap();
    let reply = memory.execute(r#"{"command": "create", "path": "/memories/a", "file_text": "x"}"#);
    assert!(
        reply.content.as_text().unwrap_or_default().contains("Nothing was changed"),
        "{}",
        reply.content
    );
}

#[cfg(unix)]
fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(mode)).unwrap();
}

#[cfg(unix)]
#[test]
fn a_database_in_a_directory_that_cannot_be_written_can_be_viewed() {
    let test = here!("a_database_in_a_directory_that_cannot_be_written_can_be_viewed");
    common::without_power(test, |place| {
        // A name that has another meaning in SQLite's URIs.
        let place = place.join("100% #1?mode=rw");
        fs::create_dir(&place).unwrap();
        let path = place.join("a.db");
        let store = open(&path).unwrap();
        store.write(&at("/memories/a"), b"kept", OnExisting::Error).unwrap();
        drop(store);
        set_mode(&path, 0o400);
        set_mode(&place, 0o500);
        for read_only in [true, false] {
            // Because `sqlite:` allows no question mark.
            let store = if read_only {
                SqliteDatabase::find(&path, Durability::Full).unwrap().unwrap()
            } else {
                open(&path).unwrap()
            };
            for _ in 0..2 {
                assert_eq!(store.read(&at("/memories/a")).unwrap(), b"kept");
            }
            let refused = store.write(&at("/memories/b"), b"", OnExisting::Error);
            assert!(matches!(refused, Err(StoreError::PermissionDenied)), "{refused:?}");
            assert_eq!(names(&place), ["a.db"]);
        }
        // Later writes are visible, also in a store that was open before.
        let before = open(&path).unwrap();
        assert_eq!(before.read(&at("/memories/a")).unwrap(), b"kept");
        set_mode(&place, 0o700);
        set_mode(&path, 0o600);
        let writer = open(&path).unwrap();
        writer.write(&at("/memories/a"), b"newer", OnExisting::Overwrite).unwrap();
        assert_eq!(before.read(&at("/memories/a")).unwrap(), b"newer");
        // A database with changes that are not in the main file yet is refused.
        let copy = place.join("copy");
        fs::create_dir(&copy).unwrap();
        for name in ["a.db", "a.db-wal"] {
            fs::copy(place.join(name), copy.join(name)).unwrap();
        }
        set_mode(&copy, 0o500);
        assert!(open(&copy.join("a.db")).is_err());
        set_mode(&copy, 0o700);
    });
}

/// A redacted text is neither in the history nor in the file's own rows, some of which were deleted or
/// replaced long before.
#[test]
fn what_is_redacted_is_nowhere_in_the_database() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("a.db");
    let address = format!("sqlite:{}", path.display());
    let mut options = MemoryOptions::default();
    options.history = true;
    let memory = Memory::open(&address, options).unwrap();
    for (name, lines) in [("small", 1), ("page", 400), ("large", 4_000)] {
        let secret = "the secret is 4711-4711\n".repeat(lines);
        let deleted = format!("/memories/{name}-deleted");
        memory.create(&deleted, &secret).unwrap();
        memory.delete(&deleted).unwrap();
        let replaced = format!("/memories/{name}-replaced");
        memory.create(&replaced, &secret).unwrap();
        memory.write(&replaced, "nothing", None).unwrap();
    }
    for version in memory.history(&memdir::history::HistoryQuery::default()).unwrap() {
        let content = memory.read_version(version.id).unwrap_or_default();
        if String::from_utf8_lossy(&content).contains("4711") {
            memory.redact(version.id, "a test").unwrap();
        }
    }
    drop(memory);
    let left = |path: &Path| {
        let bytes = fs::read(path).unwrap_or_default();
        bytes.windows(9).filter(|window| window == b"4711-4711").count()
    };
    assert_eq!(left(&path), 0);
    assert_eq!(left(&place.path().join("a.db-wal")), 0);
}

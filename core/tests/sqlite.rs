//! The SQLite store: what it keeps on disk, and what it says about a database that is none.
#![cfg(feature = "sqlite")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a panic is how a test fails")]

use std::fs;
use std::io::Read;
use std::path::Path;
use std::time::Duration;

use memdir::store::{Node, Splice, SqliteDatabase};
use memdir::{Durability, Error, Memory, MemoryPath, OnExisting, Options, Store, StoreError};

fn at(path: &str) -> MemoryPath {
    MemoryPath::parse(path).unwrap()
}

fn open(path: &Path) -> Result<SqliteDatabase, StoreError> {
    SqliteDatabase::open(path, Durability::Relaxed)
}

/// Why the database cannot be opened, in the words for the developer.
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
        let memory = Memory::open(&address, Options::default()).unwrap();
        assert_eq!(memory.create("/memories/dir/a", "kept").is_ok(), round == 0);
        assert!(memory.view("/memories/dir/a", None).unwrap().ends_with("\tkept"));
        drop(memory);
        // Whoever closes it last leaves one file.
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
    // The first page, with the header and the tables' names, stays whole.
    bytes[4096..].fill(0xa5);
    fs::write(&path, bytes).unwrap();

    let address = format!("sqlite:{}", path.display());
    let memory = Memory::open(&address, Options::default()).unwrap();
    let Err(Error::Store(error)) = memory.view("/memories/file 7", None) else {
        panic!("a damaged database answered")
    };
    assert!(error.to_string().contains("damaged"), "{error}");
    let reply = memory.execute(r#"{"command": "view", "path": "/memories/file 7"}"#);
    assert!(reply.is_error && reply.cause.is_some());
    assert!(reply.content.as_str().contains("cannot be reached"), "{}", reply.content);
    for word in ["a.db", "sqlite", "SQL", "damaged"] {
        assert!(!reply.content.as_str().contains(word), "{}", reply.content);
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
    // A reader keeps no writer waiting, nor is it disturbed.
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
    let file = at("/memories/a");
    store.write(&file, b"before", OnExisting::Error).unwrap();
    let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        store.update(&file, &mut |_| panic!("in the edit"))
    }));
    assert!(panicked.is_err());
    store.write(&file, b"after", OnExisting::Overwrite).unwrap();
    assert_eq!(store.read(&file).unwrap(), b"after");
}

#[test]
fn a_writer_waits_while_another_program_has_the_database() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("a.db");
    let store = open(&path).unwrap();
    let file = at("/memories/a");
    store.write(&file, b"one", OnExisting::Error).unwrap();
    // Another thread's connection is to SQLite what another program's is.
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

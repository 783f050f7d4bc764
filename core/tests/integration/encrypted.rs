//! The encrypted store over other stores: what it keeps of the contract, what it refuses, and what
//! the underlying store sees.
#![cfg(all(unix, feature = "encryption", feature = "sqlite"))]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a panic is how a test fails")]

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::SystemTime;

use crate::common::store_helpers::{appending, at, in_process, key, race};
use memdir::store::{
    Encrypted, EntryKind, LocalDirectory, Node, SqliteDatabase, check_contract, contract, encrypt,
    open_directory,
};
use memdir::{
    Durability, EncryptionKey, Error, Memory, MemoryOptions, MemoryPath, OnExisting, Store,
    StoreError,
};

const RECORD: &str = "/memories/.memdir-encryption";

fn over(inner: &Arc<dyn Store>, names: bool) -> Encrypted {
    Encrypted::open(Arc::clone(inner), &key(1), names).unwrap()
}

fn options(key: EncryptionKey) -> MemoryOptions {
    let mut options = MemoryOptions::default();
    options.encryption_key = Some(key);
    options
}

/// The error for the developer when a file cannot be read. Every way of reading reports the same
/// one.
fn refusal(store: &dyn Store, path: &str) -> String {
    let failed = |error: StoreError| match error {
        StoreError::Failed { .. } => error.to_string(),
        condition => panic!("{path}: not a failure but a condition: {condition}"),
    };
    let error = failed(store.read(&at(path)).unwrap_err());
    let opened = store.open(&at(path), 1).map(drop);
    assert_eq!(failed(opened.unwrap_err()), error);
    let updated = store.update(&at(path), &mut |_| panic!("an edit of what cannot be read"));
    assert_eq!(failed(updated.unwrap_err()), error);
    error
}

/// The path in the underlying store of its only file besides the record.
fn only_file(inner: &dyn Store) -> MemoryPath {
    let files = inner.list(&MemoryPath::root()).unwrap();
    let mut files =
        files.into_iter().map(|entry| entry.path).filter(|path| path.as_str() != RECORD);
    let only = files.next().unwrap();
    assert!(files.next().is_none());
    only
}

fn replace(inner: &dyn Store, path: &MemoryPath, content: &[u8]) {
    inner.write(path, content, OnExisting::Overwrite).unwrap();
}

mod keeps_the_contract {
    use super::*;

    fn check(names: bool, inner: &dyn Fn(&Path) -> Arc<dyn Store>) {
        let places = Mutex::new(Vec::new());
        check_contract(&|| {
            let place = tempfile::tempdir().unwrap();
            let store = over(&inner(place.path()), names);
            places.lock().unwrap().push(place);
            Arc::new(store)
        })
        .unwrap();
        assert_eq!(places.into_inner().unwrap().len(), contract::rules().count());
    }

    #[test]
    fn over_the_in_process_store() {
        for names in [false, true] {
            check(names, &|_| in_process());
        }
    }

    #[test]
    fn over_a_local_directory() {
        for names in [false, true] {
            check(names, &|place| {
                Arc::new(LocalDirectory::open(place, Durability::Relaxed).unwrap())
            });
        }
    }

    #[test]
    fn over_an_sqlite_database() {
        for names in [false, true] {
            check(names, &|place| {
                let path = place.join("a.db");
                Arc::new(SqliteDatabase::open(path, Durability::Relaxed).unwrap())
            });
        }
    }
}

#[test]
fn every_flipped_bit_and_every_cut_is_a_failure_and_never_a_content() {
    let inner = in_process();
    let store = over(&inner, false);
    store.write(&at("/memories/a"), b"text", OnExisting::Error).unwrap();
    let file = only_file(&*inner);
    let good = inner.read(&file).unwrap();
    for bit in 0..good.len() * 8 {
        let mut flipped = good.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        replace(&*inner, &file, &flipped);
        refusal(&store, "/memories/a");
    }
    for cut in 0..good.len() {
        replace(&*inner, &file, &good[..cut]);
        refusal(&store, "/memories/a");
    }
    replace(&*inner, &file, &good);
    assert_eq!(store.read(&at("/memories/a")).unwrap(), b"text");
}

#[test]
fn a_file_is_of_its_path_and_of_its_store() {
    for names in [false, true] {
        let inner = in_process();
        let store = over(&inner, names);
        store.write(&at("/memories/a"), b"of a", OnExisting::Error).unwrap();
        let a = only_file(&*inner);
        store.write(&at("/memories/dir/b"), b"of b", OnExisting::Error).unwrap();
        let bytes = inner.read(&a).unwrap();

        // Moved to another path: by copying, by renaming, and by swapping a directory.
        inner.delete(&a).unwrap();
        let directory = only_file(&*inner);
        let b = inner.list(&directory).unwrap().remove(0).path;
        let of_b = inner.read(&b).unwrap();
        replace(&*inner, &b, &bytes);
        assert!(refusal(&store, "/memories/dir/b").contains("another path"));
        replace(&*inner, &b, &of_b);
        assert_eq!(store.read(&at("/memories/dir/b")).unwrap(), b"of b");
        inner.rename(&directory, &at("/memories/moved")).unwrap();
        if !names {
            assert!(refusal(&store, "/memories/moved/b").contains("another path"));
        }

        // Another store with the same key.
        let other_inner = in_process();
        let other = over(&other_inner, names);
        other.write(&at("/memories/a"), b"of another", OnExisting::Error).unwrap();
        replace(&*other_inner, &only_file(&*other_inner), &bytes);
        assert!(refusal(&other, "/memories/a").contains("another store"));
    }
}

#[test]
fn a_file_that_is_not_ours_is_a_failure_and_the_model_hears_no_detail() {
    let inner = in_process();
    let store = Arc::new(over(&inner, false));
    for bytes in [&b""[..], b"plain", &[0; 500]] {
        replace(&*inner, &at("/memories/secret-name"), bytes);
        let error = refusal(&*store, "/memories/secret-name");
        assert!(error.contains("not written by memdir"), "{error}");
    }
    let EntryKind::File(size) = store.list(&MemoryPath::root()).unwrap()[0].kind else { panic!() };
    assert_eq!(size, 500 - 120);

    let memory = Memory::with_store(store, MemoryOptions::default());
    let reply = memory.execute(r#"{"command": "view", "path": "/memories/secret-name"}"#);
    assert!(reply.is_error && reply.cause.is_some());
    for word in ["crypt", "damaged", "key", "written"] {
        assert!(!reply.content.as_text().unwrap_or_default().contains(word), "{}", reply.content);
    }
}

#[test]
fn another_key_does_not_open_it() {
    let inner = in_process();
    over(&inner, false).write(&at("/memories/a"), b"x", OnExisting::Error).unwrap();
    let phrase = EncryptionKey::passphrase("hunter2").unwrap();
    for wrong in [key(2), phrase] {
        let error = Encrypted::open(Arc::clone(&inner), &wrong, false).unwrap_err();
        assert!(matches!(&error, Error::Config(_)), "{error}");
        assert!(error.to_string().contains("another key"), "{error}");
    }
    assert_eq!(over(&inner, false).read(&at("/memories/a")).unwrap(), b"x");
}

#[test]
fn a_passphrase_opens_what_it_made() {
    let place = tempfile::tempdir().unwrap();
    let address = place.path().to_str().unwrap();
    let open = |text: &str| Memory::open(address, options(text.parse().unwrap()));
    open("correct horse").unwrap().create("/memories/a", "x").unwrap();
    let memory = open("correct horse").unwrap();
    assert!(memory.view("/memories/a", None).unwrap().ends_with("\tx"));
    assert!(!format!("{memory:?}").contains("horse"));
    assert!(open("correct hors").is_err());
    let record = std::fs::read_to_string(place.path().join(&RECORD[1..])).unwrap();
    assert!(record.contains("\"memory_kib\":65536") && record.contains("\"passes\":3"), "{record}");
}

#[test]
fn what_is_encrypted_and_what_is_not_are_never_mixed() {
    let place = tempfile::tempdir().unwrap();
    let address = place.path().to_str().unwrap();
    let refused = |options: MemoryOptions| {
        for error in [
            Memory::open(address, options.clone()).err().unwrap(),
            open_directory(address, &options).err().unwrap(),
        ] {
            assert!(matches!(&error, Error::Config(_)), "{error}");
        }
    };
    let plain = Memory::open(address, MemoryOptions::default()).unwrap();
    plain.create("/memories/a", "plain").unwrap();
    refused(options(key(1)));
    plain.clear().unwrap();
    let encrypted = Memory::open(address, options(key(1))).unwrap();
    refused(MemoryOptions::default());
    refused(options(key(2)));
    let mut with_names = options(key(1));
    with_names.encrypt_names = true;
    refused(with_names);
    assert_eq!(encrypted.store().info().directory, None);

    let database = format!("sqlite:{}", place.path().join("a.db").display());
    Memory::open(&database, options(key(1))).unwrap().create("/memories/a", "x").unwrap();
    assert!(matches!(Memory::open(&database, MemoryOptions::default()), Err(Error::Config(_))));

    // A layer too many is also detected.
    let twice = encrypt(Arc::clone(encrypted.store()), &options(key(1)));
    assert!(twice.is_err());
}

#[test]
fn the_record_is_out_of_reach() {
    let inner = in_process();
    let store = over(&inner, false);
    let before = inner.read(&at(RECORD)).unwrap();
    store.write(&at("/memories/a"), b"x", OnExisting::Error).unwrap();
    let reserved = [RECORD, "/memories/.MEMDIR-Encryption", "/memories/.memdir-encryption/below"];
    for record in reserved.map(at) {
        let a = at("/memories/a");
        let denied = |result: Result<(), StoreError>| match result {
            Err(StoreError::PermissionDenied) => true,
            Err(StoreError::Source(of)) => matches!(*of, StoreError::PermissionDenied),
            _ => false,
        };
        assert!(denied(store.read(&record).map(drop)));
        assert!(denied(store.open(&record, 1).map(drop)));
        assert!(denied(store.list(&record).map(drop)));
        assert!(denied(store.write(&record, b"", OnExisting::Overwrite)));
        assert!(denied(store.update(&record, &mut |_| panic!("reached"))));
        assert!(denied(store.delete(&record)));
        assert!(denied(store.rename(&record, &at("/memories/b"))));
        assert!(denied(store.rename(&a, &record)));
        assert!(denied(store.modified(&record).map(drop)));
        assert!(denied(store.set_modified(&record, SystemTime::now())));
    }
    assert_eq!(store.list(&MemoryPath::root()).unwrap().len(), 1);
    // Below a directory it is an ordinary name.
    store.write(&at("/memories/d/.memdir-encryption"), b"x", OnExisting::Error).unwrap();
    assert_eq!(inner.read(&at(RECORD)).unwrap(), before);
    store.clear().unwrap();
    assert_eq!(inner.read(&at(RECORD)).unwrap(), before);
    assert_eq!(inner.list(&MemoryPath::root()).unwrap().len(), 1);
}

#[test]
fn a_damaged_or_missing_record_is_said() {
    let inner = in_process();
    let store = over(&inner, false);
    store.write(&at("/memories/a"), b"x", OnExisting::Error).unwrap();
    let good = inner.read(&at(RECORD)).unwrap();
    for bad in [&b"{}"[..], b"", &good[..good.len() / 2]] {
        replace(&*inner, &at(RECORD), bad);
        let error = Encrypted::open(Arc::clone(&inner), &key(1), false).unwrap_err();
        assert!(matches!(&error, Error::Store(StoreError::Failed { .. })), "{error}");
        let error = store.rename(&at("/memories/a"), &at("/memories/b")).unwrap_err();
        assert!(matches!(error, StoreError::Failed { .. }), "{error}");
    }
    inner.delete(&at(RECORD)).unwrap();
    let error = store.write(&at("/memories/b"), b"x", OnExisting::Error).unwrap_err();
    assert!(error.to_string().contains("gone"), "{error}");
    // No new keys are created beside files encrypted with old ones.
    assert!(matches!(Encrypted::open(Arc::clone(&inner), &key(1), false), Err(Error::Config(_))));
    replace(&*inner, &at(RECORD), &good);
    assert_eq!(store.read(&at("/memories/a")).unwrap(), b"x");
}

#[test]
fn of_many_that_make_a_store_at_once_all_use_one() {
    for round in 0..20 {
        let inner = in_process();
        let wrote = race(|number| {
            let path = at(&format!("/memories/{number}"));
            over(&inner, round % 2 == 0).write(&path, b"x", OnExisting::Error).is_ok()
        });
        assert_eq!(wrote, 8);
        let store = over(&inner, false);
        assert_eq!(store.list(&MemoryPath::root()).unwrap().len(), 8);
        for number in 0..8 {
            assert_eq!(store.read(&at(&format!("/memories/{number}"))).unwrap(), b"x");
        }
    }
}

#[test]
fn the_store_beneath_sees_neither_contents_nor_encrypted_names() {
    const SECRETS: [&str; 4] = ["the treasure", "map of it", "island", ".concealed"];
    for names in [false, true] {
        let place = tempfile::tempdir().unwrap();
        let inner: Arc<dyn Store> =
            Arc::new(SqliteDatabase::open(place.path().join("a.db"), Durability::Full).unwrap());
        let local: Arc<dyn Store> =
            Arc::new(LocalDirectory::open(place.path(), Durability::Full).unwrap());
        for inner in [inner, local] {
            let store = over(&inner, names);
            let path = at("/memories/island/.concealed/map of it");
            store.write(&path, b"here lies the treasure", OnExisting::Error).unwrap();
            store.update(&path, &mut appending(", and there the treasure")).unwrap();
            // Renamed within the same directory, so the record about it is checked as well.
            store.rename(&at("/memories/island"), &at("/memories/island 2")).unwrap();
        }
        let mut seen = Vec::new();
        everything(place.path(), &mut seen);
        assert!(seen.len() > 1000);
        for (secret, is_name) in SECRETS.into_iter().zip([false, true, true, true]) {
            let found = seen.windows(secret.len()).any(|window| window == secret.as_bytes());
            assert_eq!(found, is_name && !names, "{secret:?}, names encrypted: {names}");
        }
    }
}

/// Collects all names and contents below a directory of this machine.
fn everything(directory: &Path, seen: &mut Vec<u8>) {
    for entry in std::fs::read_dir(directory).unwrap() {
        let entry = entry.unwrap();
        seen.extend_from_slice(entry.file_name().as_encoded_bytes());
        if entry.file_type().unwrap().is_dir() {
            everything(&entry.path(), seen);
        } else {
            seen.extend_from_slice(&std::fs::read(entry.path()).unwrap());
        }
    }
}

#[test]
fn names_that_nobody_of_ours_wrote_are_left_out() {
    let inner = in_process();
    let store: Arc<dyn Store> = Arc::new(over(&inner, true));
    store.write(&at("/memories/dir/a"), b"x", OnExisting::Error).unwrap();
    let dir = only_file(&*inner);
    let a = inner.list(&dir).unwrap().remove(0).path;
    for name in
        ["plain", ".plain", &a.name().unwrap().to_uppercase(), &format!(".{}", a.name().unwrap())]
    {
        replace(&*inner, &dir.join(name).unwrap(), b"x");
        replace(&*inner, &at("/memories").join(name).unwrap(), b"x");
    }
    let Node::Directory(entries) = store.open(&MemoryPath::root(), 9).unwrap() else { panic!() };
    let mut paths: Vec<&str> = entries.iter().map(|entry| entry.path.as_str()).collect();
    paths.sort_unstable();
    assert_eq!(paths, ["/memories/dir", "/memories/dir/a"]);
    assert_eq!(store.list(&at("/memories/dir")).unwrap().len(), 1);
    let mut problems = Vec::new();
    let checked = memdir::check(&store, &mut |problem| problems.push(problem)).unwrap();
    assert_eq!((checked.files, checked.problems), (1, 8), "{problems:?}");
    store.clear().unwrap();
    assert_eq!(inner.list(&MemoryPath::root()).unwrap().len(), 1, "something is left");
}

#[test]
fn looking_for_a_store_makes_none() {
    let place = tempfile::tempdir().unwrap();
    let address = place.path().join("memory");
    let find = || memdir::open_existing_store(address.to_str().unwrap(), &options(key(1)));
    assert!(find().unwrap().is_none() && !address.exists());
    let made = LocalDirectory::open(&address, Durability::Full).unwrap();
    assert!(find().unwrap().is_none());
    assert_eq!(made.list(&MemoryPath::root()).unwrap(), []);
    Memory::open(address.to_str().unwrap(), options(key(1))).unwrap();
    assert!(find().unwrap().is_some());
    assert!(
        memdir::open_existing_store(address.to_str().unwrap(), &MemoryOptions::default()).is_err()
    );
}

#[test]
fn a_check_finds_what_is_damaged() {
    let inner = in_process();
    let store: Arc<dyn Store> = Arc::new(over(&inner, false));
    for name in ["a", "b"] {
        store.write(&at("/memories").join(name).unwrap(), b"x", OnExisting::Error).unwrap();
    }
    store.make_directory(&at("/memories/empty")).unwrap();
    let all = |store: &Arc<dyn Store>| {
        let mut found = Vec::new();
        memdir::check(store, &mut |problem| found.push(problem.path)).unwrap();
        found
    };
    assert_eq!(all(&store), Vec::<String>::new());
    let mut bytes = inner.read(&at("/memories/b")).unwrap();
    bytes[100] ^= 1;
    replace(&*inner, &at("/memories/b"), &bytes);
    assert_eq!(all(&store), ["/memories/b"]);
}

#[test]
fn a_store_that_is_opened_late_says_then_what_is_wrong() {
    let inner = in_process();
    let lazy = |number| Encrypted::lazy(Arc::clone(&inner), &key(number), true);
    let (first, second) = (lazy(1), lazy(2));
    assert_eq!(inner.list(&MemoryPath::root()).unwrap(), []);
    first.write(&at("/memories/a"), b"x", OnExisting::Error).unwrap();
    for _ in 0..2 {
        let error = second.read(&at("/memories/a")).unwrap_err();
        assert!(error.to_string().contains("another key"), "{error}");
    }
    assert_eq!(lazy(1).read(&at("/memories/a")).unwrap(), b"x");
}

#[test]
fn names_of_143_bytes_are_kept_and_longer_ones_refused() {
    let store = over(&in_process(), true);
    let [fits, long] = [143, 144].map(|len| at(&format!("/memories/{}", "n".repeat(len))));
    store.write(&fits, b"x", OnExisting::Error).unwrap();
    assert_eq!(store.read(&fits).unwrap(), b"x");
    let dir = at("/memories/dir");
    store.write(&dir.join("a").unwrap(), b"x", OnExisting::Error).unwrap();
    let written = store.write(&long, b"x", OnExisting::Error);
    assert!(matches!(written, Err(StoreError::NameTooLong)));
    // Missing paths are reported as missing, and a rename reports the first problem.
    assert!(matches!(store.read(&long), Err(StoreError::NotFound)));
    assert!(matches!(store.update(&long, &mut |_| None), Err(StoreError::NotFound)));
    assert!(matches!(store.delete(&long), Err(StoreError::NotFound)));
    assert!(matches!(store.list(&long), Err(StoreError::NotFound)));
    assert!(matches!(store.rename(&long, &long), Err(StoreError::NotFound)));
    assert!(matches!(store.rename(&fits, &long), Err(StoreError::NameTooLong)));
    let below = dir.join(long.name().unwrap()).unwrap();
    assert!(matches!(store.rename(&dir, &below), Err(StoreError::IntoItself)));
    assert!(matches!(store.rename(&at("/memories/none"), &long), Err(StoreError::NotFound)));
    assert_eq!(store.list(&MemoryPath::root()).unwrap().len(), 2);
}

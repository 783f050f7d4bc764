//! Reserved names: a model cannot use them, and such files of other programs do not prevent opening a memory.
#![cfg(all(unix, feature = "encryption", feature = "sqlite"))]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a panic is how a test fails")]

use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use crate::common::store_helpers::{at, copy_all, put, refusal, tree};
use memdir::history::{HistoryQuery, UndoOptions};
use memdir::store::{InProcess, Mount, ProblemKind, open_existing_store, open_mounts, open_store};
use memdir::{EncryptionKey, Error, Memory, MemoryOptions, Store};

const RECORD: &str = "/memories/.memdir-encryption";

/// The addresses of each kind of store on this machine.
fn addresses(place: &Path) -> [String; 3] {
    let place = place.display();
    [format!("{place}/a"), format!("dir:{place}/b"), format!("sqlite:{place}/c.db")]
}

#[test]
fn a_model_cannot_make_a_store_look_encrypted() {
    let place = tempfile::tempdir().unwrap();
    let reserved = |memory: &Memory, path: &str| {
        let expected = format!(
            "Error: The path {path} is reserved: names that start with .memdir- are memdir's own"
        );
        assert_eq!(refusal(memory.create(path, "x")), expected);
        assert_eq!(refusal(memory.rename("/memories/a.md", path)), expected);
        assert_eq!(refusal(memory.rename("/memories/d", path)), expected);
    };
    let options = MemoryOptions::default();
    for address in addresses(place.path()) {
        let memory = Memory::open(&address, options.clone()).unwrap();
        memory.create("/memories/a.md", "one").unwrap();
        memory.create("/memories/d/b.md", "two").unwrap();
        for path in [RECORD, "/memories/.MEMDIR-ENCRYPTION", "/memories/%2ememdir-encryption"] {
            reserved(&memory, path);
        }
        assert_eq!(memory.store().list(&at("/memories")).unwrap().len(), 2);
        Memory::open(&address, options.clone()).unwrap();
    }
    let [root, below, _] = addresses(place.path());
    let mounts = [Mount::new("/memories", root), Mount::new("/memories/m", below)];
    let stores = open_mounts(mounts, &options).unwrap();
    let memory = Memory::with_store(Arc::new(stores), options.clone());
    reserved(&memory, "/memories/m/.memdir-encryption");
    reserved(&Memory::with_store(Arc::new(InProcess::new()), options), RECORD);
}

#[test]
fn what_is_no_record_does_not_keep_anybody_out() {
    let options = MemoryOptions::default();
    for content in ["", "x", "{}", "{\"format\": \"something else\"}", "\"memdir-encryption\""] {
        let place = tempfile::tempdir().unwrap();
        for address in addresses(place.path()) {
            put(&*open_store(&address, &options).unwrap(), RECORD, content);
            let memory = Memory::open(&address, options.clone()).unwrap();
            memory.create("/memories/a.md", "one").unwrap();
            let found = open_existing_store(&address, &options).unwrap().unwrap();
            assert_eq!(found.read(&at(RECORD)).unwrap(), content.as_bytes());
            // With a key, too, it is neither treated as a record nor replaced.
            let mut with_key = MemoryOptions::default();
            with_key.encryption_key = Some(EncryptionKey::from_bytes([1; 32]));
            assert!(matches!(open_store(&address, &with_key), Err(Error::Store(_))));
            assert_eq!(found.read(&at(RECORD)).unwrap(), content.as_bytes());
        }
    }
    let place = tempfile::tempdir().unwrap();
    for address in addresses(place.path()) {
        put(&*open_store(&address, &options).unwrap(), &format!("{RECORD}/below"), "x");
        open_store(&address, &options).unwrap();
    }
}

#[test]
fn a_record_of_memdir_means_encrypted_also_when_it_is_damaged() {
    let place = tempfile::tempdir().unwrap();
    let mut with_key = MemoryOptions::default();
    with_key.encryption_key = Some(EncryptionKey::from_bytes([1; 32]));
    for address in addresses(place.path()) {
        open_store(&address, &with_key).unwrap();
        let raw = memdir::store::open_raw_store(&address, &MemoryOptions::default()).unwrap();
        let record = raw.read(&at(RECORD)).unwrap();
        let refused = || {
            let error = open_store(&address, &MemoryOptions::default()).err().unwrap();
            assert!(error.to_string().contains("the store is encrypted"), "{error}");
        };
        refused();
        raw.delete(&at(RECORD)).unwrap();
        put(&*raw, RECORD, &record[..record.len() / 2]);
        refused();
        // Rewritten by another program.
        let record: serde_json::Value = serde_json::from_slice(&record).unwrap();
        raw.delete(&at(RECORD)).unwrap();
        put(&*raw, RECORD, serde_json::to_string_pretty(&record).unwrap());
        refused();
        open_store(&address, &with_key).unwrap();
    }
}

/// Reserved names of every kind and spelling, at the root and below.
const RESERVED: [&str; 8] = [
    "/memories/.memdir-encryption",
    "/memories/.memdir-history/0190-record",
    "/memories/.memdir-new-directory",
    "/memories/.memdir-moving-0123456789abcdef/x.md",
    "/memories/.MEMDIR-Encryption2",
    "/memories/%2ememdir-x",
    "/memories/d/.memdir-encryption",
    "/memories/d/.memdir-history/log",
];

/// A store with a file, and with files that would be another store's own.
fn with_reserved() -> Arc<dyn Store> {
    let store: Arc<dyn Store> = Arc::new(InProcess::new());
    put(&*store, "/memories/d/a.md", "one\n");
    for path in RESERVED {
        put(&*store, path, "{\"format\":\"memdir-encryption\",\"version\":1}");
    }
    store
}

#[test]
fn a_copy_brings_no_reserved_name_and_locks_no_store() {
    let from = with_reserved();
    let place = tempfile::tempdir().unwrap();
    let options = MemoryOptions::default();
    let [root, below, database] = addresses(place.path());
    for address in [&root, &below, &database] {
        let copied = copy_all(&from, &open_store(address, &options).unwrap()).unwrap();
        // The files of a history in the source are not files of the memory.
        let left = RESERVED.len() - 1;
        assert_eq!((copied.files, copied.left_out.len()), (1, left), "{address}");
        let reserved = |kind| matches!(kind, ProblemKind::Reserved | ProblemKind::LeftOver);
        assert!(copied.left_out.iter().all(|left| reserved(left.kind)), "{:?}", copied.left_out);
        let store = open_existing_store(address, &options).unwrap().unwrap();
        assert_eq!(tree(&*store, "/memories").len(), 2, "{address}");
    }
    // Into a mounted store, whose root is not the root of the tree.
    let mounts = [Mount::new("/memories", "memory:"), Mount::new("/memories/d", root.clone())];
    let mounted: Arc<dyn Store> = Arc::new(open_mounts(mounts, &options).unwrap());
    assert_eq!(copy_all(&from, &mounted).unwrap().left_out.len(), RESERVED.len() - 1);
    open_existing_store(&root, &options).unwrap().unwrap();
}

/// The history of a store may have such files, for example after an import. They are not restored.
#[test]
fn a_history_has_no_versions_of_reserved_names() {
    let mut options = MemoryOptions::default();
    options.history = true;
    let place = tempfile::tempdir().unwrap();
    for address in addresses(place.path()) {
        let memory = Memory::open(&address, options.clone()).unwrap();
        let begin = SystemTime::UNIX_EPOCH;
        memory.create("/memories/a.md", "one\n").unwrap();
        put(&**memory.store(), RECORD, "{\"format\":\"memdir-encryption\"}");
        put(&**memory.store(), "/memories/d/.memdir-x", "x");
        let with_them = SystemTime::now();
        memory.store().rename(&at("/memories/d/.memdir-x"), &at("/memories/d/x.md")).unwrap();
        memory.store().delete(&at("/memories/d")).unwrap();
        memory.store().delete(&at(RECORD)).unwrap();
        let versions = memory.history(&HistoryQuery::default()).unwrap();
        assert!(versions.iter().all(|version| !version.path.is_reserved()), "{versions:?}");
        assert!(versions.iter().any(|version| version.path == at("/memories/a.md")));
        let files = memory.files_at(with_them).unwrap();
        assert!(files.iter().all(|file| !file.path.is_reserved()), "{address}");
        memory.restore_all(with_them, false).unwrap();
        memory.undo_since(begin, None, UndoOptions::default()).unwrap();
        memory.restore_all(with_them, false).unwrap();
        let now = tree(&**memory.store(), "/memories");
        assert!(now.keys().all(|path| !path.contains(".memdir-")), "{address}: {now:?}");
        drop(memory);
        Memory::open(&address, options.clone()).unwrap();
    }
}

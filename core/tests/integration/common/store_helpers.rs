//! Helpers for the tests of stores: they fill, change and inspect trees.
#![allow(dead_code, reason = "each test program uses its part")]
#![allow(clippy::panic, clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread;

#[cfg(feature = "encryption")]
use memdir::EncryptionKey;
use memdir::copy::{Copied, CopyError, Progress};
use memdir::store::{EntryKind, InProcess, Mounts, Splice};
use memdir::{
    CopyOptions, Error, Memory, MemoryOptions, MemoryPath, OnExisting, Store, StoreError, copy,
};

pub(crate) fn at(path: &str) -> MemoryPath {
    MemoryPath::parse(path).unwrap()
}

pub(crate) fn in_process() -> Arc<dyn Store> {
    Arc::new(InProcess::new())
}

pub(crate) fn memory(store: impl Store + 'static) -> Memory {
    Memory::with_store(Arc::new(store), MemoryOptions::default())
}

pub(crate) fn refusal(result: Result<String, Error>) -> String {
    match result {
        Err(Error::Refused(refused)) => refused.into_sentence(),
        other => panic!("{other:?}"),
    }
}

/// A view without its header.
pub(crate) fn shown(memory: &Memory, path: &str) -> String {
    memory.view(path, None).unwrap().split_once('\n').unwrap().1.to_owned()
}

pub(crate) fn put(store: &dyn Store, path: &str, content: impl AsRef<[u8]>) {
    store.write(&at(path), content.as_ref(), OnExisting::Error).unwrap();
}

#[cfg(feature = "encryption")]
pub(crate) fn key(number: u8) -> EncryptionKey {
    EncryptionKey::from_bytes([number; 32])
}

/// Opens the memory at an address.
pub(crate) fn open_memory(address: &str) -> Memory {
    Memory::open(address, MemoryOptions::default()).unwrap()
}

pub(crate) fn go_on(_: Progress<'_>) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

pub(crate) fn copy_all(from: &Arc<dyn Store>, to: &Arc<dyn Store>) -> Result<Copied, CopyError> {
    copy(from, to, CopyOptions::default(), &mut go_on)
}

/// The options of a copy that overwrites files.
pub(crate) fn overwriting() -> CopyOptions {
    let mut options = CopyOptions::default();
    options.existing = OnExisting::Overwrite;
    options
}

/// An edit that appends a text.
pub(crate) fn appending(text: &str) -> impl FnMut(&[u8]) -> Option<Splice> {
    move |old| Some(Splice { range: old.len()..old.len(), text: text.into() })
}

pub(crate) fn append(store: &dyn Store, path: &str, text: &str) -> Result<(), StoreError> {
    store.update(&at(path), &mut appending(text))
}

/// Runs the same in eight threads at once. Returns the sum of the results, where `true` counts as
/// one.
pub(crate) fn race<T: Into<usize> + Send>(each: impl Fn(usize) -> T + Sync) -> usize {
    thread::scope(|scope| {
        let each = &each;
        let racers: Vec<_> = (0..8).map(|racer| scope.spawn(move || each(racer))).collect();
        racers.into_iter().map(|racer| racer.join().unwrap().into()).sum()
    })
}

/// Checks a store that reads at most ten bytes into memory to edit a file.
pub(crate) fn what_is_too_large_is_not_read_to_be_edited(store: &dyn Store) {
    let (file, mut read) = (at("/memories/a"), 0);
    let mut append = |old: &[u8]| {
        read = old.len();
        appending("+")(old)
    };
    store.write(&file, b"123456789", OnExisting::Error).unwrap();
    store.update(&file, &mut append).unwrap();
    store.update(&file, &mut append).unwrap();
    let refused = store.update(&file, &mut append);
    assert!(matches!(refused, Err(StoreError::TooLarge { size: 11 })), "{refused:?}");
    assert_eq!((read, store.read(&file).unwrap().len()), (10, 11));
    store.write(&file, b"new", OnExisting::Overwrite).unwrap();
    assert_eq!(store.read(&file).unwrap(), b"new");
}

pub(crate) fn an_edit_that_panics_changes_nothing_and_keeps_nobody_waiting(store: &dyn Store) {
    put(store, "/memories/a", "before");
    let edit = || store.update(&at("/memories/a"), &mut |_| panic!("in the edit"));
    assert!(catch_unwind(AssertUnwindSafe(edit)).is_err());
    assert_eq!(store.read(&at("/memories/a")).unwrap(), b"before");
    store.write(&at("/memories/a"), b"after", OnExisting::Overwrite).unwrap();
    assert_eq!(store.read(&at("/memories/a")).unwrap(), b"after");
}

pub(crate) type Tree = BTreeMap<String, Option<Vec<u8>>>;

/// The content of every file and every directory below `top`, including hidden ones.
pub(crate) fn tree(store: &dyn Store, top: &str) -> Tree {
    let mut tree = Tree::new();
    let mut directories = vec![at(top)];
    while let Some(directory) = directories.pop() {
        for entry in store.list(&directory).unwrap() {
            let content = match entry.kind {
                EntryKind::File(size) => {
                    let content = store.read(&entry.path).unwrap();
                    assert_eq!(content.len() as u64, size);
                    Some(content)
                }
                EntryKind::Directory => {
                    directories.push(entry.path.clone());
                    None
                }
            };
            tree.insert(entry.path.to_string(), content);
        }
    }
    tree
}

pub(crate) fn mounted(root: Arc<dyn Store>, other: Arc<dyn Store>) -> Mounts {
    Mounts::new(root).mount(at("/memories/other"), other).unwrap()
}

/// Creates one of each kind at `/memories/tree`.
pub(crate) fn plant(store: &dyn Store) {
    let every_byte: Vec<u8> = (0..=u8::MAX).collect();
    put(store, "/memories/tree/bytes", &every_byte);
    put(store, "/memories/tree/large", every_byte.repeat(1000));
    put(store, "/memories/tree/empty", b"");
    put(store, "/memories/tree/.hidden/x", b"hidden");
    put(store, "/memories/tree/node_modules/y", b"left out of views");
    put(store, "/memories/tree/deep/er/still/été 猫", b"deep");
    put(store, "/memories/tree/bare/none/x", b"gone");
    store.delete(&at("/memories/tree/bare/none/x")).unwrap();
}

//! Copying between stores: what arrives, what is refused, and what an interruption leaves behind.
#![cfg(all(unix, feature = "sqlite"))]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a panic is how a test fails")]

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, SystemTime};

use crate::common::clouds;
use crate::common::effort;
use crate::common::postgres;
use crate::common::store_helpers::{at, copy_all, go_on, in_process, overwriting};
use memdir::copy::{CopyError, Phase, Plan, Progress, Source, There};
use memdir::store::{
    Edit, Entry, EntryKind, InProcess, LocalDirectory, ProblemKind, SqliteDatabase,
};
use memdir::{CopyOptions, Durability, MemoryPath, OnExisting, Store, StoreError, copy};
use proptest::prelude::*;

/// Each file's content and time in microseconds, and each directory.
type Tree = BTreeMap<String, Option<(Vec<u8>, i128)>>;

fn micros(time: SystemTime) -> i128 {
    match time.duration_since(SystemTime::UNIX_EPOCH) {
        Ok(since) => since.as_micros().cast_signed(),
        Err(before) => -before.duration().as_micros().cast_signed(),
    }
}

fn tree(store: &dyn Store) -> Tree {
    fn collect(store: &dyn Store, directory: &MemoryPath, found: &mut Tree) {
        for entry in store.list(directory).unwrap() {
            let content = (entry.kind != EntryKind::Directory).then(|| {
                (store.read(&entry.path).unwrap(), entry.modified.map_or(i128::MIN, micros))
            });
            if content.is_none() {
                collect(store, &entry.path, found);
            }
            found.insert(entry.path.to_string(), content);
        }
    }
    let mut found = Tree::new();
    collect(store, &MemoryPath::root(), &mut found);
    found
}

fn fill(store: &dyn Store, files: &[(&str, &str)]) {
    for (path, content) in files {
        store.write(&at(path), content.as_bytes(), OnExisting::Overwrite).unwrap();
        let time = SystemTime::UNIX_EPOCH + Duration::from_micros(1_500_000_000_123_456);
        store.set_modified(&at(path), time).unwrap();
    }
}

fn stores() -> (tempfile::TempDir, Vec<Arc<dyn Store>>) {
    let place = tempfile::tempdir().unwrap();
    let mut stores: Vec<Arc<dyn Store>> = vec![Arc::new(InProcess::new())];
    for name in ["one", "two"] {
        let path = place.path().join(name);
        stores.push(Arc::new(LocalDirectory::open(&path, Durability::Relaxed).unwrap()));
        let path = path.with_extension("db");
        stores.push(Arc::new(SqliteDatabase::open(path, Durability::Relaxed).unwrap()));
    }
    (place, stores)
}

proptest! {
    #![proptest_config(effort::cases(8))]

    /// Copies through every kind of store, in one chain that covers every pair.
    #[test]
    fn every_tree_arrives_in_every_store(
        nodes in proptest::collection::btree_map(
            "(/(a|b|\\.h|node_modules|été 50%)){1,4}",
            proptest::option::of((
                proptest::collection::vec(any::<u8>(), 0..200),
                -2_000_000_000_000_000_i64..5_000_000_000_000_000,
            )),
            0..12,
        )
    ) {
        let (_place, stores) = stores();
        let mut expected = Tree::new();
        for (path, content) in nodes {
            let path = at(&format!("/memories{path}"));
            match content {
                None => drop(stores[0].make_directory(&path)),
                Some((bytes, micros)) => {
                    if stores[0].write(&path, &bytes, OnExisting::Error).is_ok() {
                        let distance = Duration::from_micros(micros.unsigned_abs());
                        let time = if micros < 0 {
                            SystemTime::UNIX_EPOCH - distance
                        } else {
                            SystemTime::UNIX_EPOCH + distance
                        };
                        stores[0].set_modified(&path, time).unwrap();
                    }
                }
            }
        }
        expected.extend(tree(&*stores[0]));
        let files = expected.values().filter(|node| node.is_some()).count() as u64;
        // In process, directory, database, directory, database, and back.
        for (from, to) in stores.iter().zip(&stores[1..]) {
            let copied = copy_all(from, to).unwrap();
            prop_assert_eq!((copied.files, copied.equal), (files, 0));
            prop_assert_eq!(&tree(&**to), &expected);
        }
        for (from, to) in [(4, 1), (1, 3), (2, 4), (3, 0)] {
            let copied = copy_all(&stores[from], &stores[to]).unwrap();
            prop_assert_eq!((copied.files, copied.equal, copied.directories), (0, files, 0));
            prop_assert_eq!(&tree(&*stores[to]), &expected);
        }
    }
}

/// Stores on servers and encrypted stores keep the same bytes and times.
#[cfg(all(feature = "encryption", feature = "object-storage", feature = "postgres"))]
#[test]
fn a_tree_goes_through_remote_and_encrypted_stores_and_comes_back() {
    use memdir::store::{Encrypted, EncryptionKey, PostgresDatabase};

    let first: Arc<dyn Store> = Arc::new(InProcess::new());
    let files = [("/memories/a/b.md", "one"), ("/memories/.h/été 50%", ""), ("/memories/c", "2")];
    fill(&*first, &files);
    first.make_directory(&at("/memories/empty/deep")).unwrap();
    let mut stores = vec![Arc::clone(&first)];
    if let Some(server) = postgres::server() {
        let store = PostgresDatabase::open(&server.fresh(), Durability::Relaxed).unwrap();
        stores.push(Arc::new(store));
    }
    let key = EncryptionKey::from_bytes([1; 32]);
    let encrypted = |inner: Arc<dyn Store>| -> Arc<dyn Store> {
        Arc::new(Encrypted::open(inner, &key, true).unwrap())
    };
    stores.push(encrypted(Arc::new(InProcess::new())));
    for cloud in clouds::all() {
        stores.push(Arc::new(cloud.open(&clouds::prefix())));
        stores.push(encrypted(Arc::new(cloud.open(&clouds::prefix()))));
    }
    if let Some(server) = postgres::server() {
        let store = PostgresDatabase::open(&server.fresh(), Durability::Relaxed).unwrap();
        stores.push(encrypted(Arc::new(store)));
    }
    stores.push(Arc::new(InProcess::new()));
    for (from, to) in stores.iter().zip(&stores[1..]) {
        let copied = copy_all(from, to).unwrap();
        assert_eq!((copied.files, copied.equal), (3, 0));
        let again = copy_all(from, to).unwrap();
        assert_eq!((again.files, again.equal), (0, 3));
    }
    // A listing of object storage has the time of the upload. The files' own times are kept all the
    // same.
    assert_eq!(tree(&**stores.last().unwrap()), tree(&*first));
}

#[test]
fn what_is_in_the_way_is_named_and_nothing_is_copied() {
    let (from, to) = (in_process(), in_process());
    fill(
        &*from,
        &[
            ("/memories/a", "new"),
            ("/memories/same", "same"),
            ("/memories/size", "four"),
            ("/memories/dir/x", "below a file there"),
            ("/memories/file", "a directory there"),
            ("/memories/missing", "missing"),
        ],
    );
    fill(
        &*to,
        &[
            ("/memories/a", "old"),
            ("/memories/same", "same"),
            ("/memories/size", "fifteen"),
            ("/memories/dir", "a file"),
            ("/memories/file/x", "in a directory"),
        ],
    );
    let before = tree(&*to);
    let Err(CopyError::Refused(refusals)) = copy_all(&from, &to) else { panic!("it was copied") };
    let found: Vec<_> = refusals.iter().map(|r| (r.path.as_str(), r.there)).collect();
    assert_eq!(
        found,
        [
            ("/memories/a", There::AnotherContent),
            ("/memories/dir", There::AFile),
            ("/memories/file", There::ADirectory),
            ("/memories/size", There::AnotherContent),
        ]
    );
    assert_eq!(tree(&*to), before);
    let sentence = CopyError::Refused(refusals).to_string();
    assert_eq!(
        sentence,
        "the destination holds something else at /memories/a, /memories/dir, /memories/file, 1 more"
    );

    // Overwriting replaces contents, and nothing else.
    let Err(CopyError::Refused(refusals)) = copy(&from, &to, overwriting(), &mut go_on) else {
        panic!("it was copied")
    };
    assert_eq!(refusals.len(), 2);
    assert_eq!(tree(&*to), before);
    to.delete(&at("/memories/dir")).unwrap();
    to.delete(&at("/memories/file")).unwrap();
    fill(&*to, &[("/memories/other", "stays")]);
    let copied = copy(&from, &to, overwriting(), &mut go_on).unwrap();
    assert_eq!((copied.files, copied.equal), (5, 1));
    assert_eq!(to.read(&at("/memories/other")).unwrap(), b"stays");
    to.delete(&at("/memories/other")).unwrap();
    assert_eq!(tree(&*to), tree(&*from));
}

#[test]
fn progress_is_told_before_each_file_and_can_end_it() {
    let (from, to) = (in_process(), in_process());
    fill(&*from, &[("/memories/a", "1"), ("/memories/b", "22"), ("/memories/c", "333")]);
    let mut told = Vec::new();
    let stopped = copy(&from, &to, CopyOptions::default(), &mut |progress| {
        let Progress { phase, path, files, bytes, of_files, of_bytes, .. } = progress;
        told.push((phase, path.to_string(), (files, bytes), (of_files, of_bytes)));
        if (phase, files) == (Phase::Copying, 2) {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    });
    assert!(matches!(stopped, Err(CopyError::Stopped)));
    let expected = [
        (Phase::Comparing, "a", (0, 0), (1, 1)),
        (Phase::Comparing, "b", (1, 1), (2, 3)),
        (Phase::Comparing, "c", (2, 3), (3, 6)),
        (Phase::Copying, "a", (0, 0), (3, 6)),
        (Phase::Copying, "b", (1, 1), (3, 6)),
        (Phase::Copying, "c", (2, 3), (3, 6)),
    ];
    let expected =
        expected.map(|(phase, name, done, of)| (phase, format!("/memories/{name}"), done, of));
    assert_eq!(told, expected);
    assert_eq!(tree(&*to).len(), 2);
    let copied = copy_all(&from, &to).unwrap();
    assert_eq!((copied.files, copied.bytes, copied.equal), (1, 3, 2));
}

/// A store with only the required methods, one of which fails.
struct Faulty {
    inner: Arc<dyn Store>,
    /// The number of writes that still succeed.
    writes: AtomicUsize,
    fault: Fault,
}

#[derive(Clone, Copy, PartialEq)]
enum Fault {
    None,
    WritesEnd,
    WritesAreWrong,
    TimesCannotBeSet,
    ReadingFails,
    FilesVanish,
}

impl Faulty {
    fn new(fault: Fault, writes: usize) -> Self {
        Self { inner: in_process(), writes: AtomicUsize::new(writes), fault }
    }
}

/// A faulty store, and the same as a store of a copy.
fn faulty(fault: Fault, writes: usize) -> (Arc<Faulty>, Arc<dyn Store>) {
    let faulty = Arc::new(Faulty::new(fault, writes));
    (Arc::clone(&faulty), faulty)
}

fn gone() -> StoreError {
    StoreError::failed("reaching the store", "the connection was closed")
}

impl Store for Faulty {
    fn read(&self, path: &MemoryPath) -> Result<Vec<u8>, StoreError> {
        match self.fault {
            Fault::ReadingFails if path.name() == Some("b") => Err(gone()),
            Fault::FilesVanish if path.name() == Some("b") => Err(StoreError::NotFound),
            _ => self.inner.read(path),
        }
    }

    fn list(&self, path: &MemoryPath) -> Result<Vec<Entry>, StoreError> {
        self.inner.list(path)
    }

    fn write(
        &self,
        path: &MemoryPath,
        content: &[u8],
        existing: OnExisting,
    ) -> Result<(), StoreError> {
        if self.fault == Fault::WritesEnd
            && self
                .writes
                .fetch_update(Ordering::SeqCst, Ordering::SeqCst, |n| n.checked_sub(1))
                .is_err()
        {
            return Err(gone());
        }
        if self.fault == Fault::WritesAreWrong && content.len() > 2 {
            return self.inner.write(path, &content[1..], existing);
        }
        self.inner.write(path, content, existing)
    }

    fn update(&self, path: &MemoryPath, edit: &mut Edit<'_>) -> Result<(), StoreError> {
        self.inner.update(path, edit)
    }

    fn delete(&self, path: &MemoryPath) -> Result<(), StoreError> {
        self.inner.delete(path)
    }

    fn rename(&self, from: &MemoryPath, to: &MemoryPath) -> Result<(), StoreError> {
        self.inner.rename(from, to)
    }

    fn set_modified(&self, path: &MemoryPath, time: SystemTime) -> Result<(), StoreError> {
        match self.fault {
            Fault::TimesCannotBeSet => Err(gone()),
            _ => self.inner.set_modified(path, time),
        }
    }
}

const FILES: &[(&str, &str)] =
    &[("/memories/a", "1"), ("/memories/dir/b", "22"), ("/memories/dir/c", "333")];

#[test]
fn after_a_failure_at_any_point_another_copy_does_the_rest() {
    let from = in_process();
    fill(&*from, FILES);
    from.make_directory(&at("/memories/empty/.deep")).unwrap();
    // One write makes the directory, the others make files.
    for writes in 0..4 {
        let (broken, to) = faulty(Fault::WritesEnd, writes);
        let Err(CopyError::Destination { error, .. }) = copy_all(&from, &to) else {
            panic!("{writes} writes were enough")
        };
        assert!(matches!(error, StoreError::Failed { .. }), "{error}");
        let files = tree(&*broken.inner).values().filter(|node| node.is_some()).count();
        assert_eq!(files, writes.saturating_sub(1));
        let copied = copy_all(&from, &broken.inner).unwrap();
        assert_eq!((copied.files + copied.equal, copied.equal), (3, files as u64));
        assert_eq!(tree(&*broken.inner), tree(&*from));
    }
}

#[test]
fn an_interruption_between_content_and_time_is_made_up_for() {
    let from = in_process();
    fill(&*from, FILES);
    let (broken, to) = faulty(Fault::TimesCannotBeSet, 0);
    copy_all(&from, &to).unwrap_err();
    assert_ne!(tree(&*broken.inner).get("/memories/a"), tree(&*from).get("/memories/a"));
    let copied = copy_all(&from, &broken.inner).unwrap();
    assert_eq!((copied.files, copied.equal), (2, 1));
    assert_eq!(tree(&*broken.inner), tree(&*from));
}

#[test]
fn a_copy_that_differs_is_noticed() {
    let from = in_process();
    fill(&*from, FILES);
    let (_, wrong) = faulty(Fault::WritesAreWrong, 0);
    let error = copy_all(&from, &wrong).unwrap_err();
    assert_eq!(
        error.to_string(),
        "writing /memories/dir/c to the destination: copying to /memories/dir/c: the copy differs"
    );
}

#[test]
fn what_cannot_be_read_is_named() {
    for fault in [Fault::ReadingFails, Fault::FilesVanish] {
        let (broken, from) = faulty(fault, 0);
        fill(&*broken.inner, FILES);
        let to = in_process();
        let error = copy_all(&from, &to).unwrap_err();
        assert!(
            error.to_string().starts_with("reading /memories/dir/b from the source: "),
            "{error}"
        );
        assert_eq!(tree(&*to).len(), 1, "what came before stays");
    }
}

#[test]
fn a_directory_that_a_killed_copy_was_making_is_finished() {
    // A store that can only make a directory by writing into it.
    let half: Arc<dyn Store> = Arc::new(Faulty::new(Fault::None, 0));
    half.write(&at("/memories/empty/.memdir-new-directory"), b"", OnExisting::Error).unwrap();
    let to = in_process();
    let copied = copy_all(&half, &to).unwrap();
    assert_eq!((copied.files, copied.directories), (0, 1));
    assert_eq!(copied.left_out[0].kind, ProblemKind::LeftOver);
    assert_eq!(tree(&*to), Tree::from([("/memories/empty".to_owned(), None)]));

    let mut problems = Vec::new();
    memdir::check(&half, &mut |problem| problems.push(problem.kind)).unwrap();
    assert_eq!(problems, [ProblemKind::LeftOver]);
    half.make_directory(&at("/memories/empty")).unwrap();
    assert_eq!(tree(&*half), tree(&*to));
}

/// A copy that was killed after its last file left its staging directory.
#[cfg(unix)]
#[test]
fn a_copy_that_finds_everything_there_removes_what_a_killed_one_left() {
    let place = tempfile::tempdir().unwrap();
    let from = in_process();
    fill(&*from, &[("/memories/a", "x")]);
    let to: Arc<dyn Store> =
        Arc::new(LocalDirectory::open(place.path(), Durability::Full).unwrap());
    copy_all(&from, &to).unwrap();
    let left = place.path().join("memories/.memdir-deleted%2F");
    std::fs::create_dir(&left).unwrap();
    std::fs::write(left.join("0"), "x").unwrap();
    assert_eq!(copy_all(&from, &to).unwrap().equal, 1);
    assert!(!left.exists());
}

#[test]
fn what_somebody_else_writes_during_the_copy_is_not_overwritten() {
    let (from, to) = (in_process(), in_process());
    fill(&*from, FILES);
    let source = Source::of(from, None);
    let plan = Plan::compare(source, &to, OnExisting::Error, &mut go_on).unwrap();
    assert_eq!(plan.outcome().files, 3);
    to.write(&at("/memories/a"), b"1", OnExisting::Error).unwrap();
    to.write(&at("/memories/dir/b"), b"theirs", OnExisting::Error).unwrap();
    let Err(CopyError::Refused(refusals)) = plan.carry_out(&to, Durability::Full, &mut go_on)
    else {
        panic!("it was overwritten")
    };
    assert_eq!(refusals[0].path, at("/memories/dir/b"));
    assert_eq!(to.read(&at("/memories/dir/b")).unwrap(), b"theirs");
}

#[test]
fn links_and_special_files_are_left_out_and_named() {
    let place = tempfile::tempdir().unwrap();
    let from = LocalDirectory::open(place.path(), Durability::Relaxed).unwrap();
    let from: Arc<dyn Store> = Arc::new(from);
    fill(&*from, FILES);
    std::os::unix::fs::symlink("a", place.path().join("memories/link")).unwrap();
    let copied = copy_all(&from, &in_process()).unwrap();
    assert_eq!(copied.files, 3);
    let left: Vec<_> = copied.left_out.iter().map(|p| (p.kind, p.path.as_str())).collect();
    assert_eq!(left, [(ProblemKind::Link, "/memories/link")]);
}

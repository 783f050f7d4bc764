//! A copy writes many small files together: the limits of a batch, and what is left if a batch ends in the middle.
#![cfg(all(unix, feature = "sqlite"))]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a panic is how a test fails")]

use std::ops::ControlFlow;
use std::sync::{Arc, Mutex};

use crate::common::store_helpers::{at, copy_all, in_process, put, tree};
use memdir::copy::{CopyError, Phase, There};
use memdir::store::{
    BatchError, Context, FileToWrite, InProcess, Layer, LocalDirectory, SqliteDatabase,
};
use memdir::{CopyOptions, Durability, OnExisting, Store, StoreError, copy};

/// Records the files and bytes of each batch, and calls a hook before it.
struct Batches {
    inner: InProcess,
    written: Mutex<Vec<(usize, usize)>>,
    before: Box<dyn Fn(&InProcess) + Send + Sync>,
}

impl Batches {
    fn new(before: impl Fn(&InProcess) + Send + Sync + 'static) -> Arc<Self> {
        let (inner, written) = (InProcess::new(), Mutex::default());
        Arc::new(Self { inner, written, before: Box::new(before) })
    }

    fn written(&self) -> Vec<(usize, usize)> {
        self.written.lock().unwrap().clone()
    }
}

impl Layer for Batches {
    fn inner(&self) -> &dyn Store {
        &self.inner
    }

    fn write_batch(&self, context: &Context, files: &[FileToWrite<'_>]) -> Result<(), BatchError> {
        let bytes = files.iter().map(|file| file.content.len()).sum();
        self.written.lock().unwrap().push((files.len(), bytes));
        (self.before)(&self.inner);
        self.inner.write_batch(context, files)
    }
}

fn copied_in_batches(files: impl Iterator<Item = usize>) -> Vec<(usize, usize)> {
    let from = in_process();
    let mut count = 0;
    for (number, size) in files.enumerate() {
        put(&*from, &format!("/memories/{:02}/{number:06}", number % 50), vec![b'x'; size]);
        count += 1;
    }
    let batches = Batches::new(|_| ());
    let to: Arc<dyn Store> = batches.clone();
    assert_eq!(copy_all(&from, &to).unwrap().files, count);
    assert_eq!(tree(&*to, "/memories"), tree(&*from, "/memories"));
    batches.written()
}

#[test]
fn a_batch_has_a_limit_of_files() {
    let sizes = |count| copied_in_batches(std::iter::repeat_n(1, count));
    // The store may remove what a killed copy left.
    assert_eq!(sizes(0), [(0, 0)]);
    assert_eq!(sizes(1), [(1, 1)]);
    assert_eq!(sizes(4096), [(4096, 4096)]);
    assert_eq!(sizes(4097), [(4096, 4096), (1, 1)]);
    assert_eq!(sizes(10_000), [(4096, 4096), (4096, 4096), (1808, 1808)]);
}

#[test]
fn a_batch_has_a_limit_of_bytes_and_a_larger_file_is_alone() {
    const MIB: usize = 1 << 20;
    let sizes = |files: &[usize]| copied_in_batches(files.iter().copied());
    assert_eq!(sizes(&[4 * MIB, 4 * MIB]), [(2, 8 * MIB)]);
    assert_eq!(sizes(&[4 * MIB, 4 * MIB, 0]), [(3, 8 * MIB)]);
    assert_eq!(sizes(&[4 * MIB, 4 * MIB + 1]), [(1, 4 * MIB), (1, 4 * MIB + 1)]);
    assert_eq!(sizes(&[1, 40 * MIB, 1]), [(1, 1), (1, 40 * MIB), (1, 1)]);
}

#[test]
fn a_file_that_another_process_writes_during_a_batch_is_kept() {
    let from = in_process();
    for name in ["a", "b", "c", "d"] {
        put(&*from, &format!("/memories/{name}"), name);
    }
    // The same content counts as equal, and the rest is written.
    let equal = |store: &InProcess| {
        let _ = store.write(&at("/memories/b"), b"b", OnExisting::Error);
    };
    let to: Arc<dyn Store> = Batches::new(equal);
    let copied = copy_all(&from, &to).unwrap();
    assert_eq!((copied.files, copied.bytes, copied.equal), (3, 3, 1));
    assert_eq!(tree(&*to, "/memories"), tree(&*from, "/memories"));

    let other = |store: &InProcess| {
        let _ = store.write(&at("/memories/c"), b"theirs", OnExisting::Error);
    };
    let to: Arc<dyn Store> = Batches::new(other);
    let Err(CopyError::Refused(refused)) = copy_all(&from, &to) else { panic!("overwritten") };
    assert_eq!(
        (refused[0].path.as_str(), refused[0].there),
        ("/memories/c", There::AnotherContent)
    );
    assert_eq!(to.read(&at("/memories/c")).unwrap(), b"theirs");
    assert_eq!(tree(&*to, "/memories").len(), 3, "the files before it are copied");

    let directory = |store: &InProcess| store.make_directory(&at("/memories/a")).unwrap();
    let to: Arc<dyn Store> = Batches::new(directory);
    let Err(CopyError::Refused(refused)) = copy_all(&from, &to) else { panic!("overwritten") };
    assert_eq!(refused[0].there, There::ADirectory);
}

#[test]
fn a_copy_that_is_stopped_has_written_the_files_before() {
    let from = in_process();
    (0..10).for_each(|number| put(&*from, &format!("/memories/{number}"), "text"));
    for stop in [0, 1, 7] {
        let batches = Batches::new(|_| ());
        let to: Arc<dyn Store> = batches.clone();
        let stopped = copy(&from, &to, CopyOptions::default(), &mut |progress| match (
            progress.phase,
            progress.files,
        ) {
            (Phase::Copying, files) if files == stop => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        });
        assert!(matches!(stopped, Err(CopyError::Stopped)));
        assert_eq!(tree(&*to, "/memories").len() as u64, stop);
        let again = copy_all(&from, &to).unwrap();
        assert_eq!((again.files, again.equal), (10 - stop, stop));
    }
}

/// With full durability, and more files than any step handles together.
#[test]
fn many_files_go_into_a_directory_and_a_database() {
    let place = tempfile::tempdir().unwrap();
    let from = in_process();
    for number in 0..300 {
        let path = format!("/memories/d{}/e{}/{number}", number % 3, number % 7);
        put(&*from, &path, vec![b'x'; number * 10]);
    }
    let directory = LocalDirectory::open(place.path().join("d"), Durability::Full).unwrap();
    let database = SqliteDatabase::open(place.path().join("a.db"), Durability::Full).unwrap();
    let mut stores: Vec<Arc<dyn Store>> = vec![Arc::new(directory), Arc::new(database)];
    #[cfg(feature = "postgres")]
    if let Some(server) = crate::common::postgres::server() {
        let store = memdir::store::PostgresDatabase::open(&server.fresh(), Durability::Full);
        stores.push(Arc::new(store.unwrap()));
    }
    for to in stores {
        // Some files are there, and one is replaced.
        put(&*to, "/memories/d0/e0/0", "");
        put(&*to, "/memories/d1/e1/1", "other");
        let mut options = CopyOptions::default();
        options.existing = OnExisting::Overwrite;
        let copied = copy(&from, &to, options, &mut |_| ControlFlow::Continue(())).unwrap();
        assert_eq!((copied.files, copied.equal), (299, 1));
        assert_eq!(tree(&*to, "/memories"), tree(&*from, "/memories"));
        for path in ["/memories/d2/e2/2", "/memories/d1/e1/1"] {
            let modified = |store: &Arc<dyn Store>| {
                store.modified(&at(path)).unwrap().map(memdir::store::micros::of)
            };
            assert_eq!(modified(&to), modified(&from), "{path}");
        }
        let mut problems = Vec::new();
        memdir::check(&to, &mut |problem| problems.push(problem)).unwrap();
        assert!(problems.is_empty(), "{problems:?}");
    }
    // No temporary name is left.
    let entries = std::fs::read_dir(place.path().join("d/memories")).unwrap();
    assert_eq!(entries.count(), 3);
}

#[test]
fn a_batch_in_a_read_only_directory_is_refused() {
    let place = tempfile::tempdir().unwrap();
    LocalDirectory::open_bare(place.path(), Durability::Full).unwrap();
    let to: Arc<dyn Store> = Arc::new(LocalDirectory::open_read_only(place.path()).unwrap());
    let from = in_process();
    put(&*from, "/memories/a", "a");
    let error = copy_all(&from, &to).unwrap_err();
    let is_read_only = matches!(&error, CopyError::Destination { error, .. } if matches!(error, StoreError::ReadOnly));
    assert!(is_read_only, "{error}");
}

//! Checking stores: problems are reported, concurrent changes by others are not.
#![cfg(all(unix, feature = "sqlite"))]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a panic is how a test fails")]

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::common::store_helpers::at;
use memdir::store::{
    Context, Entry, InProcess, Layer, LocalDirectory, Node, Problem, ProblemKind, SqliteDatabase,
    walk_files,
};
use memdir::{Checked, Durability, MemoryPath, OnExisting, Store, StoreError, check};

fn problems(store: &Arc<dyn Store>) -> (Vec<Problem>, Checked) {
    let mut problems = Vec::new();
    let checked = check(store, &mut |problem| problems.push(problem)).unwrap();
    assert_eq!(checked.problems, problems.len() as u64);
    (problems, checked)
}

fn fill(store: &dyn Store) {
    for path in ["/memories/a", "/memories/dir/b", "/memories/dir/.c"] {
        store.write(&at(path), b"12345", OnExisting::Error).unwrap();
    }
}

fn local(place: &Path) -> Arc<dyn Store> {
    Arc::new(LocalDirectory::open(place, Durability::Relaxed).unwrap())
}

fn found(store: Option<impl Store + 'static>) -> Arc<dyn Store> {
    Arc::new(store.unwrap())
}

#[test]
fn a_store_that_is_as_it_should_be_has_no_problems() {
    let place = tempfile::tempdir().unwrap();
    let database = SqliteDatabase::open(place.path().join("a.db"), Durability::Relaxed).unwrap();
    let in_process: Arc<dyn Store> = Arc::new(InProcess::new());
    for store in [in_process, local(place.path()), Arc::new(database)] {
        fill(&*store);
        let (problems, checked) = problems(&store);
        assert_eq!(problems, []);
        assert_eq!((checked.directories, checked.files, checked.bytes), (2, 3, 15));
    }
}

#[test]
fn what_is_beside_the_memory_is_named_and_left_alone() {
    let place = tempfile::tempdir().unwrap();
    fill(&*local(place.path()));
    let root = place.path().join("memories");
    symlink("..", root.join("dir/link")).unwrap();
    let _socket = UnixListener::bind(root.join("socket")).unwrap();
    fs::create_dir(root.join(OsStr::from_bytes(b"no\xfftext"))).unwrap();
    fs::write(root.join("escape\u{1b}[2J"), "").unwrap();
    fs::write(root.join(".memdir-staged%2F"), "half").unwrap();
    fs::create_dir_all(root.join(".memdir-deleted%2F/below")).unwrap();

    let store = found(LocalDirectory::find(place.path(), Durability::Relaxed).unwrap());
    let (problems, checked) = problems(&store);
    let mut found: Vec<_> = problems.iter().map(|p| (p.path.as_str(), p.kind)).collect();
    found.sort_by_key(|(at, _)| *at);
    assert_eq!(
        found,
        [
            ("/memories/.memdir-deleted%2F", ProblemKind::LeftOver),
            ("/memories/.memdir-staged%2F", ProblemKind::LeftOver),
            ("/memories/dir/link", ProblemKind::Link),
            ("/memories/escape\\u{1b}[2J", ProblemKind::BadName),
            ("/memories/no\\xfftext", ProblemKind::BadName),
            ("/memories/socket", ProblemKind::SpecialFile),
        ]
    );
    assert_eq!(checked.files, 3);
    assert!(root.join(".memdir-staged%2F").exists());
    // The next writer removes it.
    fs::remove_dir_all(root.join(".memdir-deleted%2F")).unwrap();
    store.write(&at("/memories/new"), b"", OnExisting::Error).unwrap();
    assert!(!problems_of(&store).contains(&ProblemKind::LeftOver));
}

fn problems_of(store: &Arc<dyn Store>) -> Vec<ProblemKind> {
    problems(store).0.iter().map(|problem| problem.kind).collect()
}

#[test]
fn a_writer_at_work_is_no_problem() {
    let place = tempfile::tempdir().unwrap();
    let store = local(place.path());
    let file = at("/memories/busy");
    store.write(&file, b"", OnExisting::Error).unwrap();
    std::thread::scope(|scope| {
        let busy = scope.spawn(|| {
            for round in 0..100_usize {
                let content = vec![b'x'; (round % 7) * 10_000];
                store.write(&file, &content, OnExisting::Overwrite).unwrap();
            }
        });
        while !busy.is_finished() {
            assert_eq!(problems(&store).0, []);
        }
    });
}

#[test]
fn a_writer_that_the_system_lets_wait_is_no_problem() {
    let place = tempfile::tempdir().unwrap();
    let store = local(place.path());
    fill(&*store);
    // As left by a process that has not locked it yet.
    let staged = fs::File::create(place.path().join("memories/.memdir-staged%2F")).unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(std::time::Duration::from_millis(100));
            // A process that inspects it holds the lock for a moment.
            staged.lock().unwrap();
        });
        assert_eq!(problems(&store).0, []);
    });
}

#[test]
fn what_is_wrong_in_a_database_is_found() {
    type Check = (&'static str, fn(&Problem) -> bool);
    let harm: [Check; 6] = [
        ("UPDATE node SET size = 6 WHERE name = 'b'", |p| {
            p.path == "/memories/dir/b" && p.kind == ProblemKind::Unreadable
        }),
        ("DELETE FROM chunk", |p| p.kind == ProblemKind::Unreadable),
        ("UPDATE node SET parent = id WHERE name = 'dir'", |p| {
            p.kind == ProblemKind::Damaged && p.details.contains("3 entries that no directory")
        }),
        ("UPDATE node SET parent = (SELECT id FROM node WHERE name = 'a') WHERE name = 'b'", |p| {
            p.kind == ProblemKind::Damaged && p.details == "1 entries below a file"
        }),
        ("INSERT INTO chunk SELECT id, 0, x'00' FROM node WHERE name = 'dir'", |p| {
            p.kind == ProblemKind::Damaged && p.details.contains("belong to no file")
        }),
        ("UPDATE node SET name = '..' WHERE name = 'a'", |p| {
            p.path == "/memories/.." && p.kind == ProblemKind::BadName
        }),
    ];
    for (sql, expected) in harm {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("a.db");
        fill(&SqliteDatabase::open(&path, Durability::Relaxed).unwrap());
        rusqlite::Connection::open(&path).unwrap().execute_batch(sql).unwrap();
        let store = found(SqliteDatabase::find(&path, Durability::Relaxed).unwrap());
        let (problems, _) = problems(&store);
        assert!(problems.iter().any(expected), "{sql}: {problems:?}");
    }
}

#[test]
fn a_damaged_page_of_a_database_is_found() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("a.db");
    let store = SqliteDatabase::open(&path, Durability::Relaxed).unwrap();
    for number in 0..50 {
        let file = at(&format!("/memories/file {number}"));
        store.write(&file, &b"text ".repeat(1000), OnExisting::Error).unwrap();
    }
    drop(store);
    let mut bytes = fs::read(&path).unwrap();
    let middle = bytes.len() / 4096 / 2 * 4096;
    bytes[middle..middle + 4096].fill(0xa5);
    fs::write(&path, bytes).unwrap();
    let store = found(SqliteDatabase::find(&path, Durability::Relaxed).unwrap());
    let (found, _) = problems(&store);
    assert!(found.iter().any(|problem| problem.kind == ProblemKind::Damaged), "{found:?}");
}

/// Whichever page is damaged, the check ends with a report. Each problem is one line, and no detected
/// problem is lost.
#[test]
fn a_database_with_any_damaged_page_is_reported_as_damaged() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("a.db");
    let store = SqliteDatabase::open(&path, Durability::Relaxed).unwrap();
    for number in 0..20 {
        let file = at(&format!("/memories/d/file {number}"));
        store.write(&file, &b"text ".repeat(2000), OnExisting::Error).unwrap();
    }
    drop(store);
    let whole = fs::read(&path).unwrap();
    let mut reported = 0;
    // Without the first page it is not a database.
    for page in 1..whole.len() / 4096 {
        let mut bytes = whole.clone();
        bytes[page * 4096..(page + 1) * 4096].fill(0xa5);
        fs::write(&path, bytes).unwrap();
        let Ok(Some(store)) = SqliteDatabase::find(&path, Durability::Relaxed) else { continue };
        let store: Arc<dyn Store> = Arc::new(store);
        let (found, _) = problems(&store);
        assert!(found.iter().all(|problem| !problem.to_string().contains('\n')), "{found:?}");
        let is_damaged = found.iter().any(|problem| problem.kind == ProblemKind::Damaged);
        assert!(is_damaged || found.is_empty(), "{page} {found:?}");
        reported += usize::from(is_damaged);
    }
    assert!(reported > 10, "{reported}");
}

#[test]
fn nothing_is_made_where_nothing_is() {
    let place = tempfile::tempdir().unwrap();
    for name in ["none", "empty"] {
        fs::create_dir_all(place.path().join("empty")).unwrap();
        assert!(LocalDirectory::find(place.path().join(name), Durability::Full).unwrap().is_none());
    }
    let file = place.path().join("a.db");
    assert!(SqliteDatabase::find(&file, Durability::Full).unwrap().is_none());
    fs::write(&file, "").unwrap();
    assert!(SqliteDatabase::find(&file, Durability::Full).unwrap().is_none());
    assert_eq!(fs::read(&file).unwrap(), b"");
    assert!(LocalDirectory::find(&file, Durability::Full).is_err());
    assert!(SqliteDatabase::find(place.path(), Durability::Full).is_err());
    assert_eq!(fs::read_dir(place.path()).unwrap().count(), 2);
    assert_eq!(fs::read_dir(place.path().join("empty")).unwrap().count(), 0);
}

/// A store whose listing and contents disagree, or that becomes unavailable.
struct Faulty {
    inner: InProcess,
    fault: Fault,
    listed: AtomicUsize,
}

#[derive(Clone, Copy, PartialEq)]
enum Fault {
    SizesAreWrong,
    /// The first listing has another size.
    ChangesOnce,
    OneFileFails,
    EverythingFails,
    NothingIsListed,
    FilesVanish,
}

impl Layer for Faulty {
    fn inner(&self) -> &dyn Store {
        &self.inner
    }

    fn read_in(&self, context: &Context, path: &MemoryPath) -> Result<Vec<u8>, StoreError> {
        let failed = || StoreError::failed("reading a file", "a bad block");
        match self.fault {
            Fault::OneFileFails if path.name() == Some("b") => Err(failed()),
            Fault::EverythingFails => Err(failed()),
            Fault::FilesVanish if path.name() == Some("b") => Err(StoreError::NotFound),
            _ => self.inner.read_in(context, path),
        }
    }

    fn list_in(&self, context: &Context, path: &MemoryPath) -> Result<Vec<Entry>, StoreError> {
        let entries = self.inner.list_in(context, path)?;
        let before = self.listed.fetch_add(1, Ordering::SeqCst);
        match self.fault {
            Fault::NothingIsListed => Err(StoreError::failed("listing", "gone")),
            Fault::EverythingFails if before > 0 => Err(StoreError::failed("listing", "gone")),
            Fault::SizesAreWrong => Ok(wrong(entries)),
            Fault::ChangesOnce if before == 0 => Ok(wrong(entries)),
            _ => Ok(entries),
        }
    }

    fn open_in(
        &self,
        context: &Context,
        path: &MemoryPath,
        _: usize,
    ) -> Result<Node<'_>, StoreError> {
        Layer::read_in(self, context, path).map(Node::file)
    }

    fn files_in(&self, _: &Context, visit: &mut dyn FnMut(Entry)) -> Result<(), StoreError> {
        walk_files(self, visit)
    }
}

fn wrong(entries: Vec<Entry>) -> Vec<Entry> {
    entries
        .into_iter()
        .map(|entry| match entry.path.name() {
            Some("a") => Entry::file(entry.path, 4),
            _ => entry,
        })
        .collect()
}

fn faulty(fault: Fault) -> Arc<dyn Store> {
    let store = Faulty { inner: InProcess::new(), fault, listed: AtomicUsize::new(0) };
    fill(&store.inner);
    Arc::new(store)
}

#[test]
fn a_size_that_stays_wrong_is_a_problem_and_one_that_changes_is_none() {
    let (found, _) = problems(&faulty(Fault::SizesAreWrong));
    assert_eq!(found.len(), 1);
    assert_eq!(
        found[0].to_string(),
        "/memories/a is not as long as its directory says (5 bytes and not 4)"
    );
    assert_eq!(problems(&faulty(Fault::ChangesOnce)).0, []);
}

#[test]
fn a_file_that_fails_is_a_problem_and_so_is_a_store_that_fails_in_the_middle() {
    let (found, checked) = problems(&faulty(Fault::OneFileFails));
    assert_eq!(
        found.iter().map(ToString::to_string).collect::<Vec<_>>(),
        ["/memories/dir/b cannot be read (reading a file: a bad block)"]
    );
    assert_eq!(checked.files, 2);
    let (found, checked) = problems(&faulty(Fault::EverythingFails));
    assert!(found.iter().all(|problem| problem.kind == ProblemKind::Unreadable), "{found:?}");
    assert_eq!((found.len(), checked.directories, checked.files), (1, 1, 0), "{found:?}");
    // A store from which nothing can be read is reported as unavailable.
    let failed = check(&faulty(Fault::NothingIsListed), &mut |problem| panic!("{problem}"));
    assert!(matches!(failed, Err(StoreError::Failed { .. })));
    assert_eq!(problems(&faulty(Fault::FilesVanish)).0, []);
}

#[test]
fn what_a_rename_between_mounts_left_is_named() {
    let store: Arc<dyn Store> = Arc::new(InProcess::new());
    for path in ["/memories/.memdir-moving-0123456789abcdef/x", "/memories/d/.memdir-moving-1"] {
        store.write(&MemoryPath::parse(path).unwrap(), b"x", OnExisting::Error).unwrap();
    }
    let mut problems = Vec::new();
    memdir::check(&store, &mut |problem| problems.push((problem.kind, problem.path))).unwrap();
    let left = "/memories/.memdir-moving-0123456789abcdef".to_owned();
    assert_eq!(problems, [(ProblemKind::LeftOver, left)]);
}

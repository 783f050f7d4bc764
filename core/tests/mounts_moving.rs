//! Renaming from one mounted store into another: whole or not at all, whatever else is done at the
//! same moment, and whatever breaks.
#![cfg(all(unix, feature = "sqlite"))]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a panic is how a test fails")]

mod common;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, SystemTime};

use memdir::store::{
    Edit, Entry, EntryKind, InProcess, LocalDirectory, Mount, Mounts, Node, Splice, SqliteDatabase,
    open_mounts,
};
use memdir::{Durability, MemoryPath, OnExisting, Options, Store, StoreError};

fn at(path: &str) -> MemoryPath {
    MemoryPath::parse(path).unwrap()
}

fn put(store: &dyn Store, path: &str, content: &[u8]) {
    store.write(&at(path), content, OnExisting::Error).unwrap();
}

type Tree = BTreeMap<String, Option<Vec<u8>>>;

/// Every file's content and every directory below `top`, also what is hidden.
fn tree(store: &dyn Store, top: &str) -> Tree {
    let mut tree = Tree::new();
    let mut directories = vec![at(top)];
    while let Some(directory) = directories.pop() {
        for entry in store.list(&directory).unwrap() {
            let content = match entry.kind {
                EntryKind::File(_) => Some(store.read(&entry.path).unwrap()),
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

fn mounted(root: Arc<dyn Store>, other: Arc<dyn Store>) -> Mounts {
    Mounts::new(root).mount(at("/memories/other"), other).unwrap()
}

/// Something of every kind, at `/memories/tree`.
fn plant(store: &dyn Store) {
    let every_byte: Vec<u8> = (0..=u8::MAX).collect();
    put(store, "/memories/tree/bytes", &every_byte);
    put(store, "/memories/tree/large", &every_byte.repeat(1000));
    put(store, "/memories/tree/empty", b"");
    put(store, "/memories/tree/.hidden/x", b"hidden");
    put(store, "/memories/tree/node_modules/y", b"left out of views");
    put(store, "/memories/tree/deep/er/still/été 猫", b"deep");
    put(store, "/memories/tree/bare/none/x", b"gone");
    store.delete(&at("/memories/tree/bare/none/x")).unwrap();
}

#[test]
fn everything_arrives_in_any_store_and_nothing_stays() {
    let place = tempfile::tempdir().unwrap();
    let stores: [Arc<dyn Store>; 4] = [
        Arc::new(InProcess::new()),
        Arc::new(LocalDirectory::open(place.path(), Durability::Relaxed).unwrap()),
        Arc::new(SqliteDatabase::open(place.path().join("a.db"), Durability::Relaxed).unwrap()),
        Arc::new(LocalDirectory::open_bare(place.path().join("b"), Durability::Relaxed).unwrap()),
    ];
    let time = SystemTime::UNIX_EPOCH + Duration::from_secs(1_234_567_890);
    for source in &stores {
        for destination in &stores {
            if Arc::ptr_eq(source, destination) {
                continue;
            }
            let mounts = mounted(Arc::clone(source), Arc::clone(destination));
            plant(&mounts);
            mounts.set_modified(&at("/memories/tree/bytes"), time).unwrap();
            let before = tree(&mounts, "/memories/tree");
            let rename = |from, to| mounts.rename(&at(from), &at(to)).unwrap();
            rename("/memories/tree", "/memories/other/new/parents/tree");
            assert_eq!(tree(&**source, "/memories").len(), 0);
            assert_eq!(
                mounts.modified(&at("/memories/other/new/parents/tree/bytes")).unwrap(),
                Some(time)
            );
            // One file on its way back, then the rest.
            rename("/memories/other/new/parents/tree/bytes", "/memories/tree/bytes");
            rename("/memories/other/new/parents/tree", "/memories/rest");
            assert_eq!(mounts.modified(&at("/memories/tree/bytes")).unwrap(), Some(time));
            let mut after = tree(&mounts, "/memories/tree");
            let rest = tree(&mounts, "/memories/rest");
            after.extend(
                rest.into_iter().map(|(path, held)| (path.replacen("rest", "tree", 1), held)),
            );
            assert_eq!(before, after);
            let left: Vec<String> = tree(&**destination, "/memories").into_keys().collect();
            assert_eq!(left, ["/memories/new", "/memories/new/parents"]);
            for store in [source, destination] {
                store.clear().unwrap();
            }
        }
    }
}

#[test]
fn conditions_come_in_the_order_of_the_contract() {
    let mounts = mounted(Arc::new(InProcess::new()), Arc::new(InProcess::new()));
    let deep = format!("/memories/deep{}", "/d".repeat(60));
    for path in ["/memories/file", "/memories/dir/x", "/memories/other/full/y", &deep] {
        put(&mounts, path, path.as_bytes());
    }
    put(&mounts, "/memories/other/other", b"a file");
    let before = tree(&mounts, "/memories");
    for (from, to, expected) in [
        ("none", "other/new/a", "not found"),
        ("none", "other/other", "not found"),
        ("none", "other", "not found"),
        ("file/below", "other/new", "not found"),
        ("file", "other/other", "already exists"),
        ("file", "other/full", "already exists"),
        ("dir", "other/full", "already exists"),
        ("dir", "other/full/y", "already exists"),
        ("dir", "other", "already exists"),
        ("other/full", "dir", "already exists"),
        ("dir", "other/other/below", "not a directory"),
        ("deep", "other/full/y/below/it", "not a directory"),
        ("deep", "other/new/1/2/3/4/5", "the name is too long for this store"),
        ("other", "new", "the source: a mount point, or above one"),
    ] {
        let (from, to) = (format!("/memories/{from}"), format!("/memories/{to}"));
        let error = mounts.rename(&at(&from), &at(&to)).unwrap_err();
        assert_eq!(error.to_string(), expected, "{from} to {to}");
        assert_eq!(tree(&mounts, "/memories"), before, "{from} to {to}");
    }
}

/// A store whose `fails_at`th operation fails: not done at all, or done and not known to be.
struct Failing {
    store: InProcess,
    fails_at: usize,
    though_done: bool,
    operations: AtomicUsize,
}

impl Failing {
    fn new(fails_at: usize, though_done: bool) -> Arc<Self> {
        let operations = AtomicUsize::new(0);
        Arc::new(Self { store: InProcess::new(), fails_at, though_done, operations })
    }

    fn run<T>(&self, operation: impl FnOnce() -> Result<T, StoreError>) -> Result<T, StoreError> {
        if self.operations.fetch_add(1, Ordering::Relaxed) != self.fails_at {
            return operation();
        }
        if self.though_done {
            operation()?;
        }
        Err(StoreError::failed("a test", "the answer was lost"))
    }
}

impl Store for Failing {
    fn read(&self, path: &MemoryPath) -> Result<Vec<u8>, StoreError> {
        self.run(|| self.store.read(path))
    }

    fn list(&self, path: &MemoryPath) -> Result<Vec<Entry>, StoreError> {
        self.run(|| self.store.list(path))
    }

    fn open(&self, path: &MemoryPath, depth: usize) -> Result<Node<'_>, StoreError> {
        self.run(|| self.store.open(path, depth))
    }

    fn write(
        &self,
        path: &MemoryPath,
        content: &[u8],
        existing: OnExisting,
    ) -> Result<(), StoreError> {
        self.run(|| self.store.write(path, content, existing))
    }

    fn update(&self, path: &MemoryPath, edit: &mut Edit<'_>) -> Result<(), StoreError> {
        self.run(|| self.store.update(path, edit))
    }

    fn delete(&self, path: &MemoryPath) -> Result<(), StoreError> {
        self.run(|| self.store.delete(path))
    }

    fn rename(&self, from: &MemoryPath, to: &MemoryPath) -> Result<(), StoreError> {
        self.run(|| self.store.rename(from, to))
    }

    fn set_modified(&self, path: &MemoryPath, time: SystemTime) -> Result<(), StoreError> {
        self.run(|| self.store.set_modified(path, time))
    }
}

/// What is in its place, which is all but what is on its way.
fn in_place(store: &dyn Store) -> Tree {
    let mut tree = tree(store, "/memories");
    tree.retain(|path, _| !path.contains("/.memdir-moving-"));
    tree
}

fn sorted_contents(tree: &Tree) -> Vec<Vec<u8>> {
    let mut contents: Vec<Vec<u8>> = tree.values().flatten().cloned().collect();
    contents.sort();
    contents
}

#[test]
fn whatever_operation_fails_one_whole_copy_is_in_its_place() {
    const NEVER: usize = usize::MAX;
    let mut failures = 0;
    for (source_fails, though_done) in [(true, false), (true, true), (false, false), (false, true)]
    {
        for fails_at in 0.. {
            let (a, b) = if source_fails { (fails_at, NEVER) } else { (NEVER, fails_at) };
            let source = Failing::new(a, though_done);
            let destination = Failing::new(b, though_done);
            // Planted and looked at beneath, so that only the rename's own operations count.
            plant(&source.store);
            let whole = tree(&source.store, "/memories");
            let mounts = mounted(Arc::clone(&source) as _, Arc::clone(&destination) as _);
            let result = mounts.rename(&at("/memories/tree"), &at("/memories/other/new/tree"));

            let (left, arrived) = (in_place(&source.store), in_place(&destination.store));
            let there = !arrived.is_empty();
            let what = format!("{source_fails} {though_done} {fails_at}: {result:?}");
            assert!(left.is_empty() || left == whole, "{what}: a part stayed");
            assert!(!left.is_empty() || there, "{what}: nothing is left");
            if there {
                assert_eq!(sorted_contents(&arrived), sorted_contents(&whole), "{what}");
                // And the directory above it.
                assert_eq!(arrived.len(), whole.len() + 1, "{what}");
            }
            match result {
                Ok(()) => {
                    assert!(left.is_empty() && there, "{what}");
                    let ran = if source_fails { &source } else { &destination };
                    // What failed was not needed, or nothing did.
                    if ran.operations.load(Ordering::Relaxed) <= fails_at {
                        break;
                    }
                }
                Err(StoreError::Failed { .. }) => failures += 1,
                Err(other) => panic!("{what}: {other}"),
            }
        }
    }
    assert!(failures > 100, "{failures}");
}

/// A store that does not let go of what is in it, without being read-only.
struct Sticky(InProcess);

impl Store for Sticky {
    fn read(&self, path: &MemoryPath) -> Result<Vec<u8>, StoreError> {
        self.0.read(path)
    }

    fn list(&self, path: &MemoryPath) -> Result<Vec<Entry>, StoreError> {
        self.0.list(path)
    }

    fn write(
        &self,
        path: &MemoryPath,
        content: &[u8],
        existing: OnExisting,
    ) -> Result<(), StoreError> {
        self.0.write(path, content, existing)
    }

    fn update(&self, path: &MemoryPath, edit: &mut Edit<'_>) -> Result<(), StoreError> {
        self.0.update(path, edit)
    }

    fn delete(&self, _: &MemoryPath) -> Result<(), StoreError> {
        Err(StoreError::PermissionDenied)
    }

    fn rename(&self, from: &MemoryPath, to: &MemoryPath) -> Result<(), StoreError> {
        self.0.rename(from, to)
    }
}

#[test]
fn what_may_not_go_stays_and_its_copy_goes() {
    let sticky = Arc::new(Sticky(InProcess::new()));
    put(&*sticky, "/memories/tree/a", b"a");
    put(&*sticky, "/memories/b", b"b");
    let mounts = mounted(sticky, Arc::new(InProcess::new()));
    let before = tree(&mounts, "/memories");
    for (from, to) in [("tree", "other/new/parents/tree"), ("b", "other/b"), ("b", "other/x/b")] {
        let (from, to) = (format!("/memories/{from}"), format!("/memories/{to}"));
        let error = mounts.rename(&at(&from), &at(&to)).unwrap_err();
        assert_eq!(error.to_string(), "the source: permission denied");
        assert_eq!(tree(&mounts, "/memories"), before);
    }
}

/// A store in which somebody else does something at the moment when a copy is read back.
struct Meddling {
    store: InProcess,
    meddle: Mutex<Option<Box<dyn FnOnce() + Send>>>,
}

impl Store for Meddling {
    fn read(&self, path: &MemoryPath) -> Result<Vec<u8>, StoreError> {
        self.store.read(path)
    }

    fn list(&self, path: &MemoryPath) -> Result<Vec<Entry>, StoreError> {
        self.store.list(path)
    }

    fn write(
        &self,
        path: &MemoryPath,
        content: &[u8],
        existing: OnExisting,
    ) -> Result<(), StoreError> {
        self.store.write(path, content, existing)
    }

    fn update(&self, path: &MemoryPath, edit: &mut Edit<'_>) -> Result<(), StoreError> {
        self.store.update(path, edit)
    }

    fn delete(&self, path: &MemoryPath) -> Result<(), StoreError> {
        self.store.delete(path)
    }

    /// The copy comes into its place.
    fn rename(&self, from: &MemoryPath, to: &MemoryPath) -> Result<(), StoreError> {
        self.store.rename(from, to)?;
        if let Some(meddle) = self.meddle.lock().unwrap().take() {
            meddle();
        }
        Ok(())
    }
}

/// Moves `/memories/dir/a` to `/memories/other/new/a` while somebody meddles once, right after the
/// copy came into its place.
fn meddled(
    meddle: impl FnOnce(&dyn Store, &dyn Store) + Send + 'static,
) -> (Result<(), StoreError>, Tree) {
    let source = Arc::new(InProcess::new());
    put(&*source, "/memories/dir/a", b"a");
    let destination = Arc::new(Meddling { store: InProcess::new(), meddle: Mutex::new(None) });
    let (here, there) = (Arc::clone(&source), Arc::clone(&destination));
    let meddle = move || meddle(&*here, &there.store);
    *destination.meddle.lock().unwrap() = Some(Box::new(meddle));
    let mounts = mounted(source, destination);
    let result = mounts.rename(&at("/memories/dir/a"), &at("/memories/other/new/a"));
    (result, tree(&mounts, "/memories"))
}

fn overwrite(store: &dyn Store, path: &str, content: &[u8]) {
    store.write(&at(path), content, OnExisting::Overwrite).unwrap();
}

fn held(expected: &[(&str, Option<&str>)]) -> Tree {
    let mut held: Tree =
        BTreeMap::from([("/memories/dir".to_owned(), None), ("/memories/other".to_owned(), None)]);
    for (path, content) in expected {
        held.insert(
            format!("/memories/{path}"),
            content.map(|content| content.as_bytes().to_vec()),
        );
    }
    held
}

#[test]
fn what_is_edited_meanwhile_is_moved_as_it_is_now() {
    let (result, tree) = meddled(|source, _| overwrite(source, "/memories/dir/a", b"edited"));
    result.unwrap();
    assert_eq!(tree, held(&[("other/new", None), ("other/new/a", Some("edited"))]));
}

#[test]
fn what_is_moved_away_meanwhile_is_not_there_twice() {
    let (result, tree) = meddled(|source, _| {
        source.rename(&at("/memories/dir/a"), &at("/memories/b")).unwrap();
    });
    assert!(matches!(result, Err(StoreError::NotFound)), "{result:?}");
    assert_eq!(tree, held(&[("b", Some("a"))]));
}

#[test]
fn what_others_put_beside_the_copy_stays() {
    let (result, tree) = meddled(|source, destination| {
        source.delete(&at("/memories/dir/a")).unwrap();
        put(destination, "/memories/new/beside", b"theirs");
    });
    assert!(matches!(result, Err(StoreError::NotFound)), "{result:?}");
    assert_eq!(tree, held(&[("other/new", None), ("other/new/beside", Some("theirs"))]));
}

#[test]
fn where_both_were_edited_both_stay() {
    let (result, tree) = meddled(|source, destination| {
        overwrite(source, "/memories/dir/a", b"here");
        overwrite(destination, "/memories/new/a", b"there");
    });
    assert!(matches!(result, Err(StoreError::Failed { .. })), "{result:?}");
    assert_eq!(
        tree,
        held(&[("dir/a", Some("here")), ("other/new", None), ("other/new/a", Some("there"))])
    );
}

#[test]
fn no_acknowledged_edit_is_lost_while_a_file_moves() {
    let place = tempfile::tempdir().unwrap();
    let stores: [(Arc<dyn Store>, Arc<dyn Store>); 2] = [
        (Arc::new(InProcess::new()), Arc::new(InProcess::new())),
        (
            Arc::new(LocalDirectory::open(place.path(), Durability::Relaxed).unwrap()),
            Arc::new(SqliteDatabase::open(place.path().join("a.db"), Durability::Relaxed).unwrap()),
        ),
    ];
    for (root, other) in stores {
        let mounts = mounted(root, other);
        put(&mounts, "/memories/dir/a", b"");
        let places = [at("/memories/dir/a"), at("/memories/other/dir/a")];
        let directories = [at("/memories/dir"), at("/memories/other/dir")];
        let (done, acknowledged) = (AtomicBool::new(false), AtomicUsize::new(0));
        // How often it was moved, as it is and as each writer knows it.
        let (moved, known) = (AtomicUsize::new(0), [const { AtomicUsize::new(0) }; 3]);
        thread::scope(|scope| {
            for known in &known {
                let (done, acknowledged, moved) = (&done, &acknowledged, &moved);
                let (mounts, places) = (&mounts, &places);
                scope.spawn(move || {
                    while !done.load(Ordering::SeqCst) {
                        let now = moved.load(Ordering::SeqCst);
                        known.store(now, Ordering::SeqCst);
                        let path = &places[now % 2];
                        let appended = mounts.update(path, &mut |old| {
                            Some(Splice { range: old.len()..old.len(), text: b"+".to_vec() })
                        });
                        match appended {
                            Ok(()) => {
                                acknowledged.fetch_add(1, Ordering::Relaxed);
                            }
                            // On its way.
                            Err(StoreError::NotFound) => {}
                            Err(error) => panic!("{error}"),
                        }
                        thread::sleep(Duration::from_millis(2));
                    }
                });
            }
            for round in 0..100_000 {
                if round % 4 == 0 && acknowledged.load(Ordering::Relaxed) > 100 {
                    break;
                }
                // A directory and a file in turn, there and back.
                let ends = if round % 4 < 2 { &directories } else { &places };
                let (from, to) = (round % 2, (round + 1) % 2);
                let mut refused = 0;
                while let Err(error) = mounts.rename(&ends[from], &ends[to]) {
                    // Then all is as before, and it may be tried again.
                    refused += 1;
                    if refused == 100 || !error.to_string().contains("changed each time") {
                        done.store(true, Ordering::Relaxed);
                        panic!("round {round}: {error}");
                    }
                }
                // From here on nobody writes to where it was, so that it can be moved there again:
                // what is edited in both places at once stays in both.
                moved.store(round + 1, Ordering::SeqCst);
                while known.iter().any(|known| known.load(Ordering::SeqCst) <= round) {
                    thread::yield_now();
                }
                if ends == &places {
                    mounts.delete(&directories[from]).unwrap();
                }
            }
            done.store(true, Ordering::Relaxed);
        });
        let kept = mounts.read(&places[0]).unwrap().len();
        assert_eq!(kept, acknowledged.into_inner());
        assert!(kept > 0);
        assert_eq!(
            tree(&mounts, "/memories").into_keys().collect::<Vec<_>>(),
            ["/memories/dir", "/memories/dir/a", "/memories/other"]
        );
    }
}

#[test]
fn of_renames_at_once_one_wins() {
    for round in 0..20 {
        let mounts = mounted(Arc::new(InProcess::new()), Arc::new(InProcess::new()));
        let race = |rename: &(dyn Fn(usize) -> Result<(), StoreError> + Sync)| {
            let winners = AtomicUsize::new(0);
            thread::scope(|scope| {
                for racer in 0..4 {
                    let winners = &winners;
                    scope.spawn(move || match rename(racer) {
                        Ok(()) => {
                            winners.fetch_add(1, Ordering::Relaxed);
                        }
                        Err(StoreError::NotFound | StoreError::AlreadyExists) => {}
                        Err(error) => panic!("{error}"),
                    });
                }
            });
            assert_eq!(winners.into_inner(), 1, "round {round}");
        };
        for racer in 0..4 {
            put(&mounts, &format!("/memories/{racer}/x"), b"");
        }
        // Four to one place.
        race(&|racer| mounts.rename(&at(&format!("/memories/{racer}")), &at("/memories/other/to")));
        assert_eq!(tree(&mounts, "/memories").values().flatten().count(), 4);
        // One to four places.
        race(&|racer| {
            mounts.rename(&at("/memories/other/to"), &at(&format!("/memories/new/{racer}")))
        });
        assert_eq!(tree(&mounts, "/memories").values().flatten().count(), 4);
        assert_eq!(tree(&mounts, "/memories/other"), Tree::new());
    }
}

fn directories(place: &Path) -> Mounts {
    let path = |name| place.join(name);
    let mut options = Options::default();
    options.durability = Durability::Relaxed;
    let mounts =
        [Mount::new("/memories", path("root")), Mount::new("/memories/other", path("other"))];
    open_mounts(mounts, &options).unwrap()
}

#[test]
fn a_kill_leaves_one_whole_copy_in_its_place() {
    if let Some(place) = std::env::var_os("MEMDIR_TEST_MOVER") {
        let mounts = directories(Path::new(&place));
        let ends = [at("/memories/tree"), at("/memories/other/tree")];
        loop {
            for (from, to) in [(&ends[0], &ends[1]), (&ends[1], &ends[0])] {
                // Where the one before was killed between the two, both are there.
                match mounts.rename(from, to) {
                    Ok(()) | Err(StoreError::NotFound) => {}
                    Err(StoreError::AlreadyExists) => mounts.delete(from).unwrap(),
                    Err(error) => panic!("{error}"),
                }
            }
        }
    }
    let place = tempfile::tempdir().unwrap();
    let job = place.path().to_str().unwrap();
    let mounts = directories(place.path());
    plant(&mounts);
    let whole = tree(&mounts, "/memories/tree");
    let mut kills_in_the_middle = 0;
    for round in 0..25 {
        let test = "a_kill_leaves_one_whole_copy_in_its_place";
        let mut mover = common::process(test, &[("MEMDIR_TEST_MOVER", job)]);
        thread::sleep(Duration::from_millis(20 + round * 3));
        mover.kill().unwrap();
        mover.wait().unwrap();

        let kept = |top: &str| {
            mounts.list(&at(top)).is_ok().then(|| -> Tree {
                let held = tree(&mounts, top);
                held.into_iter()
                    .map(|(path, held)| (path.replacen("/other", "", 1), held))
                    .collect()
            })
        };
        let copies = [kept("/memories/tree"), kept("/memories/other/tree")];
        assert!(copies.iter().any(Option::is_some), "round {round}: nothing is left");
        for copy in copies.iter().flatten() {
            assert_eq!(*copy, whole, "round {round}");
        }
        let aside = tree(&mounts, "/memories").into_keys().any(|path| path.contains("-moving-"));
        kills_in_the_middle += usize::from(aside || copies.iter().all(Option::is_some));
        // What a view shows is the tree, once or twice, and nothing that was on its way.
        let Node::Directory(shown) = mounts.open(&at("/memories"), 9).unwrap() else { panic!() };
        assert!(shown.iter().all(|entry| !entry.path.as_str().contains("moving")));
    }
    assert!(kills_in_the_middle > 0);
}

//! Files that are written together have the versions that they would have if each was written alone: whatever is there, whatever other
//! writers do meanwhile, and also if the process is killed.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a panic is how a test fails")]
#![allow(clippy::needless_pass_by_value, reason = "each test has a store of its own")]

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
#[cfg(unix)]
use std::sync::Mutex;
use std::sync::{Arc, Once};
use std::time::{Duration, SystemTime};

use crate::common::store_helpers::{at, tree};
use memdir::history::{HistoryQuery, Operation, Version};
use memdir::import::{ImportError, ImportedFile};
#[cfg(unix)]
use memdir::store::{BatchError, FileToWrite};
use memdir::store::{Context, Entry, FileToDelete, Layer};
use memdir::{Error, Memory, MemoryOptions, MemoryPath, OnExisting, Store, StoreError};

fn remembering(store: &Arc<dyn Store>) -> Memory {
    let mut options = MemoryOptions::default();
    options.history = true;
    Memory::with_store(Arc::clone(store), options)
}

/// Imports files with their names as their texts, all together.
fn import(memory: &Memory, names: &[&str], existing: OnExisting) -> Result<(), ImportError> {
    let paths: Vec<MemoryPath> =
        names.iter().map(|name| at(&format!("/memories/{name}"))).collect();
    let file = |(path, text)| ImportedFile { path, text, existing };
    let files: Vec<_> = paths.iter().zip(names.iter().copied()).map(file).collect();
    memory.import(|import| import.write_batch(&files)).0
}

/// The versions of each file, oldest first. Checks that each content can be read, and that the last one is that of the file.
fn chains(memory: &Memory) -> BTreeMap<String, Vec<Version>> {
    let mut chains: BTreeMap<String, Vec<Version>> = BTreeMap::new();
    for version in memory.history(&HistoryQuery::default()).unwrap().into_iter().rev() {
        chains.entry(version.path.to_string()).or_default().push(version);
    }
    for (path, chain) in &chains {
        let last = chain.last().unwrap();
        let is_there = !matches!(last.operation, Operation::Deleted | Operation::Expired);
        assert_eq!(memory.exists(path).unwrap(), is_there, "{last:?}");
        if is_there {
            assert!(last.is_current, "{last:?}");
            assert_eq!(
                memory.read_version(last.id).unwrap(),
                memory.read(path).unwrap().as_bytes()
            );
        }
    }
    chains
}

fn operations(chain: &[Version]) -> Vec<Operation> {
    chain.iter().map(|version| version.operation).collect()
}

on_every_store!(files_that_are_imported_together_have_a_version_each);
fn files_that_are_imported_together_have_a_version_each(store: Arc<dyn Store>) {
    use Operation::{Created, Imported};

    let memory = remembering(&store);
    memory.create("/memories/old", "before").unwrap();
    let names = ["a/1", "a/2", "old", "b/c/3", "4", "mounted/5", "mounted/6", "a/7", "8", "9"];
    import(&memory, &names, OnExisting::Overwrite).unwrap();
    // A new reader sees the same as the writer.
    for memory in [&memory, &remembering(&store)] {
        let chains = chains(memory);
        assert_eq!(chains.len(), names.len());
        for name in names {
            let path = format!("/memories/{name}");
            assert_eq!(memory.read(&path).unwrap(), name);
            let expected: &[Operation] =
                if name == "old" { &[Created, Imported] } else { &[Imported] };
            assert_eq!(operations(&chains[&path]), expected, "{path}");
        }
        let of_import = chains.values().map(|chain| chain.last().unwrap().change);
        let changes: BTreeSet<_> = of_import.collect();
        // Each mounted store has a history of its own, in which the import is one change.
        assert_eq!(changes.len(), 1, "{changes:?}");
    }
    let mut problems = Vec::new();
    memdir::check(&store, &mut |problem| problems.push(problem)).unwrap();
    assert!(problems.is_empty(), "{problems:?}");
}

on_every_store!(an_import_ends_at_a_file_that_exists_and_records_those_before);
fn an_import_ends_at_a_file_that_exists_and_records_those_before(store: Arc<dyn Store>) {
    let memory = remembering(&store);
    memory.create("/memories/old", "before").unwrap();
    let names = ["a", "b", "c", "old", "d", "e"];
    for written in [3, 0] {
        let ended = import(&memory, &names[3 - written..], OnExisting::Error).unwrap_err();
        assert!(matches!(ended.error, Error::Refused(_)), "{ended:?}");
        assert_eq!(ended.written, written);
        for memory in [&memory, &remembering(&store)] {
            let chains = chains(memory);
            assert_eq!(chains.len(), 4);
            assert!(chains.values().all(|chain| chain.len() == 1), "{chains:?}");
            assert_eq!(memory.read("/memories/old").unwrap(), "before");
        }
    }
    // A path that is below a file of the same import, and one that comes twice.
    let ended = import(&memory, &["f", "g", "f/below", "h"], OnExisting::Error).unwrap_err();
    assert_eq!(ended.written, 2);
    let ended = import(&memory, &["i", "j", "i", "k"], OnExisting::Error).unwrap_err();
    assert_eq!(ended.written, 2);
    import(&memory, &["l", "m", "l"], OnExisting::Overwrite).unwrap();
    let chains = chains(&remembering(&store));
    let new = ["f", "g", "i", "j", "l", "m"];
    assert_eq!(chains.len(), 4 + new.len(), "{chains:?}");
    for name in new {
        let chain = &chains[&format!("/memories/{name}")];
        assert!(chain.iter().all(|version| version.operation == Operation::Imported), "{chain:?}");
    }
}

on_every_store!(files_that_were_deleted_are_restored_together);
fn files_that_were_deleted_are_restored_together(store: Arc<dyn Store>) {
    let memory = remembering(&store);
    let names: Vec<String> = (0..40).map(|number| format!("d{}/{number}", number % 3)).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    import(&memory, &names, OnExisting::Error).unwrap();
    let last = memory.history(&HistoryQuery::default()).unwrap()[0].id.time();
    let before = tree(&*store, "/memories");
    for number in 0..3 {
        memory.delete(&format!("/memories/d{number}")).unwrap();
    }
    let restored = memory.restore_all(last, false).unwrap();
    assert_eq!(restored.files.len(), names.len());
    let files = |tree: crate::common::store_helpers::Tree| {
        let files = tree.into_iter().filter(|(path, _)| !path.contains("/.memdir"));
        files.filter(|(_, content)| content.is_some()).collect::<Vec<_>>()
    };
    assert_eq!(files(tree(&*store, "/memories")), files(before));
    let chains = chains(&remembering(&store));
    for name in names {
        let chain = &chains[&format!("/memories/{name}")];
        assert_eq!(chain.last().unwrap().change, restored.change.unwrap());
        assert_eq!(chain.len(), 3, "{chain:?}");
    }
}

/// A store that runs a callback after it has listed the unused files.
struct Interrupted {
    store: Arc<dyn Store>,
    then: Arc<dyn Fn() + Send + Sync>,
}

impl Layer for Interrupted {
    fn inner(&self) -> &dyn Store {
        &*self.store
    }

    fn unused(&self, files: Vec<Entry>, since: SystemTime) -> Result<Vec<Entry>, StoreError> {
        let unused = self.store.unused(files, since);
        (self.then)();
        unused
    }

    fn delete_unused_batch(
        &self,
        context: &Context,
        files: &[FileToDelete<'_>],
        since: SystemTime,
        visit: &mut dyn FnMut(bool),
    ) -> Result<(), StoreError> {
        self.store.delete_unused_batch(context, files, since, visit)
    }

    fn mounts(&self) -> Option<&dyn memdir::store::MountTable> {
        self.store.mounts()
    }
}

/// The options of a memory with a history, whose files expire.
fn expiring() -> MemoryOptions {
    let mut options = MemoryOptions::default();
    (options.history, options.record_access) = (true, true);
    options
}

fn age(store: &dyn Store, path: &str) {
    let long_ago = SystemTime::now() - Duration::from_secs(36_000);
    store.set_modified(&at(path), long_ago).unwrap();
    store.record_access(&at(path), long_ago).unwrap();
}

fn expire(memory: &Memory) -> Vec<String> {
    let hour = Duration::from_secs(3600);
    let expired = memory.expire(hour, false, &mut |_| ControlFlow::Continue(())).unwrap();
    expired.into_iter().map(|file| file.path.to_string()).collect()
}

on_every_store!(files_that_expire_together_have_a_version_each);
fn files_that_expire_together_have_a_version_each(store: Arc<dyn Store>) {
    for count in [0, 1, 2, 63, 64, 65, 200] {
        let memory = Memory::with_store(Arc::clone(&store), expiring());
        memory.clear().unwrap();
        let names: Vec<String> = (0..count)
            .map(|n| format!("{}/{n}", ["mounted", "a", "b/c"][n % 3]))
            .chain(["a/edited", "b/gone", "mounted/viewed"].map(str::to_owned))
            .collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        import(&memory, &names, OnExisting::Error).unwrap();
        for name in &names {
            age(&*store, &format!("/memories/{name}"));
        }
        let another = Memory::with_store(Arc::clone(&store), expiring());
        let once = Once::new();
        let then: Arc<dyn Fn() + Send + Sync> = Arc::new(move || {
            once.call_once(|| {
                another.insert("/memories/a/edited", 1, "new").unwrap();
                another.delete("/memories/b/gone").unwrap();
                another.view("/memories/mounted/viewed", None).unwrap();
            });
        });
        if store.mounts().is_some() {
            // The history of each mounted store is below the table of mounts, so no layer comes between.
            then();
        }
        let interrupted: Arc<dyn Store> = Arc::new(Interrupted { store: Arc::clone(&store), then });
        let interrupted = Memory::with_store(interrupted, expiring());
        assert_eq!(expire(&interrupted).len(), count, "{count}");
        // A new reader sees the same as the writer.
        for memory in [&interrupted, &Memory::with_store(Arc::clone(&store), expiring())] {
            let query = HistoryQuery::default();
            let versions = memory.history(&query).unwrap();
            let gone = versions.iter().filter(|it| it.operation == Operation::Expired);
            let gone: Vec<_> = gone.take(count).collect();
            let paths: BTreeSet<_> = gone.iter().map(|version| version.path.to_string()).collect();
            let expected: BTreeSet<_> =
                names[..count].iter().map(|name| format!("/memories/{name}")).collect();
            assert_eq!(paths, expected, "{count}");
            for version in gone {
                assert!(!memory.exists(version.path.as_str()).unwrap(), "{version:?}");
            }
        }
        // Each of them comes back alone.
        if let Some(name) = names[..count].last() {
            let path = format!("/memories/{name}");
            let mut query = HistoryQuery::default();
            query.path = Some(path.clone());
            let version = &interrupted.history(&query).unwrap()[0];
            interrupted.undo(version.change, Default::default()).unwrap();
            assert_eq!(interrupted.read(&path).unwrap(), *name);
        }
        let mut problems = Vec::new();
        memdir::check(&store, &mut |problem| problems.push(problem)).unwrap();
        assert!(problems.is_empty(), "{count}: {problems:?}");
    }
}

#[cfg(unix)]
type RivalChange = Box<dyn Fn(&Arc<dyn Store>) + Send + Sync>;

/// A store in which another writer makes a change before each batch.
#[cfg(unix)]
struct Rival {
    inner: Arc<dyn Store>,
    change: RivalChange,
    /// The number of files in each batch.
    batches: Mutex<Vec<usize>>,
}

#[cfg(unix)]
impl Layer for Rival {
    fn inner(&self) -> &dyn Store {
        &*self.inner
    }

    fn write_batch(&self, context: &Context, files: &[FileToWrite<'_>]) -> Result<(), BatchError> {
        self.batches.lock().unwrap().push(files.len());
        (self.change)(&self.inner);
        self.inner.write_batch(context, files)
    }
}

#[cfg(unix)]
fn on_local_stores(check: impl Fn(Arc<dyn Store>)) {
    let place = tempfile::tempdir().unwrap();
    let database = place.path().join("a.db");
    let addresses = [
        place.path().join("memory").display().to_string(),
        format!("sqlite:{}", database.display()),
    ];
    for address in addresses {
        check(memdir::open_store(&address, &MemoryOptions::default()).unwrap());
    }
}

#[cfg(unix)]
fn with_rival(
    store: &Arc<dyn Store>,
    change: impl Fn(&Arc<dyn Store>) + Send + Sync + 'static,
) -> Arc<Rival> {
    Arc::new(Rival {
        inner: Arc::clone(store),
        change: Box::new(change),
        batches: Mutex::default(),
    })
}

#[cfg(all(unix, feature = "sqlite"))]
#[test]
fn a_file_that_another_writer_creates_meanwhile_is_kept_and_has_its_own_version() {
    on_local_stores(|store| {
        let rival = with_rival(&store, |store| {
            let _ = remembering(store).create("/memories/c", "theirs");
        });
        let names = ["a", "b", "c", "d", "e"];
        let memory = remembering(&(rival.clone() as Arc<dyn Store>));
        let ended = import(&memory, &names, OnExisting::Error).unwrap_err();
        assert!(matches!(ended.error, Error::Refused(_)), "{ended:?}");
        assert_eq!((ended.written, &rival.batches.lock().unwrap()[..]), (2, &[5][..]));
        for memory in [&memory, &remembering(&store)] {
            let chains = chains(memory);
            assert_eq!(
                chains.keys().collect::<Vec<_>>(),
                ["/memories/a", "/memories/b", "/memories/c"]
            );
            assert!(chains.values().all(|chain| chain.len() == 1), "{chains:?}");
            assert_eq!(operations(&chains["/memories/c"]), [Operation::Created]);
            assert_eq!(memory.read("/memories/c").unwrap(), "theirs");
        }
        // One that may be overwritten is, and its former content has a version, too.
        let rival = with_rival(&store, |store| {
            let _ = remembering(store).create("/memories/e", "theirs");
        });
        let memory = remembering(&(rival.clone() as Arc<dyn Store>));
        import(&memory, &["d", "e", "f", "g"], OnExisting::Overwrite).unwrap();
        assert_eq!(rival.batches.lock().unwrap()[..], [4, 2]);
        let chains = chains(&remembering(&store));
        assert_eq!(operations(&chains["/memories/e"]), [Operation::Created, Operation::Imported]);
        assert_eq!(memory.read("/memories/e").unwrap(), "e");
        assert_eq!(chains.len(), 7);
    });
}

#[cfg(all(unix, feature = "sqlite"))]
#[test]
fn a_file_that_appears_during_a_restore_is_not_overwritten() {
    use memdir::history::HistoryError;

    on_local_stores(|store| {
        let memory = remembering(&store);
        let names = ["a", "b", "c", "d"];
        import(&memory, &names, OnExisting::Error).unwrap();
        let last = memory.history(&HistoryQuery::default()).unwrap()[0].id.time();
        names.iter().for_each(|name| drop(memory.delete(&format!("/memories/{name}")).unwrap()));
        // By a program that knows nothing of the history.
        for (name, is_partly) in [("c", true), ("a", false)] {
            let path = at(&format!("/memories/{name}"));
            let rival = with_rival(&store, move |store| {
                let _ = store.write(&path, b"theirs", OnExisting::Error);
            });
            let memory = remembering(&(rival as Arc<dyn Store>));
            let stopped = memory.restore_all(last, false).unwrap_err();
            assert_eq!(matches!(stopped, HistoryError::Partly { .. }), is_partly, "{stopped:?}");
            assert_eq!(memory.read(&format!("/memories/{name}")).unwrap(), "theirs");
            assert!(!memory.exists("/memories/d").unwrap());
            for name in names.map(|name| format!("/memories/{name}")) {
                if memory.exists(&name).unwrap() {
                    memory.delete(&name).unwrap();
                }
            }
        }
    });
}

#[cfg(all(unix, feature = "sqlite"))]
mod kills {
    use super::*;
    use crate::common::effort::times;
    use crate::common::workers::{Job, Worker, until};

    const WORKER: &str = here!("worker");

    fn open(address: &str) -> Memory {
        let mut options = MemoryOptions::default();
        options.history = true;
        options.record_access = true;
        if address.contains("encrypted") {
            options.encryption_key = Some(memdir::EncryptionKey::from_bytes([7; 32]));
        }
        Memory::open(address, options).unwrap()
    }

    /// The number of files in a batch. A directory places them 32 at a time.
    const FILES: usize = 100;

    /// Not a real test: a process that is killed.
    #[test]
    fn worker() {
        let Some(job) = Job::of_this_process() else { return };
        let memory = open(&job.address).acting_as(&job.me);
        if job.name == "expire" {
            std::fs::write(job.place.join(&job.me), "").unwrap();
            expire(&memory);
            return;
        }
        if job.name == "restore" {
            let last = std::fs::read_to_string(job.place.join("last")).unwrap();
            let last = last.parse::<memdir::history::HistoryId>().unwrap().time();
            std::fs::write(job.place.join(&job.me), "").unwrap();
            memory.restore_all(last, false).unwrap();
            return;
        }
        for batch in 0.. {
            let names: Vec<String> =
                (0..FILES).map(|n| format!("{}/{batch}/d{}/{n}", job.me, n % 3)).collect();
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            import(&memory, &names, OnExisting::Error).unwrap();
            std::fs::write(job.place.join(&job.me), "").unwrap();
        }
    }

    /// Checks that each file has exactly one version, and that no other file has one. Returns the number of files.
    fn checked(memory: &Memory, directory: &str) -> usize {
        let chains = chains(memory);
        let mut files = Vec::new();
        memory.store().files(&mut |file| files.push(file.path.to_string())).unwrap();
        files.retain(|path| !path.contains("/.memdir"));
        files.sort();
        assert!(chains.keys().eq(files.iter()), "{directory}: {chains:#?} {files:#?}");
        assert!(chains.values().all(|chain| chain.len() == 1), "{directory}: {chains:#?}");
        files.len()
    }

    fn killed_import(address: &str, round: u64) {
        let place = tempfile::tempdir().unwrap();
        let mut victim = Worker::start(WORKER, address, place.path(), "import", "me");
        until(|| place.path().join("me").exists());
        std::thread::sleep(Duration::from_millis(round * 7 % 23));
        victim.kill();
        let memory = open(address);
        let files = checked(&memory, address);
        // In a database a batch is all there or not at all.
        assert!(files.is_multiple_of(FILES) || !address.starts_with("sqlite:"), "{files}");
        memory.create("/memories/end", "").unwrap();
        assert_eq!(checked(&memory, address), files + 1);
        let mut problems = Vec::new();
        memdir::check(memory.store(), &mut |problem| problems.push(problem)).unwrap();
        assert!(problems.is_empty(), "{problems:?}");
    }

    fn killed_restores(address: &str) {
        let place = tempfile::tempdir().unwrap();
        let memory = open(address);
        let names: Vec<String> = (0..2 * FILES).map(|n| format!("d{}/{n}", n % 3)).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        import(&memory, &names, OnExisting::Error).unwrap();
        let last = memory.history(&HistoryQuery::default()).unwrap()[0].id;
        std::fs::write(place.path().join("last"), last.to_string()).unwrap();
        for round in 0..times(2) {
            for number in 0..3 {
                let directory = format!("/memories/d{number}");
                if memory.exists(&directory).unwrap() {
                    memory.delete(&directory).unwrap();
                }
            }
            let me = format!("r{round}");
            let mut victim = Worker::start(WORKER, address, place.path(), "restore", &me);
            until(|| place.path().join(&me).exists());
            std::thread::sleep(Duration::from_millis(round * 11 % 41));
            victim.kill();
            // Each version of a file that is there is true, and a second run restores the rest.
            chains(&open(address));
            open(address).restore_all(last.time(), false).unwrap();
            let chains = chains(&open(address));
            assert_eq!(chains.len(), names.len());
            assert!(chains.values().all(|chain| chain.last().unwrap().is_current));
        }
    }

    fn killed_expiries(address: &str) {
        let place = tempfile::tempdir().unwrap();
        let memory = open(address);
        let names: Vec<String> = (0..2 * FILES).map(|n| format!("d{}/{n}", n % 3)).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        import(&memory, &names, OnExisting::Error).unwrap();
        let last = memory.history(&HistoryQuery::default()).unwrap()[0].id;
        for round in 0..times(3) {
            for name in &names {
                age(&**memory.store(), &format!("/memories/{name}"));
            }
            let me = format!("e{round}");
            let mut victim = Worker::start(WORKER, address, place.path(), "expire", &me);
            until(|| place.path().join(&me).exists());
            std::thread::sleep(Duration::from_millis(round * 13 % 37));
            victim.kill();
            // Each version of a file that is gone is true, and a second run removes the rest.
            chains(&open(address));
            expire(&open(address));
            let chains = chains(&open(address));
            assert_eq!(chains.len(), names.len());
            let is_expired =
                |chain: &Vec<Version>| chain.last().unwrap().operation == Operation::Expired;
            assert!(chains.values().all(is_expired), "{chains:?}");
            assert_eq!(memory.restore_all(last.time(), false).unwrap().files.len(), names.len());
        }
    }

    fn addresses(place: &std::path::Path) -> [String; 3] {
        let directory = |name: &str| place.join(name).display().to_string();
        [directory("memory"), directory("encrypted"), format!("sqlite:{}", directory("a.db"))]
    }

    #[test]
    fn a_killed_import_leaves_a_version_for_each_file_and_for_nothing_else() {
        let place = tempfile::tempdir().unwrap();
        for round in 0..times(3) {
            let place = place.path().join(round.to_string());
            std::fs::create_dir(&place).unwrap();
            addresses(&place).iter().for_each(|address| killed_import(address, round));
        }
    }

    #[test]
    fn a_killed_expiry_leaves_true_versions_and_is_finished_by_another() {
        let place = tempfile::tempdir().unwrap();
        addresses(place.path()).iter().for_each(|address| killed_expiries(address));
    }

    #[test]
    fn a_killed_restore_leaves_true_versions_and_is_finished_by_another() {
        let place = tempfile::tempdir().unwrap();
        addresses(place.path()).iter().for_each(|address| killed_restores(address));
    }
}

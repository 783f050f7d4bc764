//! Expiry: what counts as use, what expires, what stays, and how concurrent processes affect each
//! other.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a panic is how a test fails")]
#![allow(clippy::needless_pass_by_value, reason = "each test has a store of its own")]

#[cfg(unix)]
use std::io::Write as _;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
#[cfg(unix)]
use std::time::Instant;
use std::time::{Duration, SystemTime};

use crate::common::store_helpers::{at, in_process, put};
use memdir::history::Operation;
#[cfg(unix)]
use memdir::store::Encrypted;
use memdir::store::{
    Context, Entry, FileToDelete, InProcess, Layer, Mounts, Mutation, Node, ReadOnly,
};
use memdir::{CopyOptions, Error, Memory, MemoryOptions, MemoryPath, Store, StoreError};
#[cfg(unix)]
use memdir::{EncryptionKey, open_store};

const HOUR: Duration = Duration::from_secs(3600);

fn recording() -> MemoryOptions {
    let mut options = MemoryOptions::default();
    options.record_access = true;
    options
}

fn age(store: &dyn Store, path: &str) {
    let long_ago = SystemTime::now() - 10 * HOUR;
    store.set_modified(&at(path), long_ago).unwrap();
    store.record_access(&at(path), long_ago).unwrap();
}

fn put_old(store: &dyn Store, path: &str, content: &[u8]) {
    put(store, path, content);
    age(store, path);
}

fn expired(memory: &Memory) -> Vec<String> {
    let expired = memory.expire(HOUR, false, &mut |_| ControlFlow::Continue(()));
    expired.unwrap().into_iter().map(|file| file.path.to_string()).collect()
}

fn there(store: &dyn Store, path: &str) -> bool {
    store.read(&at(path)).is_ok()
}

fn expiry_reports_exactly_what_it_removes(store: Arc<dyn Store>) {
    let mut options = recording();
    options.never_expire = vec!["/memories/mounted/*.keep".parse().unwrap()];
    let memory = Memory::with_store(Arc::clone(&store), options).validated().unwrap();
    for path in
        ["/memories/mounted/old", "/memories/.old", "/memories/mounted/x.keep", "/memories/viewed"]
    {
        put_old(&*store, path, b"12345");
    }
    put(&*store, "/memories/new", b"1");
    store.set_modified(&at("/memories/new"), SystemTime::now() - HOUR / 2).unwrap();
    memory.view("/memories/viewed", None).unwrap();
    memory.view("/memories", None).unwrap();
    for dry_run in [true, false] {
        let mut told = Vec::new();
        let expired = memory.expire(HOUR, dry_run, &mut |at| {
            told.push((at.files, at.removed));
            ControlFlow::Continue(())
        });
        let expired = expired.unwrap();
        let paths: Vec<&str> = expired.iter().map(|file| file.path.as_str()).collect();
        assert_eq!(paths, ["/memories/.old", "/memories/mounted/old"]);
        for file in &expired {
            assert_eq!(file.bytes, 5);
            let ago = SystemTime::now().duration_since(file.last_used).unwrap();
            assert!(ago >= 10 * HOUR && ago < 11 * HOUR, "{ago:?}");
        }
        assert_eq!(told, [(5, 2)]);
    }
    assert!(!there(&*store, "/memories/mounted/old"));
    assert!(store.list(&at("/memories/mounted")).is_ok());
    assert!(expired(&memory).is_empty());
    let mut problems = Vec::new();
    store.inspect(&mut |problem| problems.push(problem.to_string())).unwrap();
    assert!(problems.is_empty(), "{problems:?}");
    memory.clear().unwrap();
    // A mount point is never removed.
    for entry in store.list(&MemoryPath::root()).unwrap() {
        let kept = store.delete(&entry.path);
        assert!(matches!(kept, Err(StoreError::MountPoint)), "{}: {kept:?}", entry.path);
    }
}
on_every_store!(expiry_reports_exactly_what_it_removes);

/// A store that runs a callback between the listing and the removal.
struct Interrupted<F> {
    store: Arc<dyn Store>,
    then: F,
}

impl<F: Fn() + Send + Sync> Layer for Interrupted<F> {
    fn inner(&self) -> &dyn Store {
        &*self.store
    }

    fn unused(&self, files: Vec<Entry>, since: SystemTime) -> Result<Vec<Entry>, StoreError> {
        let unused = self.store.unused(files, since);
        (self.then)();
        unused
    }
}

fn expiry_respects_uses_between_listing_and_removal(store: Arc<dyn Store>) {
    let files = ["edited", "viewed", "directory", "gone", "anew", "renamed", "old"];
    for file in files {
        put_old(&*store, &format!("/memories/mounted/{file}"), b"old");
    }
    let another = Memory::with_store(Arc::clone(&store), recording());
    let interrupted = Interrupted {
        store: Arc::clone(&store),
        then: move || {
            let memory = &another;
            memory.insert("/memories/mounted/edited", 1, "new").unwrap();
            memory.view("/memories/mounted/viewed", None).unwrap();
            for gone in ["directory", "gone", "anew"] {
                memory.delete(&format!("/memories/mounted/{gone}")).unwrap();
            }
            memory.create("/memories/mounted/directory/below", "new").unwrap();
            memory.create("/memories/mounted/anew", "new").unwrap();
            memory.rename("/memories/mounted/renamed", "/memories/mounted/elsewhere").unwrap();
        },
    };
    let memory = Memory::with_store(Arc::new(interrupted), recording());
    assert_eq!(expired(&memory), ["/memories/mounted/old"]);
    for stays in ["edited", "viewed", "directory/below", "anew", "elsewhere"] {
        assert!(there(&*store, &format!("/memories/mounted/{stays}")), "{stays}");
    }
    assert!(!there(&*store, "/memories/mounted/old"));
}
on_every_store!(expiry_respects_uses_between_listing_and_removal);

fn concurrent_expiries_remove_each_file_once_and_lose_no_edit(store: Arc<dyn Store>) {
    const FILES: usize = 40;
    for number in 0..FILES {
        put_old(&*store, &format!("/memories/{number}"), b"");
    }
    let memory = || Memory::with_store(Arc::clone(&store), recording());
    let (removed, edited) = (Mutex::new(Vec::new()), Mutex::new(Vec::new()));
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| removed.lock().unwrap().extend(expired(&memory())));
        }
        scope.spawn(|| {
            let memory = memory();
            for number in (0..FILES).rev() {
                let path = format!("/memories/{number}");
                match memory.insert(&path, 0, "kept") {
                    Ok(_) => edited.lock().unwrap().push(path),
                    Err(Error::Refused(_)) => {}
                    Err(error) => panic!("{error}"),
                }
            }
        });
    });
    let (mut removed, edited) = (removed.into_inner().unwrap(), edited.into_inner().unwrap());
    for path in &edited {
        assert_eq!(store.read(&at(path)).unwrap(), b"kept\n", "{path}");
    }
    removed.extend(edited);
    removed.sort();
    let told = removed.len();
    removed.dedup();
    assert_eq!((told, removed.len()), (FILES, FILES), "each file has one fate");
}
on_every_store!(concurrent_expiries_remove_each_file_once_and_lose_no_edit);

fn access_times_are_recorded_only_if_asked(store: Arc<dyn Store>) {
    put(&*store, "/memories/f", b"a");
    let memory =
        Memory::with_store(Arc::clone(&store), MemoryOptions::default()).validated().unwrap();
    memory.view("/memories/f", None).unwrap();
    assert_eq!(store.accessed(&at("/memories/f")).unwrap(), None);
    let memory = Memory::with_store(Arc::clone(&store), recording());
    memory.view("/memories", None).unwrap();
    memory.view("/memories/f", Some((3, 4))).unwrap_err();
    assert_eq!(store.accessed(&at("/memories/f")).unwrap(), None);
    let before = SystemTime::now() - Duration::from_secs(1);
    memory.view("/memories/f", None).unwrap();
    assert!(store.accessed(&at("/memories/f")).unwrap() >= Some(before));
}
on_every_store!(access_times_are_recorded_only_if_asked);

fn access_times_survive_rename_and_copy(store: Arc<dyn Store>) {
    let long_ago = SystemTime::UNIX_EPOCH + Duration::from_secs(1_234_567_890);
    let of = |path: &str| store.accessed(&at(path)).unwrap();
    put(&*store, "/memories/d/a", b"a");
    put(&*store, "/memories/d/b", b"b");
    store.record_access(&at("/memories/d/a"), long_ago).unwrap();
    // With mounts, from one store into another.
    store.rename(&at("/memories/d"), &at("/memories/mounted")).err();
    store.rename(&at("/memories/d"), &at("/memories/mounted/d")).unwrap_or(());
    let now = if there(&*store, "/memories/mounted/d/a") {
        "/memories/mounted/d"
    } else {
        "/memories/mounted"
    };
    assert_eq!(of(&format!("{now}/a")), Some(long_ago));
    assert_eq!(of(&format!("{now}/b")), None);
    let copy = in_process();
    let go_on = &mut |_: memdir::copy::Progress<'_>| ControlFlow::Continue(());
    memdir::copy(&store, &copy, CopyOptions::default(), go_on).unwrap();
    assert_eq!(copy.accessed(&at(&format!("{now}/a"))).unwrap(), Some(long_ago));
    // Again: to a time that was lost, and to a newer one.
    for kept in [None, Some(long_ago + HOUR)] {
        let back = in_process();
        put(&*back, &format!("{now}/a"), b"a");
        put(&*back, &format!("{now}/b"), b"b");
        kept.iter().for_each(|&time| {
            back.record_access(&at(&format!("{now}/a")), time).unwrap();
        });
        memdir::copy(&copy, &back, CopyOptions::default(), go_on).unwrap();
        let accessed = back.accessed(&at(&format!("{now}/a"))).unwrap();
        assert_eq!(accessed, kept.or(Some(long_ago)));
    }
}
on_every_store!(access_times_survive_rename_and_copy);

#[cfg(unix)]
#[test]
fn a_rekey_keeps_the_times() {
    let (old, new) = (EncryptionKey::from_bytes([1; 32]), EncryptionKey::from_bytes([2; 32]));
    let place = tempfile::tempdir().unwrap();
    let inner = open_store(place.path().to_str().unwrap(), &MemoryOptions::default()).unwrap();
    let long_ago = SystemTime::UNIX_EPOCH + Duration::from_secs(1_234_567_890);
    let store = Encrypted::open(Arc::clone(&inner), &old, false).unwrap();
    put(&store, "/memories/a", b"a");
    store.record_access(&at("/memories/a"), long_ago).unwrap();
    memdir::store::rekey(&inner, &old, &new).unwrap();
    let store = Encrypted::open(inner, &new, false).unwrap();
    assert_eq!(store.accessed(&at("/memories/a")).unwrap(), Some(long_ago));
}

fn config_error(result: Result<impl Sized, Error>) -> String {
    match result {
        Err(Error::Config(error)) => error.to_string(),
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("it was allowed"),
    }
}

#[test]
fn what_cannot_be_had_is_one_clear_sentence() {
    let go_on = || |_: memdir::policy::expiry::Progress| ControlFlow::Continue(());
    let memory = Memory::open("memory:", MemoryOptions::default()).unwrap();
    assert_eq!(
        config_error(memory.expire(HOUR, true, &mut go_on())),
        "expire needs to know which files were viewed, and this memory does not record that: open it \
         with record_access or expire_after"
    );
    let mut options = recording();
    options.read_only = true;
    assert_eq!(
        config_error(Memory::open("memory:", options.clone())),
        "record_access cannot be set together with read_only, because a read-only memory does \
         not record accesses"
    );
    options.expire_after = Some(HOUR);
    assert!(config_error(Memory::open("memory:", options)).starts_with("expire_after cannot"));
    let mut options = MemoryOptions::default();
    options.expire_after = Some(Duration::ZERO);
    assert!(config_error(Memory::open("memory:", options)).starts_with("expire_after must be"));
    let closed = Arc::new(ReadOnly::new(InProcess::new()));
    let memory = Memory::with_store(closed, recording());
    assert!(config_error(memory.expire(HOUR, true, &mut go_on())).contains("read-only"));
}

/// On a file system without extended attributes.
#[cfg(target_os = "linux")]
#[test]
fn a_file_system_without_attributes_is_told() {
    let mut options = recording();
    let sentence = config_error(Memory::open("dir:/proc/self/fdinfo", options.clone()));
    assert!(sentence.starts_with("record_access needs a store that keeps"), "{sentence}");
    options.record_access = false;
    options.expire_after = Some(HOUR);
    let sentence = config_error(Memory::open("dir:/proc/self/fdinfo", options));
    assert!(sentence.starts_with("expire_after needs a store that keeps"), "{sentence}");
}

#[test]
fn what_may_not_be_changed_stays() {
    let handbook: Arc<dyn Store> = Arc::new(InProcess::new());
    put_old(&*handbook, "/memories/a", b"a");
    let mounts = Mounts::new(Arc::new(InProcess::new()))
        .mount(at("/memories/handbook"), Arc::new(ReadOnly::from(Arc::clone(&handbook))))
        .unwrap();
    let mut options = recording();
    options.read_only_paths = vec!["/memories/fixed".parse().unwrap()];
    let memory = Memory::with_store(Arc::new(mounts), options.clone()).validated().unwrap();
    for path in ["/memories/fixed/a", "/memories/a"] {
        put_old(&**memory.store(), path, b"a");
    }
    memory.view("/memories/handbook/a", None).unwrap();
    assert_eq!(expired(&memory), ["/memories/a"]);
    assert!(there(&*handbook, "/memories/a"));
    assert!(there(&**memory.store(), "/memories/fixed/a"));
    options.read_only_paths.clear();
    options.writable_paths = Some(vec!["/memories/mine".parse().unwrap()]);
    let memory = Memory::with_store(Arc::clone(memory.store()), options);
    assert!(expired(&memory).is_empty());
}

#[test]
fn the_callback_can_end_it() {
    let store = Arc::new(InProcess::new());
    for number in 0..2500 {
        put_old(&*store, &format!("/memories/{number}"), b"");
    }
    let memory = Memory::with_store(Arc::clone(&store) as _, recording());
    let mut told = Vec::new();
    let removed = memory.expire(HOUR, false, &mut |at| {
        told.push((at.files, at.removed));
        if told.len() == 2 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    assert_eq!(removed.unwrap().len(), 2000);
    assert_eq!(told, [(1000, 1000), (2000, 2000)]);
    assert_eq!(store.list(&MemoryPath::root()).unwrap().len(), 500);
    let mut told = Vec::new();
    let rest = memory.expire(HOUR, false, &mut |at| {
        told.push((at.files, at.removed));
        ControlFlow::Continue(())
    });
    assert_eq!((rest.unwrap().len(), told), (500, vec![(500, 500)]));
}

#[test]
fn expire_after_comes_first_once_and_everybody_waits() {
    let store: Arc<dyn Store> = Arc::new(InProcess::new());
    for number in 0..10 {
        put_old(&*store, &format!("/memories/{number}"), b"");
    }
    let (begun, asked) = mpsc::channel();
    let (go_on, may_go_on) = mpsc::channel::<()>();
    let may_go_on = Mutex::new(may_go_on);
    let times = AtomicUsize::new(0);
    let interrupted = Interrupted {
        store: Arc::clone(&store),
        then: move || {
            times.fetch_add(1, Ordering::SeqCst);
            begun.send(times.load(Ordering::SeqCst)).unwrap();
            let _ = may_go_on.lock().unwrap().recv();
        },
    };
    let mut options = MemoryOptions::default();
    options.expire_after = Some(HOUR);
    let memory = Memory::with_store(Arc::new(interrupted), options).validated().unwrap();
    assert!(there(&*store, "/memories/0"), "nothing happens before the first command");
    thread::scope(|scope| {
        let views: Vec<_> = (0..4)
            .map(|number| {
                let memory = memory.clone();
                scope.spawn(move || memory.view(&format!("/memories/{number}"), None))
            })
            .collect();
        assert_eq!(asked.recv().unwrap(), 1);
        assert!(views.iter().all(|view| !view.is_finished()), "commands wait");
        go_on.send(()).unwrap();
        for view in views {
            assert!(matches!(view.join().unwrap(), Err(Error::Refused(_))));
        }
    });
    drop(go_on);
    put_old(&*store, "/memories/old", b"");
    memory.view("/memories/old", None).unwrap();
    assert!(asked.try_recv().is_err(), "it was done once");
}

/// A store that cannot list a whole tree.
struct Unlistable(InProcess);

impl Layer for Unlistable {
    fn inner(&self) -> &dyn Store {
        &self.0
    }

    fn files_in(&self, _: &Context, _: &mut dyn FnMut(Entry)) -> Result<(), StoreError> {
        Err(StoreError::failed("listing", "out of order"))
    }
}

#[test]
fn a_failure_before_the_first_command_does_not_fail_it() {
    let mut options = MemoryOptions::default();
    options.expire_after = Some(HOUR);
    let store = Unlistable(InProcess::new());
    put(&store, "/memories/a", b"a\n");
    let memory = Memory::with_store(Arc::new(store), options).validated().unwrap();
    assert!(memory.view("/memories/a", None).is_ok());
    let failed = memory.expire(HOUR, false, &mut |_| ControlFlow::Continue(()));
    assert!(matches!(failed, Err(Error::Store(_))));
}

/// Counts the contents that are read.
struct Counting {
    store: Arc<dyn Store>,
    contents: AtomicUsize,
}

impl Layer for Counting {
    fn inner(&self) -> &dyn Store {
        &*self.store
    }

    fn mutate(&self, context: &Context, mutation: Mutation<'_>) -> Result<bool, StoreError> {
        if matches!(mutation, Mutation::Update { .. }) {
            self.contents.fetch_add(1, Ordering::SeqCst);
        }
        self.store.mutate(context, mutation)
    }

    fn read_in(&self, context: &Context, path: &MemoryPath) -> Result<Vec<u8>, StoreError> {
        self.contents.fetch_add(1, Ordering::SeqCst);
        self.store.read_in(context, path)
    }

    fn open_in(
        &self,
        context: &Context,
        path: &MemoryPath,
        depth: usize,
    ) -> Result<Node<'_>, StoreError> {
        self.contents.fetch_add(1, Ordering::SeqCst);
        self.store.open_in(context, path, depth)
    }
}

#[cfg(unix)]
#[test]
fn ten_thousand_files_are_looked_at_and_none_is_read() {
    const FILES: usize = 10_000;
    const OLD: usize = 100;
    let place = tempfile::tempdir().unwrap();
    let files = place.path().join("memories");
    for number in 0..FILES {
        let directory = files.join((number / 1_000).to_string());
        if number % 1_000 == 0 {
            std::fs::create_dir_all(&directory).unwrap();
        }
        std::fs::write(directory.join(number.to_string()), "text").unwrap();
    }
    let mut options = recording();
    options.durability = memdir::Durability::Relaxed;
    let store = open_store(place.path().to_str().unwrap(), &options).unwrap();
    for number in 0..OLD {
        store
            .set_modified(&at(&format!("/memories/0/{number}")), SystemTime::now() - 10 * HOUR)
            .unwrap();
    }
    let counting = Arc::new(Counting { store, contents: AtomicUsize::new(0) });
    let memory = Memory::with_store(Arc::clone(&counting) as _, options);
    let start = Instant::now();
    let removed = expired(&memory).len();
    let took = start.elapsed();
    // Not `println!`, which is hidden when a test passes.
    writeln!(std::io::stdout(), "expiry: {FILES} files, {removed} removed, in {took:?}").unwrap();
    assert_eq!(removed, OLD);
    assert_eq!(counting.contents.load(Ordering::SeqCst), 0);
}

/// A store that refuses to delete one file, and then the whole batch that it is in.
struct Refusing(InProcess);

impl Layer for Refusing {
    fn inner(&self) -> &dyn Store {
        &self.0
    }

    fn delete_unused_batch(
        &self,
        context: &Context,
        files: &[FileToDelete<'_>],
        since: SystemTime,
        visit: &mut dyn FnMut(bool),
    ) -> Result<(), StoreError> {
        if files.iter().any(|file| file.path.as_str().ends_with("/fixed")) {
            return Err(StoreError::PermissionDenied);
        }
        self.0.delete_unused_batch(context, files, since, visit)
    }
}

#[test]
fn a_file_that_cannot_be_deleted_keeps_no_other_from_expiring() {
    for history in [false, true] {
        let store: Arc<dyn Store> = Arc::new(Refusing(InProcess::new()));
        let mut options = recording();
        options.history = history;
        let memory = Memory::with_store(Arc::clone(&store), options);
        for name in ["a", "fixed", "z"] {
            put_old(&*store, &format!("/memories/{name}"), b"old");
        }
        assert_eq!(expired(&memory), ["/memories/a", "/memories/z"]);
        assert!(there(&*store, "/memories/fixed"));
        if history {
            let versions = memory.history(&Default::default()).unwrap();
            let gone = versions.iter().filter(|version| version.operation == Operation::Expired);
            let mut paths: Vec<&str> = gone.map(|version| version.path.as_str()).collect();
            paths.sort_unstable();
            assert_eq!(paths, ["/memories/a", "/memories/z"]);
            assert!(versions.iter().all(|version| version.path.as_str() != "/memories/fixed"));
        }
    }
}

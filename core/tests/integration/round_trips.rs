//! Work on many files asks a store on another machine a few times, and not for each file.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, SystemTime};

use memdir::history::HistoryError;
use memdir::import::{Import, ImportedFile};
use memdir::store::{
    BatchError, Context, Entry, FileToDelete, FileToWrite, InProcess, Layer, Location, Mutation,
    Node, Store, StoreError, StoreInfo, Times,
};
use memdir::{CopyOptions, Memory, MemoryOptions, MemoryPath, OnExisting, copy};

/// A store on another machine, or on this one, which counts the calls that would be requests. A batch is one.
struct Counted {
    store: InProcess,
    is_distant: bool,
    tracks_access: bool,
    calls: AtomicUsize,
}

impl Counted {
    fn new(is_distant: bool) -> Arc<Self> {
        Arc::new(Self {
            store: InProcess::new(),
            is_distant,
            tracks_access: false,
            calls: AtomicUsize::new(0),
        })
    }

    fn asked(&self) -> &InProcess {
        self.calls.fetch_add(1, Ordering::SeqCst);
        &self.store
    }
}

impl Layer for Counted {
    fn inner(&self) -> &dyn Store {
        &self.store
    }

    fn info(&self) -> StoreInfo {
        let distant = vec![Location::in_service("test://elsewhere", "")];
        let locations = if self.is_distant { distant } else { Vec::new() };
        StoreInfo { locations, tracks_access: self.tracks_access, ..self.store.info() }
    }

    fn read_in(&self, context: &Context, path: &MemoryPath) -> Result<Vec<u8>, StoreError> {
        self.asked().read_in(context, path)
    }

    fn list_in(&self, context: &Context, path: &MemoryPath) -> Result<Vec<Entry>, StoreError> {
        self.asked().list_in(context, path)
    }

    fn open_in(
        &self,
        context: &Context,
        path: &MemoryPath,
        depth: usize,
    ) -> Result<Node<'_>, StoreError> {
        self.asked().open_in(context, path, depth)
    }

    fn modified(&self, path: &MemoryPath) -> Result<Option<SystemTime>, StoreError> {
        self.asked().modified(path)
    }

    fn mutate(&self, context: &Context, mutation: Mutation<'_>) -> Result<bool, StoreError> {
        self.asked().mutate(context, mutation)
    }

    fn write_batch(&self, context: &Context, files: &[FileToWrite<'_>]) -> Result<(), BatchError> {
        self.asked().write_batch(context, files)
    }

    fn unused(&self, files: Vec<Entry>, since: SystemTime) -> Result<Vec<Entry>, StoreError> {
        self.asked().unused(files, since)
    }

    fn delete_unused_batch(
        &self,
        context: &Context,
        files: &[FileToDelete<'_>],
        since: SystemTime,
        visit: &mut dyn FnMut(bool),
    ) -> Result<(), StoreError> {
        self.asked().delete_unused_batch(context, files, since, visit)
    }

    fn read_batch(
        &self,
        context: &Context,
        paths: &[&MemoryPath],
        visit: &mut dyn FnMut(Vec<u8>),
    ) -> Result<(), StoreError> {
        self.asked().read_batch(context, paths, visit)
    }

    fn read_times(
        &self,
        context: &Context,
        paths: &[&MemoryPath],
    ) -> Result<Vec<Times>, StoreError> {
        self.asked().read_times(context, paths)
    }
}

fn paths(count: usize) -> Vec<MemoryPath> {
    let path = |n: usize| MemoryPath::parse(&format!("/memories/all/d{}/{n}", n / 100)).unwrap();
    (0..count).map(path).collect()
}

fn import(memory: &Memory, paths: &[MemoryPath]) {
    let mut plan = memory.plan_import(OnExisting::Error);
    for path in paths {
        plan.add(path, path.as_str()).unwrap();
    }
    drop(plan);
    let file =
        |path| ImportedFile { path, text: MemoryPath::as_str(path), existing: OnExisting::Error };
    let files: Vec<_> = paths.iter().map(file).collect();
    memory.import(|import: &Import<'_>| import.write_batch(&files)).0.unwrap();
}

fn recorded(store: &Arc<Counted>) -> Memory {
    let mut options = MemoryOptions::default();
    options.history = true;
    Memory::with_store(store.clone(), options)
}

/// The calls of each kind of work on `count` files.
fn calls(count: usize) -> Vec<(&'static str, usize)> {
    let (store, paths) = (Counted::new(true), paths(count));
    let plain = Memory::with_store(store.clone(), MemoryOptions::default());
    let memory = recorded(&store);
    let mut calls = Vec::new();
    let mut of = |what, work: &mut dyn FnMut()| {
        store.calls.store(0, Ordering::SeqCst);
        work();
        calls.push((what, store.calls.load(Ordering::SeqCst)));
    };
    of("import", &mut || import(&plain, &paths));
    of("copy", &mut || {
        let (from, to): (Arc<dyn Store>, Arc<dyn Store>) =
            (store.clone(), Arc::new(InProcess::new()));
        let mut go_on = |_: memdir::copy::Progress<'_>| ControlFlow::Continue(());
        let copied = copy(&from, &to, CopyOptions::default(), &mut go_on).unwrap();
        assert_eq!(copied.files, count as u64);
    });
    plain.delete("/memories/all").unwrap();
    of("import with a history", &mut || import(&memory, &paths));
    let then = SystemTime::now();
    of("a deletion with a history", &mut || memory.delete("/memories/all").map(drop).unwrap());
    of("restore_all", &mut || {
        assert_eq!(memory.restore_all(then, false).unwrap().files.len(), count);
    });
    of("a history that is loaded", &mut || {
        assert!(recorded(&store).history(&Default::default()).unwrap().len() >= count);
    });
    calls.extend(
        [("expire", false), ("expire with a history", true)]
            .map(|(what, history)| (what, calls_of_expiry(count, history))),
    );
    calls
}

/// The calls of an expiry of `count` files.
fn calls_of_expiry(count: usize, history: bool) -> usize {
    let store = Counted { tracks_access: true, ..Arc::into_inner(Counted::new(true)).unwrap() };
    let (store, paths) = (Arc::new(store), paths(count));
    let mut options = MemoryOptions::default();
    (options.history, options.record_access) = (history, true);
    let memory = Memory::with_store(store.clone(), options);
    import(&memory, &paths);
    store.calls.store(0, Ordering::SeqCst);
    let expired = memory.expire(Duration::ZERO, false, &mut |_| ControlFlow::Continue(()));
    assert_eq!(expired.unwrap().len(), count);
    store.calls.load(Ordering::SeqCst)
}

#[test]
fn work_on_more_files_takes_few_more_calls() {
    let (few, many) = (calls(100), calls(900));
    for ((what, few), (_, many)) in few.into_iter().zip(many) {
        // One for every sixteen files: lists of directories, and of blocks of the history.
        assert!(many <= few + 800 / 16, "{what}: {few} calls, and {many}");
    }
}

#[test]
fn what_is_in_the_way_is_found_on_both_sides_of_a_network() {
    for count in [30, 32, 33, 300] {
        let refusals = [true, false].map(|is_distant| {
            let store = Counted::new(is_distant);
            let (memory, paths) = (recorded(&store), paths(count));
            import(&memory, &paths);
            let then = SystemTime::now();
            memory.delete("/memories/all").unwrap();
            // By another program: a file at the place of one, and a directory at the place of another.
            store.store.write(&paths[3], b"theirs", OnExisting::Error).unwrap();
            store.store.make_directory(&paths[7]).unwrap();
            let refused = memory.restore_all(then, false).unwrap_err();
            assert!(matches!(refused, HistoryError::Conflict { .. }), "{refused}");
            store.store.delete(&paths[7]).unwrap();
            assert_eq!(memory.restore_all(then, false).unwrap().files.len(), count);
            assert_eq!(memory.read(paths[3].as_str()).unwrap(), paths[3].as_str());
            refused.to_string()
        });
        assert_eq!(refusals[0], refusals[1], "{count}");
    }
}

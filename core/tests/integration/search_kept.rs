//! The index that a search keeps for other processes: it changes no answer, it saves reading, and it keeps nothing that was removed for good.
#![cfg(feature = "search")]
#![allow(clippy::panic, clippy::unwrap_used, reason = "a panic is how a test fails")]
#![allow(clippy::needless_pass_by_value, reason = "`on_every_store` passes a store")]

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use memdir::store::{
    Context, Encrypted, Entry, Fingerprints, InProcess, Layer, MountTable, Mutation, Node, Splice,
    Store,
};
use memdir::{
    Cancellation, GrepQuery, Memory, MemoryOptions, MemoryPath, SearchResults, StoreError, check,
};

#[cfg(feature = "sqlite")]
use crate::common::raw_bytes::files_with_parts;
use crate::common::store_helpers::{at, copy_all, key, put};

const DIRECTORY: &str = "/memories/.memdir-search";
const QUESTIONS: [&str; 5] =
    ["tea of Anna", "kettle 7", "\"number 12\"", "path:d1", "Verträge -kettle"];
/// The fewest files that are worth an index.
const FILES: usize = 16;

fn options(set: impl FnOnce(&mut MemoryOptions)) -> MemoryOptions {
    let mut options = MemoryOptions::default();
    options.search_keep = true;
    set(&mut options);
    options
}

/// A memory of another process: it shares nothing but the store.
fn keeping(store: &Arc<dyn Store>) -> Memory {
    Memory::with_store(Arc::clone(store), options(|_| ()))
}

fn text(number: usize) -> String {
    format!("# File {number}\n\n- Anna has kettle {number}\n- Verträge, number {}\n", number * 3)
}

fn fill(store: &dyn Store, count: usize) {
    for number in 0..count {
        let path = format!("/memories/d{}/tea-{number}.md", number % 3);
        put(store, &path, text(number));
    }
}

/// Waits until the changes of all files are over for so long that their fingerprints are trusted.
fn settle(store: &dyn Store) {
    if store.info().fingerprints != Fingerprints::Exact {
        std::thread::sleep(Duration::from_millis(3_100));
    }
}

fn answers(memory: &Memory) -> Vec<SearchResults> {
    QUESTIONS.map(|question| memory.search(question, "/memories", 1_000).unwrap()).into()
}

/// The answers of a memory that keeps no index, with the same other options.
fn anew(store: &Arc<dyn Store>, options: &MemoryOptions) -> Vec<SearchResults> {
    let mut options = options.clone();
    options.search_keep = false;
    answers(&Memory::with_store(Arc::clone(store), options))
}

/// The files of the kept index, with their contents.
fn kept(store: &dyn Store) -> Vec<(MemoryPath, Vec<u8>)> {
    let listed = match store.list(&at(DIRECTORY)) {
        Err(StoreError::NotFound) => Vec::new(),
        listed => listed.unwrap(),
    };
    let read = |entry: Entry| (entry.path.clone(), store.read(&entry.path).unwrap());
    listed.into_iter().map(read).collect()
}

/// Counts the files that are read, and can do something else at any of its calls.
struct Watched {
    inner: Arc<dyn Store>,
    reads: AtomicUsize,
    changes: AtomicUsize,
    calls: AtomicUsize,
    at_call: usize,
    act: Option<Act>,
    is_acting: AtomicBool,
    refuses: bool,
}

type Act = Mutex<Box<dyn FnMut() + Send>>;

impl Watched {
    fn new(inner: &Arc<dyn Store>) -> Self {
        Self {
            inner: Arc::clone(inner),
            reads: AtomicUsize::new(0),
            changes: AtomicUsize::new(0),
            calls: AtomicUsize::new(0),
            at_call: 0,
            act: None,
            is_acting: AtomicBool::new(false),
            refuses: false,
        }
    }

    fn acting(inner: &Arc<dyn Store>, at_call: usize, act: impl FnMut() + Send + 'static) -> Self {
        Self { at_call, act: Some(Mutex::new(Box::new(act))), ..Self::new(inner) }
    }

    fn call(&self) {
        if self.calls.fetch_add(1, Ordering::SeqCst) == self.at_call
            && let Some(act) = &self.act
        {
            self.is_acting.store(true, Ordering::SeqCst);
            (act.lock().unwrap())();
        }
    }

    fn read(&self, path: &MemoryPath) {
        if !path.is_reserved() {
            self.reads.fetch_add(1, Ordering::SeqCst);
        }
    }
}

impl Layer for Watched {
    fn inner(&self) -> &dyn Store {
        &*self.inner
    }

    fn read_in(&self, context: &Context, path: &MemoryPath) -> Result<Vec<u8>, StoreError> {
        self.call();
        self.read(path);
        self.inner.read_in(context, path)
    }

    fn list_in(&self, context: &Context, path: &MemoryPath) -> Result<Vec<Entry>, StoreError> {
        self.call();
        self.inner.list_in(context, path)
    }

    fn open_in(
        &self,
        context: &Context,
        path: &MemoryPath,
        depth: usize,
    ) -> Result<Node<'_>, StoreError> {
        self.call();
        let node = self.inner.open_in(context, path, depth)?;
        if let Node::File(..) = node {
            self.read(path);
        }
        Ok(node)
    }

    fn read_batch(
        &self,
        context: &Context,
        paths: &[&MemoryPath],
        visit: &mut dyn FnMut(Vec<u8>),
    ) -> Result<(), StoreError> {
        self.call();
        paths.iter().for_each(|path| self.read(path));
        self.inner.read_batch(context, paths, visit)
    }

    fn mutate(&self, context: &Context, mutation: Mutation<'_>) -> Result<bool, StoreError> {
        self.call();
        self.changes.fetch_add(1, Ordering::SeqCst);
        if self.refuses {
            return Err(StoreError::PermissionDenied);
        }
        let done = self.inner.mutate(context, mutation);
        self.call();
        done
    }

    fn mounts(&self) -> Option<&dyn MountTable> {
        self.inner.mounts()
    }
}

fn a_kept_index_saves_reading(store: Arc<dyn Store>) {
    fill(&*store, FILES);
    settle(&*store);
    let first = keeping(&store);
    let expected = anew(&store, first.options());
    assert_eq!(answers(&first), expected);
    if store.mounts().is_some() {
        assert!(kept(&*store).is_empty());
        return;
    }
    let files = kept(&*store);
    assert_eq!(files.len(), 1);
    let search = |reads: usize, what: &str| {
        let watched = Arc::new(Watched::new(&store));
        let memory = keeping(&(Arc::clone(&watched) as Arc<dyn Store>));
        let found = answers(&memory);
        assert_eq!(found, anew(&store, memory.options()), "{what}");
        assert_eq!(watched.reads.load(Ordering::SeqCst), reads, "{what}");
        assert_eq!(watched.changes.load(Ordering::SeqCst), 0, "{what}");
    };
    search(0, "unchanged");
    assert_eq!(kept(&*store), files);
    let first = Memory::with_store(Arc::clone(&store), MemoryOptions::default());
    first.str_replace("/memories/d0/tea-0.md", "kettle 0", "kettle 777").unwrap();
    first.delete("/memories/d1/tea-1.md").unwrap();
    first.rename("/memories/d2/tea-2.md", "/memories/new/kettle.md").unwrap();
    settle(&*store);
    search(2, "changed");
    // A tenth has changed, but reading that is as fast as reading an index.
    assert_eq!(kept(&*store), files);
    fill_more(&*store);
    settle(&*store);
    answers(&keeping(&store));
    let later = kept(&*store);
    assert!(later.len() == 1 && later != files);
    search(0, "kept again");
}
on_every_store!(a_kept_index_saves_reading);

fn fill_more(store: &dyn Store) {
    for number in 100..100 + FILES {
        put(store, &format!("/memories/more/tea-{number}.md"), text(number));
    }
}

fn edits_in_between_change_no_answer(store: Arc<dyn Store>) {
    fill(&*store, 2 * FILES);
    let other = Memory::with_store(Arc::clone(&store), MemoryOptions::default());
    let mut random = 7_u64;
    let mut next = |most: usize| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        usize::try_from(random >> 33).unwrap() % most
    };
    for round in 0..8 {
        for _ in 0..next(12) {
            let path = |number: usize| format!("/memories/d{}/tea-{number}.md", number % 3);
            let (one, another) = (path(next(40)), path(next(40)));
            match next(4) {
                0 => drop(other.delete(&one)),
                1 => drop(other.rename(&one, &another)),
                _ => other.write(&one, &text(next(1_000)), None).unwrap(),
            }
        }
        if round == 4 {
            settle(&*store);
        }
        let memory = keeping(&store);
        assert_eq!(answers(&memory), anew(&store, memory.options()), "{round}");
    }
}
on_every_store!(edits_in_between_change_no_answer);

fn in_process(count: usize) -> Arc<dyn Store> {
    let store: Arc<dyn Store> = Arc::new(InProcess::new());
    fill(&*store, count);
    store
}

/// A store with a kept index, and its file.
fn with_index() -> (Arc<dyn Store>, MemoryPath, Vec<u8>) {
    let store = in_process(FILES);
    answers(&keeping(&store));
    let (path, bytes) = kept(&*store).remove(0);
    (store, path, bytes)
}

#[test]
fn a_damaged_index_is_built_again() {
    let (store, path, bytes) = with_index();
    let expected = anew(&store, &options(|_| ()));
    let cut = (0..=20).map(|part| bytes[..bytes.len() * part / 20].to_vec());
    let flipped = (0..bytes.len()).step_by(bytes.len() / 400 + 1).chain(0..60).map(|at| {
        let mut flipped = bytes.clone();
        flipped[at] ^= 1 << (at % 8);
        flipped
    });
    let longer = [bytes.clone(), vec![0]].concat();
    for damaged in cut.chain(flipped).chain([longer, b"something else".to_vec()]) {
        let whole = damaged == bytes;
        let _ = store.delete(&at(DIRECTORY));
        put(&*store, path.as_str(), damaged);
        let watched = Arc::new(Watched::new(&store));
        let memory = keeping(&(Arc::clone(&watched) as Arc<dyn Store>));
        assert_eq!(answers(&memory), expected);
        assert_eq!(watched.reads.load(Ordering::SeqCst), if whole { 0 } else { FILES });
        let files = kept(&*store);
        assert_eq!(files.len(), 1);
        assert_eq!(files[0].0 == path, whole);
    }
}

#[test]
fn an_index_of_other_options_is_built_again() {
    let (store, ..) = with_index();
    let rule = memdir::policy::sensitive::custom_rules([("kettle", "kettle [0-9]+")]).unwrap();
    let all = [
        options(|_| ()),
        options(|options| options.search_language = memdir::SearchLanguage::German),
        options(|options| options.search_max_bytes = Some(3_000)),
        options(|options| options.search_max_bytes = Some(100)),
        options(|options| options.search_max_bytes = None),
        options(|options| options.search_recency = Some(Duration::from_secs(60))),
        options(|options| options.sensitive_on_view = true),
        options(|options| (options.sensitive_on_view, options.sensitive_rules) = (true, rule)),
        options(|options| options.history = true),
        options(|_| ()),
    ];
    for options in &all {
        for _ in 0..2 {
            let memory = Memory::with_store(Arc::clone(&store), options.clone());
            assert_eq!(answers(&memory), anew(&store, options), "{options:?}");
        }
        assert!(kept(&*store).len() <= 1);
    }
}

fn has(bytes: &[u8], word: &str) -> bool {
    bytes.windows(word.len()).any(|window| window == word.as_bytes())
}

#[test]
fn only_the_redacted_text_is_kept() {
    let store = in_process(FILES);
    put(&*store, "/memories/a.md", "url: postgres://app:t7Kq-9zLw2@db/app\n");
    let hiding = options(|options| options.sensitive_on_view = true);
    answers(&Memory::with_store(Arc::clone(&store), hiding));
    let files = kept(&*store);
    assert!(has(&files[0].1, "Verträge") && !has(&files[0].1, "t7Kq"));
    answers(&keeping(&store));
    assert!(has(&kept(&*store)[0].1, "t7Kq"));
}

#[test]
fn an_encrypted_memory_keeps_an_encrypted_index() {
    for names in [false, true] {
        let inner: Arc<dyn Store> = Arc::new(InProcess::new());
        let store: Arc<dyn Store> =
            Arc::new(Encrypted::open(Arc::clone(&inner), &key(3), names).unwrap());
        fill(&*store, FILES);
        answers(&keeping(&store));
        assert!(has(&kept(&*store)[0].1, "Verträge"));
        let mut files = 0;
        inner
            .files(&mut |entry| {
                files += 1;
                let bytes = inner.read(&entry.path).unwrap();
                assert!(["Verträge", "Anna", "kettle"].iter().all(|word| !has(&bytes, word)));
            })
            .unwrap();
        assert_eq!(files, FILES + 2);
    }
}

/// Whether a text is anywhere in a store.
fn holds(store: &dyn Store, word: &str) -> bool {
    let mut paths = Vec::new();
    store.files(&mut |entry| paths.push(entry.path)).unwrap();
    paths.iter().any(|path| has(&store.read(path).unwrap(), word))
}

/// Another process removes a text for good at each moment of a search that keeps its index.
#[test]
fn a_text_that_is_removed_for_good_is_not_kept() {
    const SECRET: &str = "hunter2";
    let recording = || options(|options| options.history = true);
    type Removal = fn(&Memory);
    let removals: [(&str, Removal); 3] = [
        ("erase", |memory| _ = memory.erase(false).unwrap()),
        ("redact_text", |memory| {
            memory.write("/memories/d0/tea-0.md", "nothing", None).unwrap();
            memory.redact_text(&GrepQuery::text(SECRET), "", false).unwrap();
        }),
        ("redact", |memory| {
            memory.write("/memories/d0/tea-0.md", "nothing", None).unwrap();
            let query = memdir::history::HistoryQuery::default();
            for version in memory.history(&query).unwrap() {
                let content = memory.read_version(version.id).unwrap_or_default();
                if has(&content, SECRET) {
                    memory.redact(version.id, "").unwrap();
                }
            }
        }),
    ];
    for (what, remove) in removals {
        for has_index in [false, true] {
            for call in 0.. {
                let store = in_process(FILES);
                let other = Memory::with_store(Arc::clone(&store), recording());
                other.write("/memories/d0/tea-0.md", &format!("{SECRET} tea"), None).unwrap();
                if has_index {
                    answers(&keeping(&store));
                    // So much has changed that the index is kept again.
                    fill_more(&*store);
                }
                let acting = {
                    let other = other.clone();
                    Arc::new(Watched::acting(&store, call, move || remove(&other)))
                };
                let memory = keeping(&(Arc::clone(&acting) as Arc<dyn Store>));
                answers(&memory);
                let was_acting = acting.is_acting.load(Ordering::SeqCst);
                if !was_acting {
                    // The search makes fewer calls. It is the last round.
                    assert!(holds(&*store, SECRET) && call > 6, "{what}, {call}");
                    remove(&other);
                }
                assert!(!holds(&*store, SECRET), "{what}, {call}");
                answers(&memory);
                answers(&keeping(&store));
                assert!(!holds(&*store, SECRET), "{what}, {call}");
                if !was_acting {
                    break;
                }
            }
        }
    }
}

/// A database keeps deleted bytes in its file and in its log, while another connection is open.
#[cfg(feature = "sqlite")]
#[test]
fn the_file_of_a_database_has_no_removed_text() {
    const SECRET: &str = "hunter2 of the harbour";
    type Removal = fn(&Memory);
    let removals: [Removal; 2] = [
        |memory| _ = memory.erase(false).unwrap(),
        |memory| {
            memory.write("/memories/secret.md", "nothing", None).unwrap();
            let redacted = memory.redact_text(&GrepQuery::text(SECRET), "", false).unwrap();
            assert_eq!(redacted.versions.len(), 1);
        },
    ];
    for remove in removals {
        let place = tempfile::tempdir().unwrap();
        let address = format!("sqlite:{}", place.path().join("a.db").display());
        let open = || Memory::open(&address, options(|options| options.history = true)).unwrap();
        let (memory, other) = (open(), open());
        fill(&**memory.store(), FILES);
        memory.write("/memories/secret.md", SECRET, None).unwrap();
        assert_eq!(answers(&memory), answers(&other));
        let store = memdir::open_store(&address, &MemoryOptions::default()).unwrap();
        let index = kept(&*store);
        assert!(index.iter().any(|(_, bytes)| has(bytes, "harbour")), "{}", index.len());
        remove(&memory);
        let left = files_with_parts(place.path(), SECRET.as_bytes(), &[]);
        assert_eq!(left, [] as [String; 0]);
    }
}

#[test]
fn a_search_that_is_cancelled_leaves_a_whole_index_or_none() {
    for call in 0.. {
        let store = in_process(FILES);
        let cancellation = Cancellation::new();
        let acting = {
            let cancellation = cancellation.clone();
            Arc::new(Watched::acting(&store, call, move || cancellation.cancel()))
        };
        let memory = keeping(&(Arc::clone(&acting) as Arc<dyn Store>)).cancelled_by(&cancellation);
        let _ = memory.search("tea", "/memories", 10);
        let next = keeping(&store);
        assert_eq!(answers(&next), anew(&store, next.options()), "{call}");
        // The claim of a process that was killed is removed with the next index.
        let files = kept(&*store);
        let whole = files.iter().filter(|(_, bytes)| !bytes.is_empty()).count();
        assert!(whole == 1 && files.len() <= 2, "{call}: {files:?}");
        if !acting.is_acting.load(Ordering::SeqCst) {
            assert!(call > 6);
            break;
        }
    }
}

#[test]
fn a_read_only_memory_uses_an_index_and_writes_none() {
    let without = in_process(FILES);
    let (with, ..) = with_index();
    for (store, reads) in [(without, FILES), (with, 0)] {
        let watched = Arc::new(Watched::new(&store));
        let read_only = options(|options| options.read_only = true);
        let expected = anew(&store, &read_only);
        let memory = Memory::with_store(Arc::clone(&watched) as Arc<dyn Store>, read_only);
        assert_eq!(answers(&memory), expected);
        assert_eq!(watched.reads.load(Ordering::SeqCst), reads);
        assert_eq!(watched.changes.load(Ordering::SeqCst), 0);
    }
}

#[test]
fn a_store_that_cannot_keep_an_index_is_searched_all_the_same() {
    let store = in_process(FILES);
    let refusing = Arc::new(Watched { refuses: true, ..Watched::new(&store) });
    let memory = keeping(&(Arc::clone(&refusing) as Arc<dyn Store>));
    assert_eq!(answers(&memory), anew(&store, memory.options()));
    // It is tried once, and not with each search.
    assert_eq!(refusing.changes.load(Ordering::SeqCst), 1);
    let wrong: Arc<dyn Store> = in_process(FILES);
    put(&*wrong, DIRECTORY, "a file");
    assert_eq!(answers(&keeping(&wrong)), anew(&wrong, memory.options()));
}

#[test]
fn an_index_is_kept_when_enough_has_changed() {
    let is_kept = |store: &Arc<dyn Store>| {
        let before = kept(&**store);
        answers(&keeping(store));
        kept(&**store) != before
    };
    assert!(!is_kept(&in_process(0)));
    assert!(!is_kept(&in_process(FILES - 1)));
    assert!(is_kept(&in_process(FILES)));
    for (bytes, expected) in [(64 * 1024 - 1, false), (64 * 1024, true), (1_000_000, true)] {
        let store = in_process(0);
        put(&*store, "/memories/large.md", "x ".repeat(bytes / 2) + &"y".repeat(bytes % 2));
        assert_eq!(is_kept(&store), expected, "{bytes}");
    }
    // A tenth of the bytes.
    let large = |store: &Arc<dyn Store>, name: &str, bytes: usize| {
        put(&**store, &format!("/memories/{name}.md"), "tea ".repeat(bytes / 4));
    };
    for (bytes, expected) in [(110_000, false), (112_000, true)] {
        let store = in_process(0);
        large(&store, "old", 1_000_000);
        assert!(is_kept(&store));
        large(&store, "new", bytes);
        assert_eq!(is_kept(&store), expected, "{bytes}");
    }
    // Or many files, however small.
    for (count, expected) in [(999, false), (1_000, true)] {
        let store = in_process(0);
        large(&store, "old", 1_000_000);
        assert!(is_kept(&store));
        for number in 0..count {
            put(&*store, &format!("/memories/small/{number}"), "tea");
        }
        assert_eq!(is_kept(&store), expected, "{count}");
    }
    // Texts that were deleted are in the index until it is kept again.
    let store = in_process(0);
    large(&store, "old", 1_000_000);
    large(&store, "secret", 200_000);
    assert!(is_kept(&store));
    store.delete(&at("/memories/secret.md")).unwrap();
    assert!(is_kept(&store));
    assert!(!has(&kept(&*store)[0].1, "secret"));
}

fn the_index_is_no_file_of_the_memory(store: Arc<dyn Store>) {
    fill(&*store, FILES);
    settle(&*store);
    let plain = |history: bool| {
        let mut options = MemoryOptions::default();
        options.history = history;
        Memory::with_store(Arc::clone(&store), options)
    };
    let before = [false, true].map(|history| plain(history).stats().unwrap());
    let checked = check(&store, &mut |problem| panic!("{problem}")).unwrap();
    answers(&keeping(&store));
    assert_eq!([false, true].map(|history| plain(history).stats().unwrap()), before);
    assert_eq!(check(&store, &mut |problem| panic!("{problem}")).unwrap(), checked);
    let to: Arc<dyn Store> = Arc::new(InProcess::new());
    let copied = copy_all(&store, &to).unwrap();
    assert_eq!((copied.files, copied.left_out.len()), (FILES as u64, 0));
    assert!(kept(&*to).is_empty());
    // A model cannot reach it.
    for memory in [plain(false), plain(true), keeping(&store)] {
        assert!(memory.view(DIRECTORY, None).is_err());
        assert!(memory.delete(DIRECTORY).is_err());
        assert!(
            memory.list("/memories", None).unwrap().iter().all(|entry| !entry.path.is_reserved())
        );
    }
    // Neither a history nor a limit counts it.
    let limited = |files, bytes| {
        let options = options(|options| {
            (options.max_files, options.max_total_bytes) = (Some(files), Some(bytes));
        });
        Memory::with_store(Arc::clone(&store), options)
    };
    let (files, bytes) = (before[0].files, before[0].bytes);
    limited(files + 1, bytes + 3).create("/memories/last.md", "end").unwrap();
    assert!(limited(files + 1, 1 << 30).create("/memories/more.md", "end").is_err());
    assert!(limited(1 << 30, bytes + 5).create("/memories/more.md", "end").is_err());
    let recording = plain(true);
    let now = std::time::SystemTime::now() + Duration::from_secs(60);
    assert_eq!(recording.files_at(now).unwrap().len() as u64, files + 1);
    let query = GrepQuery::text("Verträge");
    let redacted = recording.redact_past_text(&query, "", true).unwrap();
    assert!(redacted.current.len() == FILES, "{redacted:?}");
    recording.clear().unwrap();
    assert!(kept(&*store).is_empty());
}
on_every_store!(the_index_is_no_file_of_the_memory);

#[test]
fn expiry_leaves_the_index() {
    let (store, ..) = with_index();
    let mut files = Vec::new();
    store.files(&mut |file| files.push(file.path)).unwrap();
    for path in &files {
        store.set_modified(path, std::time::SystemTime::UNIX_EPOCH).unwrap();
    }
    let memory =
        Memory::with_store(Arc::clone(&store), options(|options| options.record_access = true));
    let hour = Duration::from_secs(3_600);
    let expired = memory.expire(hour, false, &mut |_| std::ops::ControlFlow::Continue(())).unwrap();
    assert_eq!((expired.len(), kept(&*store).len()), (FILES, 1));
}

#[test]
fn two_processes_that_keep_an_index_at_once_leave_one_to_the_next() {
    let store = in_process(FILES);
    let other = Arc::clone(&store);
    let acting = Arc::new(Watched::acting(&store, 4, move || drop(answers(&keeping(&other)))));
    answers(&keeping(&(Arc::clone(&acting) as Arc<dyn Store>)));
    assert!(acting.is_acting.load(Ordering::SeqCst) && !kept(&*store).is_empty());
    fill_more(&*store);
    answers(&keeping(&store));
    assert_eq!(kept(&*store).len(), 1);
    // Another process's index is replaced while it is being read, by an edit.
    let (path, _) = kept(&*store).remove(0);
    store.update(&path, &mut |_| Some(Splice { range: 0..9, text: Vec::new() })).unwrap();
    assert_eq!(answers(&keeping(&store)), anew(&store, &options(|_| ())));
}

#[cfg(unix)]
#[test]
fn a_link_in_the_place_of_the_index_is_not_followed() {
    let (place, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    std::fs::write(elsewhere.path().join("other"), "not memdir's").unwrap();
    let link = place.path().join("memories/.memdir-search");
    let memory =
        Memory::open(place.path().to_str().unwrap(), options(|options| options.history = true))
            .unwrap();
    fill(&**memory.store(), FILES);
    memory.write("/memories/a.md", "secret", None).unwrap();
    memory.write("/memories/a.md", "tea", None).unwrap();
    for target in [elsewhere.path().to_owned(), elsewhere.path().join("none")] {
        std::os::unix::fs::symlink(&target, &link).unwrap();
        // A search keeps nothing, and works.
        assert_eq!(memory.search("\"number 12\"", "/memories", 10).unwrap().hits.len(), 1);
        let failed = memory.redact_text(&GrepQuery::text("secret"), "", false).unwrap_err();
        let failed = failed.to_string();
        let expected = "removing .memdir-search, where searches keep their index: a symbolic link";
        assert!(failed.ends_with(expected), "{failed}");
        let left = std::fs::read_dir(elsewhere.path()).unwrap().count();
        assert_eq!((left, link.is_symlink()), (1, true));
        std::fs::remove_file(&link).unwrap();
    }
    memory.redact_text(&GrepQuery::text("secret"), "", false).unwrap();
    // An erasure removes the link itself.
    std::os::unix::fs::symlink(elsewhere.path(), &link).unwrap();
    memory.erase(false).unwrap();
    assert!(!link.is_symlink() && elsewhere.path().join("other").exists());
}

//! The ranked search: what it finds, and that it is never behind the store.
#![cfg(feature = "search")]
#![allow(clippy::panic, clippy::unwrap_used, reason = "a panic is how a test fails")]
#![allow(clippy::needless_pass_by_value, reason = "`on_every_store` passes a store")]

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, mpsc};
use std::thread;
use std::time::{Duration, SystemTime};

use memdir::policy::StaleGuard;
use memdir::store::{
    Context, Entry, Fingerprint, Fingerprints, InProcess, Layer, Node, Store, StoreInfo,
};
use memdir::{
    Cancellation, Error, ErrorKind, Memory, MemoryOptions, MemoryPath, SearchResults, StoreError,
};

use crate::common::store_helpers::{at, put};

fn options(set: impl FnOnce(&mut MemoryOptions)) -> MemoryOptions {
    let mut options = MemoryOptions::default();
    set(&mut options);
    options
}

fn over(store: &Arc<dyn Store>) -> Memory {
    Memory::with_store(Arc::clone(store), MemoryOptions::default())
}

fn found(memory: &Memory, query: &str) -> Vec<String> {
    paths(&memory.search(query, "/memories", 1_000).unwrap())
}

fn paths(results: &SearchResults) -> Vec<String> {
    results.hits.iter().map(|hit| hit.path.to_string()).collect()
}

/// A search of this memory, and of a new one, which reads everything.
#[track_caller]
fn found_by_both(memory: &Memory, query: &str) -> Vec<String> {
    let new = Memory::with_store(Arc::clone(memory.store()), memory.options().clone());
    let search = |memory: &Memory| memory.search(query, "/memories", 1_000).unwrap();
    let (results, anew) = (search(memory), search(&new));
    assert_eq!(results, anew);
    paths(&results)
}

#[test]
fn a_hit_has_passages_with_their_lines_and_words() {
    let memory = Memory::open("memory:", MemoryOptions::default()).unwrap();
    let text = "# People\n\n- Anna prefers green tea\n- Ben prefers espresso\n";
    memory.create("/memories/people.md", text).unwrap();
    memory.create("/memories/teas/black.md", "Assam\n").unwrap();
    let results = memory.search("which tea did Anna prefer?", "/memories", 10).unwrap();
    assert_eq!(results.files_left_out, 0);
    assert_eq!(paths(&results), ["/memories/people.md", "/memories/teas/black.md"]);
    let [best, other] = &results.hits[..] else { panic!("{results:?}") };
    assert!(best.score > other.score && best.modified.is_some());
    let passage = &best.passages[0];
    let (first, last) = (passage.first_line, passage.last_line);
    let lines: Vec<&str> = text.lines().collect();
    let shown =
        lines[usize::try_from(first).unwrap() - 1..usize::try_from(last).unwrap()].join("\n");
    assert_eq!(passage.text, shown);
    let words = passage.matches.iter().map(|place| {
        let [start, end] = [place.start, place.end].map(|at| usize::try_from(at).unwrap());
        &passage.text[start..end]
    });
    assert_eq!(words.collect::<Vec<_>>(), ["Anna", "prefers", "tea", "prefers"]);
    // By a word of its path.
    assert_eq!(other.passages[0].text, "Assam");
    assert!(other.passages[0].matches.is_empty());
}

#[test]
fn the_root_is_no_word_of_a_path_and_restrictions_may_name_it() {
    let memory = Memory::open("memory:", MemoryOptions::default()).unwrap();
    memory.create("/memories/a/tea.md", "green").unwrap();
    memory.create("/memories/b/tea.md", "green, from memories").unwrap();
    assert_eq!(found(&memory, "memories"), ["/memories/b/tea.md"]);
    assert_eq!(found(&memory, "green path:/memories/a"), ["/memories/a/tea.md"]);
    assert_eq!(found(&memory, "green path:\"/memories/a\""), ["/memories/a/tea.md"]);
    assert_eq!(found(&memory, "green -path:/memories/a/tea.md"), ["/memories/b/tea.md"]);
    for all in ["path:/memories/", "path:/memories", "path:\"/memories\"", "green path:/memories"] {
        assert_eq!(found(&memory, all).len(), 2, "{all}");
    }
    // Neither the case nor the kind of the quotes matters, as in other restrictions.
    for one in
        ["PATH:/memories/a", "path:/Memories/A", "path:“/memories/a”", "path:「/memories/a」"]
    {
        assert_eq!(found(&memory, one), ["/memories/a/tea.md"], "{one}");
    }
    assert_eq!(found(&memory, "green -Path:/memories"), [] as [&str; 0]);
    // A name that only begins like the root is another one.
    memory.create("/memories/memories2/x.md", "milk").unwrap();
    assert_eq!(found(&memory, "path:/memories2"), ["/memories/memories2/x.md"]);
}

#[test]
fn a_path_restricts_the_hits_and_must_exist() {
    let memory = Memory::open("memory:", MemoryOptions::default()).unwrap();
    for path in ["/memories/tea", "/memories/tea.md", "/memories/teas/a", "/memories/x/tea"] {
        memory.create(path, "green").unwrap();
    }
    let within = |path: &str| memory.search("green", path, 10).map(|results| paths(&results));
    assert_eq!(within("/memories/tea").unwrap(), ["/memories/tea"]);
    assert_eq!(within("/memories/teas").unwrap(), ["/memories/teas/a"]);
    assert_eq!(within("/memories/").unwrap().len(), 4);
    let missing = within("/memories/te").unwrap_err();
    assert_eq!(missing.to_string(), memory.list("/memories/te", None).unwrap_err().to_string());
    assert!(matches!(within("/memories/../etc"), Err(Error::Refused(_))));
    memory.delete("/memories/teas/a").unwrap();
    assert_eq!(within("/memories/teas").unwrap(), [] as [&str; 0]);
    // The scores are those of the whole memory.
    let all = memory.search("green", "/memories", 10).unwrap();
    let one = memory.search("green", "/memories/x", 10).unwrap();
    assert!(all.hits.contains(&one.hits[0]));
}

#[test]
fn the_limit_is_kept_and_bounded() {
    let memory = Memory::open("memory:", MemoryOptions::default()).unwrap();
    for number in 0..1_005 {
        put(&**memory.store(), &format!("/memories/{number}"), "green");
    }
    let hits = |limit| memory.search("green", "/memories", limit).unwrap().hits.len();
    assert_eq!([0, 1, 999, 1_000, 1_001, usize::MAX].map(hits), [0, 1, 999, 1_000, 1_000, 1_000]);
}

/// Files in several languages and of several sizes, and questions about them.
const FILES: [(&str, &str); 8] = [
    ("/memories/people/anna.md", "# Anna\n\n- prefers green tea\n- lives in Boston\n"),
    ("/memories/people/ben.md", "# Ben\n\n- prefers espresso, never tea\n"),
    ("/memories/verträge.md", "Die Verträge sind nicht fertig.\n"),
    ("/memories/mounted/log.txt", "2024-03-17 deployed v1.2.3\n2024-04-17 rolled back\n"),
    ("/memories/mounted/会议.md", "会议在北京举行\n"),
    ("/memories/code/view.rs", "fn max_view_chars() -> usize { getUserById(7) }\n"),
    ("/memories/empty", ""),
    ("/memories/tea", "tea tea tea tea\r\n\r\nmilk\r\n"),
];
const QUESTIONS: [&str; 9] = [
    "Who preferred tea?",
    "Vertrag",
    "17 March 2024",
    "北京",
    "user id",
    "calender",
    "\"green tea\"",
    "tea -espresso",
    "path:mounted",
];

fn the_same_files_have_the_same_order_on(store: Arc<dyn Store>) {
    let mut index = memdir_search::Index::new(memdir_search::Options::default());
    let memory = over(&store);
    // In another order.
    for (path, text) in FILES.iter().rev() {
        memory.write(path, text, None).unwrap();
    }
    for (path, text) in FILES {
        index.put(path.strip_prefix("/memories").unwrap(), text, None).unwrap();
    }
    for question in QUESTIONS {
        let expected = index.search(&memdir_search::Query::parse(question), 10);
        let hits = memory.search(question, "/memories", 10).unwrap().hits;
        let expected: Vec<_> = expected
            .into_iter()
            .map(|hit| (format!("/memories{}", hit.path), hit.score, hit.passages.len()))
            .collect();
        let hits: Vec<_> =
            hits.iter().map(|hit| (hit.path.to_string(), hit.score, hit.passages.len())).collect();
        assert_eq!(hits, expected, "{question}");
    }
}
on_every_store!(the_same_files_have_the_same_order_on);

fn every_change_is_found_at_once(store: Arc<dyn Store>) {
    let (memory, other) = (over(&store), over(&store));
    let is = |query: &str, expected: &[&str]| {
        assert_eq!(found_by_both(&memory, query), expected, "{query}");
    };
    is("green", &[]);
    other.create("/memories/tea.md", "green\n").unwrap();
    is("green", &["/memories/tea.md"]);
    other.str_replace("/memories/tea.md", "green", "black").unwrap();
    is("green", &[]);
    is("black", &["/memories/tea.md"]);
    // Equal sizes, one after the other.
    for number in 10..30 {
        let word = format!("{}{}", ["white", "black"][number % 2], number);
        other.write("/memories/tea.md", &word, None).unwrap();
        let quoted = format!("\"{word}\"");
        is(&quoted, &["/memories/tea.md"]);
        store
            .update(&at("/memories/tea.md"), &mut |old| {
                Some(memdir::store::Splice {
                    range: 0..old.len(),
                    text: format!("other{number}").into(),
                })
            })
            .unwrap();
        is(&quoted, &[]);
    }
    other.insert("/memories/tea.md", 0, "a new line").unwrap();
    is("line", &["/memories/tea.md"]);
    other.create("/memories/dir/sub/a.md", "oolong").unwrap();
    other.create("/memories/mounted/b.md", "oolong tea").unwrap();
    is("oolong path:dir", &["/memories/dir/sub/a.md"]);
    other.rename("/memories/dir", "/memories/moved").unwrap();
    is("oolong path:moved", &["/memories/moved/sub/a.md"]);
    is("oolong path:dir", &[]);
    // A file at the path of another one, in one step each.
    other.rename("/memories/tea.md", "/memories/was.md").unwrap();
    other.rename("/memories/moved/sub/a.md", "/memories/tea.md").unwrap();
    is("oolong path:tea", &["/memories/tea.md"]);
    other.delete("/memories/moved").unwrap();
    other.delete("/memories/was.md").unwrap();
    is("line", &[]);
    // A directory instead of a file, and the other way round.
    other.delete("/memories/tea.md").unwrap();
    other.create("/memories/tea.md/a", "sencha").unwrap();
    is("sencha", &["/memories/tea.md/a"]);
    other.delete("/memories/tea.md").unwrap();
    other.create("/memories/tea.md", "matcha").unwrap();
    is("sencha", &[]);
    is("matcha", &["/memories/tea.md"]);
    // A time that is set.
    let past = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
    store.set_modified(&at("/memories/tea.md"), past).unwrap();
    is("matcha", &["/memories/tea.md"]);
    assert_eq!(
        memory.search("matcha", "/memories", 1).unwrap().hits[0].modified,
        store
            .list(&MemoryPath::root())
            .unwrap()
            .iter()
            .find(|entry| entry.is_file())
            .unwrap()
            .modified
    );
    other.clear().unwrap();
    is("matcha", &[]);
    other.create("/memories/tea.md", "matcha").unwrap();
    is("matcha", &["/memories/tea.md"]);
    assert_eq!(other.erase(false).unwrap().files, 1);
    is("matcha", &[]);
}
on_every_store!(every_change_is_found_at_once);

fn what_the_history_brings_back_is_found(store: Arc<dyn Store>) {
    let recording =
        || Memory::with_store(Arc::clone(&store), options(|options| options.history = true));
    let (memory, other) = (recording(), recording());
    other.create("/memories/tea.md", "green\n").unwrap();
    assert_eq!(found(&memory, "green"), ["/memories/tea.md"]);
    other.str_replace("/memories/tea.md", "green", "black").unwrap();
    let newest = other.history(&memdir::history::HistoryQuery::default()).unwrap()[0].clone();
    other.undo(newest.change, memdir::history::UndoOptions::default()).unwrap();
    assert_eq!(found(&memory, "green"), ["/memories/tea.md"]);
    assert!(found(&memory, "black").is_empty());
    other.delete("/memories/tea.md").unwrap();
    assert!(found(&memory, "green").is_empty());
    other.restore(newest.id, false).unwrap();
    assert_eq!(found(&memory, "black"), ["/memories/tea.md"]);
    // Past contents and the records themselves are not found.
    assert!(found(&memory, "green").is_empty());
    assert_eq!(found(&memory, "path:/").len(), 1);
}
on_every_store!(what_the_history_brings_back_is_found);

fn a_search_is_no_view_and_no_use(store: Arc<dyn Store>) {
    put(&*store, "/memories/old.md", "green");
    put(&*store, "/memories/tea.md", "green");
    store.set_modified(&at("/memories/old.md"), SystemTime::UNIX_EPOCH).unwrap();
    let memory = Memory::with_store(
        Arc::clone(&store),
        options(|options| {
            options.stale_guard = StaleGuard::Strict;
            options.expire_after = Some(Duration::from_secs(3_600));
        }),
    );
    assert_eq!(found(&memory, "green"), ["/memories/tea.md"]);
    assert_eq!(store.accessed(&at("/memories/tea.md")).unwrap(), None);
    let refused = memory.str_replace("/memories/tea.md", "green", "black").unwrap_err();
    assert!(refused.to_string().contains("You have not viewed"), "{refused}");
}
on_every_store!(a_search_is_no_view_and_no_use);

fn the_ranking_tells_nothing_of_a_redacted_text(store: Arc<dyn Store>) {
    const SECRET: &str = "url: postgres://app:t7Kq-9zLw2@db/app\n";
    put(&*store, "/memories/a.md", SECRET);
    put(&*store, "/memories/b.md", "url of the app: see a\n");
    put(&*store, "/memories/raw", b"t7Kq-9zLw2 \xff");
    let hiding =
        Memory::with_store(Arc::clone(&store), options(|options| options.sensitive_on_view = true));
    let shown = hiding.read_shown("/memories/a.md").unwrap();
    assert!(!shown.contains("t7Kq"));
    let redacted = Memory::open("memory:", MemoryOptions::default()).unwrap();
    redacted.create("/memories/a.md", &shown).unwrap();
    redacted.create("/memories/b.md", "url of the app: see a\n").unwrap();
    redacted.create("/memories/raw", "").unwrap();
    for query in ["t7Kq-9zLw2", "t7Kq", "9zLw2", "\"t7Kq 9zLw2\"", "app url", "REDACTED", "raw"] {
        let without_times = |memory: &Memory| {
            let hits = memory.search(query, "/memories", 10).unwrap().hits;
            let parts = hits.into_iter().map(|hit| (hit.path, hit.score, hit.passages));
            parts.collect::<Vec<_>>()
        };
        assert_eq!(without_times(&hiding), without_times(&redacted), "{query}");
    }
    assert!(found(&hiding, "t7Kq").is_empty());
    assert_eq!(found(&over(&store), "t7Kq"), ["/memories/raw", "/memories/a.md"]);
}
on_every_store!(the_ranking_tells_nothing_of_a_redacted_text);

fn hidden_files_and_images_are_not_searched(store: Arc<dyn Store>) {
    for path in ["/memories/.draft", "/memories/.git/a", "/memories/a/.b/c", "/memories/a/.d"] {
        put(&*store, path, "green");
    }
    put(&*store, "/memories/green-tea.PNG", "matcha");
    put(&*store, "/memories/raw", b"green \xff oolong");
    put(&*store, "/memories/large", [&b"x\n".repeat(100_000)[..], b"sencha \xff oolong"].concat());
    let memory = over(&store);
    assert_eq!(found(&memory, "green"), ["/memories/raw", "/memories/green-tea.PNG"]);
    assert!(found(&memory, "matcha oolong").is_empty());
    assert_eq!(found(&memory, "sencha"), ["/memories/large"]);
    assert!(memory.search("green", "/memories/.git", 10).unwrap().hits.is_empty());
}
on_every_store!(hidden_files_and_images_are_not_searched);

/// Counts operations, and can be told to do other things in them.
#[derive(Default)]
struct Counting {
    inner: InProcess,
    has_revision: bool,
    kind: Option<Fingerprints>,
    /// The time of the last change that listings have.
    changed: Option<SystemTime>,
    listings: AtomicUsize,
    reads: AtomicUsize,
    on_list: Mutex<Option<OnList>>,
    on_read: Mutex<Option<OnRead>>,
}

type OnList = Arc<dyn Fn() -> Result<(), StoreError> + Send + Sync>;
type OnRead = Arc<dyn Fn(&MemoryPath) -> Result<(), StoreError> + Send + Sync>;

impl Counting {
    fn counts(&self) -> (usize, usize) {
        (self.listings.swap(0, Ordering::SeqCst), self.reads.swap(0, Ordering::SeqCst))
    }
}

impl Layer for Counting {
    fn inner(&self) -> &dyn Store {
        &self.inner
    }

    fn info(&self) -> StoreInfo {
        let info = self.inner.info();
        StoreInfo { fingerprints: self.kind.unwrap_or(info.fingerprints), ..info }
    }

    fn revision(&self) -> Result<Option<String>, StoreError> {
        if self.has_revision { self.inner.revision() } else { Ok(None) }
    }

    fn open_in(
        &self,
        context: &Context,
        path: &MemoryPath,
        depth: usize,
    ) -> Result<Node<'_>, StoreError> {
        Ok(match self.inner.open_in(context, path, depth)? {
            Node::Directory(entries) => {
                self.listings.fetch_add(1, Ordering::SeqCst);
                let on_list = self.on_list.lock().unwrap().clone();
                on_list.map_or(Ok(()), |on_list| on_list())?;
                let listed = |entry: Entry| {
                    let entry = entry.changed_at(self.changed);
                    match self.kind {
                        Some(Fingerprints::Absent) => entry.with_fingerprint(None),
                        // The size alone.
                        Some(Fingerprints::Likely) => {
                            entry.with_fingerprint(Some(Fingerprint::of_numbers(&[1])))
                        }
                        _ => entry,
                    }
                };
                Node::Directory(entries.into_iter().map(listed).collect())
            }
            file => {
                self.reads.fetch_add(1, Ordering::SeqCst);
                file
            }
        })
    }

    fn read_in(&self, context: &Context, path: &MemoryPath) -> Result<Vec<u8>, StoreError> {
        self.reads.fetch_add(1, Ordering::SeqCst);
        let on_read = self.on_read.lock().unwrap().clone();
        on_read.map_or(Ok(()), |on_read| on_read(path))?;
        self.inner.read_in(context, path)
    }

    fn read_batch(
        &self,
        context: &Context,
        paths: &[&MemoryPath],
        visit: &mut dyn FnMut(Vec<u8>),
    ) -> Result<(), StoreError> {
        paths.iter().try_for_each(|path| Layer::read_in(self, context, path).map(&mut *visit))
    }
}

fn counting(set: impl FnOnce(&mut Counting)) -> (Arc<Counting>, Memory) {
    let mut store = Counting::default();
    set(&mut store);
    let store = Arc::new(store);
    for (path, text) in FILES {
        put(&store.inner, path, text);
    }
    let memory = Memory::with_store(Arc::clone(&store) as Arc<dyn Store>, MemoryOptions::default());
    (store, memory)
}

#[test]
fn a_search_asks_for_no_more_than_what_has_changed() {
    // With a revision, nothing. With fingerprints, a listing. Without, everything.
    for (has_revision, kind, warm, after_edit) in [
        (true, Fingerprints::Exact, (0, 0), (1, 1)),
        (false, Fingerprints::Exact, (1, 0), (1, 1)),
        (false, Fingerprints::Absent, (1, FILES.len()), (1, FILES.len())),
    ] {
        let (store, memory) = counting(|store| {
            (store.has_revision, store.kind) = (has_revision, Some(kind));
        });
        assert_eq!(found(&memory, "Verträge").len(), 1);
        assert_eq!(store.counts(), (1, FILES.len()));
        for searching in [&memory, &memory.clone(), &memory.session(), &memory.acting_as("anna")] {
            found(searching, "tea");
            assert_eq!(store.counts(), warm, "{kind:?}");
        }
        memory.str_replace("/memories/tea", "milk", "water").unwrap();
        store.counts();
        assert_eq!(found(&memory, "water"), ["/memories/tea"]);
        assert_eq!(store.counts(), after_edit, "{kind:?}");
        memory.delete("/memories/tea").unwrap();
        store.counts();
        assert!(found(&memory, "water").is_empty());
        assert_eq!(
            store.counts().1,
            if kind == Fingerprints::Absent { FILES.len() - 1 } else { 0 }
        );
    }
}

#[test]
fn a_file_is_read_again_until_the_tick_of_its_last_change_is_over() {
    let now = SystemTime::now();
    for (changed, reads) in [
        (None, FILES.len()),
        (Some(now + Duration::from_secs(3_600)), FILES.len()),
        (Some(now - Duration::from_secs(3_600)), 0),
    ] {
        let (store, memory) = counting(|store| {
            (store.kind, store.changed) = (Some(Fingerprints::Likely), changed);
        });
        found(&memory, "tea");
        store.counts();
        found(&memory, "tea");
        assert_eq!(store.counts(), (1, reads), "{changed:?}");
    }
}

#[test]
fn erasing_and_redacting_drop_the_index() {
    for drop_it in [
        |memory: &Memory| drop(memory.erase(false)),
        |memory: &Memory| drop(memory.redact_past_text(&memdir::GrepQuery::text("no"), "", false)),
        |memory: &Memory| drop(memory.redact_text(&memdir::GrepQuery::text("no"), "", true)),
        |memory: &Memory| drop(memory.redact(memdir::history::HistoryId::new().unwrap(), "")),
    ] {
        let (store, memory) = counting(|store| store.has_revision = true);
        let options = options(|options| options.history = true);
        let memory = Memory::with_store(Arc::clone(memory.store()), options);
        found(&memory, "tea");
        found(&memory, "tea");
        store.counts();
        drop_it(&memory);
        store.counts();
        memory.write("/memories/tea", "tea", None).unwrap();
        store.counts();
        found(&memory, "tea");
        let left = memory.list("/memories", None).unwrap();
        assert_eq!(store.counts().1, left.iter().filter(|entry| entry.is_file()).count());
    }
}

#[test]
fn a_failure_is_the_error_of_the_call_and_the_next_search_repairs() {
    let (store, memory) = counting(|store| store.has_revision = true);
    let all = found(&memory, "tea");
    for failing in FILES.map(|(path, _)| at(path)) {
        let memory = over(memory.store());
        let failing_path = failing.clone();
        let fails = move |path: &MemoryPath| match *path == failing_path {
            true => Err(StoreError::failed("reading", "no disk")),
            false => Ok(()),
        };
        *store.on_read.lock().unwrap() = Some(Arc::new(fails));
        let failed = memory.search("tea", "/memories", 10).unwrap_err();
        assert!(matches!(failed, Error::Store(StoreError::Failed { .. })), "{failed}");
        assert!(memory.search("tea", "/memories", 10).is_err());
        *store.on_read.lock().unwrap() = None;
        assert_eq!(found(&memory, "tea"), all, "{failing}");
        // Nothing that was read is read again.
        assert!(store.counts().1 > 0);
    }
    *store.on_list.lock().unwrap() = Some(Arc::new(|| Err(StoreError::Busy)));
    let new = over(memory.store());
    assert!(matches!(new.search("tea", "/memories", 10), Err(Error::Store(StoreError::Busy))));
    *store.on_list.lock().unwrap() = None;
    assert_eq!(found(&new, "tea"), all);
}

#[test]
fn files_that_vanish_or_cannot_be_read_are_left_out() {
    let (store, memory) = counting(|store| store.has_revision = true);
    let odd = [
        || StoreError::NotFound,
        || StoreError::IsADirectory,
        || StoreError::NotADirectory,
        || StoreError::PermissionDenied,
        || StoreError::Symlink,
    ];
    for error in odd {
        for failing in FILES.map(|(path, _)| at(path)) {
            let memory = over(memory.store());
            let gone = failing.clone();
            let fails = move |path: &MemoryPath| if *path == gone { Err(error()) } else { Ok(()) };
            *store.on_read.lock().unwrap() = Some(Arc::new(fails));
            let expected: BTreeSet<String> = FILES
                .iter()
                .map(|(path, _)| (*path).to_owned())
                .filter(|path| path != failing.as_str())
                .collect();
            assert_eq!(found(&memory, "path:/").into_iter().collect::<BTreeSet<_>>(), expected);
        }
    }
    *store.on_read.lock().unwrap() = None;
}

#[test]
fn a_panic_in_the_store_ends_that_search_alone() {
    let (store, memory) = counting(|_| {});
    let all = found(&memory, "tea");
    let new = over(memory.store());
    *store.on_list.lock().unwrap() = Some(Arc::new(|| panic!("in the store")));
    for memory in [&memory, &new] {
        assert!(catch_unwind(AssertUnwindSafe(|| found(memory, "tea"))).is_err());
    }
    *store.on_list.lock().unwrap() = None;
    for memory in [&memory, &new] {
        assert_eq!(found(memory, "tea"), all);
    }
}

#[test]
fn a_store_that_searches_its_own_memory_does_not_wait_for_itself() {
    let (store, memory) = counting(|_| {});
    let all = found(&memory, "tea");
    let (inner, is_nested) = (memory.clone(), AtomicBool::new(false));
    let results: Arc<OnceLock<Vec<String>>> = Arc::default();
    let of_inner = Arc::clone(&results);
    *store.on_list.lock().unwrap() = Some(Arc::new(move || {
        if !is_nested.swap(true, Ordering::SeqCst) {
            let _ = of_inner.set(found(&inner, "tea"));
        }
        Ok(())
    }));
    assert_eq!(found(&memory, "tea"), all);
    assert_eq!(results.get(), Some(&all));
    assert_eq!(found(&memory, "tea"), all);
    // The memory in the callback is one of the store.
    *store.on_list.lock().unwrap() = None;
}

#[test]
fn a_search_that_waits_for_another_one_can_be_cancelled() {
    let (store, memory) = counting(|_| {});
    let (entered, has_entered) = mpsc::channel();
    let (release, is_released) = mpsc::channel::<()>();
    let is_released = Mutex::new(is_released);
    *store.on_list.lock().unwrap() = Some(Arc::new(move || {
        entered.send(()).unwrap();
        let _ = is_released.lock().unwrap().recv();
        Ok(())
    }));
    thread::scope(|scope| {
        let first = scope.spawn(|| found(&memory, "tea"));
        has_entered.recv().unwrap();
        let cancellation = Cancellation::new();
        let waiting = memory.cancelled_by(&cancellation);
        let second = scope.spawn(move || waiting.search("tea", "/memories", 10));
        thread::sleep(Duration::from_millis(50));
        assert!(!second.is_finished());
        cancellation.cancel();
        let cancelled = second.join().unwrap().unwrap_err();
        assert!(matches!(cancelled, Error::Store(StoreError::Cancelled)));
        drop(release);
        assert!(!first.join().unwrap().is_empty());
    });
}

#[test]
fn a_cancelled_search_stops_between_files_and_the_next_one_goes_on() {
    let (store, memory) = counting(|_| {});
    let cancellation = Cancellation::new();
    let (cancel, reads) = (cancellation.clone(), AtomicUsize::new(0));
    *store.on_read.lock().unwrap() = Some(Arc::new(move |_| {
        if reads.fetch_add(1, Ordering::SeqCst) == 2 {
            cancel.cancel();
        }
        Ok(())
    }));
    let stopped = memory.cancelled_by(&cancellation).search("tea", "/memories", 10).unwrap_err();
    assert!(matches!(stopped, Error::Store(StoreError::Cancelled)));
    *store.on_read.lock().unwrap() = None;
    assert_eq!(found_by_both(&memory, "tea").len(), 3);
}

#[test]
fn files_beyond_the_limit_of_memory_are_left_out_and_found_when_there_is_room() {
    let limited = |bytes: Option<u64>| {
        let memory =
            Memory::open("memory:", options(|options| options.search_max_bytes = bytes)).unwrap();
        for number in 0..40 {
            let text = format!("green{number} ").repeat(1_000);
            put(&**memory.store(), &format!("/memories/{number:02}"), text);
            let time = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000 + number);
            memory.store().set_modified(&at(&format!("/memories/{number:02}")), time).unwrap();
        }
        memory
    };
    let search = |memory: &Memory| memory.search("path:/", "/memories", 100).unwrap();
    for bytes in [Some(0), Some(1), Some(100)] {
        let results = search(&limited(bytes));
        assert_eq!((results.hits.len(), results.files_left_out), (0, 40));
    }
    for bytes in [None, Some(u64::MAX), Some(1 << 30)] {
        let results = search(&limited(bytes));
        assert_eq!((results.hits.len(), results.files_left_out), (40, 0));
    }
    let memory = limited(Some(300_000));
    let results = search(&memory);
    let left_out = results.files_left_out;
    assert!((5..35).contains(&left_out), "{left_out}");
    assert_eq!(results.hits.len() as u64, 40 - left_out);
    // The newest are searched.
    assert!(paths(&results).iter().all(|path| path[10..].parse::<u64>().unwrap() >= left_out));
    // The same again.
    assert_eq!(search(&memory), results);
    // A new file that does not fit is left out, too, and a small one is not.
    memory.write("/memories/new", &"large ".repeat(20_000), None).unwrap();
    memory.write("/memories/small", "small", None).unwrap();
    assert_eq!(search(&memory).files_left_out, left_out + 1);
    assert_eq!(found(&memory, "small"), ["/memories/small"]);
    assert!(found(&memory, "large").is_empty());
    memory.delete("/memories/new").unwrap();
    for number in 10..40 {
        memory.delete(&format!("/memories/{number}")).unwrap();
    }
    let results = search(&memory);
    assert_eq!((results.hits.len(), results.files_left_out), (11, 0));
}

#[test]
fn hostile_files_are_searched_or_left_out() {
    let memory =
        Memory::open("memory:", options(|options| options.search_max_bytes = Some(64 << 20)))
            .unwrap();
    let store = &**memory.store();
    put(store, "/memories/line", format!("{}\ngreen", "x".repeat(5 << 20)));
    put(store, "/memories/headings", "# green\n".repeat(100_000));
    put(store, "/memories/zeros", vec![0; 5 << 20]);
    put(store, "/memories/not-text", vec![0xff; 5 << 20]);
    put(store, "/memories/huge", vec![b'a'; 65 << 20]);
    put(store, "/memories/tea", "green");
    let results = memory.search("green", "/memories", 10).unwrap();
    let found: BTreeSet<String> = paths(&results).into_iter().collect();
    let expected = ["/memories/headings", "/memories/line", "/memories/tea"];
    assert_eq!(found, expected.map(ToOwned::to_owned).into());
    assert_eq!(results.files_left_out, 1);
    let texts = results.hits.iter().flat_map(|hit| &hit.passages);
    assert!(texts.map(|passage| passage.text.len()).sum::<usize>() < 20_000);
}

#[test]
fn a_question_of_any_kind_is_answered() {
    let memory = Memory::open("memory:", MemoryOptions::default()).unwrap();
    memory.create("/memories/tea.md", "green").unwrap();
    for query in ["", " ", "\"", "-", "path:", "path:/memories/", "\0", "𝕏", &"x ".repeat(1 << 20)]
    {
        memory.search(query, "/memories", 10).unwrap();
    }
    assert_eq!(found(&memory, &format!("{}green", "x ".repeat(30))), ["/memories/tea.md"]);
}

#[test]
fn the_options_change_the_ranking() {
    let open = |set: fn(&mut MemoryOptions)| {
        let memory = Memory::open("memory:", options(set)).unwrap();
        let day = Duration::from_secs(86_400);
        for (path, text, age) in
            [("/memories/a", "the meetings", 0), ("/memories/b", "meetings", 90)]
        {
            put(&**memory.store(), path, text);
            let time = SystemTime::UNIX_EPOCH + 1_000 * day - age * day;
            memory.store().set_modified(&at(path), time).unwrap();
        }
        memory
    };
    assert_eq!(found(&open(|_| {}), "meeting"), ["/memories/a", "/memories/b"]);
    let none = open(|options| options.search_language = memdir::SearchLanguage::None);
    assert_eq!(found(&none, "the"), ["/memories/a"]);
    let scores = |memory: &Memory| {
        let hits = memory.search("meetings", "/memories", 10).unwrap().hits;
        let of = |path: &str| hits.iter().find(|hit| hit.path.as_str() == path).unwrap().score;
        of("/memories/a") / of("/memories/b")
    };
    let recent = open(|options| options.search_recency = Some(Duration::from_secs(86_400)));
    assert!(scores(&recent) > 1.3 * scores(&open(|_| {})));
    assert_eq!(
        "turkish".parse::<memdir::SearchLanguage>().unwrap(),
        memdir::SearchLanguage::Turkish
    );
    let wrong = "klingon".parse::<memdir::SearchLanguage>().unwrap_err();
    assert!(wrong.to_string().starts_with("search_language"), "{wrong}");
}

#[test]
fn a_read_only_memory_is_searched() {
    let place = tempfile::tempdir().unwrap();
    let base = place.path().to_str().unwrap();
    let memory = Memory::open(base, MemoryOptions::default()).unwrap();
    memory.create("/memories/tea.md", "green").unwrap();
    let reading = Memory::open(base, options(|options| options.read_only = true)).unwrap();
    assert_eq!(found(&reading, "green"), ["/memories/tea.md"]);
    memory.create("/memories/b.md", "green").unwrap();
    assert_eq!(found(&reading, "green").len(), 2);
}

#[test]
fn an_unreachable_mounted_store_hides_its_files_and_no_others() {
    use crate::common::failing::UNREACHABLE;
    use memdir::store::Mounts;
    let root: Arc<dyn Store> = Arc::new(InProcess::new());
    put(&*root, "/memories/tea.md", "green");
    let mounts = Mounts::new(root).mount(at("/memories/away"), Arc::new(UNREACHABLE)).unwrap();
    let memory = Memory::with_store(Arc::new(mounts), MemoryOptions::default());
    assert_eq!(found(&memory, "green"), ["/memories/tea.md"]);
}

#[test]
fn the_error_of_a_missing_path_has_its_kind() {
    let memory = Memory::open("memory:", MemoryOptions::default()).unwrap();
    let Err(Error::Refused(refused)) = memory.search("tea", "/memories/no", 10) else { panic!() };
    assert_eq!(refused.kind(), ErrorKind::NotFound);
}

//! The search by meaning, with an embedder that knows a few meanings: what it finds, how often it is called, and what happens if it fails.
#![cfg(feature = "search")]
#![allow(clippy::panic, clippy::unwrap_used, reason = "a panic is how a test fails")]
#![allow(clippy::needless_pass_by_value, reason = "`on_every_store` passes a store")]

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, SystemTime};

use memdir::command::SearchCall;
use memdir::store::{Encrypted, InProcess, Store};
use memdir::{
    Cancellation, Embedder, EmbedderError, GrepQuery, Memory, MemoryOptions, SearchResults,
    StoreError,
};

use crate::common::store_helpers::{at, key, put};

/// Words with the same meaning: each line is a dimension.
const MEANINGS: [&[&str]; 4] = [
    &["car", "automobile", "vehicle"],
    &["tea", "beverage", "drink"],
    &["house", "home", "flat"],
    &["colour", "red", "green"],
];

/// Counts calls and texts, and fails or waits if it is told to.
#[derive(Default)]
struct Meanings {
    calls: AtomicUsize,
    questions: AtomicUsize,
    passages: Mutex<Vec<String>>,
    act: Mutex<Act>,
    is_open: Condvar,
}

#[derive(Debug, Clone, Default, PartialEq)]
enum Act {
    #[default]
    Answer,
    Fail,
    Panic,
    /// Waits until another act is set.
    Wait,
    Return(Vec<Vec<f32>>),
}

impl Meanings {
    fn now(&self, act: Act) {
        *self.act.lock().unwrap() = act;
        self.is_open.notify_all();
    }

    /// The passages that were embedded since the last call of this.
    fn embedded(&self) -> Vec<String> {
        std::mem::take(&mut *self.passages.lock().unwrap())
    }
}

fn vector(text: &str) -> Vec<f32> {
    let words: Vec<String> =
        text.split(|character: char| !character.is_alphabetic()).map(str::to_lowercase).collect();
    let count = |meaning: &&[&str]| {
        let count = words.iter().filter(|word| meaning.contains(&word.as_str())).count();
        f32::from(u8::try_from(count.min(200)).unwrap())
    };
    MEANINGS.iter().map(count).collect()
}

impl Embedder for Meanings {
    fn embed(&self, texts: &[String], is_query: bool) -> Result<Vec<Vec<f32>>, EmbedderError> {
        self.calls.fetch_add(1, Ordering::SeqCst);
        let waiting = self.act.lock().unwrap();
        let act = self.is_open.wait_while(waiting, |act| *act == Act::Wait).unwrap().clone();
        match act {
            Act::Fail => return Err("no such model".into()),
            Act::Panic => panic!("an embedder may panic"),
            Act::Return(vectors) => return Ok(vectors),
            Act::Answer | Act::Wait => {}
        }
        if is_query {
            self.questions.fetch_add(1, Ordering::SeqCst);
            assert_eq!(texts.len(), 1);
        } else {
            assert!(texts.len() <= 64 && texts.iter().all(|text| text.len() <= 1_600));
            self.passages.lock().unwrap().extend_from_slice(texts);
        }
        Ok(texts.iter().map(|text| vector(text)).collect())
    }
}

fn options(set: impl FnOnce(&mut MemoryOptions)) -> MemoryOptions {
    let mut options = MemoryOptions::default();
    options.embedder_name = Some("meanings-1".into());
    set(&mut options);
    options
}

/// A memory with an embedder of its own.
fn memory_with(
    store: &Arc<dyn Store>,
    set: impl FnOnce(&mut MemoryOptions),
) -> (Memory, Arc<Meanings>) {
    let embedder = Arc::new(Meanings::default());
    let memory = Memory::with_store(Arc::clone(store), options(set));
    (memory.with_embedder(Arc::clone(&embedder) as Arc<dyn Embedder>).unwrap(), embedder)
}

fn in_process() -> Arc<dyn Store> {
    Arc::new(InProcess::new())
}

fn search(memory: &Memory, question: &str) -> SearchResults {
    memory.search(question, "/memories", 10).unwrap()
}

fn paths(results: &SearchResults) -> Vec<&str> {
    results.hits.iter().map(|hit| hit.path.as_str()).collect()
}

fn fill(store: &dyn Store) {
    put(store, "/memories/garage.md", "# Garage\n\nThe car is old.\n");
    put(store, "/memories/kitchen.md", "# Kitchen\n\nAnna likes tea.\n");
    put(store, "/memories/empty.md", "");
    put(store, "/memories/picture.png", b"\x89PNG\r\n\x1a\n");
}

fn meaning_is_found(store: Arc<dyn Store>) {
    fill(&*store);
    let (memory, embedder) = memory_with(&store, |_| ());
    let words = Memory::with_store(Arc::clone(&store), MemoryOptions::default());
    assert_eq!(paths(&search(&words, "an automobile")), [""; 0]);
    let found = search(&memory, "an automobile");
    assert_eq!((paths(&found), &found.words_only), (vec!["/memories/garage.md"], &None));
    assert_eq!(
        embedder.embedded(),
        ["garage.md\n# Garage\n\nThe car is old.", "kitchen.md\n# Kitchen\n\nAnna likes tea."]
    );

    // Each change is found at once, and only its own passages are embedded.
    memory.create("/memories/new.md", "a vehicle").unwrap();
    words.str_replace("/memories/garage.md", "car", "house").unwrap();
    assert_eq!(paths(&search(&memory, "automobile")), ["/memories/new.md"]);
    assert_eq!(embedder.embedded().len(), 2);
    words.str_replace("/memories/garage.md", "house", "car").unwrap();
    assert_eq!(paths(&search(&memory, "automobile")), ["/memories/garage.md", "/memories/new.md"]);
    words.delete("/memories/new.md").unwrap();
    assert_eq!(paths(&search(&memory, "automobile")), ["/memories/garage.md"]);
    // A text that comes back has its vector already.
    assert_eq!(embedder.embedded(), [""; 0]);
    // The path belongs to the text.
    words.rename("/memories/garage.md", "/memories/home.md").unwrap();
    assert_eq!(paths(&search(&memory, "automobile")), ["/memories/home.md"]);
    assert_eq!(embedder.embedded(), ["home.md\n# Garage\n\nThe car is old."]);
    assert_eq!(paths(&search(&memory, "automobile path:kitchen")), [""; 0]);
    assert_eq!(paths(&memory.search("beverage", "/memories/kitchen.md", 10).unwrap()).len(), 1);
}
on_every_store!(meaning_is_found);

#[test]
fn the_passage_with_the_meaning_is_shown() {
    let store = in_process();
    let filler = "Some other words stand here, so this is a passage.\n".repeat(8);
    put(
        &*store,
        "/memories/a.md",
        format!("# One\n\n{filler}\n# Two\n\nThe car stands here. {filler}"),
    );
    let (memory, _) = memory_with(&store, |_| ());
    let found = search(&memory, "vehicle");
    let passage = &found.hits[0].passages[0];
    assert_eq!((passage.first_line, passage.matches.len()), (12, 0));
    assert!(passage.text.contains("The car"));
}

#[test]
fn a_name_is_required() {
    let embedder = || Arc::new(Meanings::default()) as Arc<dyn Embedder>;
    for name in [None, Some(String::new())] {
        let memory =
            Memory::with_store(in_process(), options(|options| options.embedder_name = name));
        let error = memory.with_embedder(embedder()).unwrap_err();
        assert_eq!(
            error.to_string(),
            "embedder_name is required with an embedder: its vectors are kept under this name"
        );
    }
}

#[test]
fn a_question_without_words_is_not_embedded() {
    let store = in_process();
    fill(&*store);
    let (memory, embedder) = memory_with(&store, |_| ());
    for question in ["", " ?! ", "path:kitchen", "-tea", "-\"tea\""] {
        assert_eq!(search(&memory, question).words_only, None);
    }
    assert_eq!(paths(&search(&memory, "path:kitchen")), ["/memories/kitchen.md"]);
    assert_eq!(memory.search("tea", "/memories", 0).unwrap().hits, []);
    assert_eq!(embedder.calls.load(Ordering::SeqCst), 0);
    assert_eq!(paths(&search(&memory, "\"green tea\"")), [""; 0]);
    assert_eq!(embedder.questions.load(Ordering::SeqCst), 1);
}

#[test]
fn an_embedder_that_fails_leaves_the_words() {
    let store = in_process();
    fill(&*store);
    let (memory, embedder) = memory_with(&store, |_| ());
    let words = search(&Memory::with_store(Arc::clone(&store), MemoryOptions::default()), "tea");
    let one = |numbers: &[f32]| Act::Return(vec![numbers.to_vec()]);
    for (act, problem) in [
        (Act::Fail, "no such model"),
        (Act::Panic, "it panicked"),
        (Act::Return(Vec::new()), "it returned 0 vectors for 1 text"),
        (Act::Return(vec![vec![1.0]; 2]), "it returned 2 vectors for 1 text"),
        (one(&[]), "a vector has 0 numbers, and not 1 to 65536"),
        (one(&[1.0, f32::NAN]), "a vector has the number NaN"),
        // The question passes, and its vector is returned for two passages.
        (one(&[1.0]), "it returned 1 vectors for 2 texts"),
    ] {
        embedder.now(act.clone());
        let found = search(&memory, "tea");
        let reason = found.words_only.clone().unwrap();
        assert_eq!(reason, format!("the embedder failed: {problem}"), "{act:?}");
        assert_eq!(found.hits, words.hits);
        let reply = memory.execute_search(SearchCall::parse(r#"{"query": "tea"}"#));
        let text = reply.content.to_string();
        assert!(!reply.is_error && text.starts_with("/memories/kitchen.md\n"), "{text}");
        let end =
            "\n\nOnly the words were searched for, not their meaning. Other words may find more.";
        assert!(text.ends_with(end) && !text.contains("model"), "{text}");
    }
    embedder.now(Act::Answer);
    assert_eq!(paths(&search(&memory, "drink")), ["/memories/kitchen.md"]);
    // Now the vectors of the passages have another length than that of a question.
    embedder.now(one(&[1.0]));
    let reason = search(&memory, "tea").words_only.unwrap();
    assert!(reason.ends_with("a new model needs a new embedder_name"), "{reason}");
    embedder.now(Act::Answer);
    assert_eq!(search(&memory, "tea").words_only, None);
}

#[test]
fn a_slow_embedder_leaves_the_words() {
    let store = in_process();
    fill(&*store);
    let brief = Some(Duration::from_millis(50));
    let (memory, embedder) = memory_with(&store, |options| options.embedder_timeout = brief);
    embedder.now(Act::Wait);
    let found = search(&memory, "tea");
    assert_eq!(paths(&found), ["/memories/kitchen.md"]);
    assert_eq!(found.words_only.unwrap(), "the embedder took more than 0.05 seconds");
    // It is not called again while it is late, by no session.
    for _ in 0..3 {
        let reason = search(&memory.session(), "tea").words_only.unwrap();
        assert_eq!(reason, "an earlier call of the embedder has not ended");
    }
    until(|| embedder.calls.load(Ordering::SeqCst) > 0);
    assert_eq!(embedder.calls.load(Ordering::SeqCst), 1);
    embedder.now(Act::Answer);
    until(|| search(&memory, "drink").words_only.is_none());
}

/// Waits for something that another thread is about to do.
fn until(mut is_so: impl FnMut() -> bool) {
    for _ in 0..3_000 {
        if is_so() {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("it did not happen");
}

/// Answers questions at once, and holds passages.
struct SlowPassages(Meanings);

impl Embedder for SlowPassages {
    fn embed(&self, texts: &[String], is_query: bool) -> Result<Vec<Vec<f32>>, EmbedderError> {
        if is_query {
            return Ok(texts.iter().map(|text| vector(text)).collect());
        }
        self.0.embed(texts, is_query)
    }
}

#[test]
fn late_vectors_are_used() {
    let store = in_process();
    for number in 0..100 {
        put(&*store, &format!("/memories/{number}.md"), format!("tea number {number}"));
    }
    let embedder = Arc::new(SlowPassages(Meanings::default()));
    let options = options(|options| options.embedder_timeout = Some(Duration::from_millis(50)));
    let memory = Memory::with_store(Arc::clone(&store), options);
    let memory = memory.with_embedder(Arc::clone(&embedder) as Arc<dyn Embedder>).unwrap();
    embedder.0.now(Act::Wait);
    let mut reason = String::new();
    until(|| {
        let found = search(&memory, "number 7");
        assert_eq!(found.hits[0].path.as_str(), "/memories/7.md");
        reason = found.words_only.unwrap();
        // The call for the question may be late, too.
        reason.ends_with("passages have vectors")
    });
    assert_eq!(reason, "the embedder took more than 0.05 seconds; 0 of 100 passages have vectors");
    embedder.0.now(Act::Answer);
    until(|| search(&memory, "drink").words_only.is_none());
    let mut embedded = embedder.0.embedded();
    embedded.sort_unstable();
    embedded.dedup();
    assert_eq!(embedded.len(), 100);
    // The first call had 64 texts, and was not repeated.
    assert_eq!(embedder.0.calls.load(Ordering::SeqCst), 2);
}

#[test]
fn a_search_that_waits_for_an_embedder_can_be_cancelled() {
    let store = in_process();
    fill(&*store);
    let (memory, embedder) = memory_with(&store, |options| options.embedder_timeout = None);
    embedder.now(Act::Wait);
    let cancellation = Cancellation::new();
    let cancelled = memory.cancelled_by(&cancellation);
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| cancelled.search("tea", "/memories", 10));
        until(|| embedder.calls.load(Ordering::SeqCst) == 1);
        cancellation.cancel();
        let error = waiting.join().unwrap().unwrap_err();
        assert!(matches!(error, memdir::Error::Store(StoreError::Cancelled)), "{error}");
    });
    embedder.now(Act::Answer);
    until(|| search(&memory, "drink").words_only.is_none());
}

/// Searches the memory that it serves.
#[derive(Default)]
struct Searching {
    memory: Mutex<Option<Memory>>,
    found: Mutex<Vec<SearchResults>>,
}

impl Embedder for Searching {
    fn embed(&self, texts: &[String], _: bool) -> Result<Vec<Vec<f32>>, EmbedderError> {
        let memory = self.memory.lock().unwrap().clone().unwrap();
        self.found.lock().unwrap().push(search(&memory, "tea"));
        Ok(texts.iter().map(|text| vector(text)).collect())
    }
}

#[test]
fn an_embedder_may_search() {
    let store = in_process();
    fill(&*store);
    let embedder = Arc::new(Searching::default());
    let memory = Memory::with_store(store, options(|options| options.embedder_timeout = None));
    let memory = memory.with_embedder(Arc::clone(&embedder) as Arc<dyn Embedder>).unwrap();
    *embedder.memory.lock().unwrap() = Some(memory.clone());
    assert_eq!(paths(&search(&memory, "drink")), ["/memories/kitchen.md"]);
    let found = std::mem::take(&mut *embedder.found.lock().unwrap());
    assert_eq!(found.len(), 2);
    for found in found {
        assert_eq!(paths(&found), ["/memories/kitchen.md"]);
        assert_eq!(found.words_only.unwrap(), "a search by an embedder has no vectors");
    }
    *embedder.memory.lock().unwrap() = None;
}

#[test]
fn many_threads_search_by_meaning() {
    let store = in_process();
    fill(&*store);
    let (memory, embedder) = memory_with(&store, |_| ());
    std::thread::scope(|scope| {
        for _ in 0..65 {
            scope.spawn(|| {
                assert_eq!(paths(&search(&memory, "drink")), ["/memories/kitchen.md"]);
            });
        }
    });
    assert_eq!(embedder.embedded().len(), 2);
}

#[test]
fn vectors_that_do_not_fit_leave_the_words() {
    let store = in_process();
    for number in 0..400 {
        put(&*store, &format!("/memories/{number}.md"), format!("tea number {number}"));
    }
    let room = |bytes| move |options: &mut MemoryOptions| options.search_max_bytes = Some(bytes);
    // The texts fit, and have room for some of the vectors.
    let (memory, embedder) = memory_with(&store, room(least_room(&store)));
    for _ in 0..3 {
        let found = search(&memory, "drink");
        let reason = found.words_only.unwrap();
        assert!(reason.starts_with("the vectors do not fit into search_max_bytes"), "{reason}");
        assert_eq!((found.hits.len(), found.files_left_out), (0, 0));
    }
    // They are not paid for again and again.
    assert!(embedder.embedded().len() <= 64);
    let (memory, _) = memory_with(&store, room(1_000_000));
    assert_eq!(search(&memory, "drink").words_only, None);
}

/// The least `search_max_bytes`, up to some thousand bytes, with which a memory without an embedder has all files.
fn least_room(store: &Arc<dyn Store>) -> u64 {
    let fits = |bytes: &u64| {
        let mut options = MemoryOptions::default();
        options.search_max_bytes = Some(*bytes);
        let memory = Memory::with_store(Arc::clone(store), options);
        search(&memory, "tea").files_left_out == 0
    };
    (1..1_000).map(|step| step * 5_000).find(fits).unwrap()
}

#[test]
fn texts_take_the_room_of_vectors() {
    let store = in_process();
    let put_some = |from: u32, to: u32| {
        for number in from..to {
            put(&*store, &format!("/memories/{number}.md"), format!("tea number {number}"));
        }
    };
    put_some(0, 100);
    let few = least_room(&store);
    put_some(100, 400);
    let room = least_room(&store);
    assert!(room > few + 100 * 164);
    (100..400).for_each(|number| store.delete(&at(&format!("/memories/{number}.md"))).unwrap());

    let (memory, embedder) = memory_with(&store, |options| options.search_max_bytes = Some(room));
    assert_eq!(search(&memory, "drink").words_only, None);
    assert_eq!(embedder.embedded().len(), 100);
    put_some(100, 400);
    for _ in 0..2 {
        let found = memory.search("number", "/memories", 1_000).unwrap();
        assert_eq!((found.hits.len(), found.files_left_out), (400, 0));
        assert_eq!(
            found.words_only.as_deref(),
            Some("the vectors do not fit into search_max_bytes")
        );
        // The length of a vector is known, so no call is needed to find out.
        assert_eq!(embedder.embedded(), [""; 0]);
    }
    // The vectors were dropped, so they are made again once there is room.
    (100..400).for_each(|number| store.delete(&at(&format!("/memories/{number}.md"))).unwrap());
    assert_eq!(search(&memory, "drink").words_only, None);
    assert_eq!(embedder.embedded().len(), 100);
}

#[test]
fn kept_vectors_are_loaded_only_if_they_fit_beside_the_index() {
    let store = in_process();
    fill_many(&*store);
    let (memory, embedder) = memory_with(&store, keeping);
    assert_eq!(search(&memory, "drink").words_only, None);
    assert_eq!((embedder.embedded().len(), kept(&*store).len()), (100, 1));
    let room = least_room(&store);
    let (memory, embedder) = memory_with(&store, |options| {
        keeping(options);
        options.search_max_bytes = Some(room);
    });
    let reason = search(&memory, "drink").words_only.unwrap();
    assert_eq!(reason, "the vectors do not fit into search_max_bytes");
    assert_eq!((embedder.embedded().len(), kept(&*store).len()), (0, 1));
}

fn a_question_is_embedded_once_although_files_have_expired(store: Arc<dyn Store>) {
    for number in 0..20 {
        put(&*store, &format!("/memories/{number}.md"), "tea");
    }
    let hour = Some(Duration::from_secs(3_600));
    let (memory, embedder) = memory_with(&store, |options| options.expire_after = hour);
    assert_eq!(search(&memory, "drink").hits.len(), 10);
    assert_eq!(embedder.questions.load(Ordering::SeqCst), 1);
    for number in 0..18 {
        let path = at(&format!("/memories/{number}.md"));
        store.set_modified(&path, SystemTime::UNIX_EPOCH).unwrap();
    }
    let found = memory.search("drink", "/memories", 2).unwrap();
    assert_eq!((found.hits.len(), found.words_only), (2, None));
    assert_eq!(embedder.questions.load(Ordering::SeqCst), 2);
    // A question that fails is not repeated either.
    let calls = embedder.calls.load(Ordering::SeqCst);
    embedder.now(Act::Fail);
    let found = memory.search("tea", "/memories", 2).unwrap();
    assert_eq!(
        (found.hits.len(), found.words_only.as_deref()),
        (2, Some("the embedder failed: no such model"))
    );
    assert_eq!(embedder.calls.load(Ordering::SeqCst), calls + 1);
}
on_every_store!(a_question_is_embedded_once_although_files_have_expired);

#[test]
fn a_search_goes_on_while_another_one_embeds_passages() {
    let store = in_process();
    fill(&*store);
    let embedder = Arc::new(SlowPassages(Meanings::default()));
    let memory =
        Memory::with_store(Arc::clone(&store), options(|options| options.embedder_timeout = None));
    let memory = memory.with_embedder(Arc::clone(&embedder) as Arc<dyn Embedder>).unwrap();
    embedder.0.now(Act::Wait);
    std::thread::scope(|scope| {
        let first = scope.spawn(|| search(&memory, "automobile"));
        until(|| embedder.0.calls.load(Ordering::SeqCst) == 1);
        assert_eq!(paths(&search(&memory, "path:kitchen")), ["/memories/kitchen.md"]);
        // A change meanwhile: these passages are embedded before the answer.
        put(&*store, "/memories/new.md", "a vehicle");
        assert_eq!(paths(&search(&memory, "path:new")), ["/memories/new.md"]);
        let second = scope.spawn(|| search(&memory, "automobile"));
        std::thread::sleep(Duration::from_millis(100));
        assert!(!first.is_finished() && !second.is_finished());
        embedder.0.now(Act::Answer);
        for search in [first, second] {
            let found = search.join().unwrap();
            assert_eq!(paths(&found), ["/memories/garage.md", "/memories/new.md"]);
            assert_eq!(found.words_only, None);
        }
    });
    assert_eq!(embedder.0.embedded().len(), 3);
}

#[test]
fn a_text_that_is_removed_for_good_during_a_call_has_no_vector() {
    let store = in_process();
    fill_many(&*store);
    let embedder = Arc::new(SlowPassages(Meanings::default()));
    let options = options(|options| {
        (options.embedder_timeout, options.history) = (None, true);
        options.search_keep = true;
    });
    let memory = Memory::with_store(Arc::clone(&store), options);
    let memory = memory.with_embedder(Arc::clone(&embedder) as Arc<dyn Embedder>).unwrap();
    embedder.0.now(Act::Wait);
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| search(&memory, "automobile"));
        until(|| embedder.0.calls.load(Ordering::SeqCst) == 1);
        memory.erase(false).unwrap();
        embedder.0.now(Act::Answer);
        let found = waiting.join().unwrap();
        assert_eq!((found.hits.len(), found.words_only), (0, None));
    });
    assert_eq!((embedder.0.embedded().len(), kept(&*store).len()), (64, 0));
    fill_many(&*store);
    assert_eq!(search(&memory, "automobile").hits.len(), 10);
    assert_eq!(embedder.0.embedded().len(), 100);
}

#[test]
fn hidden_files_have_no_vectors() {
    let store = in_process();
    put(&*store, "/memories/.notes/a.md", "The car is old.");
    let (memory, embedder) = memory_with(&store, |_| ());
    let found = memory.search("car", "/memories/.notes", 10).unwrap();
    assert_eq!(paths(&found), ["/memories/.notes/a.md"]);
    assert_eq!(found.words_only.as_deref(), Some("hidden files have no vectors"));
    assert_eq!(embedder.calls.load(Ordering::SeqCst), 0);
}

#[test]
fn an_embedder_gets_only_the_redacted_text() {
    let store = in_process();
    put(&*store, "/memories/a.md", "tea: postgres://app:t7Kq-9zLw2@db/app\n");
    let (memory, embedder) = memory_with(&store, |options| options.sensitive_on_view = true);
    assert_eq!(paths(&search(&memory, "drink")), ["/memories/a.md"]);
    let embedded = embedder.embedded();
    assert!(embedded.len() == 1 && !embedded[0].contains("t7Kq"), "{embedded:?}");
}

const DIRECTORY: &str = "/memories/.memdir-search";

/// The kept files with vectors.
fn kept(store: &dyn Store) -> Vec<String> {
    let listed = store.list(&at(DIRECTORY)).unwrap_or_default();
    let names = listed.into_iter().map(|entry| entry.path.as_str().to_owned());
    names.filter(|name| name.ends_with(".vectors")).collect()
}

fn fill_many(store: &dyn Store) {
    for number in 0..100 {
        let word = ["car", "tea", "flat"][number % 3];
        put(
            store,
            &format!("/memories/d{}/{number}.md", number % 7),
            format!("{word} of Anna {number}"),
        );
    }
}

fn keeping(options: &mut MemoryOptions) {
    options.search_keep = true;
}

fn vectors_are_kept(store: Arc<dyn Store>) {
    if store.mounts().is_some() {
        // Several stores keep none.
        return;
    }
    fill_many(&*store);
    let first = memory_with(&store, keeping);
    let answer = search(&first.0, "an automobile");
    assert_eq!((answer.hits.len(), answer.words_only.as_deref()), (10, None));
    assert_eq!((first.1.embedded().len(), kept(&*store).len()), (100, 1));
    let next = memory_with(&store, keeping);
    assert_eq!(search(&next.0, "an automobile"), answer);
    assert_eq!(next.1.embedded(), [""; 0]);
    // A search without an embedder leaves them, also when it saves its own index again.
    for number in 100..200 {
        put(&*store, &format!("/memories/e/{number}.md"), "something else");
    }
    let mut only_words = MemoryOptions::default();
    only_words.search_keep = true;
    search(&Memory::with_store(Arc::clone(&store), only_words), "tea");
    assert_eq!(kept(&*store).len(), 1);
    let changed = memory_with(&store, keeping);
    assert_eq!(search(&changed.0, "an automobile").words_only, None);
    // The paths differ, so these are 100 texts.
    assert_eq!(changed.1.embedded().len(), 100);
    // Another model has other vectors.
    let other = memory_with(&store, |options| {
        keeping(options);
        options.embedder_name = Some("meanings-2".into());
    });
    assert_eq!(search(&other.0, "an automobile").words_only, None);
    assert_eq!((other.1.embedded().len(), kept(&*store).len()), (200, 1));
    // Whatever is damaged is made again.
    let [file] = &kept(&*store)[..] else { panic!("one file") };
    let mut bytes = store.read(&at(file)).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    store.delete(&at(file)).unwrap();
    put(&*store, file, bytes);
    let again = memory_with(&store, |options| {
        keeping(options);
        options.embedder_name = Some("meanings-2".into());
    });
    assert_eq!(search(&again.0, "an automobile").words_only, None);
    assert_eq!((again.1.embedded().len(), kept(&*store).len()), (200, 1));
}
on_every_store!(vectors_are_kept);

#[test]
fn a_text_that_is_removed_for_good_has_no_vector() {
    let store = in_process();
    fill_many(&*store);
    let recorded =
        |options: &mut MemoryOptions| (options.search_keep, options.history) = (true, true);
    let (memory, embedder) = memory_with(&store, recorded);
    search(&memory, "automobile");
    assert_eq!((embedder.embedded().len(), kept(&*store).len()), (100, 1));
    memory.write("/memories/d0/0.md", "car of Anna, and a secret", None).unwrap();
    memory.write("/memories/d0/0.md", "car of Anna 0", None).unwrap();
    memory.redact_text(&GrepQuery::text("secret"), "asked for", false).unwrap();
    assert_eq!(kept(&*store), [""; 0]);
    // The vectors in memory are gone as well.
    search(&memory, "automobile");
    assert_eq!(embedder.embedded().len(), 100);
    assert_eq!(kept(&*store).len(), 1);
    memory.erase(false).unwrap();
    assert_eq!(kept(&*store), [""; 0]);
}

#[test]
fn kept_vectors_are_encrypted() {
    let inner = in_process();
    let store: Arc<dyn Store> =
        Arc::new(Encrypted::open(Arc::clone(&inner), &key(1), false).unwrap());
    fill_many(&*store);
    let (memory, _) = memory_with(&store, keeping);
    search(&memory, "automobile");
    assert_eq!(kept(&*store).len(), 1);
    let bytes: Vec<u8> =
        kept(&*inner).iter().flat_map(|file| inner.read(&at(file)).unwrap()).collect();
    assert!(!bytes.is_empty() && !bytes.windows(14).any(|window| window == b"memdir-vectors"));
    let (next, embedder) = memory_with(&store, keeping);
    assert_eq!(search(&next, "automobile").words_only, None);
    assert_eq!(embedder.embedded(), [""; 0]);
}

#[test]
fn a_read_only_memory_keeps_no_vectors() {
    let store = in_process();
    fill_many(&*store);
    let read_only =
        |options: &mut MemoryOptions| (options.search_keep, options.read_only) = (true, true);
    let (memory, _) = memory_with(&store, read_only);
    assert_eq!(search(&memory, "automobile").words_only, None);
    assert_eq!(kept(&*store), [""; 0]);
}

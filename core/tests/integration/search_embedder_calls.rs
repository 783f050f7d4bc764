//! The calls of an embedder: how many run at the same time, if many searches need one, and if the embedder searches its own memory.
#![cfg(feature = "search")]
#![allow(clippy::panic, clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, Mutex};
use std::thread;
use std::time::Duration;

use memdir::store::{InProcess, Store};
use memdir::{Embedder, EmbedderError, Memory, MemoryOptions, SearchResults};

use crate::common::store_helpers::put;

/// The most calls that run at the same time.
const MOST: usize = 60;

/// Knows tea, and searches its own memory on other threads: as long as fewer calls than `depth` run, this many times in each call.
#[derive(Default)]
struct Recursing {
    memory: Mutex<Option<Memory>>,
    depth: AtomicUsize,
    searches: usize,
    /// Whether a call for passages searches, too.
    with_passages: bool,
    delay: Duration,
    running: AtomicUsize,
    peak: AtomicUsize,
    calls: AtomicUsize,
}

impl Embedder for Recursing {
    fn embed(&self, texts: &[String], is_query: bool) -> Result<Vec<Vec<f32>>, EmbedderError> {
        self.calls.fetch_add(1, Ordering::SeqCst);
        let running = self.running.fetch_add(1, Ordering::SeqCst) + 1;
        self.peak.fetch_max(running, Ordering::SeqCst);
        thread::sleep(self.delay);
        if running < self.depth.load(Ordering::SeqCst) && (is_query || self.with_passages) {
            let memory = self.memory.lock().unwrap().clone().unwrap();
            for _ in 0..self.searches {
                let memory = memory.clone();
                thread::spawn(move || search(&memory)).join().unwrap();
            }
        }
        self.running.fetch_sub(1, Ordering::SeqCst);
        let has_tea = |text: &String| vec![f32::from(u8::from(text.contains("tea"))), 0.5];
        Ok(texts.iter().map(has_tea).collect())
    }
}

fn search(memory: &Memory) -> SearchResults {
    let found = memory.search("tea", "/memories", 10).unwrap();
    assert_eq!(found.hits[0].path.as_str(), "/memories/kitchen.md");
    found
}

fn memory(timeout: Option<Duration>, embedder: Recursing) -> (Memory, Arc<Recursing>) {
    let (store, embedder) = (Arc::new(InProcess::new()), Arc::new(embedder));
    put(&*store, "/memories/kitchen.md", "Anna likes tea.");
    put(&*store, "/memories/garage.md", "The car is old.");
    let mut options = MemoryOptions::default();
    options.embedder_name = Some("tea-1".into());
    options.embedder_timeout = timeout;
    let memory = Memory::with_store(store as Arc<dyn Store>, options);
    let memory = memory.with_embedder(Arc::clone(&embedder) as Arc<dyn Embedder>).unwrap();
    *embedder.memory.lock().unwrap() = Some(memory.clone());
    (memory, embedder)
}

/// The embedder has its memory, which has the embedder.
fn release(embedder: &Recursing) {
    *embedder.memory.lock().unwrap() = None;
}

fn recursing(depth: usize) -> Recursing {
    Recursing { depth: depth.into(), searches: 1, ..Recursing::default() }
}

#[test]
fn an_embedder_may_search_on_other_threads_to_a_depth() {
    for depth in [2, MOST - 1, MOST] {
        let (memory, embedder) = memory(Some(Duration::from_secs(60)), recursing(depth));
        assert_eq!(search(&memory).words_only, None);
        assert_eq!(embedder.peak.load(Ordering::SeqCst), depth);
        release(&embedder);
    }
}

#[test]
fn an_embedder_that_searches_on_other_threads_without_end_is_late() {
    let all = || Recursing { with_passages: true, searches: 2, ..recursing(usize::MAX) };
    let (more, endless) = (|| recursing(MOST + 1), || recursing(usize::MAX));
    for kind in [&more as &dyn Fn() -> Recursing, &endless, &all] {
        // On a busy machine fewer calls than the most may begin in a short time.
        assert!([2, 8, 32, 128].into_iter().any(|seconds| is_late_after(seconds, kind())));
    }
}

/// Searches with an embedder that does not end by itself. Returns whether the most calls ran at the same time.
fn is_late_after(seconds: u64, embedder: Recursing) -> bool {
    let (memory, embedder) = memory(Some(Duration::from_secs(seconds)), embedder);
    let reason = search(&memory).words_only.unwrap();
    assert_eq!(reason, format!("the embedder took more than {seconds} seconds"));
    let peak = embedder.peak.load(Ordering::SeqCst);
    assert!(peak <= MOST, "{peak}");
    // Each level ends, and then the embedder works again.
    embedder.depth.store(0, Ordering::SeqCst);
    let works = |_: &usize| {
        thread::sleep(Duration::from_millis(10));
        search(&memory).words_only.is_none()
    };
    assert!((0..3_000).any(|attempt| works(&attempt)));
    let calls = embedder.calls.load(Ordering::SeqCst);
    assert!(calls < 3 * MOST, "{calls} calls");
    release(&embedder);
    peak == MOST
}

#[test]
fn many_searches_share_the_calls_that_may_run() {
    let delay = Duration::from_millis(30);
    for timeout in [Some(Duration::from_secs(60)), None] {
        let (memory, embedder) = memory(timeout, Recursing { delay, ..recursing(0) });
        let barrier = Barrier::new(200);
        thread::scope(|scope| {
            for _ in 0..200 {
                scope.spawn(|| {
                    barrier.wait();
                    assert_eq!(search(&memory).words_only, None);
                });
            }
        });
        // A call for each question, and one for the passages.
        assert_eq!(embedder.calls.load(Ordering::SeqCst), 201);
        let peak = embedder.peak.load(Ordering::SeqCst);
        assert!((2..=MOST).contains(&peak), "{peak}");
        release(&embedder);
    }
}

#[test]
fn a_search_without_a_place_in_time_is_by_words_alone() {
    let delay = Duration::from_millis(400);
    let (memory, embedder) =
        memory(Some(Duration::from_millis(600)), Recursing { delay, ..recursing(0) });
    // Their first calls are over in time, and their second ones are not.
    let barrier = Barrier::new(3 * MOST);
    let reasons: Vec<String> = thread::scope(|scope| {
        let searches = (0..3 * MOST).map(|_| {
            scope.spawn(|| {
                barrier.wait();
                search(&memory).words_only
            })
        });
        let searches: Vec<_> = searches.collect();
        searches.into_iter().filter_map(|search| search.join().unwrap()).collect()
    });
    assert!(reasons.len() >= MOST, "{}", reasons.len());
    let known = [
        "60 calls of the embedder have not ended",
        "an earlier call of the embedder has not ended",
        "another search still embeds passages",
        "the embedder took more than 0.6 seconds",
    ];
    for reason in reasons {
        assert!(known.iter().any(|known| reason.starts_with(known)), "{reason}");
    }
    release(&embedder);
}

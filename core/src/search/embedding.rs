//! [`Embedding`]: calls the embedder of a memory, and stops waiting in time.
//!
//! An embedder may be a service that is slow, or never answers. A thread of its own runs each call, so a search can go on without it. A call
//! that is given up cannot be stopped. Its result is used by a later search. Until it ends, or for a minute, no search waits for the embedder
//! again.

use std::cell::Cell;
use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
#[cfg(not(target_family = "wasm"))]
use std::{
    sync::mpsc::{self, RecvTimeoutError},
    thread,
};

use memdir_store::{Cancellation, Error};

use super::vectors::{Digest, Missing, Vector, Vectors};
use crate::embedder::{Embedder, Installed};

/// The most texts of one call. Services accept at least as many.
const BATCH: usize = 64;

/// How often a waiting search checks for cancellation.
#[cfg(not(target_family = "wasm"))]
const LOOK: Duration = Duration::from_millis(20);

/// How long no search calls an embedder that is late. Then one tries again, because a lost connection may hold a call for ever.
const PAUSE: Duration = Duration::from_secs(60);

/// The most calls that are late at the same time: each has a thread.
const MOST_OVERDUE: usize = 8;

/// The calls of an embedder that no search waits for any more.
#[derive(Debug, Default)]
pub(super) struct Calls(Mutex<Overdue>);

#[derive(Debug, Default)]
struct Overdue {
    calls: usize,
    /// When the last of them was given up.
    since: Option<Instant>,
    /// What they have returned meanwhile.
    results: Vec<(Vec<Digest>, Vec<Vec<f32>>)>,
}

impl Calls {
    fn overdue(&self) -> MutexGuard<'_, Overdue> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Overdue {
    fn must_wait(&self) -> bool {
        let is_new = self.since.is_some_and(|since| since.elapsed() < PAUSE);
        self.calls >= MOST_OVERDUE || self.calls > 0 && is_new
    }
}

thread_local! {
    static IS_EMBEDDING: Cell<bool> = const { Cell::new(false) };
}

/// Whether an embedder runs on this thread. A search that it makes itself gets no vectors, because it would call the embedder for ever, and
/// does not wait for the search that waits for it.
pub(super) fn is_embedding() -> bool {
    IS_EMBEDDING.get()
}

/// The embedder during one search.
pub(super) struct Embedding<'e> {
    pub(super) installed: &'e Installed,
    calls: &'e Arc<Calls>,
    cancellation: &'e Cancellation,
    timeout: Option<Duration>,
    /// How long this search has waited.
    waited: Duration,
}

/// Why an embedder has no part in an answer.
pub(super) enum Without {
    /// The answer is by words alone, for this reason.
    WordsOnly(String),
    /// The search itself has to end.
    Failed(Error),
}

impl<'e> Embedding<'e> {
    pub(super) fn new(
        installed: &'e Installed,
        calls: &'e Arc<Calls>,
        cancellation: &'e Cancellation,
        timeout: Option<Duration>,
    ) -> Self {
        Self { installed, calls, cancellation, timeout, waited: Duration::ZERO }
    }

    /// Embeds the words of a question.
    pub(super) fn query(&mut self, words: &str) -> Result<Vector, Without> {
        let vectors = self.call(&[], vec![words.to_owned()], true)?;
        let vector = match &*vectors {
            [vector] => Vector::new(vector),
            others => Err(format!("it returned {} vectors for 1 text", others.len())),
        };
        vector.map_err(|problem| Without::WordsOnly(failed(&problem)))
    }

    /// Embeds the texts that have no vector, as far as there is time. `room` is the memory for all vectors, in bytes.
    pub(super) fn complete(
        &mut self,
        vectors: &mut Vectors,
        missing: &[Missing],
        room: usize,
    ) -> Result<(), Without> {
        // A text that was removed meanwhile is not missing, and gets no vector.
        let wanted: HashSet<&Digest> = missing.iter().map(|(digest, _)| digest).collect();
        let late = std::mem::take(&mut self.calls.overdue().results);
        for (digests, late) in late {
            if let Ok(checked) = vectors.checked(digests.len(), &late) {
                let pairs = digests.into_iter().zip(checked);
                vectors.add(pairs.filter(|(digest, _)| wanted.contains(digest)));
            }
        }
        let missing: Vec<&Missing> =
            missing.iter().filter(|(digest, _)| !vectors.has(digest)).collect();
        let mut rest = missing.len();
        for batch in missing.chunks(BATCH) {
            if vectors.memory_with(rest) > room {
                return Err(Without::WordsOnly(
                    "the vectors do not fit into search_max_bytes".into(),
                ));
            }
            let digests: Vec<Digest> = batch.iter().map(|(digest, _)| *digest).collect();
            let texts: Vec<String> = batch.iter().map(|(_, text)| text.clone()).collect();
            let numbers = self.call(&digests, texts, false).map_err(|without| match without {
                Without::WordsOnly(reason) => {
                    let (all, done) = vectors.counts();
                    let progress = format!("{reason}; {done} of {all} passages have vectors");
                    Without::WordsOnly(progress)
                }
                failed @ Without::Failed(_) => failed,
            })?;
            let checked = vectors.checked(batch.len(), &numbers);
            let checked = checked.map_err(|problem| Without::WordsOnly(failed(&problem)))?;
            vectors.add(digests.into_iter().zip(checked));
            rest -= batch.len();
        }
        Ok(())
    }

    /// Calls the embedder, and waits for as long as this search may.
    #[cfg(not(target_family = "wasm"))]
    fn call(
        &mut self,
        digests: &[Digest],
        texts: Vec<String>,
        is_query: bool,
    ) -> Result<Vec<Vec<f32>>, Without> {
        self.cancellation.check().map_err(cancelled)?;
        if self.calls.overdue().must_wait() {
            return Err(Without::WordsOnly("an earlier call of the embedder has not ended".into()));
        }
        let left = self.timeout.map(|timeout| timeout.saturating_sub(self.waited));
        let began = Instant::now();
        let (sender, receiver) = mpsc::sync_channel(1);
        // Set by the search that gives up, or by the call that ends: the first of both.
        let is_over = Arc::new(Mutex::new(false));
        let (embedder, calls) = (Arc::clone(&self.installed.embedder), Arc::clone(self.calls));
        let (ends, digests) = (Arc::clone(&is_over), digests.to_vec());
        let run = move || {
            let result = called(&*embedder, &texts, is_query);
            drop(embedder);
            let mut is_over = ends.lock().unwrap_or_else(PoisonError::into_inner);
            if !*is_over {
                *is_over = true;
                let _ = sender.send(result);
                return;
            }
            let mut overdue = calls.overdue();
            overdue.calls -= 1;
            if let Ok(vectors) = result
                && !is_query
            {
                overdue.results.push((digests, vectors));
            }
        };
        if let Err(error) = thread::Builder::new().name("memdir-embedder".into()).spawn(run) {
            return Err(Without::WordsOnly(format!("no thread could be started: {error}")));
        }
        loop {
            let passed = began.elapsed();
            let wait = left.map_or(LOOK, |left| left.saturating_sub(passed).min(LOOK));
            match receiver.recv_timeout(wait) {
                Ok(result) => {
                    self.waited += began.elapsed();
                    return result.map_err(|problem| Without::WordsOnly(failed(&problem)));
                }
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(Without::WordsOnly(failed("its thread has ended")));
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
            let is_late = left.is_some_and(|left| began.elapsed() >= left);
            let is_cancelled = self.cancellation.check();
            if !is_late && is_cancelled.is_ok() {
                continue;
            }
            let mut is_over = is_over.lock().unwrap_or_else(PoisonError::into_inner);
            if *is_over {
                // The result has just been sent.
                continue;
            }
            *is_over = true;
            let mut overdue = self.calls.overdue();
            overdue.calls += 1;
            overdue.since = Some(Instant::now());
            drop(overdue);
            self.waited += began.elapsed();
            is_cancelled.map_err(cancelled)?;
            let seconds = self.timeout.unwrap_or_default().as_secs_f64();
            return Err(Without::WordsOnly(format!(
                "the embedder took more than {seconds} seconds"
            )));
        }
    }

    /// Calls the embedder. There are no threads, so nothing can limit its time.
    #[cfg(target_family = "wasm")]
    fn call(
        &mut self,
        _: &[Digest],
        texts: Vec<String>,
        is_query: bool,
    ) -> Result<Vec<Vec<f32>>, Without> {
        self.cancellation.check().map_err(cancelled)?;
        let result = called(&*self.installed.embedder, &texts, is_query);
        result.map_err(|problem| Without::WordsOnly(failed(&problem)))
    }
}

/// Calls the embedder, and returns what is wrong as a text. A panic of it is its error.
fn called(
    embedder: &dyn Embedder,
    texts: &[String],
    is_query: bool,
) -> Result<Vec<Vec<f32>>, String> {
    let was_embedding = IS_EMBEDDING.replace(true);
    let result = catch_unwind(AssertUnwindSafe(|| embedder.embed(texts, is_query)));
    IS_EMBEDDING.set(was_embedding);
    match result {
        Ok(result) => result.map_err(|error| error.to_string()),
        Err(_) => Err("it panicked".into()),
    }
}

fn failed(problem: &str) -> String {
    format!("the embedder failed: {problem}")
}

fn cancelled(error: crate::store::StoreError) -> Without {
    Without::Failed(Error::Store(error))
}

//! [`Embedding`]: calls the embedder of a memory during a search, for its question and for passages without a vector.
//!
//! An embedder may be a service that is slow, or never answers. A thread of its own runs each call ([`calls`]), so a search can go on without it.

#[cfg_attr(target_family = "wasm", path = "embedding/inline.rs")]
#[cfg_attr(not(target_family = "wasm"), path = "embedding/on_thread.rs")]
mod calls;

use std::cell::Cell;
use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

pub(super) use calls::Calls;
use memdir_store::{Cancellation, Error};

use super::vectors::{Digest, Missing, Vector, Vectors};
use crate::embedder::{Embedder, Installed};

/// The most texts of one call. Services accept at least as many.
const BATCH: usize = 64;

/// The characters of an error's text that an answer has.
const MOST_CHARS: usize = 1_000;

/// The arguments of an embedder.
struct Request {
    /// Those of passages, for vectors that come late.
    #[cfg_attr(target_family = "wasm", expect(dead_code, reason = "no vector comes late"))]
    digests: Vec<Digest>,
    texts: Vec<String>,
    is_query: bool,
}

/// Vectors that came after their search had gone on.
type Late = (Vec<Digest>, Vec<Vec<f32>>);

/// How long a call may take.
#[cfg_attr(target_family = "wasm", expect(dead_code, reason = "there are no threads to wait for"))]
struct Limits<'l> {
    cancellation: &'l Cancellation,
    /// The option.
    timeout: Option<Duration>,
    /// The rest of it.
    left: Option<Duration>,
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
    installed: &'e Installed,
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
        let texts = vec![words.to_owned()];
        let vectors = self.call(Request { digests: Vec::new(), texts, is_query: true })?;
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
        let late = self.calls.take_late();
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
                vectors.drop_all_unused();
            }
            if vectors.memory_with(rest) > room {
                return Err(Without::WordsOnly(
                    "the vectors do not fit into search_max_bytes".into(),
                ));
            }
            let digests: Vec<Digest> = batch.iter().map(|(digest, _)| *digest).collect();
            let texts: Vec<String> = batch.iter().map(|(_, text)| text.clone()).collect();
            let request = Request { digests: digests.clone(), texts, is_query: false };
            let numbers = self.call(request).map_err(|without| match without {
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
    fn call(&mut self, request: Request) -> Result<Vec<Vec<f32>>, Without> {
        self.cancellation.check().map_err(cancelled)?;
        let left = self.timeout.map(|timeout| timeout.saturating_sub(self.waited));
        let limits = Limits { cancellation: self.cancellation, timeout: self.timeout, left };
        let began = Instant::now();
        let result = self.calls.call(&self.installed.embedder, request, &limits);
        self.waited += began.elapsed();
        result
    }
}

/// Calls the embedder, and returns what is wrong as a text. A panic of it is its error.
fn called(embedder: &dyn Embedder, request: &Request) -> Result<Vec<Vec<f32>>, String> {
    let Request { texts, is_query, .. } = request;
    let was_embedding = IS_EMBEDDING.replace(true);
    let result = catch_unwind(AssertUnwindSafe(|| embedder.embed(texts, *is_query)));
    IS_EMBEDDING.set(was_embedding);
    match result {
        Ok(result) => result.map_err(|error| error.to_string()),
        Err(_) => Err("it panicked".into()),
    }
}

/// The reason after a failure. An error's text may be a whole page of a service.
fn failed(problem: &str) -> String {
    let shown: String = problem.chars().take(MOST_CHARS).collect();
    format!("the embedder failed: {shown}")
}

fn cancelled(error: crate::store::StoreError) -> Without {
    Without::Failed(Error::Store(error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_error_is_cut() {
        assert_eq!(failed("away"), "the embedder failed: away");
        let length = failed("").chars().count() + MOST_CHARS;
        assert_eq!(failed(&"é".repeat(2 * MOST_CHARS)).chars().count(), length);
    }
}

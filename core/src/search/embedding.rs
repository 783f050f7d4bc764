//! [`Embedding`]: calls the embedder of a memory during a search, for its question and for passages without a vector.
//!
//! An embedder may be a service that is slow, or never answers. A thread of its own runs each call ([`calls`]), so a search can go on without it.

#[cfg_attr(target_family = "wasm", path = "embedding/inline.rs")]
#[cfg_attr(not(target_family = "wasm"), path = "embedding/on_thread.rs")]
mod calls;

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

pub(super) use calls::Calls;
use memdir_store::{Cancellation, Error};

use super::corpus::{self, Batch, MissingTexts};
use super::vectors::{Digest, Embedded, Vector};
use super::{Question, Shared};
use crate::embedder::{Embedder, Installed};

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

/// Whether an embedder runs on this thread. A search that it makes itself gets no vectors, because it would call the embedder for ever. A
/// search that it makes on another thread is not known, so [`Calls`] limits the calls that run at the same time.
pub(super) fn is_embedding() -> bool {
    IS_EMBEDDING.get()
}

/// The embedder during one search.
pub(crate) struct Embedding<'e> {
    pub(super) installed: &'e Installed,
    calls: &'e Arc<Calls>,
    cancellation: &'e Cancellation,
    timeout: Option<Duration>,
    /// How long this search has waited.
    waited: Duration,
    pub(super) asked: Asked,
}

/// The vector of a search's question.
pub(super) enum Asked {
    NotYet,
    /// The question has no words that rank.
    NoWords,
    Vector(Vector),
    /// The answer is by words alone, for this reason.
    WordsOnly(String),
}

impl Asked {
    /// The vector of the question, or the reason why it has none. `None` if it needs none.
    pub(super) fn vector(&self) -> Option<Result<&Vector, &str>> {
        match self {
            Self::NotYet | Self::NoWords => None,
            Self::Vector(vector) => Some(Ok(vector)),
            Self::WordsOnly(reason) => Some(Err(reason)),
        }
    }
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
        let waited = Duration::ZERO;
        Self { installed, calls, cancellation, timeout, waited, asked: Asked::NotYet }
    }

    /// Embeds the words of the question, once.
    ///
    /// # Errors
    /// If the search is cancelled.
    pub(super) fn ask(&mut self, question: &Question<'_>) -> Result<(), Error> {
        if !matches!(self.asked, Asked::NotYet) {
            return Ok(());
        }
        let query = corpus::query(question.text);
        let has_words = question.limit > 0 && query.words().chars().any(char::is_alphanumeric);
        self.asked = match has_words.then(|| self.query(query.words())) {
            None => Asked::NoWords,
            Some(Ok(vector)) => Asked::Vector(vector),
            Some(Err(Without::WordsOnly(reason))) => Asked::WordsOnly(reason),
            Some(Err(Without::Failed(error))) => return Err(error),
        };
        Ok(())
    }

    fn query(&mut self, words: &str) -> Result<Vector, Without> {
        let texts = vec![words.to_owned()];
        let vectors = self.call(Request { digests: Vec::new(), texts, is_query: true })?;
        let vector = match &*vectors {
            [vector] => Vector::new(vector),
            others => Err(format!("it returned {} vectors for 1 text", others.len())),
        };
        vector.map_err(|problem| Without::WordsOnly(failed(&problem)))
    }

    /// Embeds the passages that have no vector, as far as there is time. If that fails, the answer is by words alone.
    ///
    /// # Errors
    /// If the search is cancelled.
    pub(super) fn complete(&mut self, shared: &Shared) -> Result<(), Error> {
        match self.embed_missing(shared) {
            Ok(()) => Ok(()),
            Err(Without::Failed(error)) => Err(error),
            Err(Without::WordsOnly(reason)) => {
                self.asked = Asked::WordsOnly(reason);
                Ok(())
            }
        }
    }

    /// Embeds the passages that are without a vector now. Only one search at a time does this, so no text is embedded twice. It has no turn
    /// while the embedder runs, so the embedder cannot wait for this search.
    fn embed_missing(&mut self, shared: &Shared) -> Result<(), Without> {
        let began = Instant::now();
        let place = self.calls.begin_passages(&self.limits());
        self.waited += began.elapsed();
        let _place = place?;
        let cleared = shared.times_cleared();
        let (mut missing, mut embedded) = (MissingTexts::default(), None);
        loop {
            let next = shared.with_corpus(self.cancellation, |corpus| {
                match corpus.as_mut().filter(|_| shared.times_cleared() == cleared) {
                    Some(corpus) => {
                        corpus.next_batch(embedded.take(), self.calls.take_late(), &mut missing)
                    }
                    // The texts were removed. The search begins again.
                    None => Ok(Batch::default()),
                }
            });
            let batch = next.map_err(Without::Failed)?.map_err(Without::WordsOnly)?;
            if batch.texts.is_empty() {
                return Ok(());
            }
            let (digests, texts): (Vec<Digest>, Vec<String>) = batch.texts.into_iter().unzip();
            let request = Request { digests: digests.clone(), texts, is_query: false };
            let numbers = self.call(request).map_err(|without| match without {
                Without::WordsOnly(reason) => {
                    let (all, done) = batch.counts;
                    let progress = format!("{reason}; {done} of {all} passages have vectors");
                    Without::WordsOnly(progress)
                }
                failed @ Without::Failed(_) => failed,
            })?;
            embedded = Some((digests, numbers));
        }
    }

    fn limits(&self) -> Limits<'e> {
        let left = self.timeout.map(|timeout| timeout.saturating_sub(self.waited));
        Limits { cancellation: self.cancellation, timeout: self.timeout, left }
    }

    /// Calls the embedder, and waits for as long as this search may.
    fn call(&mut self, request: Request) -> Result<Vec<Vec<f32>>, Without> {
        self.cancellation.check().map_err(cancelled)?;
        let began = Instant::now();
        let result = self.calls.call(&self.installed.embedder, request, &self.limits());
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
    use std::sync::Mutex;
    use std::thread;

    use super::*;
    use crate::embedder::EmbedderError;
    use crate::{Memory, MemoryOptions};

    #[test]
    fn a_long_error_is_cut() {
        assert_eq!(failed("away"), "the embedder failed: away");
        let length = failed("").chars().count() + MOST_CHARS;
        assert_eq!(failed(&"é".repeat(2 * MOST_CHARS)).chars().count(), length);
    }

    /// Searches its own memory on another thread, twice in each call of one kind.
    struct Recursing {
        memory: Mutex<Option<Memory>>,
        for_queries: bool,
        for_passages: bool,
        /// How long a call works before that.
        delay: Duration,
    }

    impl Embedder for Recursing {
        fn embed(&self, texts: &[String], is_query: bool) -> Result<Vec<Vec<f32>>, EmbedderError> {
            let memory = self.memory.lock().unwrap().clone();
            if let Some(memory) = memory.filter(|_| match is_query {
                true => self.for_queries,
                false => self.for_passages,
            }) {
                thread::sleep(self.delay);
                for _ in 0..2 {
                    let memory = memory.clone();
                    thread::spawn(move || searched(&memory)).join().unwrap();
                }
            }
            Ok(vec![vec![1.0]; texts.len()])
        }
    }

    fn searched(memory: &Memory) -> Option<String> {
        let found = memory.search("tea", "/memories", 10).unwrap();
        assert_eq!(found.hits.len(), 1);
        found.words_only
    }

    /// A pause is short in these tests.
    #[test]
    fn an_embedder_that_searches_without_end_ends_without_a_timeout() {
        // After a second, the call around a search has been late for so long that others try again.
        let second = Duration::from_secs(1);
        for (for_queries, for_passages, delay) in [
            (true, false, Duration::ZERO),
            (false, true, Duration::ZERO),
            (true, true, Duration::ZERO),
            (false, true, second),
        ] {
            let mut options = MemoryOptions::default();
            (options.embedder_timeout, options.embedder_name) = (None, Some("a".into()));
            let memory = Memory::open("memory:", options).unwrap();
            memory.create("/memories/a.md", "tea").unwrap();
            let embedder =
                Arc::new(Recursing { memory: Mutex::default(), for_queries, for_passages, delay });
            let memory = memory.with_embedder(Arc::clone(&embedder) as Arc<dyn Embedder>).unwrap();
            *embedder.memory.lock().unwrap() = Some(memory.clone());
            // It ends, after a number of calls that depends on the speed of the machine.
            searched(&memory);
            *embedder.memory.lock().unwrap() = None;
            // The calls that were given up end one after another.
            while searched(&memory).is_some() {
                thread::yield_now();
            }
        }
    }
}

//! `search`: finds the files that answer a question, the best first.
//!
//! The crate `memdir-search` ranks texts that it holds in memory. This module keeps its index in step with a store: each search first asks
//! the store what has changed, and reads only that ([`corpus`]). The index is a cache, so every doubt about it is resolved by reading the
//! files again.
//!
//! With the option `search_keep` the index outlives the process, in hidden files of the store ([`kept`]).
//!
//! With an embedder, passages also have vectors ([`vectors`]), which [`embedding`] requests, and both rankings are joined.

mod answer;
mod corpus;
mod embedding;
mod kept;
mod language;
mod reader;
mod reading;
mod results;
mod trust;
mod vectors;

use std::convert::Infallible;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use memdir_store::path::MemoryPath;
use memdir_store::per_process::PerProcess;
use memdir_store::turns::Turns;
use memdir_store::{ConfigError, Error};

pub(crate) use answer::text as answer_for_model;
use corpus::Corpus;
use embedding::{Calls, Embedding, Without};
pub(crate) use kept::Kept;
pub use language::SearchLanguage;
pub use results::{SearchHit, SearchMatch, SearchPassage, SearchResults};
use trust::Moment;
use vectors::Vector;

use crate::embedder::Installed;
use crate::options::MemoryOptions;
use crate::policies::Policies;
use crate::store::{Entry, InContext, Store as _};

/// The most hits of one search. A larger limit counts as this one, so the size of an answer is bounded.
pub(crate) const MAX_HITS: usize = 1_000;

/// Checks the options of the search.
///
/// # Errors
/// [`Error::Config`].
pub(crate) fn check_options(options: &MemoryOptions) -> Result<(), Error> {
    if options.search_recency == Some(Duration::ZERO) {
        return Err(ConfigError::of_option("search_recency")
            .and(" must be more than 0: it is the time in which the bonus of a file halves")
            .into());
    }
    Ok(())
}

/// The search of one memory, which its clones and sessions share. It is empty until the first search, also in a forked process, whose parent may
/// have been in the middle of one.
#[derive(Debug)]
pub(crate) struct Searcher {
    of_this_process: PerProcess<Shared>,
}

/// The index, and the order in which threads use it.
#[derive(Debug)]
struct Shared {
    turns: Turns<()>,
    /// `None` before the first search, during a search, and after a panic in one.
    corpus: Mutex<Option<Box<Corpus>>>,
    /// The number of times that the index was dropped on purpose.
    cleared: AtomicU64,
    calls: Arc<Calls>,
}

/// The question of one search.
pub(crate) struct Question<'q> {
    pub(crate) text: &'q str,
    /// The file or directory to search.
    pub(crate) path: &'q MemoryPath,
    /// The most hits.
    pub(crate) limit: usize,
}

impl Default for Searcher {
    fn default() -> Self {
        Self { of_this_process: PerProcess::new() }
    }
}

impl Searcher {
    /// Answers a question about the files of the store, as they are now.
    ///
    /// Waits for the searches of other threads. A search by the store itself, on the same thread, does not wait: it uses an index of its own.
    pub(crate) fn search(
        &self,
        store: &InContext<'_>,
        policies: &Policies,
        question: &Question<'_>,
        kept: Option<&Kept<'_>>,
        embedder: Option<&Installed>,
    ) -> Result<SearchResults, Error> {
        let shared = self.shared();
        let timeout = policies.options.embedder_timeout;
        let is_within_embedder = embedding::is_embedding();
        let mut embedding = embedder.filter(|_| !is_within_embedder).map(|installed| {
            Embedding::new(installed, &shared.calls, store.cancellation(), timeout)
        });
        // Before the turn, so the questions of several threads are embedded at the same time.
        let asked = embedding.as_mut().and_then(|embedding| embedded(embedding, question));
        let asked = match asked {
            Some(Err(Without::Failed(error))) => return Err(error),
            Some(Err(Without::WordsOnly(reason))) => Some(Err(reason)),
            Some(Ok(vector)) => Some(Ok(vector)),
            None => None,
        };
        let turn = || shared.turns.take((), None, store.cancellation());
        let mut turn = (!is_within_embedder).then(turn).transpose().map_err(Error::Store)?;
        let cleared = shared.cleared.load(Ordering::SeqCst);
        let taken = shared.corpus().take();
        let begin = || Box::new(Corpus::begin(&store.info(), &policies.options, kept, embedder));
        let mut corpus = taken.unwrap_or_else(begin);
        // If this panics, the index is dropped, and the next search builds a new one.
        let updated = corpus.update(store, policies);
        let results = updated.and_then(|()| corpus.answer(question, embedding.as_mut(), asked));
        if let (Ok(_), Some(kept)) = (&results, kept) {
            corpus.keep(store, policies, kept);
        }
        shared.keep(corpus, cleared);
        if let Some(turn) = &mut turn {
            turn.succeeded();
        }
        if is_within_embedder && embedder.is_some() {
            let words_only = Some("a search by an embedder has no vectors".to_owned());
            return results.map(|results| SearchResults { words_only, ..results });
        }
        results
    }

    /// Answers a question about these files alone, with an index that is dropped afterwards: the index of the memory has no hidden files.
    pub(crate) fn search_among(
        store: &InContext<'_>,
        policies: &Policies,
        question: &Question<'_>,
        mut files: Vec<Entry>,
    ) -> Result<SearchResults, Error> {
        let now = Moment::now();
        files.retain(Entry::is_file);
        let mut corpus = Corpus::begin(&store.info(), &policies.options, None, None);
        corpus.read(store, policies, files, (now, now))?;
        corpus.answer(question, None, None)
    }

    /// Drops the index, with the texts in it. A search that is running drops it at its end.
    pub(crate) fn clear(&self) {
        let shared = self.shared();
        shared.cleared.fetch_add(1, Ordering::SeqCst);
        drop(shared.corpus().take());
    }

    fn shared(&self) -> &Shared {
        let made = self.of_this_process.get(|| {
            Ok::<_, Infallible>(Shared {
                turns: Turns::new(1),
                corpus: Mutex::new(None),
                cleared: AtomicU64::new(0),
                calls: Arc::default(),
            })
        });
        match made {
            Ok(shared) => shared,
        }
    }
}

/// The vector of a question. `None` if it has no words that rank.
fn embedded(
    embedding: &mut Embedding<'_>,
    question: &Question<'_>,
) -> Option<Result<Vector, Without>> {
    let query = corpus::query(question.text);
    let has_words = question.limit > 0 && query.words().chars().any(char::is_alphanumeric);
    has_words.then(|| embedding.query(query.words()))
}

impl Shared {
    fn corpus(&self) -> MutexGuard<'_, Option<Box<Corpus>>> {
        self.corpus.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps the index for the next search, unless it was to be dropped since this search began.
    fn keep(&self, corpus: Box<Corpus>, cleared: u64) {
        let mut kept = self.corpus();
        if self.cleared.load(Ordering::SeqCst) == cleared {
            *kept = Some(corpus);
        }
    }
}

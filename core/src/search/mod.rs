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
mod reading;
mod results;
mod vectors;

use std::convert::Infallible;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use memdir_store::path::MemoryPath;
use memdir_store::per_process::PerProcess;
use memdir_store::turns::Turns;
use memdir_store::{Cancellation, ConfigError, Error};

use crate::trust::Moment;
pub(crate) use answer::text as answer_for_model;
use corpus::Corpus;
pub(crate) use embedding::Embedding;
use embedding::{Asked, Calls};
pub(crate) use kept::Kept;
pub use language::SearchLanguage;
pub use results::{SearchHit, SearchMatch, SearchPassage, SearchResults};

use crate::embedder::Installed;
use crate::options::MemoryOptions;
use crate::policies::Policies;
use crate::store::{Entry, InContext, Store as _};

/// The most hits of one search. A larger limit counts as this one, so the size of an answer is bounded.
pub(crate) const MAX_HITS: usize = 1_000;

/// How often one search embeds passages that other writers have added meanwhile.
const MOST_ROUNDS: usize = 8;

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
    /// `None` before the first search, while a search uses it, and after a panic in one.
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
    /// The embedder during one search.
    pub(crate) fn embedding<'e>(
        &'e self,
        installed: &'e Installed,
        store: &'e InContext<'_>,
        timeout: Option<Duration>,
    ) -> Embedding<'e> {
        let shared = self.shared();
        let mut embedding = Embedding::new(installed, &shared.calls, store.cancellation(), timeout);
        if embedding::is_embedding() {
            let reason = "a search by an embedder has no vectors";
            embedding.asked = Asked::WordsOnly(reason.into());
        } else if shared.turns.has_place() {
            // It would wait for a search that waits for it.
            let reason = "a search by a store has no vectors";
            embedding.asked = Asked::WordsOnly(reason.into());
        }
        embedding
    }

    /// Answers a question about the files of the store, as they are now.
    ///
    /// Waits for the searches of other threads, but not while they wait for the embedder. A search by the store itself, on the same thread,
    /// does not wait: it uses an index of its own.
    pub(crate) fn search(
        &self,
        store: &InContext<'_>,
        policies: &Policies,
        question: &Question<'_>,
        kept: Option<&Kept<'_>>,
        mut embedding: Option<&mut Embedding<'_>>,
    ) -> Result<SearchResults, Error> {
        let shared = self.shared();
        // Before the turn, so the questions of several threads are embedded at the same time.
        embedding.as_mut().map_or(Ok(()), |embedding| embedding.ask(question))?;
        let embedder = embedding.as_ref().map(|embedding| embedding.installed);
        let begin = || Box::new(Corpus::begin(&store.info(), &policies.options, kept, embedder));
        let mut round = 0;
        loop {
            let vector = embedding.as_ref().and_then(|embedding| embedding.asked.vector());
            let results = shared.with_corpus(store.cancellation(), |corpus| {
                let is_new = corpus.is_none();
                let corpus = corpus.get_or_insert_with(begin);
                // If this panics, the index is dropped, and the next search builds a new one.
                if round == 0 || is_new {
                    corpus.update(store, policies)?;
                }
                let results = corpus.answer(store, question, vector)?;
                if let (Some(_), Some(kept)) = (&results, kept) {
                    corpus.keep(store, policies, kept);
                }
                Ok::<_, Error>(results)
            })??;
            match (results, &mut embedding) {
                (Some(results), _) => return Ok(results),
                (None, Some(embedding)) if round < MOST_ROUNDS => embedding.complete(shared)?,
                (None, Some(embedding)) => {
                    let reason = "the files change faster than they are embedded";
                    embedding.asked = Asked::WordsOnly(reason.into());
                }
                (None, None) => {}
            }
            round += 1;
        }
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
        corpus.search(store, question, None, None)
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

impl Shared {
    /// Uses the index in the turn of this thread. It is `None` if there is none yet.
    ///
    /// # Errors
    /// If the search is cancelled while it waits.
    fn with_corpus<T>(
        &self,
        cancellation: &Cancellation,
        use_it: impl FnOnce(&mut Option<Box<Corpus>>) -> T,
    ) -> Result<T, Error> {
        let mut turn = self.turns.take((), None, cancellation).map_err(Error::Store)?;
        let cleared = self.times_cleared();
        let mut corpus = self.corpus().take();
        let result = use_it(&mut corpus);
        if let Some(corpus) = corpus {
            self.keep(corpus, cleared);
        }
        turn.succeeded();
        Ok(result)
    }

    fn times_cleared(&self) -> u64 {
        self.cleared.load(Ordering::SeqCst)
    }

    fn corpus(&self) -> MutexGuard<'_, Option<Box<Corpus>>> {
        self.corpus.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps the index for the next search, unless it was to be dropped since this search began.
    fn keep(&self, corpus: Box<Corpus>, cleared: u64) {
        let mut kept = self.corpus();
        if self.times_cleared() == cleared {
            *kept = Some(corpus);
        }
    }
}

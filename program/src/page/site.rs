//! [`Site`]: the memories that one page shows, and who looks at them.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::Semaphore;

use super::live::Live;
use super::secret::Secret;
use crate::http_server::largest_request;
use crate::with::with;
use memdir::Memory;
use memdir::history::HistoryQuery;

/// The most pages of one memory that are made at the same time, and the most changes of it. Others wait for their turn: a memory
/// whose store is slow takes no thread from another one, and changes that wait for a lock none from those who look.
const AT_ONCE: usize = 8;

/// Whose turn it is to use a memory.
pub(super) struct Turns {
    pub(super) look: Arc<Semaphore>,
    pub(super) change: Arc<Semaphore>,
}

/// A memory that the page shows.
pub(crate) struct Shown {
    /// What a person calls it: its address, without secrets.
    pub(crate) name: String,
    /// What tells it from every other memory, also those of a server that comes after this one at the same port.
    pub(crate) identity: String,
    /// Whether the browser may keep what was typed and not saved. It may not if the memory is encrypted.
    pub(crate) keeps_drafts: bool,
    /// The memory without a history, and with one.
    pub(crate) plain: Memory,
    pub(crate) recorded: Memory,
    /// Who changes something on the page, for the history.
    pub(crate) actor: String,
    /// Whether a history is kept from now on, if none was kept before.
    pub(crate) keeps_history: bool,
    pub(crate) is_read_only: bool,
    /// Removes an address with a secret from a sentence.
    pub(crate) without_secrets: Box<dyn Fn(&str) -> String + Send + Sync>,
}

/// Everything that one page shows.
pub(crate) struct Site {
    memories: Vec<Room>,
    /// In the address that is opened first, and from then on in the browser's cookie.
    pub(super) secret: Secret,
    /// In every form, so that no other page can send one.
    pub(super) token: Secret,
}

/// A memory at its place in the page.
pub(super) struct Room {
    /// Its place in an address: `1` for the first.
    pub(super) number: usize,
    pub(super) shown: Shown,
    pub(super) live: Arc<Live>,
    pub(super) turns: Turns,
    /// Whether a history was found. The agent may begin one while the page is open, and none ends.
    found_history: AtomicBool,
}

impl Room {
    pub(super) fn memory(&self) -> &Memory {
        if self.has_history() { &self.shown.recorded } else { &self.shown.plain }
    }

    /// What an error says, without an address that holds a secret. No store should put one there, but one might.
    pub(super) fn said(&self, error: &dyn fmt::Display) -> String {
        (self.shown.without_secrets)(&error.to_string())
    }

    /// Whether a history is kept of the memory, by whomever.
    pub(super) fn has_history(&self) -> bool {
        if self.shown.keeps_history || self.found_history.load(Ordering::Relaxed) {
            return true;
        }
        let one = with(HistoryQuery::default(), |query| query.limit = Some(1));
        let found = self.shown.recorded.history(&one).is_ok_and(|versions| !versions.is_empty());
        self.found_history.store(found, Ordering::Relaxed);
        found
    }
}

impl Site {
    /// # Errors
    /// If the system gives no random numbers.
    pub(crate) fn new(memories: Vec<Shown>) -> std::io::Result<Self> {
        let memories = memories.into_iter().zip(1..).map(|(shown, number)| {
            let live = Arc::new(Live::new(shown.plain.clone()));
            let turns = || Arc::new(Semaphore::new(AT_ONCE));
            let turns = Turns { look: turns(), change: turns() };
            Room { number, shown, live, turns, found_history: AtomicBool::new(false) }
        });
        let (secret, token) = (Secret::new()?, Secret::new()?);
        Ok(Self { memories: memories.collect(), secret, token })
    }

    /// How many threads wait for the stores.
    pub(super) fn max_threads(&self) -> usize {
        2 * AT_ONCE * self.memories.len().max(1)
    }

    /// The most bytes of a form.
    pub(super) fn max_form(&self) -> usize {
        let limits = self.memories.iter().map(|room| room.shown.plain.options().max_file_bytes);
        limits.map(largest_request).max().unwrap_or_default()
    }

    pub(super) fn rooms(&self) -> &[Room] {
        &self.memories
    }

    /// The memory at the place that an address names.
    pub(super) fn room(&self, number: &str) -> Option<&Room> {
        let number: usize = number.parse().ok()?;
        self.memories.get(number.checked_sub(1)?)
    }
}

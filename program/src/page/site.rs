//! [`Site`]: the memories that one page shows, and its secrets.

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

/// The maximum number of pages of one memory that are rendered at the same time, and the maximum number of concurrent changes. Others
/// wait. So a memory with a slow store takes no threads from other memories, and changes that wait for a lock none from readers.
const AT_ONCE: usize = 8;

/// The permits to use a memory.
pub(super) struct Turns {
    pub(super) look: Arc<Semaphore>,
    pub(super) change: Arc<Semaphore>,
}

/// A memory that the page shows.
pub(crate) struct Shown {
    /// Its name for the user: its address, without secrets.
    pub(crate) name: String,
    /// Distinguishes it from every other memory, including those of a later server at the same port.
    pub(crate) identity: String,
    /// Whether the browser may keep unsaved input. False if the memory is encrypted.
    pub(crate) keeps_drafts: bool,
    /// The memory without a history, and with one.
    pub(crate) plain: Memory,
    pub(crate) recorded: Memory,
    /// The actor of changes made on the page.
    pub(crate) actor: String,
    /// Whether a history is recorded from now on, even if there was none before.
    pub(crate) keeps_history: bool,
    pub(crate) is_read_only: bool,
    /// Removes an address with a secret from a message.
    pub(crate) without_secrets: Box<dyn Fn(&str) -> String + Send + Sync>,
}

/// Everything that one page shows.
pub(crate) struct Site {
    memories: Vec<Room>,
    /// In the address that is opened first, and afterwards in the browser's cookie.
    pub(super) secret: Secret,
    /// In every form, so that no other page can send one.
    pub(super) token: Secret,
}

/// A memory and its place in the page.
pub(super) struct Room {
    /// Its number in an address: `1` for the first.
    pub(super) number: usize,
    pub(super) shown: Shown,
    pub(super) live: Arc<Live>,
    pub(super) turns: Turns,
    /// Whether a history was found. The agent may start one while the page is open, and a history never disappears.
    found_history: AtomicBool,
}

impl Room {
    pub(super) fn memory(&self) -> &Memory {
        if self.has_history() { &self.shown.recorded } else { &self.shown.plain }
    }

    /// The message of an error, without an address that contains a secret. No store should put one there, but one might.
    pub(super) fn said(&self, error: &dyn fmt::Display) -> String {
        (self.shown.without_secrets)(&error.to_string())
    }

    /// Whether the memory has a history, no matter which program records it.
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
    /// If the system provides no random numbers.
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

    /// The number of threads that may wait for the stores.
    pub(super) fn max_threads(&self) -> usize {
        2 * AT_ONCE * self.memories.len().max(1)
    }

    /// The maximum size of a form in bytes.
    pub(super) fn max_form(&self) -> usize {
        let limits = self.memories.iter().map(|room| room.shown.plain.options().max_file_bytes);
        limits.map(largest_request).max().unwrap_or_default()
    }

    pub(super) fn rooms(&self) -> &[Room] {
        &self.memories
    }

    /// The memory with the number in an address.
    pub(super) fn room(&self, number: &str) -> Option<&Room> {
        let number: usize = number.parse().ok()?;
        self.memories.get(number.checked_sub(1)?)
    }
}

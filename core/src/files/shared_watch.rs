//! [`SharedWatch`]: a watch that threads share. One thread can close it while another waits.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::thread;
use std::time::{Duration, Instant};

use memdir_store::Error;

use super::watch::{Watch, Woken};
use crate::changes::Change;
use crate::store::Cancellation;

/// The interval at which a call checks whether another call has ended.
const PAUSE: Duration = Duration::from_millis(10);

/// A [`Watch`] that threads share, and that can be closed. For a front end such as a server, where a client
/// owns the watch and a thread waits for its changes.
///
/// ```
/// use std::sync::Arc;
/// use std::time::Duration;
/// use memdir::{Cancellation, Memory, MemoryOptions, SharedWatch};
///
/// let memory = Memory::open("memory:", MemoryOptions::default())?;
/// let watch = Arc::new(SharedWatch::from(memory.watch("/memories", None)?));
/// let waiting = Arc::clone(&watch);
/// let waiter = std::thread::spawn(move || waiting.changes(&Cancellation::never(), Duration::MAX));
/// watch.close();
/// assert_eq!(waiter.join().unwrap()?, None);
/// # Ok::<(), memdir::Error>(())
/// ```
pub struct SharedWatch {
    watch: Mutex<Option<Watch>>,
    woken: Arc<Woken>,
}

impl fmt::Debug for SharedWatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SharedWatch").finish_non_exhaustive()
    }
}

impl From<Watch> for SharedWatch {
    fn from(watch: Watch) -> Self {
        let woken = Arc::clone(&watch.woken);
        Self { watch: Mutex::new(Some(watch)), woken }
    }
}

impl SharedWatch {
    /// Like [`Watch::changes_unless`]. Returns `None` if the watch is closed, including by another thread
    /// during the call. If several threads call this at once, each change is reported to only one of them.
    ///
    /// # Errors
    /// Same as [`Watch::changes_unless`].
    pub fn changes(
        &self,
        cancellation: &Cancellation,
        wait: Duration,
    ) -> Result<Option<Vec<Change>>, Error> {
        let until = Instant::now().checked_add(wait);
        let Some(mut watch) = self.lock_until(cancellation, until)? else {
            return Ok(Some(Vec::new()));
        };
        let Some(open) = watch.as_mut() else { return Ok(None) };
        let left = until.map_or(wait, |until| until.saturating_duration_since(Instant::now()));
        let changes = open.changes_unless(cancellation, left)?;
        if self.woken.is_closed() {
            *watch = None;
            return Ok(None);
        }
        Ok(Some(changes))
    }

    /// Returns whether the next poll is due, so [`changes`](SharedWatch::changes) would poll the store at once.
    /// For languages that wait without a thread. This method does not wait, and does not use the store.
    #[must_use]
    pub fn is_due(&self) -> bool {
        self.try_lock().is_some_and(|watch| watch.as_ref().is_none_or(Watch::is_due))
    }

    /// Closes the watch. Waiting calls of [`changes`](SharedWatch::changes) return `None`.
    pub fn close(&self) {
        self.woken.close();
        // If another call holds the lock, that call drops the watch.
        let watch = self.try_lock().and_then(|mut watch| watch.take());
        drop(watch);
    }

    fn try_lock(&self) -> Option<MutexGuard<'_, Option<Watch>>> {
        match self.watch.try_lock() {
            Ok(watch) => Some(watch),
            Err(TryLockError::Poisoned(poisoned)) => Some(PoisonError::into_inner(poisoned)),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    fn lock_until(
        &self,
        cancellation: &Cancellation,
        until: Option<Instant>,
    ) -> Result<Option<MutexGuard<'_, Option<Watch>>>, Error> {
        loop {
            cancellation.check().map_err(Error::Store)?;
            if let Some(watch) = self.try_lock() {
                return Ok(Some(watch));
            }
            if until.is_some_and(|until| Instant::now() >= until) {
                return Ok(None);
            }
            thread::sleep(PAUSE);
        }
    }
}

//! [`SharedWatch`]: a watch that any thread may hold, and that one may close while another waits.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::thread;
use std::time::{Duration, Instant};

use memdir_store::Error;

use super::watch::{Watch, Woken};
use crate::changes::Change;
use crate::store::Cancellation;

/// How often a call looks whether another one has ended.
const PAUSE: Duration = Duration::from_millis(10);

/// A [`Watch`] that threads share, and that can be closed. For a server or another front end, whose watch is held by a client and
/// waited for by a thread.
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
    /// As [`Watch::changes_unless`]; `None` if the watch is closed, also by another thread meanwhile. Of several threads that ask
    /// at once, each change is told to one.
    ///
    /// # Errors
    /// As [`Watch::changes_unless`].
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

    /// Whether it is time to look again: [`changes`](SharedWatch::changes) would look at the store at once. For languages
    /// that wait without a thread. This does not wait, and does not use the store.
    #[must_use]
    pub fn is_due(&self) -> bool {
        self.try_lock().is_some_and(|watch| watch.as_ref().is_none_or(Watch::is_due))
    }

    /// Ends the watch. Who waits for changes is told so.
    pub fn close(&self) {
        self.woken.close();
        // Otherwise who waits for changes drops it.
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

//! Cancellation of calls that have not begun to write.
//!
//! A caller that stops waiting (a timeout, an abort, a cancelled task) assumes that the command did
//! not happen. So each step of a command that waited, for a thread, a hook or a lock, checks
//! afterwards whether the call is cancelled, before anything is changed. The check finds the call
//! by the thread that executes it, so stores need no parameter for it.

use std::cell::RefCell;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::store::StoreError;

/// Cancels calls.
///
/// A call that has not begun to write when it is cancelled does not happen. A call that has begun
/// goes on to its end: nothing is left half done.
///
/// ```
/// use memdir::{Cancellation, Memory, MemoryOptions};
///
/// let memory = Memory::open("memory:", MemoryOptions::default())?;
/// let cancellation = Cancellation::new();
/// cancellation.cancel();
/// let reply = cancellation.within(|| {
///     memory.execute(r#"{"command": "create", "path": "/memories/a", "file_text": "late"}"#)
/// });
/// assert!(reply.content.to_string().contains("Nothing was changed"));
/// assert!(memory.view("/memories/a", None).is_err());
/// # Ok::<(), memdir::Error>(())
/// ```
#[derive(Clone, Default)]
pub struct Cancellation(Arc<CancellationState>);

#[derive(Default)]
struct CancellationState {
    cancelled: AtomicBool,
    ask: Option<Box<dyn Fn() -> bool + Send + Sync>>,
}

thread_local! {
    /// The cancellation of the call that this thread executes.
    static CURRENT: RefCell<Option<Cancellation>> = const { RefCell::new(None) };
}

impl Cancellation {
    /// A new one, not yet cancelled.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// One that also counts as cancelled if `ask` returns true, for a host that has to poll for its
    /// signals. `ask` is called on the thread that executes the command: a few times for each
    /// command, and repeatedly while the command waits. It may execute commands itself.
    #[must_use]
    pub fn asking(ask: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        Self(Arc::new(CancellationState {
            cancelled: AtomicBool::new(false),
            ask: Some(Box::new(ask)),
        }))
    }

    /// Cancels the calls. Any thread may call this at any time, also more than once.
    pub fn cancel(&self) {
        self.0.cancelled.store(true, Ordering::SeqCst);
    }

    /// Whether the calls are cancelled.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        if !self.0.cancelled.load(Ordering::SeqCst) && self.0.ask.as_ref().is_some_and(|ask| ask())
        {
            self.cancel();
        }
        self.0.cancelled.load(Ordering::SeqCst)
    }

    /// Runs `work` on this thread. The commands that `work` executes are cancelled with this.
    pub fn within<T>(&self, work: impl FnOnce() -> T) -> T {
        /// Restores the previous cancellation, also after a panic.
        struct Before(Option<Cancellation>);
        impl Drop for Before {
            fn drop(&mut self) {
                CURRENT.with(|current| *current.borrow_mut() = self.0.take());
            }
        }
        let _before = Before(CURRENT.with(|current| current.replace(Some(self.clone()))));
        work()
    }
}

impl fmt::Debug for Cancellation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let cancelled = self.0.cancelled.load(Ordering::SeqCst);
        f.debug_struct("Cancellation").field("cancelled", &cancelled).finish_non_exhaustive()
    }
}

/// The cancellation of the call that this thread executes, for work that goes on in another thread.
pub(crate) fn current() -> Option<Cancellation> {
    CURRENT.with(|current| current.borrow().clone())
}

/// Called after every wait on the way of a command, before anything is changed.
///
/// # Errors
/// [`StoreError::Cancelled`] if the caller has gone.
pub(crate) fn check() -> Result<(), StoreError> {
    // Not under the borrow: the callback may execute commands itself.
    if current().is_some_and(|current| current.is_cancelled()) {
        Err(StoreError::Cancelled)
    } else {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;

    use super::*;

    #[test]
    fn what_is_asked_may_execute_commands_itself_and_counts_from_then_on() {
        let asked = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&asked);
        let cancellation = Cancellation::asking(move || {
            Cancellation::new().within(|| assert!(check().is_ok()));
            count.fetch_add(1, Ordering::SeqCst) == 1
        });
        cancellation.within(|| {
            assert!(check().is_ok());
            assert!(matches!(check(), Err(StoreError::Cancelled)));
            assert!(matches!(check(), Err(StoreError::Cancelled)));
        });
        assert_eq!(asked.load(Ordering::SeqCst), 2);
        assert!(check().is_ok());
    }
}

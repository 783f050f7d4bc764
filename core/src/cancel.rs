//! Calls that are given up before they begin to write.
//!
//! A caller that stops waiting (a timeout, an abort, a cancelled task) believes that the command did not
//! happen. So whatever waits on the way of a command asks, when its turn has come and before it changes
//! anything, whether the caller is still there. The question goes by the thread that carries out the
//! command, so that stores need not be handed anything.

use std::cell::RefCell;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::store::StoreError;

/// Tells a call that nobody waits for its answer any more.
///
/// A call that has not begun to write when it is cancelled does not happen. One that has begun is carried
/// out to its end: nothing is ever left half done.
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
pub struct Cancellation(Arc<State>);

#[derive(Default)]
struct State {
    cancelled: AtomicBool,
    ask: Option<Box<dyn Fn() -> bool + Send + Sync>>,
}

thread_local! {
    /// Of the call that this thread carries out.
    static CURRENT: RefCell<Option<Cancellation>> = const { RefCell::new(None) };
}

impl Cancellation {
    /// One that has not been cancelled.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// One that also asks, whenever it is asked itself, whether the caller has gone: for a host whose
    /// signals have to be looked for. It is asked on the thread that carries out the command, a few times
    /// for each, and by whoever waits again and again; it may execute commands itself.
    #[must_use]
    pub fn asking(ask: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        Self(Arc::new(State { cancelled: AtomicBool::new(false), ask: Some(Box::new(ask)) }))
    }

    /// Nobody waits any more. From any thread, at any time, as often as one likes.
    pub fn cancel(&self) {
        self.0.cancelled.store(true, Ordering::SeqCst);
    }

    /// Whether it was cancelled.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        if !self.0.cancelled.load(Ordering::SeqCst) && self.0.ask.as_ref().is_some_and(|ask| ask())
        {
            self.cancel();
        }
        self.0.cancelled.load(Ordering::SeqCst)
    }

    /// Does `work` on this thread; the commands that it executes are cancelled with this.
    pub fn within<T>(&self, work: impl FnOnce() -> T) -> T {
        /// Puts back what was there, also after a panic.
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

/// Of the call that this thread carries out; for what may go on in another thread.
pub(crate) fn current() -> Option<Cancellation> {
    CURRENT.with(|current| current.borrow().clone())
}

/// To be asked by whoever waited on the way of a command, before anything is changed.
///
/// # Errors
/// [`StoreError::Cancelled`] if the caller has gone.
pub(crate) fn check() -> Result<(), StoreError> {
    // Not under the borrow: what is asked may execute commands of its own.
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

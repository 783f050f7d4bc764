//! Calls that are given up before they begin to write.
//!
//! A caller that stops waiting (a timeout, an abort, a cancelled task) believes that the command did not
//! happen. So whatever waits on the way of a command asks, when its turn has come and before it changes
//! anything, whether the caller is still there. The question goes by the thread that carries out the
//! command, so that stores need not be handed anything.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::store::StoreError;

/// Tells a call that nobody waits for its answer any more.
///
/// A call that has not begun to write when it is cancelled does not happen. One that has begun is carried
/// out to its end: nothing is ever left half done.
///
/// ```
/// use memdir::{Cancellation, Memory, Options};
///
/// let memory = Memory::open("memory:", Options::default())?;
/// let cancellation = Cancellation::new();
/// cancellation.cancel();
/// let reply = cancellation.within(|| {
///     memory.execute(r#"{"command": "create", "path": "/memories/a", "file_text": "late"}"#)
/// });
/// assert!(reply.content.as_str().contains("Nothing was changed"));
/// assert!(memory.view("/memories/a", None).is_err());
/// # Ok::<(), memdir::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Cancellation(Arc<AtomicBool>);

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

    /// Nobody waits any more. From any thread, at any time, as often as one likes.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::SeqCst);
    }

    /// Whether it was cancelled.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::SeqCst)
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

/// To be asked by whoever waited on the way of a command, before anything is changed.
///
/// # Errors
/// [`StoreError::Cancelled`] if the caller has gone.
pub(crate) fn check() -> Result<(), StoreError> {
    let cancelled =
        CURRENT.with(|current| current.borrow().as_ref().is_some_and(Cancellation::is_cancelled));
    if cancelled { Err(StoreError::Cancelled) } else { Ok(()) }
}

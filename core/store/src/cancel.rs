//! Cancellation of calls that have not begun to write.
//!
//! A caller that stops waiting (a timeout, an abort, a cancelled task) assumes that the command did not happen. So each step
//! that waited for a thread, a hook or a lock checks afterwards whether the call is cancelled, before it changes anything.
//! The [`Context`](crate::Context) of the call carries its cancellation to every store operation that may wait.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::StoreError;

/// Cancels calls.
///
/// A call that has not begun to write when it is cancelled does not happen. A call that has begun to write completes, so
/// nothing is left half done.
///
/// It cancels only calls of the memory that `Memory::cancelled_by` returns. A command that a hook, an observer or a store
/// executes during such a call is a separate call.
///
/// ```
/// use memdir::{Cancellation, Memory, MemoryOptions};
///
/// let memory = Memory::open("memory:", MemoryOptions::default())?;
/// let cancellation = Cancellation::new();
/// cancellation.cancel();
/// let reply = memory
///     .cancelled_by(&cancellation)
///     .execute(r#"{"command": "create", "path": "/memories/a", "file_text": "late"}"#);
/// assert!(reply.content.to_string().contains("Nothing was changed"));
/// assert!(memory.view("/memories/a", None).is_err());
/// # Ok::<(), memdir::Error>(())
/// ```
#[derive(Clone)]
pub struct Cancellation(Option<Arc<CancellationState>>);

#[derive(Default)]
struct CancellationState {
    cancelled: AtomicBool,
    ask: Option<Box<dyn Fn() -> bool + Send + Sync>>,
}

impl Default for Cancellation {
    fn default() -> Self {
        Self::new()
    }
}

impl Cancellation {
    /// A new one, not yet cancelled.
    #[must_use]
    pub fn new() -> Self {
        Self(Some(Arc::default()))
    }

    /// A cancellation for calls that cannot be cancelled: [`cancel`](Cancellation::cancel) does nothing.
    #[must_use]
    pub const fn never() -> Self {
        Self(None)
    }

    /// A cancellation that also counts as cancelled if `ask` returns true, for a host that must poll for its signals. `ask`
    /// is called on the thread that executes the command: a few times for each command, and repeatedly while the command
    /// waits. It may execute commands itself.
    #[must_use]
    pub fn asking(ask: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(CancellationState {
            cancelled: AtomicBool::new(false),
            ask: Some(Box::new(ask)),
        })))
    }

    /// A cancellation that is cancelled when this one or the other is.
    ///
    /// ```
    /// use memdir::Cancellation;
    ///
    /// let (user, timeout) = (Cancellation::new(), Cancellation::new());
    /// let either = user.or(&timeout);
    /// timeout.cancel();
    /// assert!(either.is_cancelled() && !user.is_cancelled());
    /// ```
    #[must_use]
    pub fn or(&self, other: &Self) -> Self {
        match (&self.0, &other.0) {
            (None, _) => other.clone(),
            (_, None) => self.clone(),
            (Some(one), Some(two)) if Arc::ptr_eq(one, two) => self.clone(),
            _ => {
                let both = [self.clone(), other.clone()];
                Self::asking(move || both.iter().any(Self::is_cancelled))
            }
        }
    }

    /// Cancels the calls. Any thread may call this at any time and repeatedly.
    pub fn cancel(&self) {
        if let Some(state) = &self.0 {
            state.cancelled.store(true, Ordering::SeqCst);
        }
    }

    /// Whether the calls are cancelled.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        let Some(state) = &self.0 else { return false };
        if !state.cancelled.load(Ordering::SeqCst) && state.ask.as_ref().is_some_and(|ask| ask()) {
            self.cancel();
        }
        state.cancelled.load(Ordering::SeqCst)
    }

    /// Every step of a call that waits calls this after the wait, before it changes anything.
    ///
    /// # Errors
    /// [`StoreError::Cancelled`] if the calls are cancelled.
    pub fn check(&self) -> Result<(), StoreError> {
        if self.is_cancelled() { Err(StoreError::Cancelled) } else { Ok(()) }
    }

    /// Whether it can be cancelled at all, that is, whether it is not [`never`](Cancellation::never).
    #[must_use]
    pub fn is_possible(&self) -> bool {
        self.0.is_some()
    }
}

impl fmt::Debug for Cancellation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Does not call `ask`.
        let is_set = |state: &Arc<CancellationState>| state.cancelled.load(Ordering::SeqCst);
        let cancelled = self.0.as_ref().is_some_and(is_set);
        f.debug_struct("Cancellation").field("cancelled", &cancelled).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;

    use super::*;

    #[test]
    fn a_cancellation_asks_until_it_is_told_once() {
        let asked = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&asked);
        let cancellation = Cancellation::asking(move || count.fetch_add(1, Ordering::SeqCst) == 1);
        assert!(cancellation.check().is_ok());
        assert!(matches!(cancellation.check(), Err(StoreError::Cancelled)));
        assert!(matches!(cancellation.check(), Err(StoreError::Cancelled)));
        assert_eq!(asked.load(Ordering::SeqCst), 2);
    }

    #[test]
    fn either_of_two_cancellations_cancels_what_both_cancel_and_not_the_other_way() {
        let (one, two) = (Cancellation::new(), Cancellation::new());
        let either = one.or(&two);
        let nested = either.or(&Cancellation::new());
        assert!(!either.is_cancelled() && !nested.is_cancelled());
        nested.cancel();
        assert!(nested.is_cancelled() && !either.is_cancelled() && !one.is_cancelled());
        two.cancel();
        assert!(either.is_cancelled() && !one.is_cancelled());
    }

    #[test]
    fn a_cancellation_that_never_happens_adds_nothing() {
        let (one, never) = (Cancellation::new(), Cancellation::never());
        let (left, right) = (one.or(&never), never.or(&one));
        assert!(!never.or(&never).is_possible() && left.is_possible() && right.is_possible());
        one.cancel();
        assert!(left.is_cancelled() && right.is_cancelled() && one.or(&one).is_cancelled());
    }

    #[test]
    fn a_cancellation_that_is_never_stays_so() {
        let never = Cancellation::never();
        never.cancel();
        assert!(!never.is_cancelled() && never.check().is_ok());
    }
}

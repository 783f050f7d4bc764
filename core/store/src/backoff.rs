//! Pauses between the attempts of a writer that waits for other writers, up to a timeout.
//!
//! The local directory waits in this way for its lock and, on Windows, for a file that another process has open. A lock
//! is held for microseconds, so the first pause is short. The longest pause limits how late a writer notices that the
//! lock is free.

use std::thread;
use std::time::{Duration, Instant};

use crate::StoreError;
use crate::cancel::Cancellation;

/// The first and the longest pause between attempts.
const FIRST_PAUSE: Duration = Duration::from_micros(20);
const LONGEST_PAUSE: Duration = Duration::from_millis(5);

/// A deadline for waiting for other writers.
#[derive(Debug)]
pub struct Backoff {
    cancellation: Cancellation,
    deadline: Option<Instant>,
    pause: Duration,
}

impl Backoff {
    /// Waits for at most `timeout` in total, without limit if it is `None`, and only until the call is cancelled.
    pub fn new(timeout: Option<Duration>, cancellation: &Cancellation) -> Backoff {
        // A timeout beyond the clock's range means no timeout.
        let deadline = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
        Backoff { cancellation: cancellation.clone(), deadline, pause: FIRST_PAUSE }
    }

    /// Checks for cancellation. A writer that has waited calls this before it changes anything.
    ///
    /// # Errors
    /// [`StoreError::Cancelled`].
    pub fn check(&self) -> Result<(), StoreError> {
        self.cancellation.check()
    }

    /// Pauses before the next attempt.
    ///
    /// # Errors
    /// [`StoreError::Busy`] after the timeout, [`StoreError::Cancelled`].
    pub fn wait(&mut self) -> Result<(), StoreError> {
        self.check()?;
        if self.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            return Err(StoreError::Busy);
        }
        thread::sleep(self.pause);
        self.pause = (self.pause * 2).min(LONGEST_PAUSE);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

    use super::*;

    #[test]
    fn backoff_is_busy_once_the_timeout_is_over_and_never_without_one() {
        assert!(matches!(
            Backoff::new(Some(Duration::ZERO), &Cancellation::never()).wait(),
            Err(StoreError::Busy)
        ));
        for timeout in [None, Some(Duration::MAX)] {
            Backoff::new(timeout, &Cancellation::never()).wait().unwrap();
        }
    }

    #[test]
    fn backoff_pauses_grow_up_to_the_longest() {
        let mut backoff = Backoff::new(None, &Cancellation::never());
        for _ in 0..8 {
            backoff.wait().unwrap();
        }
        assert_eq!(backoff.pause, LONGEST_PAUSE);
    }
}

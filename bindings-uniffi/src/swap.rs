//! [`Swap`]: the edit that a store written in Kotlin or Swift is given.

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::store::{Edit, StoreFailure};

/// Puts `new` in the place of `old`, and of nothing else. It owns what it needs, so that the host
/// may call it from any thread and keep it for as long as it likes.
pub(crate) struct Swap {
    old: Vec<u8>,
    new: Vec<u8>,
    state: Mutex<State>,
}

/// What the last call came to.
pub(crate) enum State {
    /// There was no call.
    Untouched,
    /// The content was the expected one, and the host has the new one to write.
    Swapped,
    /// The content was this one; nothing was to be written.
    Changed(Vec<u8>),
}

impl Swap {
    pub(crate) fn new(old: Vec<u8>, new: Vec<u8>) -> Self {
        Self { old, new, state: Mutex::new(State::Untouched) }
    }

    pub(crate) fn state(&self) -> State {
        std::mem::replace(&mut *self.lock(), State::Untouched)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Edit for Swap {
    fn apply(&self, content: Vec<u8>) -> Result<Option<Vec<u8>>, StoreFailure> {
        let (state, new) = if content == self.old {
            (State::Swapped, Some(self.new.clone()))
        } else {
            (State::Changed(content), None)
        };
        *self.lock() = state;
        Ok(new)
    }
}

//! [`Swap`]: the `edit` that a store written in Python is given.

use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// Puts `new` in the place of `old`, and of nothing else. It owns what it needs, so that Python may
/// call it from any thread and keep it for as long as it likes.
#[pyclass(module = "memdir", frozen)]
pub struct Swap {
    old: Vec<u8>,
    new: Vec<u8>,
    state: Mutex<State>,
}

/// What the last call came to.
pub(crate) enum State {
    /// There was no call.
    Untouched,
    /// The content was the expected one, and Python has the new one to write.
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

#[pymethods]
impl Swap {
    /// The content to write instead of `content`; `None` if nothing is to be written.
    fn __call__<'py>(&self, py: Python<'py>, content: &[u8]) -> Option<Bound<'py, PyBytes>> {
        if content == self.old {
            *self.lock() = State::Swapped;
            Some(PyBytes::new(py, &self.new))
        } else {
            *self.lock() = State::Changed(content.to_vec());
            None
        }
    }
}

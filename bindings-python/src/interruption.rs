//! Exceptions that are not errors, such as a `KeyboardInterrupt`, raised by the hook `after` or by the logger. They
//! interrupt the call, so its caller gets them.

use std::cell::RefCell;

use pyo3::exceptions::PyException;
use pyo3::prelude::*;

thread_local! {
    /// The exception that interrupted the call of this thread.
    static INTERRUPTED: RefCell<Option<PyErr>> = const { RefCell::new(None) };
}

/// Keeps an exception that is not an error, for [`pass_on`]. Returns an error unchanged.
pub(crate) fn keep(py: Python<'_>, raised: PyErr) -> Option<PyErr> {
    if raised.is_instance_of::<PyException>(py) {
        return Some(raised);
    }
    INTERRUPTED.with(|interrupted| interrupted.replace(Some(raised)));
    None
}

/// Raises the exception that interrupted the hook or the logger in the last command of this thread.
pub(crate) fn pass_on() -> PyResult<()> {
    INTERRUPTED.with(RefCell::take).map_or(Ok(()), Err)
}

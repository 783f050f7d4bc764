//! Exceptions that interrupt what a call tells: the hook `after`, the logger. They are no errors of it, such as a
//! `KeyboardInterrupt`, so the caller of the call gets them.

use std::cell::RefCell;

use pyo3::exceptions::PyException;
use pyo3::prelude::*;

thread_local! {
    /// What interrupted the call that this thread executes.
    static INTERRUPTED: RefCell<Option<PyErr>> = const { RefCell::new(None) };
}

/// Keeps an exception that is no error, for [`pass_on`]; gives an error back.
pub(crate) fn keep(py: Python<'_>, raised: PyErr) -> Option<PyErr> {
    if raised.is_instance_of::<PyException>(py) {
        return Some(raised);
    }
    INTERRUPTED.with(|interrupted| interrupted.replace(Some(raised)));
    None
}

/// Raises the exception that interrupted what the last command on this thread told.
pub(crate) fn pass_on() -> PyResult<()> {
    INTERRUPTED.with(RefCell::take).map_or(Ok(()), Err)
}

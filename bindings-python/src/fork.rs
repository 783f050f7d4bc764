//! The functions for `os.fork`, so a child can use the stores that its parent opened.

use memdir::store;
use pyo3::prelude::*;

/// Waits until no other thread is in the middle of a command that would break in a forked child.
#[pyfunction]
pub(crate) fn before_fork(py: Python<'_>) {
    // The other threads may need the interpreter to finish.
    py.detach(store::before_fork);
}

/// Lets the other threads continue.
#[pyfunction]
pub(crate) fn after_fork_in_parent() {
    store::after_fork_in_parent();
}

/// Prepares the child.
#[pyfunction]
pub(crate) fn after_fork_in_child() {
    store::after_fork_in_child();
}

//! What `os.fork` has to do, so that a child can go on with the stores that its parent opened.

use memdir::store;
use pyo3::prelude::*;

/// Waits until no other thread is where a forked child could not go on from.
#[pyfunction]
pub(crate) fn before_fork(py: Python<'_>) {
    // The others may need the interpreter to come to their end.
    py.detach(store::before_fork);
}

/// Lets the others go on.
#[pyfunction]
pub(crate) fn after_fork_in_parent() {
    store::after_fork_in_parent();
}

/// Lets the child begin.
#[pyfunction]
pub(crate) fn after_fork_in_child() {
    store::after_fork_in_child();
}

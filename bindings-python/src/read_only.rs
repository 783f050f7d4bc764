//! [`ReadOnly`]: a store that is opened to be viewed and not changed, wherever a store is taken.
//!
//! It is not opened before it is known where it is to be: a path is another directory at the root
//! than at a mount point.

use pyo3::prelude::*;
use pyo3::{type_hint_identifier, type_hint_subscript, type_hint_union};

use crate::hints::{self, Hinted, hint};

/// What `read_only` returns: to be given wherever a store is taken.
#[pyclass(module = "memdir", frozen)]
pub struct ReadOnly {
    store: Py<PyAny>,
}

hint!(
    /// A store or its address, read-only or not.
    Place = type_hint_union!(
        hints::Address::HINT,
        hints::Store::HINT,
        <ReadOnly as pyo3::PyTypeInfo>::TYPE_HINT
    )
);
hint!(
    /// A place, or several that are mounted into one tree.
    Places = type_hint_union!(
        Place::HINT,
        type_hint_subscript!(
            type_hint_identifier!("collections.abc", "Mapping"),
            hints::STR,
            Place::HINT
        )
    )
);

impl ReadOnly {
    pub(crate) fn store<'py>(&'py self, py: Python<'py>) -> &'py Bound<'py, PyAny> {
        self.store.bind(py)
    }
}

#[pymethods]
impl ReadOnly {
    fn __repr__(&self) -> &'static str {
        // Not the store: its address may hold a password.
        "ReadOnly(...)"
    }
}

/// Says that a store is to be viewed and not changed.
///
/// What it returns can be given wherever a store is taken, above all as one of several. A directory
/// or a database has to be there; nothing is made or changed in it.
///
/// Args:
///     store: A directory, an address, or a `Store`.
///
/// >>> from memdir import Memory, read_only
/// >>> memory = Memory({"/memories": "memory:", "/memories/handbook": read_only("memory:")})
/// >>> memory.create("/memories/handbook/a.md", "one")
/// Traceback (most recent call last):
/// memdir.RefusedError: Error: /memories/handbook/a.md is read-only: it can be viewed but not changed
#[pyfunction]
pub(crate) fn read_only(store: Hinted<'_, Place>) -> ReadOnly {
    ReadOnly { store: store.into_inner().unbind() }
}

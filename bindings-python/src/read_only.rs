//! [`ReadOnly`]: a store to be opened read-only, accepted wherever a store is accepted.
//!
//! It is opened only once its mount point is known, because a path is a different directory at the
//! root than at a mount point.

use pyo3::prelude::*;
use pyo3::{type_hint_identifier, type_hint_subscript, type_hint_union};

use crate::hints::{self, hint};

/// The result of `read_only`. Use it instead of a store.
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
    pub(crate) fn new(store: Py<PyAny>) -> Self {
        Self { store }
    }

    pub(crate) fn store<'py>(&'py self, py: Python<'py>) -> &'py Bound<'py, PyAny> {
        self.store.bind(py)
    }
}

#[pymethods]
impl ReadOnly {
    fn __repr__(&self) -> &'static str {
        // The store is not shown, because its address may contain a password.
        "ReadOnly(...)"
    }
}

//! [`ReadOnly`]: a store that is opened to be viewed and not changed, wherever a store is taken.
//!
//! It is not opened before it is known where it is to be: a path is another directory at the root
//! than at a mount point.

use pyo3::prelude::*;
use pyo3::{type_hint_identifier, type_hint_subscript, type_hint_union};

use crate::hints::{self, hint};

/// The result of `read_only`. Use it in the place of a store.
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
        // Not the store: its address may hold a password.
        "ReadOnly(...)"
    }
}

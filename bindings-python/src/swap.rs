//! [`Swap`]: the `edit` that is passed to a store written in Python.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// Computes the new content in an update. Python may call it from any thread and keep it for any
/// time.
#[pyclass(module = "memdir", frozen)]
pub struct Swap(Arc<memdir::store::Swap>);

impl Swap {
    pub(crate) fn new(swap: Arc<memdir::store::Swap>) -> Self {
        Self(swap)
    }
}

#[pymethods]
impl Swap {
    /// The content to write instead of `content`; `None` if nothing is to be written.
    fn __call__<'py>(&self, py: Python<'py>, content: &[u8]) -> Option<Bound<'py, PyBytes>> {
        self.0.apply(content).map(|new| PyBytes::new(py, &new))
    }
}

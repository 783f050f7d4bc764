//! The `context_management` of a request, which the core makes.

use memdir::ContextManagement;
use pyo3::prelude::*;

use crate::files;
use crate::hints::{self, Hinted};

/// What `memdir.context_management` returns.
#[pyfunction]
pub(crate) fn context_management(
    py: Python<'_>,
    clear_at: Option<u64>,
    keep: u64,
    clear_at_least: Option<u64>,
    exclude_tools: Vec<String>,
    compact_at: Option<u64>,
) -> PyResult<Hinted<'_, hints::Fields>> {
    let config = ContextManagement { clear_at, keep, clear_at_least, exclude_tools, compact_at };
    files::json(py, &config.to_json()).map(Hinted::new)
}

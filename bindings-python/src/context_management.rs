//! The `context_management` of a request, which the core makes.

use memdir::ContextManagement;
use memdir::options::Given;
use pyo3::prelude::*;

use crate::hints::{self, Hinted};
use crate::json::json;
use crate::options::read;

/// Makes the value that `memdir.context_management` returns.
#[pyfunction]
pub(crate) fn context_management<'py>(
    py: Python<'py>,
    clear_at: Hinted<'py, hints::Limit>,
    keep: Hinted<'py, hints::Count>,
    clear_at_least: Hinted<'py, hints::Limit>,
    exclude_tools: Hinted<'py, hints::Texts>,
    compact_at: Hinted<'py, hints::Limit>,
) -> PyResult<Hinted<'py, hints::Fields>> {
    let tokens =
        |name, given: Hinted<'py, hints::Limit>| read(name, &given.into_inner(), Given::limit);
    let config = ContextManagement {
        clear_at: tokens("clear_at", clear_at)?,
        keep: read("keep", &keep.into_inner(), Given::whole_number)?,
        clear_at_least: tokens("clear_at_least", clear_at_least)?,
        exclude_tools: read("exclude_tools", &exclude_tools.into_inner(), Given::texts)?,
        compact_at: tokens("compact_at", compact_at)?,
    };
    json(py, &config.to_json()).map(Hinted::new)
}

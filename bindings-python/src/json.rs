//! [`json`]: converts definitions of tools, which are JSON in the core.

use pyo3::prelude::*;

/// A JSON value as Python's own.
pub(crate) fn json<'py>(py: Python<'py>, value: &serde_json::Value) -> PyResult<Bound<'py, PyAny>> {
    py.import("json")?.call_method1("loads", (value.to_string(),))
}

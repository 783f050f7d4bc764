//! The types of the methods of `Memory` for one's own code.

use memdir::{GrepMatch as Core, SensitiveMatch as CoreSensitive};
use pyo3::prelude::*;

/// A place where `Memory.grep` found something.
///
/// `path` is the path of the file or directory. `line` is the number of the line, counted from 1, and
/// `None` if the name was found. `text` is the line, or the name; a long line is cut around the match.
#[pyclass(module = "memdir", frozen, eq, hash, get_all)]
#[derive(PartialEq, Eq, Hash)]
pub struct GrepMatch {
    /// The path of the file, or of the directory whose name it is.
    path: String,
    /// The number of the line, counted from 1; `None` if the name was found.
    line: Option<u64>,
    /// The line, or the name.
    text: String,
}

#[pymethods]
impl GrepMatch {
    #[classattr]
    fn __match_args__() -> (&'static str, &'static str, &'static str) {
        ("path", "line", "text")
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let path = self.path.as_str().into_pyobject(py)?.repr()?;
        let line = self.line.into_pyobject(py)?.repr()?;
        let text = self.text.as_str().into_pyobject(py)?.repr()?;
        Ok(format!("GrepMatch({path}, {line}, {text})"))
    }
}

impl From<Core> for GrepMatch {
    fn from(found: Core) -> Self {
        Self { path: found.path.as_str().to_owned(), line: found.line, text: found.text }
    }
}

/// A place where `Memory.find_sensitive` found something. It does not have the text itself.
///
/// `path` is the path of the file or directory. `line` is the number of the line, counted from 1, and
/// `None` if it is in the name. `rule` is the id of the rule.
#[pyclass(module = "memdir", frozen, eq, hash, get_all)]
#[derive(PartialEq, Eq, Hash)]
pub struct SensitiveMatch {
    /// The path of the file, or of the directory whose name it is.
    path: String,
    /// The number of the line, counted from 1; `None` if it is in the name.
    line: Option<u64>,
    /// The id of the rule.
    rule: String,
}

#[pymethods]
impl SensitiveMatch {
    #[classattr]
    fn __match_args__() -> (&'static str, &'static str, &'static str) {
        ("path", "line", "rule")
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let path = self.path.as_str().into_pyobject(py)?.repr()?;
        let line = self.line.into_pyobject(py)?.repr()?;
        let rule = self.rule.as_str().into_pyobject(py)?.repr()?;
        Ok(format!("SensitiveMatch({path}, {line}, {rule})"))
    }
}

impl From<CoreSensitive> for SensitiveMatch {
    fn from(found: CoreSensitive) -> Self {
        Self { path: found.path.as_str().to_owned(), line: found.line, rule: found.rule }
    }
}

/// A JSON value as Python's own.
pub(crate) fn json<'py>(py: Python<'py>, value: &serde_json::Value) -> PyResult<Bound<'py, PyAny>> {
    py.import("json")?.call_method1("loads", (value.to_string(),))
}

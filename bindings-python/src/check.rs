//! [`check`]: reads a whole store and reports its problems.

use memdir::store::Problem as Core;
use memdir::{Error, MemoryOptions};
use pyo3::prelude::*;

use crate::cancel::interruptible;
use crate::errors::to_python;
use crate::hints::Hinted;
use crate::read_only;
use crate::stores;

/// The result of a check.
#[pyclass(module = "memdir", frozen, get_all)]
pub(crate) struct Checked {
    /// Directories, including the root.
    directories: u64,
    /// Files; each was read to its end.
    files: u64,
    /// The bytes that were read.
    bytes: u64,
    /// Versions in the store's history, each computed; `None` if the store has no history.
    versions: Option<u64>,
    /// The problems that were found; empty if there are none.
    problems: Vec<Py<Problem>>,
}

#[pymethods]
impl Checked {
    fn __repr__(&self) -> String {
        let Self { directories, files, bytes, versions, problems } = self;
        let problems = problems.len();
        let versions = versions.map_or_else(|| "None".to_owned(), |number| number.to_string());
        format!(
            "Checked(directories={directories}, files={files}, bytes={bytes}, versions={versions}, problems={problems})"
        )
    }
}

/// A problem in a store. `str(problem)` is its description.
#[pyclass(module = "memdir", frozen, get_all)]
pub(crate) struct Problem {
    /// The kind of problem: `"unreadable"`, `"wrong-size"`, `"damaged"`, `"left-over"`, `"link"`,
    /// `"special-file"` or `"bad-name"`.
    kind: &'static str,
    /// The path, or a text like a path if no path can contain the name. It is safe to display.
    path: String,
    /// The problem as a sentence, for you.
    description: String,
    /// Whether it is about an entry that is not part of the memory. The memory itself is then in order.
    is_beside: bool,
}

#[pymethods]
impl Problem {
    fn __str__(&self) -> &str {
        &self.description
    }

    fn __repr__(&self) -> String {
        format!("Problem({:?}, {:?})", self.kind, self.path)
    }
}

impl From<Core> for Problem {
    fn from(problem: Core) -> Self {
        Self {
            kind: problem.kind.as_str(),
            description: problem.to_string(),
            is_beside: problem.kind.is_beside(),
            path: problem.path,
        }
    }
}

/// Checks a store and its history: inspects the store's structures, reads every file, reads every record of the
/// history and computes every version. Changes nothing. Others may use the store meanwhile.
///
/// A store that fails in the middle is a problem, too: what was found before is kept.
///
/// Args:
///     store: The store, or its address. It must exist.
///
/// Raises:
///     StoreError: The store cannot be opened, or it fails before anything was read or found.
///     ConfigError: The address is wrong.
///
/// >>> from memdir import check
/// >>> check("memory:")
/// Checked(directories=1, files=0, bytes=0, versions=None, problems=0)
#[pyfunction]
pub(crate) fn check(py: Python<'_>, store: Hinted<'_, read_only::Places>) -> PyResult<Checked> {
    let mut options = MemoryOptions::default();
    options.read_only = true;
    let store = stores::open(&store.into_inner(), &options)?;
    let mut found = Vec::new();
    let checked = interruptible(py, |cancellation| {
        memdir::check_unless(cancellation, &store, &mut |problem| found.push(problem))
    })?;
    let checked = checked.map_err(|error| to_python(py, &Error::Store(error)))?;
    let problems = found.into_iter().map(|problem| Py::new(py, Problem::from(problem)));
    Ok(Checked {
        directories: checked.directories,
        files: checked.files,
        bytes: checked.bytes,
        versions: checked.versions,
        problems: problems.collect::<PyResult<_>>()?,
    })
}

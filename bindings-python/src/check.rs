//! Whether a store is as it should be.

use memdir::store::Problem as Core;
use memdir::{Error, MemoryOptions};
use pyo3::prelude::*;

use crate::cancel::interruptible;
use crate::errors::to_python;
use crate::hints::Hinted;
use crate::read_only;
use crate::stores;

/// What a check went through, and what it found.
#[pyclass(module = "memdir", frozen, get_all)]
pub(crate) struct Checked {
    /// Directories, the root among them.
    directories: u64,
    /// Files, each read from its start to its end.
    files: u64,
    /// The bytes that were read.
    bytes: u64,
    /// What is not as it should be; empty if all is well.
    problems: Vec<Py<Problem>>,
}

#[pymethods]
impl Checked {
    fn __repr__(&self) -> String {
        let Self { directories, files, bytes, problems } = self;
        let problems = problems.len();
        format!(
            "Checked(directories={directories}, files={files}, bytes={bytes}, problems={problems})"
        )
    }
}

/// Something that is not as it should be in a store; as text, a sentence for the developer.
#[pyclass(module = "memdir", frozen, get_all)]
pub(crate) struct Problem {
    /// One word for what is wrong: `"unreadable"`, `"wrong-size"`, `"damaged"`, `"left-over"`, `"link"`,
    /// `"special-file"` or `"bad-name"`.
    kind: &'static str,
    /// Where: a path, or something like one where no path of a memory can be. Safe to be shown.
    at: String,
    /// All of it in a sentence, for the developer.
    description: String,
    /// Whether it is about something beside the memory, which is as it should be itself.
    is_beside: bool,
}

#[pymethods]
impl Problem {
    fn __str__(&self) -> &str {
        &self.description
    }

    fn __repr__(&self) -> String {
        format!("Problem({:?}, {:?})", self.kind, self.at)
    }
}

impl From<Core> for Problem {
    fn from(problem: Core) -> Self {
        Self {
            kind: problem.kind.as_str(),
            description: problem.to_string(),
            is_beside: problem.kind.is_beside(),
            at: problem.at,
        }
    }
}

/// Inspects a store and reads every file in it. Changes nothing. Others may use the store meanwhile.
///
/// Args:
///     store: The store, or its address; it has to be there.
///
/// Raises:
///     StoreError: The store cannot be opened, is out of reach, or its root cannot be read.
///     ConfigError: The address is wrong.
///
/// >>> from memdir import check
/// >>> check("memory:")
/// Checked(directories=1, files=0, bytes=0, problems=0)
#[pyfunction]
pub(crate) fn check(py: Python<'_>, store: Hinted<'_, read_only::Places>) -> PyResult<Checked> {
    let mut options = MemoryOptions::default();
    options.read_only = true;
    let store = stores::open(&store.into_inner(), &options)?;
    let mut found = Vec::new();
    let checked = interruptible(py, || memdir::check(&*store, &mut |problem| found.push(problem)))?;
    let checked = checked.map_err(|error| to_python(py, &Error::Store(error)))?;
    let problems = found.into_iter().map(|problem| Py::new(py, Problem::from(problem)));
    Ok(Checked {
        directories: checked.directories,
        files: checked.files,
        bytes: checked.bytes,
        problems: problems.collect::<PyResult<_>>()?,
    })
}

//! The types of `Memory.expire`.

use std::ops::ControlFlow;
use std::time::{Duration, SystemTime};

use memdir::policy::expiry::Progress;
use memdir::{Expired as Core, Memory};
use pyo3::prelude::*;
use pyo3::types::PyDateTime;

use crate::cancel::detached;
use crate::errors::to_python;
use crate::logging;
use crate::shutdown::attached;
use crate::time::shown;

/// A file that was removed because nobody used it.
///
/// `path` is its path, `bytes` its size, and `last_used` the later of its last change and its last
/// recorded access, with a time zone.
#[pyclass(module = "memdir", frozen, eq, hash)]
#[derive(PartialEq, Eq, Hash)]
pub struct Expired {
    /// Its path.
    #[pyo3(get)]
    path: String,
    /// Its size in bytes.
    #[pyo3(get)]
    bytes: u64,
    last_used: SystemTime,
}

#[pymethods]
impl Expired {
    /// Its last use; `None` for a time that a `datetime` cannot represent.
    #[getter]
    fn last_used<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyDateTime>> {
        shown(py, self.last_used)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let path = self.path.as_str().into_pyobject(py)?.repr()?;
        Ok(format!("Expired({path}, {})", self.bytes))
    }
}

impl From<Core> for Expired {
    fn from(file: Core) -> Self {
        let path = file.path.as_str().to_owned();
        Self { path, bytes: file.bytes, last_used: file.last_used }
    }
}

/// The progress of an expiry.
#[pyclass(module = "memdir", frozen, get_all)]
pub(crate) struct ExpiryProgress {
    /// The files that were scanned.
    files: u64,
    /// Those of them that were removed, or would be.
    removed: u64,
}

impl From<Progress> for ExpiryProgress {
    fn from(progress: Progress) -> Self {
        Self { files: progress.files, removed: progress.removed }
    }
}

/// Lets files expire, detached. An exception of the callback stops it.
pub(crate) fn expire(
    py: Python<'_>,
    memory: &Memory,
    older_than: Duration,
    dry_run: bool,
    on_progress: Option<&Py<PyAny>>,
) -> PyResult<Vec<Expired>> {
    logging::refresh();
    let mut raised = None;
    let expired = detached(py, |cancellation| {
        memory.cancelled_by(cancellation).expire(older_than, dry_run, &mut |progress| {
            let told = attached(|py| {
                py.check_signals()?;
                match on_progress {
                    Some(call) => call.call1(py, (ExpiryProgress::from(progress),)).map(drop),
                    None => Ok(()),
                }
            });
            match told {
                Some(Ok(())) => ControlFlow::Continue(()),
                Some(Err(error)) => {
                    raised = Some(error);
                    ControlFlow::Break(())
                }
                None => ControlFlow::Break(()),
            }
        })
    });
    match raised {
        Some(error) => Err(error),
        None => {
            let expired = expired.map_err(|error| to_python(py, &error))?;
            Ok(expired.into_iter().map(Expired::from).collect())
        }
    }
}

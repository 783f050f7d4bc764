//! `Memory.watch`: changes in a memory, by any process.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use memdir::options::Given;
use memdir::{Change, Error, SharedWatch};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::cancel::interruptible;
use crate::errors::to_python;
use crate::hints::{self, Hinted};
use crate::options::read;
use crate::results::Shown;
use crate::shutdown::released;

/// Reports changes in a memory; `Memory.watch` begins it.
///
/// Iterating over it waits for the next change, and ends when the watch is closed. Ctrl-C ends the
/// waiting. Many threads may use one watch: each change is returned to one of them.
#[pyclass(module = "memdir", frozen)]
pub struct Watch {
    core: SharedWatch,
    /// Changes that were found, but not yet returned to the caller.
    found: Mutex<VecDeque<Change>>,
}

#[pymethods]
impl Watch {
    /// Returns the changes since the last call, or since the watch began, in the order of the paths. If
    /// there are none, it waits for a change.
    ///
    /// A rename is reported as a deleted file and a written file, and a directory as its files. Changes
    /// undone between two polls are not reported.
    ///
    /// Args:
    ///     wait: The longest time to wait: seconds, or a `timedelta`. With 0 it polls once.
    ///
    /// Raises:
    ///     StoreError: The store itself failed. The next call returns the changes that this one missed.
    ///     ValueError: The watch is closed.
    fn changes(
        &self,
        py: Python<'_>,
        wait: Hinted<'_, hints::Span>,
    ) -> PyResult<Shown<Vec<Change>>> {
        let wait = read("wait", &wait.into_inner(), Given::duration)?;
        let found = self.found(py, wait)?;
        found.map(Shown).ok_or_else(|| PyValueError::new_err("the watch is closed"))
    }

    /// Ends the watch. Iterations over it end, too. Closing it again does nothing.
    fn close(&self, py: Python<'_>) {
        // Closing a store may take a while.
        released(py, || self.core.close());
    }

    fn __iter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<Shown<Change>>> {
        loop {
            if let Some(change) = self.not_told().pop_front() {
                return Ok(Some(Shown(change)));
            }
            match self.found(py, Duration::MAX)? {
                Some(found) => self.not_told().extend(found),
                None => return Ok(None),
            }
        }
    }

    fn __enter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    #[pyo3(signature = (kind, raised, traceback, /))]
    fn __exit__(
        &self,
        py: Python<'_>,
        kind: &Bound<'_, PyAny>,
        raised: &Bound<'_, PyAny>,
        traceback: &Bound<'_, PyAny>,
    ) {
        let _ = (kind, raised, traceback);
        self.close(py);
    }
}

impl Watch {
    pub(crate) fn new(watch: memdir::Watch) -> Self {
        Self { core: watch.into(), found: Mutex::default() }
    }

    /// The changes; `None` if the watch is closed.
    fn found(&self, py: Python<'_>, wait: Duration) -> PyResult<Option<Vec<Change>>> {
        let found: Result<_, Error> =
            interruptible(py, |cancellation| self.core.changes(cancellation, wait))?;
        found.map_err(|error| to_python(py, &error))
    }

    fn not_told(&self) -> std::sync::MutexGuard<'_, VecDeque<Change>> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The seconds that `AsyncWatch.changes` waits, validated like those of `Watch.changes`.
#[pyfunction]
pub(crate) fn wait_seconds(wait: Hinted<'_, hints::Span>) -> PyResult<f64> {
    read("wait", &wait.into_inner(), Given::duration).map(|wait| wait.as_secs_f64())
}

/// Returns whether `changes` of the watch would poll the store now, for event loops that wait without a
/// thread.
#[pyfunction]
pub(crate) fn is_due(watch: &Bound<'_, Watch>) -> bool {
    watch.get().core.is_due()
}

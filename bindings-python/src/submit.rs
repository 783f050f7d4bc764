//! Submits calls to the threads of the core, for the event loops of `python/memdir/_loops.py`.

use std::sync::Arc;

use memdir_bindings_shared::thread_pool::Purpose;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use crate::cancel::{self, Cancellation};
use crate::memory::Memory;
use crate::opened::Opened;
use crate::{pool, shutdown};

/// Calls `work` on a thread of the memory's pool, and then `deliver` with its result and its exception, one of them `None`. If the call is
/// cancelled before it begins, both are `None`. This function does not wait.
///
/// The caller makes the cancellation before the call. An exception such as a `KeyboardInterrupt` may be raised in the caller at any time;
/// it can then cancel a call without knowing whether it was submitted.
///
/// Raises:
///     RuntimeError: The system cannot start a thread. Nothing was done.
#[pyfunction]
#[pyo3(signature = (cancellation, memory, work, deliver, view))]
pub(crate) fn submit(
    py: Python<'_>,
    cancellation: &Cancellation,
    memory: Option<&Bound<'_, Memory>>,
    work: Py<PyAny>,
    deliver: Py<PyAny>,
    view: bool,
) -> PyResult<()> {
    let opened = memory.map(|memory| memory.get().opened());
    let calls = opened.map(|opened| Arc::clone(&opened.calls)).unwrap_or_default();
    let ended = Arc::clone(&calls);
    let given = cancellation.core().clone();
    let purpose = if view { Purpose::View } else { Purpose::Change };
    calls.begin();
    let threads = opened.map_or(pool::shared(), Opened::threads);
    let submitted = threads.of(purpose).submit(Box::new(move |worker| {
        shutdown::attached(|py| {
            let Ok(worker) = worker else { return };
            let done = (!given.is_cancelled()).then(|| cancel::for_call(given, || work.call0(py)));
            drop(work);
            worker.release();
            let delivered = match done {
                None => deliver.call1(py, (py.None(), py.None())),
                Some(Ok(result)) => deliver.call1(py, (result, py.None())),
                Some(Err(error)) => deliver.call1(py, (py.None(), error.into_value(py))),
            };
            if let Err(error) = delivered {
                error.write_unraisable(py, None);
            }
            drop(deliver);
            ended.end(py);
        });
    }));
    if let Err(unsubmitted) = submitted {
        calls.end(py);
        return Err(PyRuntimeError::new_err(unsubmitted.error.to_string()));
    }
    Ok(())
}

/// Calls `callback` once no call of the memory runs on a thread. Returns `False`, and does not call it, if none runs now.
#[pyfunction]
pub(crate) fn when_idle(memory: &Bound<'_, Memory>, callback: Py<PyAny>) -> bool {
    memory.get().opened().calls.when_idle(callback)
}

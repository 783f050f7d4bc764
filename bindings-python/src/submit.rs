//! Submits calls to the threads of the core, for the event loops of `python/memdir/_loops.py`.

use std::sync::Arc;

use memdir_bindings_shared::thread_pool::Purpose;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use crate::cancel::{self, Cancellation};
use crate::guarded::call;
use crate::memory::Memory;
use crate::{pool, shutdown};

/// Calls `work` on a thread of the memory's pools, or on a new thread if `alone`, and then `deliver` with its result and its exception, one of them `None`. If the call is
/// cancelled before it begins, both are `None`. This function does not wait.
///
/// The caller makes the cancellation before the call. An exception such as a `KeyboardInterrupt` may be raised in the caller at any time;
/// it can then cancel a call without knowing whether it was submitted.
///
/// Raises:
///     RuntimeError: The system cannot start a thread. Nothing was done.
#[pyfunction]
#[pyo3(signature = (cancellation, memory, work, deliver, view, search, alone))]
#[allow(clippy::too_many_arguments, reason = "one caller")]
pub(crate) fn submit(
    py: Python<'_>,
    cancellation: &Cancellation,
    memory: Option<&Bound<'_, Memory>>,
    work: Py<PyAny>,
    deliver: Py<PyAny>,
    view: bool,
    search: bool,
    alone: bool,
) -> PyResult<()> {
    let opened = memory.map(|memory| memory.get().opened());
    let calls = opened.map(|opened| Arc::clone(&opened.calls)).unwrap_or_default();
    let ended = Arc::clone(&calls);
    let given = cancellation.core().clone();
    let purpose = if view { Purpose::View } else { Purpose::Change };
    calls.begin();
    let new;
    let threads = match opened {
        _ if alone => {
            // Its thread ends with the work.
            new = pool::one_thread();
            &new
        }
        Some(opened) if search => opened.search_threads(),
        Some(opened) => opened.threads().of(purpose),
        None => pool::shared().of(purpose),
    };
    let submitted = threads.submit(Box::new(move |worker| {
        shutdown::attached(|py| {
            let Ok(worker) = worker else { return };
            let done = (!given.is_cancelled())
                .then(|| cancel::for_call(given, || call(work.bind(py), (), None)));
            drop(work);
            worker.release();
            let answer = deliver.bind(py);
            let delivered = match done {
                None => call(answer, (py.None(), py.None()), None),
                Some(Ok(result)) => call(answer, (result, py.None()), None),
                Some(Err(error)) => call(answer, (py.None(), error.into_value(py)), None),
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

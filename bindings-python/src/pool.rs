//! The threads that the calls of an `AsyncMemory` are executed on, and those calls that need none.
//!
//! The threads are the core's, so Python's own list of threads does not have them. Each is known to Python for its whole
//! life, so what a store keeps in a `threading.local` is there again at the next call.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::{process, thread};

use memdir::Cancellation as Core;
use memdir::thread_pool::{Purpose, ThreadPools};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use crate::cancel::{self, Cancellation};
use crate::memory::Memory;
use crate::opened::Opened;
use crate::shutdown;

static SHARED: ThreadPools = threads();

/// New pools, without any threads so far.
pub(crate) const fn threads() -> ThreadPools {
    ThreadPools::new(Some(around))
}

/// The pools of all memories whose stores wait for nothing but the operating system and servers.
pub(crate) fn shared() -> &'static ThreadPools {
    &SHARED
}

/// The whole life of a thread.
fn around(serve: &mut (dyn FnMut() + Send)) {
    Python::try_attach(|py| {
        py.detach(|| {
            serve();
            // The way back leads through the interpreter, which is not there any more.
            while shutdown::is_closed() {
                thread::park();
            }
        });
    });
}

/// The calls of one memory that are under way.
#[derive(Default)]
pub(crate) struct Calls(Mutex<State>);

#[derive(Default)]
struct State {
    /// The process that they are of; a forked child has none of its parent's.
    process: u32,
    running: usize,
    /// Who wants to know when there are none.
    waiting: Vec<Py<PyAny>>,
}

impl Calls {
    /// Only for a moment, and never while Python works: a fork, which holds the interpreter, finds it free.
    fn state(&self) -> MutexGuard<'_, State> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if state.process != process::id() {
            let inherited = std::mem::take(&mut *state);
            std::mem::forget(inherited);
            state.process = process::id();
        }
        state
    }

    fn begin(&self) {
        self.state().running += 1;
    }

    fn end(&self, py: Python<'_>) {
        let mut state = self.state();
        state.running -= 1;
        if state.running > 0 {
            return;
        }
        let waiting = std::mem::take(&mut state.waiting);
        drop(state);
        for callback in waiting {
            if let Err(error) = callback.call0(py) {
                error.write_unraisable(py, None);
            }
        }
    }
}

/// Calls `work` on a thread of those of the memory, and then `deliver` with its result and the exception that it raised; one of them is `None`.
/// If the call is cancelled before it begins, both are. Nothing is waited for.
///
/// Raises:
///     RuntimeError: The system cannot start a thread. Nothing was done.
#[pyfunction]
#[pyo3(signature = (memory, work, deliver, view))]
pub(crate) fn submit(
    py: Python<'_>,
    memory: Option<&Bound<'_, Memory>>,
    work: Py<PyAny>,
    deliver: Py<PyAny>,
    view: bool,
) -> PyResult<Cancellation> {
    let opened = memory.map(|memory| memory.get().opened());
    let calls = opened.map(|opened| Arc::clone(&opened.calls)).unwrap_or_default();
    let ended = Arc::clone(&calls);
    let cancellation = Core::new();
    let given = cancellation.clone();
    let purpose = if view { Purpose::View } else { Purpose::Change };
    calls.begin();
    let threads = opened.map_or(shared(), Opened::threads);
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
    Ok(Cancellation::new_of(cancellation))
}

/// Calls `callback` once no call of the memory is under way on a thread; returns `False` if none is now, and then does not.
#[pyfunction]
pub(crate) fn when_idle(memory: &Bound<'_, Memory>, callback: Py<PyAny>) -> bool {
    let mut state = memory.get().opened().calls.state();
    let busy = state.running > 0;
    if busy {
        state.waiting.push(callback);
    }
    busy
}

//! Runs commands with the interpreter released, and cancels them before they begin to write.

use std::cell::Cell;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use memdir::Cancellation as Core;
use pyo3::prelude::*;

use crate::shutdown::{attached, released};

/// A command that takes less time is not interrupted: checking for signals needs the interpreter, which another thread
/// may be using.
const MOMENT: Duration = Duration::from_millis(10);

/// Cancels a call. A call that has not begun to write is then not executed.
#[pyclass(module = "memdir._memdir", frozen)]
pub(crate) struct Cancellation(Core);

#[pymethods]
impl Cancellation {
    #[new]
    fn new() -> Self {
        Self(Core::new())
    }

    /// Cancels the call.
    fn cancel(&self) {
        self.0.cancel();
    }
}

impl Cancellation {
    pub(crate) fn core(&self) -> &Core {
        &self.0
    }
}

thread_local! {
    /// The cancellation of the call that a thread of the pool is about to execute. Commands that a store or a hook
    /// executes meanwhile are separate calls.
    static OF_CALL: Cell<Option<Core>> = const { Cell::new(None) };
}

/// Calls `work`. `cancellation` cancels the first command that `work` executes.
pub(crate) fn for_call<T>(cancellation: Core, work: impl FnOnce() -> T) -> T {
    OF_CALL.set(Some(cancellation));
    let done = work();
    OF_CALL.set(None);
    done
}

/// Takes the cancellation of the call that this thread is about to execute. Only the first call of this function gets
/// it.
pub(crate) fn of_call() -> Option<Core> {
    OF_CALL.take()
}

/// Runs `work` with the interpreter released, as a part of the call that this thread executes. `work` gets the call's
/// cancellation.
pub(crate) fn detached<T: Send>(py: Python<'_>, work: impl FnOnce(&Core) -> T + Send) -> T {
    let cancellation = of_call().unwrap_or(Core::never());
    released(py, || work(&cancellation))
}

/// Runs `work` with the interpreter released, and passes it a cancellation. If a signal handler raises meanwhile, such
/// as `KeyboardInterrupt`, a command that has not begun to write is cancelled, and the exception is raised.
pub(crate) fn interruptible<T: Send>(
    py: Python<'_>,
    work: impl FnOnce(&Core) -> T + Send,
) -> PyResult<T> {
    interruptible_by(py, of_call(), work)
}

/// The same, for a call whose cancellation was already taken.
pub(crate) fn interruptible_by<T: Send>(
    py: Python<'_>,
    cancellation: Option<Core>,
    work: impl FnOnce(&Core) -> T + Send,
) -> PyResult<T> {
    if let Some(cancellation) = cancellation {
        // Threads of the pool do not handle signals.
        return Ok(released(py, || work(&cancellation)));
    }
    let raised = Arc::new(Mutex::new(None));
    let (told, begun) = (Arc::clone(&raised), Instant::now());
    let signals = Core::asking(move || {
        begun.elapsed() >= MOMENT
            // Signals are handled only on the main thread; on other threads this does nothing.
            && attached(|py| py.check_signals().err()).flatten().is_some_and(|error| {
                *told.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
                true
            })
    });
    let done = released(py, || work(&signals));
    match raised.lock().unwrap_or_else(PoisonError::into_inner).take() {
        Some(raised) => Err(raised),
        None => Ok(done),
    }
}

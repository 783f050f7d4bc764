//! Runs commands with the interpreter released, and cancels them before they begin to write.

use std::cell::Cell;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use memdir::Cancellation as Core;
use pyo3::prelude::*;

use crate::shutdown::attached;

/// A command that takes less time is not interrupted: checking for signals needs the interpreter, which another
/// thread may be using.
const MOMENT: Duration = Duration::from_millis(10);

/// Cancels a call. A call that has not begun to write does not happen.
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
    /// The cancellation of the call that a thread of ours is about to execute. Commands that a store or a hook executes
    /// meanwhile are calls of their own.
    static OF_CALL: Cell<Option<Core>> = const { Cell::new(None) };
}

/// Calls `work`. The first command that it executes is cancelled with `cancellation`.
pub(crate) fn for_call<T>(cancellation: Core, work: impl FnOnce() -> T) -> T {
    OF_CALL.set(Some(cancellation));
    let done = work();
    OF_CALL.set(None);
    done
}

/// The cancellation of the call that this thread is about to execute, for what executes it: taken once.
pub(crate) fn of_call() -> Option<Core> {
    OF_CALL.take()
}

/// Runs `work` with the interpreter released, as a part of the call that this thread executes. `work` is given what cancels it.
pub(crate) fn detached<T: Send>(py: Python<'_>, work: impl FnOnce(&Core) -> T + Send) -> T {
    let cancellation = of_call().unwrap_or(Core::never());
    py.detach(|| work(&cancellation))
}

/// Runs `work` with the interpreter released, and gives it what cancels it. If a signal's handler raises meanwhile, such as
/// `KeyboardInterrupt`, a command that has not begun to write is cancelled, and the exception is raised.
pub(crate) fn interruptible<T: Send>(
    py: Python<'_>,
    work: impl FnOnce(&Core) -> T + Send,
) -> PyResult<T> {
    if let Some(cancellation) = OF_CALL.take() {
        // On a thread of ours, which has nothing to do with signals.
        return Ok(py.detach(|| work(&cancellation)));
    }
    let raised = Arc::new(Mutex::new(None));
    let (told, begun) = (Arc::clone(&raised), Instant::now());
    let signals = Core::asking(move || {
        begun.elapsed() >= MOMENT
            // Only on the main thread; anywhere else this does nothing.
            && attached(|py| py.check_signals().err()).flatten().is_some_and(|error| {
                *told.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
                true
            })
    });
    let done = py.detach(|| work(&signals));
    match raised.lock().unwrap_or_else(PoisonError::into_inner).take() {
        Some(raised) => Err(raised),
        None => Ok(done),
    }
}

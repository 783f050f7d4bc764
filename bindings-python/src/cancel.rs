//! Commands with the interpreter released, and how they are given up before they begin to write.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use memdir::Cancellation as Core;
use pyo3::prelude::*;

use crate::shutdown::attached;

/// A command that takes less is not interrupted: looking for signals takes the interpreter, which another
/// thread may be using.
const MOMENT: Duration = Duration::from_millis(10);

/// Tells a call that nobody waits for its answer any more: one that has not begun to write does not
/// happen.
#[pyclass(module = "memdir._memdir", frozen)]
pub(crate) struct Cancellation(Core);

#[pymethods]
impl Cancellation {
    #[new]
    fn new() -> Self {
        Self(Core::new())
    }

    /// Nobody waits any more.
    fn cancel(&self) {
        self.0.cancel();
    }
}

impl Cancellation {
    pub(crate) fn core(&self) -> &Core {
        &self.0
    }
}

/// Does `work` with the interpreter released. What a signal's handler raises meanwhile, such as
/// `KeyboardInterrupt`, cancels what has not begun to write, and is raised.
pub(crate) fn interruptible<T: Send>(
    py: Python<'_>,
    work: impl FnOnce() -> T + Send,
) -> PyResult<T> {
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
    let done = py.detach(|| signals.within(work));
    match raised.lock().unwrap_or_else(PoisonError::into_inner).take() {
        Some(raised) => Err(raised),
        None => Ok(done),
    }
}

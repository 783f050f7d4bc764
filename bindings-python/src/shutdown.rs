//! The way from a thread of the core back into Python, which closes when the interpreter shuts down.
//!
//! Before Python 3.14, a daemon thread that runs Python code at that time is unwound through the frames of
//! the library that called it, which aborts the process. So the exit waits for a while for threads that run
//! Python code, and lets no further threads in. Only the thread that shuts the interpreter down may still
//! enter, because it may execute last commands.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

use pyo3::prelude::*;

/// The longest time that the exit waits for running Python code.
const PATIENCE: Duration = Duration::from_secs(1);

static CLOSED: AtomicBool = AtomicBool::new(false);
/// The thread that shuts the interpreter down. Set before `CLOSED`.
static CLOSER: OnceLock<ThreadId> = OnceLock::new();
static INSIDE: AtomicUsize = AtomicUsize::new(0);

/// Does `work` with the interpreter; `None` if the interpreter is shutting down.
pub(crate) fn attached<T>(work: impl FnOnce(Python<'_>) -> T) -> Option<T> {
    counted(|| {
        // Checked only after the thread was counted, so the exit cannot miss it.
        if CLOSED.load(SeqCst) && CLOSER.get() != Some(&thread::current().id()) {
            return None;
        }
        Python::try_attach(work)
    })
}

/// Does `work`, which runs Python code on a thread that has the interpreter. The exit waits for it. It is
/// done even during shutdown, because its caller needs the result.
pub(crate) fn counted<T>(work: impl FnOnce() -> T) -> T {
    struct Inside;
    impl Drop for Inside {
        fn drop(&mut self) {
            INSIDE.fetch_sub(1, SeqCst);
        }
    }
    INSIDE.fetch_add(1, SeqCst);
    let _inside = Inside;
    work()
}

/// Returns whether the interpreter is shutting down.
pub(crate) fn is_closed() -> bool {
    CLOSED.load(SeqCst)
}

/// From now on, lets no other thread of the core into Python: neither to stores and hooks nor to the logger.
#[pyfunction]
pub(crate) fn before_exit(py: Python<'_>) {
    let _ = CLOSER.set(thread::current().id());
    CLOSED.store(true, SeqCst);
    py.detach(|| {
        let begun = Instant::now();
        while INSIDE.load(SeqCst) > 0 && begun.elapsed() < PATIENCE {
            thread::sleep(Duration::from_millis(1));
        }
    });
}

//! The way from a thread of the core back into Python, which closes when the interpreter shuts down.
//!
//! Before Python 3.14, a daemon thread that runs Python code at that time, or returns to it, is unwound through the
//! frames of the library that called it, which aborts the process. So the exit waits for a while for threads that run
//! Python code, and lets no further threads in. If the application's code takes longer, [`crate::guarded`] stops the
//! unwinding. A thread whose command has ended waits outside until the process has ended. Only the thread that shuts the
//! interpreter down may still enter, because it may execute last commands.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

use pyo3::prelude::*;

/// The longest time that the exit waits for running Python code.
const PATIENCE: Duration = Duration::from_secs(1);

/// How long a thread waits outside. Then it returns to Python nevertheless, because a function that the program
/// has registered for its exit may wait for it.
const OUTSIDE: Duration = Duration::from_secs(3);

static CLOSED: AtomicBool = AtomicBool::new(false);
/// The thread that shuts the interpreter down. Set before `CLOSED`.
static CLOSER: OnceLock<ThreadId> = OnceLock::new();
static INSIDE: AtomicUsize = AtomicUsize::new(0);

/// Does `work` with the interpreter; `None` if the interpreter is shutting down.
pub(crate) fn attached<T>(work: impl FnOnce(Python<'_>) -> T) -> Option<T> {
    counted(|| {
        // Checked only after the thread was counted, so the exit cannot miss it.
        if is_closed_to_this_thread() {
            return None;
        }
        Python::try_attach(work)
    })
}

/// Does `work`, which runs Python code on a thread that has the interpreter. The exit waits for it. It is
/// done even during shutdown, because its caller needs the result.
pub(crate) fn counted<T>(work: impl FnOnce() -> T) -> T {
    let _inside = Inside::new();
    work()
}

/// Does `work` with the interpreter released. The thread is counted before it takes the interpreter again, and
/// until it has it.
pub(crate) fn released<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> T {
    let (done, _inside) = py.detach(|| (work(), returning()));
    done
}

fn returning() -> Inside {
    let inside = Inside::new();
    if !is_closed_to_this_thread() {
        return inside;
    }
    drop(inside);
    thread::sleep(OUTSIDE);
    Inside::new()
}

/// A thread that is counted.
struct Inside;

impl Inside {
    fn new() -> Self {
        INSIDE.fetch_add(1, SeqCst);
        Self
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        INSIDE.fetch_sub(1, SeqCst);
    }
}

fn is_closed_to_this_thread() -> bool {
    CLOSED.load(SeqCst) && CLOSER.get() != Some(&thread::current().id())
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

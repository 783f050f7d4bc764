//! The way from a thread of the core back into Python, which closes when the interpreter ends.
//!
//! Before Python 3.14 a daemon thread that is in Python's code at that time is torn out of it, through
//! the frames of the library that called it, and takes the process along. So what is under way is
//! waited for at the exit, for a while, and nothing more is let in; but for the thread that ends the
//! interpreter itself, whose last words may be a command.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

use pyo3::prelude::*;

/// For so long what is under way is waited for.
const PATIENCE: Duration = Duration::from_secs(1);

static CLOSED: AtomicBool = AtomicBool::new(false);
/// The thread that ends the interpreter, known before it is closed.
static CLOSER: OnceLock<ThreadId> = OnceLock::new();
static INSIDE: AtomicUsize = AtomicUsize::new(0);

/// Does `work` with the interpreter; `None` if that is ending.
pub(crate) fn attached<T>(work: impl FnOnce(Python<'_>) -> T) -> Option<T> {
    counted(|| {
        // Looked at after it was counted, so that none slips past who waits.
        if CLOSED.load(SeqCst) && CLOSER.get() != Some(&thread::current().id()) {
            return None;
        }
        Python::try_attach(work)
    })
}

/// Does `work`, which runs Python's code on a thread that has the interpreter, and is waited for at the exit. It is done
/// after that, too, as its caller needs the result.
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

/// Whether the interpreter is ending.
pub(crate) fn is_closed() -> bool {
    CLOSED.load(SeqCst)
}

/// Lets no other thread from the core into Python from now on: neither to stores and hooks nor to the
/// logger.
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

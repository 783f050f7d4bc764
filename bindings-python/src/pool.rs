//! The threads on which the calls of an `AsyncMemory` are executed, and the number of running calls.
//!
//! The threads are the core's, so Python's own list of threads does not have them. Each is registered with Python for
//! its whole life, so the values that a store keeps in a `threading.local` are still there at the next call.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::{process, thread};

use memdir_bindings_shared::thread_pool::{MOST, ThreadPool, ThreadPools};
use pyo3::prelude::*;

use crate::guarded::call;
use crate::shutdown;

static SHARED: ThreadPools = threads();

/// Makes new pools, without any threads.
pub(crate) const fn threads() -> ThreadPools {
    ThreadPools::new(Some(around))
}

/// Makes a new pool for searches, without any threads.
pub(crate) const fn search_threads() -> ThreadPool {
    ThreadPool::new(MOST, Some(around))
}

/// Makes a new pool of one thread, for a call that may wait for the calls of any memory.
pub(crate) const fn one_thread() -> ThreadPool {
    ThreadPool::new(1, Some(around))
}

/// The pools of all memories whose stores wait only for the operating system and servers.
pub(crate) fn shared() -> &'static ThreadPools {
    &SHARED
}

/// Wraps the whole life of a thread.
fn around(serve: &mut (dyn FnMut() + Send)) {
    Python::try_attach(|py| {
        py.detach(|| {
            serve();
            // Returning would need the interpreter, which no longer exists.
            while shutdown::is_closed() {
                thread::park();
            }
        });
    });
}

/// Counts a call as running from creation to drop, whether or not a thread works on it.
pub(crate) struct UnderWay {
    calls: Arc<Calls>,
    process: u32,
}

impl UnderWay {
    pub(crate) fn begin(calls: &Arc<Calls>) -> Self {
        calls.begin();
        Self { calls: Arc::clone(calls), process: process::id() }
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        // A forked child has a copy of this value, but not the call.
        if self.process == process::id() {
            Python::try_attach(|py| self.calls.end(py));
        }
    }
}

/// The running calls of one memory.
#[derive(Default)]
pub(crate) struct Calls(Mutex<CallsState>);

#[derive(Default)]
struct CallsState {
    /// The process of these calls. A forked child has none of its parent's calls.
    process: u32,
    running: usize,
    /// Callbacks to call when no call is running.
    waiting: Vec<Py<PyAny>>,
}

impl Calls {
    /// Held only for a moment, and never while Python runs. So the lock is free at a fork, which holds the interpreter.
    fn state(&self) -> MutexGuard<'_, CallsState> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if state.process != process::id() {
            let inherited = std::mem::take(&mut *state);
            std::mem::forget(inherited);
            state.process = process::id();
        }
        state
    }

    pub(crate) fn begin(&self) {
        self.state().running += 1;
    }

    pub(crate) fn end(&self, py: Python<'_>) {
        let mut state = self.state();
        state.running -= 1;
        if state.running > 0 {
            return;
        }
        let waiting = std::mem::take(&mut state.waiting);
        drop(state);
        for callback in waiting {
            if let Err(error) = call(callback.bind(py), (), None) {
                error.write_unraisable(py, None);
            }
        }
    }

    /// Calls `callback` once no call is running. Returns `false`, and does not call it, if none is running now.
    pub(crate) fn when_idle(&self, callback: Py<PyAny>) -> bool {
        let mut state = self.state();
        let busy = state.running > 0;
        if busy {
            state.waiting.push(callback);
        }
        busy
    }
}

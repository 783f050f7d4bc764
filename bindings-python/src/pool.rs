//! The threads that the calls of an `AsyncMemory` are executed on, and how many calls are under way.
//!
//! The threads are the core's, so Python's own list of threads does not have them. Each is known to Python for its whole
//! life, so what a store keeps in a `threading.local` is there again at the next call.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::{process, thread};

use memdir_bindings_shared::thread_pool::ThreadPools;
use pyo3::prelude::*;

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

/// A call that is under way from when this is made until it is dropped, whether or not a thread works on it.
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
        // A forked child has the call's memory, and not the call.
        if self.process == process::id() {
            Python::try_attach(|py| self.calls.end(py));
        }
    }
}

/// The calls of one memory that are under way.
#[derive(Default)]
pub(crate) struct Calls(Mutex<CallsState>);

#[derive(Default)]
struct CallsState {
    /// The process that they are of; a forked child has none of its parent's.
    process: u32,
    running: usize,
    /// Who wants to know when there are none.
    waiting: Vec<Py<PyAny>>,
}

impl Calls {
    /// Only for a moment, and never while Python works: a fork, which holds the interpreter, finds it free.
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
            if let Err(error) = callback.call0(py) {
                error.write_unraisable(py, None);
            }
        }
    }

    /// Calls `callback` once none is under way; returns `false` if none is now, and then does not.
    pub(crate) fn when_idle(&self, callback: Py<PyAny>) -> bool {
        let mut state = self.state();
        let busy = state.running > 0;
        if busy {
            state.waiting.push(callback);
        }
        busy
    }
}

//! [`RunOnce`]: runs work before a memory's first command, on the thread of that command.
//!
//! `std::sync::Once` does not work here. A process that is forked during the work would wait for a thread that
//! it does not have. A custom store that uses the memory would wait for itself.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};
use std::time::Duration;

use memdir_store::{Cancellation, process};

/// The interval at which a waiting thread checks whether its call is cancelled.
const LOOK: Duration = Duration::from_millis(20);

/// Runs work once; other threads wait until it is done.
#[derive(Debug, Default)]
pub(crate) struct RunOnce {
    state: Mutex<RunState>,
    ended: Condvar,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum RunState {
    #[default]
    Waiting,
    /// Running in this process, on this thread.
    Running(u32, ThreadId),
    Done,
}

impl RunOnce {
    /// Runs `work` if it has not run yet. Otherwise waits until it is done or the call is cancelled. Holds no
    /// lock while `work` runs.
    pub(crate) fn before(&self, cancellation: &Cancellation, work: impl FnOnce()) {
        let me = RunState::Running(process::id(), thread::current().id());
        let mut state = self.state();
        loop {
            match *state {
                RunState::Done => return,
                // The work itself called this.
                running if running == me => return,
                RunState::Running(process, _) if process == process::id() => {
                    if cancellation.is_cancelled() {
                        return;
                    }
                    let waited = self.ended.wait_timeout(state, LOOK);
                    state = waited.unwrap_or_else(PoisonError::into_inner).0;
                }
                // If the work runs in the parent process, this child runs it again.
                RunState::Waiting | RunState::Running(..) => break,
            }
        }
        *state = me;
        drop(state);
        let _ending = Ending(self);
        work();
    }

    fn state(&self) -> MutexGuard<'_, RunState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Marks the work as done when it is dropped, including by a panic.
struct Ending<'f>(&'f RunOnce);

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        *self.0.state() = RunState::Done;
        self.0.ended.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::{Arc, Barrier, mpsc};

    use super::*;

    #[test]
    fn it_is_done_once_and_everybody_waits_for_it() {
        let (first, done) = (RunOnce::default(), AtomicUsize::new(0));
        let at_once = Barrier::new(8);
        thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    at_once.wait();
                    first.before(&Cancellation::never(), || {
                        thread::yield_now();
                        done.fetch_add(1, Ordering::SeqCst);
                    });
                    assert_eq!(done.load(Ordering::SeqCst), 1);
                });
            }
        });
    }

    #[test]
    fn the_work_itself_does_not_wait() {
        let first = RunOnce::default();
        let mut inner = false;
        first.before(&Cancellation::never(), || {
            first.before(&Cancellation::never(), || inner = true);
        });
        assert!(!inner);
    }

    #[test]
    fn a_call_that_is_cancelled_does_not_wait_for_another_one() {
        let first = RunOnce::default();
        *first.state() = RunState::Running(process::id(), thread::spawn(|| ()).thread().id());
        let cancellation = Cancellation::new();
        thread::scope(|scope| {
            scope.spawn(|| first.before(&cancellation, || panic!("it is being done")));
            cancellation.cancel();
        });
        assert!(matches!(*first.state(), RunState::Running(..)));
    }

    #[test]
    fn a_panic_ends_it_too() {
        let first = Arc::new(RunOnce::default());
        let (begun, other) = (Arc::clone(&first), mpsc::channel());
        let panicking = thread::spawn(move || {
            begun.before(&Cancellation::never(), || {
                let _ = other.0.send(());
                panic!("in the store")
            });
        });
        let _ = other.1.recv();
        first.before(&Cancellation::never(), || panic!("it was begun already"));
        assert!(panicking.join().is_err());
    }

    #[test]
    fn a_forked_process_does_it_itself() {
        let first = RunOnce::default();
        // As in a child that was forked while the work ran in its parent.
        *first.state() = RunState::Running(process::id() + 1, thread::current().id());
        let mut done = false;
        first.before(&Cancellation::never(), || done = true);
        assert!(done);
    }
}

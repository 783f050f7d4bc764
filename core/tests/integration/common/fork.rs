//! Forked processes, which the standard library does not offer.
#![allow(dead_code, reason = "each test program uses its part")]

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use memdir::Memory;

use super::workers::insert;

#[allow(unsafe_code, reason = "std does not fork")]
mod libc {
    unsafe extern "C" {
        pub(super) safe fn fork() -> i32;
        pub(super) safe fn _exit(status: i32) -> !;
        fn waitpid(pid: i32, status: *mut i32, options: i32) -> i32;
    }

    pub(super) fn succeeded(child: i32) -> bool {
        let mut status = -1;
        // SAFETY: the pointer is to a variable of ours, of the type that is written.
        unsafe { waitpid(child, &raw mut status, 0) == child && status == 0 }
    }
}

/// Forks a child that runs `job`; its exit status says whether `job` panicked.
pub(crate) fn child(job: impl FnOnce()) -> i32 {
    match libc::fork() {
        0 => {
            let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(job));
            libc::_exit(i32::from(done.is_err()));
        }
        child => child,
    }
}

/// Waits for a child, and returns whether it succeeded.
pub(crate) fn succeeded(child: i32) -> bool {
    libc::succeeded(child)
}

/// Does `work` while three threads insert into the log without a pause. Returns the number of their
/// inserts.
pub(crate) fn beside_busy_threads(memory: &Memory, work: impl FnOnce()) -> usize {
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        let busy = [0, 1, 2].map(|thread| {
            let stop = &stop;
            scope.spawn(move || {
                (0..)
                    .take_while(|_| !stop.load(Ordering::Relaxed))
                    .map(|number| insert(memory, &format!("{thread} {number}"), 1))
                    .count()
            })
        });
        work();
        stop.store(true, Ordering::Relaxed);
        busy.into_iter().map(|thread| thread.join().unwrap()).sum()
    })
}

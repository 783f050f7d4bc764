//! Counts the bytes that a scan reads, so tests and fuzzing can verify that it takes linear time. Clocks
//! cannot verify that, because they measure the machine, too.
//!
//! The released library does not contain this code.

#[cfg(any(test, fuzzing))]
use std::cell::Cell;

#[cfg(any(test, fuzzing))]
thread_local! {
    static STEPS: Cell<u64> = const { Cell::new(0) };
}

/// Records that this number of bytes was read.
#[cfg(any(test, fuzzing))]
pub(super) fn add(bytes: usize) {
    STEPS.set(STEPS.get() + bytes as u64);
}

#[cfg(not(any(test, fuzzing)))]
pub(super) fn add(_: usize) {}

/// The number of bytes that `work` read on this thread.
#[cfg(any(test, fuzzing))]
pub fn count(work: impl FnOnce()) -> u64 {
    let before = STEPS.get();
    work();
    STEPS.get() - before
}

//! Counts the bytes that a scan reads, so tests and fuzzing can show that it takes linear time. Clocks
//! cannot show that, because they measure the machine, too.
//!
//! The released library does not contain this code.

#[cfg(any(test, fuzzing))]
use std::cell::Cell;

#[cfg(any(test, fuzzing))]
thread_local! {
    static STEPS: Cell<u64> = const { Cell::new(0) };
}

/// Says that this many bytes are looked at.
#[cfg(any(test, fuzzing))]
pub(super) fn add(bytes: usize) {
    STEPS.set(STEPS.get() + bytes as u64);
}

#[cfg(not(any(test, fuzzing)))]
pub(super) fn add(_: usize) {}

/// How many bytes `work` looked at, on this thread.
#[cfg(any(test, fuzzing))]
pub fn count(work: impl FnOnce()) -> u64 {
    let before = STEPS.get();
    work();
    STEPS.get() - before
}

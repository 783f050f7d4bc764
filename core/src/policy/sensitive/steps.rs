//! Counts the bytes that a scan looks at, so that tests and fuzzing can show that no text takes longer
//! than its length allows. Clocks cannot: they measure the machine, too.
//!
//! Nothing of it is compiled into the library that is shipped.

#[cfg(any(test, fuzzing))]
use std::cell::Cell;

#[cfg(any(test, fuzzing))]
thread_local! {
    static STEPS: Cell<u64> = const { Cell::new(0) };
}

/// Says that so many bytes are looked at.
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

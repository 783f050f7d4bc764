//! A value that each process makes for itself, such as what has threads or connections.
//!
//! A forked child inherits a copy of it that is of no use, and harmful to touch: the threads are
//! not there, locks may be held by nobody, and the sockets and their event queue are the parent's
//! as well. So a child makes its own, and never even drops what it inherited.

use std::process;
use std::sync::OnceLock;

/// Made when it is first asked for in a process.
#[derive(Debug)]
pub(super) struct PerProcess<T> {
    first: Slot<T>,
}

type Slot<T> = OnceLock<Box<Made<T>>>;

#[derive(Debug)]
struct Made<T> {
    process: u32,
    value: T,
    /// What a child of that process made.
    next: Slot<T>,
}

impl<T> PerProcess<T> {
    pub(super) const fn new() -> Self {
        Self { first: OnceLock::new() }
    }

    /// This process's value. No lock is held while it is made, and none afterwards, so that a fork
    /// in another thread leaves nothing locked; of two that are made at once, one is dropped.
    pub(super) fn get<E>(&self, make: impl Fn() -> Result<T, E>) -> Result<&T, E> {
        let process = process::id();
        let mut slot = &self.first;
        loop {
            match slot.get() {
                Some(made) if made.process == process && made.next.get().is_none() => {
                    return Ok(&made.value);
                }
                Some(made) => slot = &made.next,
                None => {
                    let made = Made { process, value: make()?, next: OnceLock::new() };
                    let _ = slot.set(Box::new(made));
                }
            }
        }
    }
}

impl<T> Drop for PerProcess<T> {
    fn drop(&mut self) {
        let mut slot = self.first.take();
        while let Some(mut made) = slot {
            slot = made.next.take();
            if made.process != process::id() {
                std::mem::forget(made);
            }
        }
    }
}

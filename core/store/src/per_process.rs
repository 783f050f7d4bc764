//! [`PerProcess`]: a value that each process creates for itself, because it contains threads or connections.
//!
//! A forked child inherits a copy that it must not touch: its threads do not exist in the child, its locks
//! may stay locked forever, and its sockets and event queue belong to the parent as well. So a child creates
//! its own value. It does not even drop the inherited one.

use std::sync::OnceLock;

use crate::process;

/// A value that is created when a process first needs it.
#[derive(Debug)]
pub struct PerProcess<T> {
    first: Slot<T>,
}

type Slot<T> = OnceLock<Box<Made<T>>>;

#[derive(Debug)]
struct Made<T> {
    process: u32,
    value: T,
    /// The value of a child of that process.
    next: Slot<T>,
}

impl<T> PerProcess<T> {
    /// A value that is not created yet.
    #[must_use]
    #[allow(clippy::new_without_default, reason = "it is made in statics")]
    pub const fn new() -> Self {
        Self { first: OnceLock::new() }
    }

    /// The value of this process. No lock is held, so a fork in another thread leaves nothing locked. If two
    /// threads create a value at once, one of the values is dropped.
    pub fn get<E>(&self, make: impl Fn() -> Result<T, E>) -> Result<&T, E> {
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

//! [`Call`]: the call that a thread executes. A store of the application learns which call it works for, and its
//! requests end with the call.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use memdir::{Cancellation, Memory};

/// A call of one of the functions that take a memory.
pub(crate) struct Call {
    /// The number of the memory with which it was made.
    pub(crate) number: u64,
    pub(crate) cancellation: Cancellation,
    has_written: Cell<bool>,
}

thread_local! {
    static CURRENT: RefCell<Option<Rc<Call>>> = const { RefCell::new(None) };
}

impl Call {
    /// Does the work of a call. A store may make another call meanwhile, on the same thread.
    pub(crate) fn during<T>(number: u64, memory: &Memory, work: impl FnOnce() -> T) -> T {
        struct Ending(Option<Rc<Call>>);
        impl Drop for Ending {
            fn drop(&mut self) {
                CURRENT.set(self.0.take());
            }
        }
        let (cancellation, has_written) = (memory.cancellation().clone(), Cell::new(false));
        let call = Rc::new(Self { number, cancellation, has_written });
        let _ending = Ending(CURRENT.replace(Some(call)));
        work()
    }

    /// The call that this thread executes.
    pub(crate) fn current() -> Option<Rc<Self>> {
        CURRENT.with_borrow(Clone::clone)
    }

    /// Records that a store gets a request that changes something.
    pub(crate) fn writes(&self) {
        self.has_written.set(true);
    }

    /// Returns whether a store got a request that changes something.
    pub(crate) fn has_written(&self) -> bool {
        self.has_written.get()
    }
}

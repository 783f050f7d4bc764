//! [`Call`]: the call that a thread executes. A store of the application learns which call it works for, and its
//! requests end with the call.

use std::cell::RefCell;
use std::sync::Arc;

use memdir::Memory;
use memdir_bindings_shared::own_store::HostCall;

/// A call of one of the functions that take a memory.
#[derive(Clone)]
pub(crate) struct Call {
    /// The number of the memory with which it was made.
    pub(crate) number: u64,
    /// The call, for the stores that it asks.
    pub(crate) asking: Arc<HostCall>,
}

thread_local! {
    static CURRENT: RefCell<Option<Call>> = const { RefCell::new(None) };
}

impl Call {
    /// Does the work of a call. A store may make another call meanwhile, on the same thread.
    pub(crate) fn during<T>(number: u64, memory: &Memory, work: impl FnOnce() -> T) -> T {
        struct Ending(Option<Call>);
        impl Drop for Ending {
            fn drop(&mut self) {
                CURRENT.set(self.0.take());
            }
        }
        let call = Self { number, asking: Arc::new(HostCall::new(memory.cancellation().clone())) };
        let _ending = Ending(CURRENT.replace(Some(call)));
        work()
    }

    /// The call that this thread executes.
    pub(crate) fn current() -> Option<Self> {
        CURRENT.with_borrow(Clone::clone)
    }
}

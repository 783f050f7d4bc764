//! [`Cancellation`], the native half of an `AbortSignal`, and [`Caller`], the side that waits for a call and can cancel it.
//!
//! A call waits in three places: for a thread, for a lock or a server beneath a store, and for a store that is written in
//! JavaScript. A cancellation wakes the first and the last one; a wait beneath a store polls [`memdir::Cancellation`].

use std::cell::RefCell;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use memdir::Memory;
use memdir_bindings_shared::own_store::HostCall;
use napi::bindgen_prelude::ClassInstance;
use napi_derive::napi;

/// Cancels one call. If the call has not begun to write, it is not executed.
#[napi]
pub struct Cancellation(Arc<Caller>);

#[napi]
impl Cancellation {
    /// A new one, not yet cancelled. `number` identifies the call's signal in TypeScript.
    #[napi(constructor)]
    #[must_use]
    pub fn new(number: u32) -> Self {
        let call = Arc::new(HostCall::new(memdir::Cancellation::new()));
        Self(Arc::new(Caller { number, call, waiting: Mutex::default() }))
    }

    /// Cancels the call.
    #[napi]
    pub fn cancel(&self) {
        self.0.call.cancellation().cancel();
        let told = self.0.waiting().take();
        if let Some(told) = told {
            told();
        }
    }
}

/// The caller of a call that can be cancelled.
pub(crate) struct Caller {
    pub(crate) number: u32,
    /// The call, for the stores that it asks.
    pub(crate) call: Arc<HostCall>,
    /// Called when the call is cancelled. It ends the current wait.
    waiting: Mutex<Option<Box<dyn FnOnce() + Send>>>,
}

thread_local! {
    /// The caller whose work this thread executes. A store that is written in JavaScript reads it here, because some of its
    /// methods have no context.
    static CURRENT: RefCell<Option<Arc<Caller>>> = const { RefCell::new(None) };
}

impl Caller {
    /// The caller of a call with this cancellation, if it has one.
    pub(crate) fn of(cancellation: Option<ClassInstance<'_, Cancellation>>) -> Option<Arc<Self>> {
        cancellation.map(|cancellation| Arc::clone(&cancellation.0))
    }

    /// The memory for a call of this caller, which can cancel it.
    pub(crate) fn of_memory(caller: Option<&Arc<Self>>, memory: &Memory) -> Memory {
        memory.cancelled_by(&Self::cancellation(caller))
    }

    /// The cancellation of this caller's call.
    pub(crate) fn cancellation(caller: Option<&Arc<Self>>) -> memdir::Cancellation {
        caller.map_or(memdir::Cancellation::never(), |caller| caller.call.cancellation().clone())
    }

    /// Runs the work of a call on one of our threads.
    pub(crate) fn during<T>(caller: Option<Arc<Self>>, work: impl FnOnce() -> T) -> T {
        struct Ending;
        impl Drop for Ending {
            fn drop(&mut self) {
                CURRENT.take();
            }
        }
        CURRENT.set(caller);
        let _ending = Ending;
        work()
    }

    /// The caller whose work this thread executes.
    pub(crate) fn current() -> Option<Arc<Self>> {
        CURRENT.with_borrow(Clone::clone)
    }

    /// Calls `told` when the call is cancelled, on the thread that cancels it; immediately if it is already cancelled. Only
    /// one function is registered at a time, until [`forget`](Self::forget).
    pub(crate) fn tell(&self, told: impl FnOnce() + Send + 'static) {
        let mut waiting = self.waiting();
        if self.call.cancellation().is_cancelled() {
            drop(waiting);
            told();
        } else {
            *waiting = Some(Box::new(told));
        }
    }

    /// Removes the registered function, because the call no longer waits.
    pub(crate) fn forget(&self) {
        let told = self.waiting().take();
        drop(told);
    }

    fn waiting(&self) -> MutexGuard<'_, Option<Box<dyn FnOnce() + Send>>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

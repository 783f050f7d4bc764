//! [`Cancellation`]: the native half of an `AbortSignal`, and [`Caller`]: who waits for a call, and can give it up.
//!
//! A call waits in three places: for a thread, for a lock or a server beneath a store, and for a store that is written in
//! JavaScript. The first and the last one are told when the call is cancelled; the others look at
//! [`memdir::Cancellation`].

use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use memdir::Memory;
use napi::bindgen_prelude::ClassInstance;
use napi_derive::napi;

/// Cancels one call. A call that has not begun to write does not happen.
#[napi]
pub struct Cancellation(Arc<Caller>);

#[napi]
impl Cancellation {
    /// A new one, not yet cancelled. `number` is what TypeScript knows the call's signal by.
    #[napi(constructor)]
    #[must_use]
    pub fn new(number: u32) -> Self {
        let cancellation = memdir::Cancellation::new();
        let (waiting, has_written) = (Mutex::default(), AtomicBool::new(false));
        Self(Arc::new(Caller { number, cancellation, waiting, has_written }))
    }

    /// Cancels the call.
    #[napi]
    pub fn cancel(&self) {
        self.0.cancellation.cancel();
        let told = self.0.waiting().take();
        if let Some(told) = told {
            told();
        }
    }
}

/// Who waits for a call that can be cancelled.
pub(crate) struct Caller {
    pub(crate) number: u32,
    cancellation: memdir::Cancellation,
    /// What is called when the call is cancelled: where it waits, it is ended so.
    waiting: Mutex<Option<Box<dyn FnOnce() + Send>>>,
    /// Whether a store that is written in JavaScript was asked to change something for this call.
    has_written: AtomicBool,
}

thread_local! {
    /// The caller of what this thread of ours executes. A store that is written in JavaScript looks here, because some of its
    /// methods have no context.
    static CURRENT: RefCell<Option<Arc<Caller>>> = const { RefCell::new(None) };
}

impl Caller {
    /// The caller of a call with this cancellation, if it has one.
    pub(crate) fn of(cancellation: Option<ClassInstance<'_, Cancellation>>) -> Option<Arc<Self>> {
        cancellation.map(|cancellation| Arc::clone(&cancellation.0))
    }

    /// The memory, for a call that its caller can cancel.
    pub(crate) fn of_memory(caller: Option<&Arc<Self>>, memory: &Memory) -> Memory {
        memory.cancelled_by(&Self::cancellation(caller))
    }

    /// What cancels a call of this caller.
    pub(crate) fn cancellation(caller: Option<&Arc<Self>>) -> memdir::Cancellation {
        caller.map_or(memdir::Cancellation::never(), |caller| caller.cancellation.clone())
    }

    /// Does the work of a call, on a thread of ours.
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

    /// The caller of what this thread executes.
    pub(crate) fn current() -> Option<Arc<Self>> {
        CURRENT.with_borrow(Clone::clone)
    }

    /// A store is asked to change something.
    pub(crate) fn writes(&self) {
        self.has_written.store(true, Ordering::SeqCst);
    }

    /// Whether the call is cancelled, and no store was asked to change anything for it.
    pub(crate) fn has_gone_before_a_change(&self) -> bool {
        self.cancellation.is_cancelled() && !self.has_written.load(Ordering::SeqCst)
    }

    /// Calls `told` when the call is cancelled, on the thread that cancels it; at once, if it is already. There is one such
    /// function at a time, until [`forget`](Self::forget).
    pub(crate) fn tell(&self, told: impl FnOnce() + Send + 'static) {
        let mut waiting = self.waiting();
        if self.cancellation.is_cancelled() {
            drop(waiting);
            told();
        } else {
            *waiting = Some(Box::new(told));
        }
    }

    /// The call does not wait any more.
    pub(crate) fn forget(&self) {
        let told = self.waiting().take();
        drop(told);
    }

    fn waiting(&self) -> MutexGuard<'_, Option<Box<dyn FnOnce() + Send>>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

//! `call_handler`: runs the hooks of JavaScript about the changes of a sync.
//!
//! The core calls it from the thread of the sync. The call becomes an [`AskedCall`] for JavaScript's thread, which runs the hooks as for any
//! other call, and says when it is done.

use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Mutex};

use memdir::{CallHandler, HookError};
use napi::Status;
use napi::bindgen_prelude::{Function, JsObjectValue, Object, Unknown};
use napi::threadsafe_function::{ThreadsafeFunction, ThreadsafeFunctionCallMode};
use napi_derive::napi;

use crate::call::PendingCall;
use crate::cancel::Caller;
use crate::js_merger::answered;
use crate::thread_pool::Workers;

/// A function that receives calls. It is *weak*, because the promise of the sync already keeps Node alive.
type Serve = ThreadsafeFunction<AskedCall, Unknown<'static>, AskedCall, Status, false, true>;

/// A change of a sync that hooks decide about.
#[napi]
pub struct AskedCall {
    call: Mutex<Option<PendingCall>>,
    answer: Sender<Result<(), String>>,
}

#[napi]
impl AskedCall {
    /// The call. It is moved out: a second call returns null.
    #[napi]
    pub fn take_call(&self) -> Option<PendingCall> {
        self.call.lock().map(|mut call| call.take()).unwrap_or_default()
    }

    /// Says that the call is finished.
    #[napi]
    pub fn succeed(&self) {
        // If the sync no longer waits, or it was answered before, this is dropped.
        let _ = self.answer.send(Ok(()));
    }

    /// Says that the call could not be finished, or that a hook failed, with the message.
    #[napi]
    pub fn fail(&self, message: String) {
        let _ = self.answer.send(Err(message));
    }
}

/// Passes each call to the function `ask` of `hooks`, which must not throw, until the sync is cancelled. The threads of `workers` make the
/// changes.
pub(crate) fn call_handler(
    hooks: &Object<'_>,
    workers: &Arc<Workers>,
    caller: &Option<Arc<Caller>>,
) -> napi::Result<Arc<CallHandler>> {
    let (workers, caller) = (Arc::clone(workers), caller.clone());
    let serve: Function<'_, AskedCall, Unknown<'static>> = hooks.get_named_property("ask")?;
    let serve: Serve =
        serve.build_threadsafe_function().weak::<true>().callee_handled::<false>().build()?;
    Ok(Arc::new(move |memory, call| {
        let (answer, receiver) = mpsc::channel();
        let pending = PendingCall::new(call, memory.clone(), Arc::clone(&workers), caller.clone());
        let asked = AskedCall { call: Mutex::new(Some(pending)), answer };
        serve.call(asked, ThreadsafeFunctionCallMode::NonBlocking);
        let answer = answered(&receiver, memory.cancellation(), || serve.aborted())?;
        answer.map_err(HookError::from)
    }))
}

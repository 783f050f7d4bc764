//! How far a long task is: a function of JavaScript's is told, and says whether it goes on.

use std::sync::mpsc;

use napi::bindgen_prelude::{Function, JsValuesTupleIntoVec};
use napi::threadsafe_function::ThreadsafeFunctionCallMode;
use napi::{Error, Result, Status};

use crate::thread_pool::receive;

/// Calls a function on JavaScript's thread from another one, which waits for what it returns.
type ProgressCallback<T> = Box<dyn FnMut(T) -> Result<bool> + Send>;

/// What asks the function of JavaScript's, if there is one, whether to go on.
pub(crate) fn progress_callback<T: JsValuesTupleIntoVec + 'static>(
    progress: Option<Function<'_, T, bool>>,
) -> Result<ProgressCallback<T>> {
    let Some(progress) = progress else { return Ok(Box::new(|_| Ok(true))) };
    // Weak, because the promise keeps Node alive already.
    let progress =
        progress.build_threadsafe_function().weak::<true>().callee_handled::<false>().build()?;
    Ok(Box::new(move |at| {
        let (sender, receiver) = mpsc::channel();
        let answer = move |goes_on: Result<bool>, _| {
            let _ = sender.send(goes_on);
            Ok(())
        };
        progress.call_with_return_value(at, ThreadsafeFunctionCallMode::NonBlocking, answer);
        receive(&receiver, || progress.aborted())
            .unwrap_or_else(|| Err(Error::from_status(Status::Closing)))
    }))
}

//! Reports the progress of a long task to a JavaScript function, which returns false to stop the
//! task.

use std::ops::ControlFlow;
use std::sync::mpsc;

use napi::bindgen_prelude::{Function, JsValuesTupleIntoVec};
use napi::threadsafe_function::ThreadsafeFunctionCallMode;
use napi::{Error, Result, Status};

use crate::thread_pool::receive;

/// Calls a function on JavaScript's thread from another thread, and waits for its result.
pub(crate) type ProgressCallback<T> = Box<dyn FnMut(T) -> Result<bool> + Send>;

/// A callback to the JavaScript function. Without a function it always returns true.
pub(crate) fn progress_callback<T: JsValuesTupleIntoVec + 'static>(
    progress: Option<Function<'_, T, bool>>,
) -> Result<ProgressCallback<T>> {
    let Some(progress) = progress else { return Ok(Box::new(|_| Ok(true))) };
    // Weak, because the promise already keeps Node alive.
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

/// Reports the progress. Returns whether to continue. An error that JavaScript threw is put into `thrown`.
pub(crate) fn go_on<T>(
    on_progress: &mut ProgressCallback<T>,
    at: T,
    thrown: &mut Option<Error>,
) -> ControlFlow<()> {
    match on_progress(at) {
        Ok(true) => ControlFlow::Continue(()),
        Ok(false) => ControlFlow::Break(()),
        Err(error) => {
            *thrown = Some(error);
            ControlFlow::Break(())
        }
    }
}

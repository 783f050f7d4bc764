//! `merger`: a function in JavaScript that merges the conflicts of a sync, for the core.
//!
//! The core calls it from the thread of the sync. The call becomes a [`MergeRequest`] for a function on JavaScript's thread, which may answer
//! later: the function may return a promise.

use std::sync::Mutex;
use std::sync::mpsc::{self, Receiver, Sender};
use std::time::{Duration, Instant};

use memdir::{Cancellation, OnConflict, StoreError};
use napi::Status;
use napi::bindgen_prelude::{Function, Unknown};
use napi::threadsafe_function::{ThreadsafeFunction, ThreadsafeFunctionCallMode};
use napi_derive::napi;

use crate::results::Shown;
use crate::thread_pool::{Received, receive_until};

/// A function that receives requests. It is *weak*, because the promise of the sync already keeps Node alive.
type Serve = ThreadsafeFunction<MergeRequest, Unknown<'static>, MergeRequest, Status, false, true>;

/// How often a thread that waits for the function looks for a cancellation.
const LOOK: Duration = Duration::from_millis(50);

type Answer = Result<Option<String>, String>;

/// A conflict that the function has to merge.
#[napi]
pub struct MergeRequest {
    file: Mutex<Option<Shown>>,
    answer: Sender<Answer>,
}

#[napi]
impl MergeRequest {
    /// The file. It is moved out: a second call returns null.
    #[napi(ts_return_type = "results.SyncMerge")]
    pub fn take_file(&self) -> Option<Shown> {
        self.file.lock().map(|mut file| file.take()).unwrap_or_default()
    }

    /// Answers with the text of both files, or with null to keep both contents.
    #[napi]
    pub fn succeed(&self, text: Option<String>) {
        // If the sync no longer waits, or it was answered before, this is dropped.
        let _ = self.answer.send(Ok(text));
    }

    /// Answers with the message of an error.
    #[napi]
    pub fn fail(&self, message: String) {
        let _ = self.answer.send(Err(message));
    }
}

/// Ends conflicts by a function of JavaScript, until the sync is cancelled. `serve` is called with every request, and must not throw.
pub(crate) fn merger(
    serve: &Function<'_, MergeRequest, Unknown<'static>>,
    cancellation: Cancellation,
) -> napi::Result<OnConflict> {
    let serve: Serve =
        serve.build_threadsafe_function().weak::<true>().callee_handled::<false>().build()?;
    Ok(OnConflict::merge(move |file| {
        let (answer, receiver) = mpsc::channel();
        let request = MergeRequest { file: Mutex::new(Some(Shown::of(file))), answer };
        serve.call(request, ThreadsafeFunctionCallMode::NonBlocking);
        Ok(answered(&receiver, &cancellation, || serve.aborted())??)
    }))
}

/// Waits for the answer of JavaScript, until the sync is cancelled.
pub(crate) fn answered<T>(
    receiver: &Receiver<T>,
    cancellation: &Cancellation,
    gone: impl Fn() -> bool,
) -> Result<T, Box<dyn std::error::Error + Send + Sync>> {
    loop {
        let until = Some(Instant::now() + LOOK);
        match receive_until(receiver, until, &gone) {
            Received::Message(answer) => return Ok(answer),
            _ if cancellation.is_cancelled() => return Err(StoreError::Cancelled.into()),
            Received::TimedOut => {}
            Received::Gone => return Err("it did not answer".into()),
        }
    }
}

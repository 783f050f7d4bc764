//! Unused files: what `expire` tells JavaScript, and is told by it.

use std::sync::mpsc;

use memdir::Expired;
use memdir::policy::expiry::Progress;
use napi::bindgen_prelude::Function;
use napi::threadsafe_function::ThreadsafeFunctionCallMode;
use napi::{Error, Result, Status};
use napi_derive::napi;

use crate::entry::to_millis;
use crate::work::receive;

/// A file that was removed because nobody used it.
#[napi(object)]
pub(crate) struct ExpiredFile {
    /// Where it was.
    pub path: String,
    /// How many bytes it held.
    pub bytes: i64,
    /// When it was last changed or shown, in milliseconds since 1970.
    pub last_used: f64,
}

impl From<Expired> for ExpiredFile {
    fn from(file: Expired) -> Self {
        Self {
            path: file.path.as_str().to_owned(),
            bytes: i64::try_from(file.bytes).unwrap_or(i64::MAX),
            last_used: to_millis(file.last_used),
        }
    }
}

/// How far an expiry is.
#[napi(object)]
pub struct ExpiryProgress {
    /// The files that were looked at.
    pub files: i64,
    /// Those of them that were removed, or would be.
    pub removed: i64,
}

impl From<Progress> for ExpiryProgress {
    fn from(progress: Progress) -> Self {
        let number = |count| i64::try_from(count).unwrap_or(i64::MAX);
        Self { files: number(progress.files), removed: number(progress.removed) }
    }
}

/// Calls a function on JavaScript's thread from another one, which waits for what it returns.
type Watch = Box<dyn FnMut(ExpiryProgress) -> Result<bool> + Send>;

/// What asks the function of JavaScript's, if there is one, whether to go on.
pub(crate) fn watch(progress: Option<Function<'_, ExpiryProgress, bool>>) -> Result<Watch> {
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

//! [`StoreRequest`]: one call of a store that is written in JavaScript, as the JavaScript side sees it. It sends the
//! answers to the waiting thread.

use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use memdir::StoreError;
use memdir::store::Entry;
use memdir_bindings_shared::own_store::{Progress, asked};
use napi::Error;
use napi::bindgen_prelude::{Either5, Uint8Array, Unknown};
use napi_derive::napi;

use crate::entry::StoreEntry;
use crate::thrown::Thrown;
use crate::times::{from_millis, to_millis};

/// A message to the waiting thread.
pub(crate) enum Message {
    /// An `update` needs the edit of this content.
    Edit(Vec<u8>, Sender<Option<Vec<u8>>>),
    /// The request is done.
    Done(Result<Outcome, StoreError>),
    /// The call is cancelled. The store does not send this.
    Cancelled,
}

/// The result of a method.
pub(crate) enum Outcome {
    Nothing,
    Content(Vec<u8>),
    Entries(Vec<Entry>),
    Time(SystemTime),
    Flag(bool),
    /// The store has no such method.
    Absent,
}

/// The arguments of a method, besides its path.
#[derive(Default)]
pub(crate) struct Arguments {
    pub(crate) destination: Option<String>,
    pub(crate) content: Option<Vec<u8>>,
    pub(crate) overwrite: bool,
    pub(crate) depth: u32,
    pub(crate) time: Option<SystemTime>,
}

/// One call of a store that is written in JavaScript.
#[napi]
pub struct StoreRequest {
    pub(crate) operation: &'static str,
    pub(crate) path: String,
    pub(crate) arguments: Mutex<Arguments>,
    pub(crate) caller: Option<u32>,
    pub(crate) progress: Arc<Progress>,
    pub(crate) answer: Sender<Message>,
}

#[napi]
impl StoreRequest {
    /// Returns true if the method should be called, and false if the call was cancelled before. Call this first, and only
    /// once.
    #[napi]
    pub fn begins(&self) -> bool {
        self.progress.begins()
    }

    /// The number of the call's `Cancellation`; null if the call cannot be cancelled, or no longer can be.
    #[napi(getter)]
    pub fn caller(&self) -> Option<u32> {
        self.caller
    }

    /// The method that is called.
    #[napi(getter)]
    pub fn operation(&self) -> &'static str {
        self.operation
    }

    /// Its path; the source of a rename.
    #[napi(getter)]
    pub fn path(&self) -> String {
        self.path.clone()
    }

    /// The destination of a rename.
    #[napi(getter)]
    pub fn destination(&self) -> Option<String> {
        self.arguments().destination.clone()
    }

    /// True if a write may replace an existing file.
    #[napi(getter)]
    pub fn overwrite(&self) -> bool {
        self.arguments().overwrite
    }

    /// The number of directory levels to list.
    #[napi(getter)]
    pub fn depth(&self) -> u32 {
        self.arguments().depth
    }

    /// The time to set, in milliseconds since 1970.
    #[napi(getter)]
    pub fn time(&self) -> Option<f64> {
        self.arguments().time.map(to_millis)
    }

    /// The content to write. It is moved out: a second call returns nothing.
    #[napi]
    pub fn take_content(&self) -> Option<Uint8Array> {
        self.arguments().content.take().map(Uint8Array::from)
    }

    /// The new content for `content` in an update, or null to leave the file unchanged. It is also null if the call was
    /// cancelled meanwhile.
    #[napi]
    pub fn edit(&self, content: &[u8]) -> napi::Result<Option<Uint8Array>> {
        let (sender, receiver) = mpsc::channel();
        // The other thread only computes this answer and needs no JavaScript for it, so the wait here is as short as the
        // edit itself.
        let sent = self.answer.send(Message::Edit(content.to_vec(), sender));
        match sent.ok().and_then(|()| receiver.recv().ok()) {
            Some(edited) => Ok(edited.map(Uint8Array::from)),
            None if self.progress.is_given_up() => Ok(None),
            None => Err(Error::from_reason("edit was called after the update had ended")),
        }
    }

    /// Answers with the method's result.
    #[napi]
    pub fn succeed(&self, returned: Either5<Uint8Array, Vec<StoreEntry>, f64, bool, ()>) {
        self.done(match returned {
            Either5::A(content) => Ok(Outcome::Content(content.to_vec())),
            // An entry whose path is not valid in a command is left out.
            Either5::B(entries) => Ok(Outcome::Entries(
                entries.into_iter().filter_map(StoreEntry::into_core).collect(),
            )),
            Either5::C(millis) => match from_millis(millis) {
                Some(time) => Ok(Outcome::Time(time)),
                None => Err(StoreError::failed(self.operation, format!("{millis} is no time"))),
            },
            Either5::D(flag) => Ok(Outcome::Flag(flag)),
            Either5::E(()) => Ok(Outcome::Nothing),
        });
    }

    /// Answers that the store has no such method.
    #[napi]
    pub fn absent(&self) {
        self.done(Ok(Outcome::Absent));
    }

    /// Answers with the method's error: its code, its message, and the thrown value.
    #[napi]
    pub fn fail(&self, code: Option<String>, message: String, thrown: Unknown<'_>) {
        let condition = code.as_deref().and_then(StoreError::from_errno_name);
        self.done(Err(condition.unwrap_or_else(|| {
            let value = Error::from_unknown_without_coercion(thrown);
            StoreError::failed(asked(self.operation), Thrown::new(message, value))
        })));
    }

    fn done(&self, outcome: Result<Outcome, StoreError>) {
        // If the request was already answered, this is dropped.
        let _ = self.answer.send(Message::Done(outcome));
    }

    fn arguments(&self) -> MutexGuard<'_, Arguments> {
        self.arguments.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Outcome {
    pub(crate) fn unexpected(&self, operation: &'static str, expected: &str) -> StoreError {
        let came = match self {
            Outcome::Nothing => "nothing",
            Outcome::Content(_) => "a Uint8Array",
            Outcome::Entries(_) => "an array",
            Outcome::Time(_) => "a number",
            Outcome::Flag(_) => "a boolean",
            Outcome::Absent => "nothing, as there is no such method,",
        };
        StoreError::failed(operation, format!("it returned {came} and not {expected}"))
    }
}

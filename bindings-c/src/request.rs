//! [`Request`]: a request to a store of the application, by its number, until the store has answered.
//!
//! The thread of the call waits for the answer, which may come from any other thread, or never. So a [`Wait`] ends when the call is
//! cancelled. A later answer of the store is ignored.

use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use memdir::store::Swap;
use memdir::{Cancellation, StoreError};
use memdir_bindings_shared::own_store::{Progress, Wait};
use serde_json::{Value, json};

use crate::call::Call;
use crate::handles::Table;

/// The requests without an answer. An abandoned request stays until its answer comes, because the store uses the lent memory
/// until then.
pub(crate) static REQUESTS: Table<Arc<Request>> = Table::new();

/// The part of a request that the store's side uses.
pub(crate) struct Request {
    /// The cancellation of the call that made the request.
    cancellation: Cancellation,
    progress: Arc<Progress>,
    edit: Option<EditOnce>,
    waiting: Sender<Message>,
}

/// The answer of the store.
pub(crate) struct Answer {
    pub(crate) result: Value,
    pub(crate) content: Vec<u8>,
}

enum Message {
    Answered(Answer),
    /// The call is cancelled. This message does not come from the store.
    Cancelled,
}

/// The edit of an update, which the store may request after the wait for the update has ended.
struct EditOnce {
    swap: Arc<Swap>,
    /// The new content, lent to the store.
    new: OnceLock<Vec<u8>>,
}

impl Request {
    /// Delivers the answer to a request. Returns false if no call waits for it.
    pub(crate) fn answer(number: u64, result: Option<&[u8]>, content: &[u8]) -> bool {
        let Some(request) = REQUESTS.take(number) else { return false };
        let result = result.map_or(Ok(Value::Null), serde_json::from_slice);
        let result =
            result.unwrap_or_else(|error| json!({ "failed": format!("no JSON: {error}") }));
        let answer = Answer { result, content: content.to_vec() };
        request.waiting.send(Message::Answered(answer)).is_ok()
    }

    /// The new content for an update, or `None` if nothing is to be written.
    pub(crate) fn edit(&self, content: &[u8]) -> Option<&[u8]> {
        let edit = self.edit.as_ref()?;
        let new = edit.swap.apply(content)?;
        // The new content is the same each time, so the lent memory is not replaced.
        self.progress.edits().then(|| &**edit.new.get_or_init(|| new))
    }

    /// Wakes the threads that wait for requests of a cancelled call.
    pub(crate) fn wake_cancelled() {
        REQUESTS.each(|request| {
            if request.cancellation.is_cancelled() {
                let _ = request.waiting.send(Message::Cancelled);
            }
        });
    }
}

/// The wait for an answer.
pub(crate) struct Waiting<'w> {
    wait: Wait<'w>,
    receiver: Receiver<Message>,
    pub(crate) number: u64,
    /// The number of the call that the store works for, if there is one.
    pub(crate) call: Option<u64>,
}

impl<'w> Waiting<'w> {
    /// Makes a new request; `None` if its call is cancelled, so the request is not sent.
    pub(crate) fn begin(
        operation: &'static str,
        cancellation: &'w Cancellation,
        swap: Option<Arc<Swap>>,
    ) -> Result<Self, StoreError> {
        let (call, asking) = Call::current().map(|call| (call.number, call.asking)).unzip();
        let (waiting, receiver) = mpsc::channel();
        let edit = swap.map(|swap| EditOnce { swap, new: OnceLock::new() });
        let of_call =
            asking.as_ref().map_or(Cancellation::never(), |call| call.cancellation().clone());
        let progress = Arc::new(Progress::called());
        let request =
            Request { cancellation: of_call, progress: Arc::clone(&progress), edit, waiting };
        let number = REQUESTS.add(Arc::new(request));
        // Now that a cancellation finds the request.
        match Wait::begin(operation, cancellation, asking, progress) {
            Ok(wait) => Ok(Self { wait, receiver, number, call }),
            Err(error) => {
                REQUESTS.take(number);
                Err(error)
            }
        }
    }

    /// Waits for the answer. `read` converts it to the result of the method.
    pub(crate) fn end<T>(
        mut self,
        read: impl FnOnce(Answer) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        loop {
            let message = match self.wait.until() {
                None => self.receiver.recv().map_err(|_| RecvTimeoutError::Disconnected),
                Some(until) => {
                    self.receiver.recv_timeout(until.saturating_duration_since(Instant::now()))
                }
            };
            match message {
                Ok(Message::Answered(answer)) => return self.wait.answered(read(answer)),
                Ok(Message::Cancelled) => match self.receiver.try_iter().find_map(answer) {
                    // The store has answered after the cancellation, and before anything waited.
                    Some(answer) => return self.wait.answered(read(answer)),
                    None => self.wait.cancelled()?,
                },
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                    return Err(self.wait.give_up());
                }
            }
        }
    }
}

fn answer(message: Message) -> Option<Answer> {
    match message {
        Message::Answered(answer) => Some(answer),
        Message::Cancelled => None,
    }
}

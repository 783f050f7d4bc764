//! [`Request`]: a request to a store of the application, by its number, until the store has answered.
//!
//! The thread of the call waits for the answer, which may come from any other thread, or never. So the wait ends when the call is
//! cancelled. The error then says whether anything may have been changed. A later answer of the store is ignored.

use std::rc::Rc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use memdir::store::Swap;
use memdir::{Cancellation, StoreError};
use serde_json::{Value, json};

use crate::call::Call;
use crate::handles::Table;
use crate::own_error::GivenUp;

/// The time that a store has to answer a request of a cancelled call whose change would otherwise be incomplete. A working store
/// answers within seconds, and a person who cancelled the call should not wait longer.
const PATIENCE: Duration = Duration::from_secs(5);

/// The requests without an answer. An abandoned request stays until its answer comes, because the store uses the lent memory
/// until then.
pub(crate) static REQUESTS: Table<Arc<Request>> = Table::new();

/// The part of a request that the store's side uses.
pub(crate) struct Request {
    /// The cancellation of the call that made the request.
    cancellation: Cancellation,
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
    state: Mutex<EditState>,
    /// The new content, lent to the store.
    new: OnceLock<Vec<u8>>,
}

#[derive(Default)]
struct EditState {
    /// The store has the new content.
    is_made: bool,
    /// The wait for the update has ended, so the store gets no new content.
    is_given_up: bool,
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
        let mut state = edit.state();
        if state.is_given_up {
            return None;
        }
        let new = edit.swap.apply(content)?;
        state.is_made = true;
        // The new content is the same each time, so the lent memory is not replaced.
        Some(edit.new.get_or_init(|| new))
    }

    /// Wakes the threads that wait for requests of a cancelled call.
    pub(crate) fn wake_cancelled() {
        REQUESTS.each(|request| {
            if request.cancellation.is_cancelled() {
                let _ = request.waiting.send(Message::Cancelled);
            }
        });
    }

    /// Returns whether an update has its new content.
    fn is_edited(&self) -> bool {
        self.edit.as_ref().is_some_and(|edit| edit.state().is_made)
    }

    /// From now on, the store gets no new content for an update.
    fn give_up(&self) {
        if let Some(edit) = &self.edit {
            edit.state().is_given_up = true;
        }
    }
}

impl EditOnce {
    fn state(&self) -> MutexGuard<'_, EditState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The wait for an answer.
pub(crate) struct Waiting<'w> {
    operation: &'static str,
    /// The cancellation of the operation. An operation that must run to its end has none, even if its call is cancelled.
    cancellation: &'w Cancellation,
    call: Option<Rc<Call>>,
    request: Arc<Request>,
    receiver: Receiver<Message>,
    pub(crate) number: u64,
}

impl<'w> Waiting<'w> {
    /// Makes a new request; `None` if its call is cancelled, so the request is not sent.
    pub(crate) fn begin(
        operation: &'static str,
        cancellation: &'w Cancellation,
        swap: Option<Arc<Swap>>,
    ) -> Result<Self, StoreError> {
        let call = Call::current();
        let (waiting, receiver) = mpsc::channel();
        let edit =
            swap.map(|swap| EditOnce { swap, state: Mutex::default(), new: OnceLock::new() });
        let of_call = call.as_ref().map_or(Cancellation::never(), |call| call.cancellation.clone());
        let request = Arc::new(Request { cancellation: of_call, edit, waiting });
        let number = REQUESTS.add(Arc::clone(&request));
        let begun = Self { operation, cancellation, call, request, receiver, number };
        // Checked now, when a cancellation can find the request.
        if begun.is_over() {
            REQUESTS.take(number);
            return Err(StoreError::Cancelled);
        }
        begun.note_change();
        Ok(begun)
    }

    /// The number of the call that the store works for, if there is one.
    pub(crate) fn call(&self) -> Option<u64> {
        self.call.as_ref().map(|call| call.number)
    }

    /// Waits for the answer. `read` converts it to the result of the method.
    pub(crate) fn end<T>(
        self,
        read: impl FnOnce(Answer) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let patience = || Some(Instant::now() + PATIENCE);
        let mut until = if self.is_cancelled() { patience() } else { None };
        loop {
            let message = match until {
                None => self.receiver.recv().map_err(|_| RecvTimeoutError::Disconnected),
                Some(until) => {
                    self.receiver.recv_timeout(until.saturating_duration_since(Instant::now()))
                }
            };
            match message {
                Ok(Message::Answered(answer)) => {
                    self.note_change();
                    return match read(answer) {
                        // The store may have failed because it noticed the cancellation.
                        Err(StoreError::Failed { .. })
                            if self.is_over() && !self.may_have_changed() =>
                        {
                            Err(StoreError::Cancelled)
                        }
                        returned => returned,
                    };
                }
                Ok(Message::Cancelled) if !self.is_over() => until = until.or_else(patience),
                Ok(Message::Cancelled)
                | Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                    return Err(self.give_up());
                }
            }
        }
    }

    fn is_cancelled(&self) -> bool {
        self.cancellation.is_cancelled()
            || self.call.as_ref().is_some_and(|call| call.cancellation.is_cancelled())
    }

    /// Returns whether the call is cancelled and may end here. A call that has already changed something runs to its end.
    fn is_over(&self) -> bool {
        let has_gone = |call: &Rc<Call>| {
            call.cancellation.is_cancelled() && !call.has_written() && !self.request.is_edited()
        };
        self.cancellation.is_cancelled() || self.call.as_ref().is_some_and(has_gone)
    }

    fn note_change(&self) {
        if self.may_have_changed()
            && let Some(call) = &self.call
        {
            call.writes();
        }
    }

    /// Returns whether the store may have changed something, or may still do so.
    fn may_have_changed(&self) -> bool {
        match self.operation {
            "info" | "list" | "make" | "modified" | "open" | "read" => false,
            "update" => self.request.is_edited(),
            _ => true,
        }
    }

    /// Ends the wait. The error says whether it is certain that nothing was changed.
    fn give_up(&self) -> StoreError {
        self.request.give_up();
        let may_have_changed = self.may_have_changed();
        if self.is_over() && !may_have_changed {
            return StoreError::Cancelled;
        }
        let failed = StoreError::failed(asked(self.operation), GivenUp);
        if may_have_changed { failed } else { failed.unchanged() }
    }
}

/// The name of the operation for an error.
pub(crate) fn asked(operation: &str) -> String {
    format!("{operation} of a store of your own")
}

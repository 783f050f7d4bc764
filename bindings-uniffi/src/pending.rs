//! [`PendingCall`]: a call of a memory whose hooks the host awaits, such as suspending hooks in Kotlin and asynchronous
//! ones in Swift.
//!
//! No thread waits for such a hook: the call is begun and decoded, the host awaits its hook `before`, a thread executes the
//! command, and the host awaits its hook `after`. The core decides what a hook's decision means.
#![allow(clippy::needless_pass_by_value, reason = "UniFFI hands over what it has made")]

use std::collections::HashMap;
use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use memdir::command::Decoded;
use memdir::value::{Fields, Value};
use memdir::{HookDecision as CoreDecision, HookError as CoreHookError, StoreError};

use crate::border::MemdirText;
use crate::cancel::Cancellation;
use crate::error::MemdirError;
use crate::hooks::{Command, HookCall, HookDecision, MemoryHooks, handed_over};
use crate::memory::{Memory, lines};
use crate::reply::Reply;
use crate::results::Event;

/// A call that is decoded and validated. The first call of `finish`, `fail_hook`, `no_thread` or `cancel` ends it; later
/// ones do nothing. After that it has its reply and its event.
#[derive(uniffi::Object)]
pub struct PendingCall {
    core: memdir::Memory,
    /// The path of the method `view`. The method refuses an image with the command's own message.
    viewed: String,
    state: Mutex<State>,
}

enum State {
    Begun(Box<memdir::Call<'static>>),
    /// A thread is executing it.
    Taken,
    /// The reply is kept until it is read.
    Finished(Option<memdir::Reply>, Box<Event>),
}

#[uniffi::export]
impl PendingCall {
    /// The command for `before`; null if the hook is not called.
    #[must_use]
    pub fn command(&self) -> Option<Command> {
        match &*self.state() {
            State::Begun(call) => call.command().as_ref().and_then(handed_over),
            State::Taken | State::Finished(..) => None,
        }
    }

    /// The other facts about the call for `before`; null if the hook is not called.
    #[must_use]
    pub fn hook_call(&self) -> Option<Arc<HookCall>> {
        match &*self.state() {
            State::Begun(call) => self.core.hook_call(call).map(HookCall::of),
            State::Taken | State::Finished(..) => None,
        }
    }

    /// True if it changes nothing: a view, or a call that is already refused.
    #[must_use]
    pub fn is_view(&self) -> bool {
        match &*self.state() {
            State::Begun(call) => {
                matches!(call.command(), None | Some(memdir::Command::View { .. }))
            }
            State::Taken | State::Finished(..) => false,
        }
    }

    /// Executes the command, if the decision allows it. It reads and writes files.
    pub fn finish(&self, decision: HookDecision, cancellation: Arc<Cancellation>) {
        self.end(Ok(decision.into()), |_| {}, cancellation.core());
    }

    /// Refuses the command, because `before` failed.
    pub fn fail_hook(&self, reason: MemdirText) {
        let failed = Err(reason.shown().into());
        self.end(failed, |_| {}, &memdir::Cancellation::never());
    }

    /// Ends the call, because no thread could be started for the command; `cause` is the system's message.
    pub fn no_thread(&self, cause: MemdirText) {
        let error = StoreError::failed("starting a thread", cause.shown());
        self.end(Ok(CoreDecision::Allow), |call| call.fail(error), &memdir::Cancellation::never());
    }

    /// Cancels the call, unless a thread has begun it. Nothing is changed.
    pub fn cancel(&self) {
        // Without the hook's decision, which would wait for a diff that has not been computed.
        let cancelled = |call: &mut memdir::Call<'static>| call.fail(StoreError::Cancelled);
        self.end(Ok(CoreDecision::Allow), cancelled, &memdir::Cancellation::never());
    }

    /// The event for `after`; null while the call is not ended.
    #[must_use]
    pub fn event(&self) -> Option<Event> {
        match &*self.state() {
            State::Finished(_, event) => Some(Event::clone(event)),
            State::Begun(_) | State::Taken => None,
        }
    }

    /// The result of `execute`; null if the call has not ended, or if its reply was already read.
    #[must_use]
    pub fn reply(&self) -> Option<Reply> {
        self.answered().map(Reply::from)
    }

    /// The result of the command's method; null as for `reply`.
    ///
    /// Throws as the method does.
    pub fn text(&self) -> Result<Option<String>, MemdirError> {
        let Some(reply) = self.answered() else { return Ok(None) };
        match (reply.cause, reply.kind) {
            (Some(cause), _) => Err(cause.into()),
            (None, Some(kind)) => {
                let (reason, kind) = (reply.content.into_text(), kind.into());
                Err(MemdirError::Refused { reason, kind })
            }
            (None, None) => Ok(Some(reply.content.text_of_view(&self.viewed)?)),
        }
    }
}

impl PendingCall {
    fn new(memory: &Memory, decoded: Decoded<'_>, viewed: String) -> Self {
        let call = Box::new(memory.core.begin(decoded).into_owned());
        Self { core: memory.core.clone(), viewed, state: Mutex::new(State::Begun(call)) }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends the call, unless it has ended. No lock is held while the command is executed.
    fn end(
        &self,
        decision: Result<CoreDecision, CoreHookError>,
        prepare: impl FnOnce(&mut memdir::Call<'static>),
        cancellation: &memdir::Cancellation,
    ) {
        let Some(mut call) = self.take() else { return };
        prepare(&mut call);
        let (reply, event) = self.core.cancelled_by(cancellation).finish(*call, decision);
        if let Some(event) = event {
            *self.state() = State::Finished(Some(reply), Box::new(Event::from(event)));
        }
    }

    fn answered(&self) -> Option<memdir::Reply> {
        match &mut *self.state() {
            State::Finished(reply, _) => reply.take(),
            State::Begun(_) | State::Taken => None,
        }
    }

    fn take(&self) -> Option<Box<memdir::Call<'static>>> {
        let mut state = self.state();
        match mem::replace(&mut *state, State::Taken) {
            State::Begun(call) => Some(call),
            other => {
                *state = other;
                None
            }
        }
    }
}

#[uniffi::export]
impl Memory {
    /// The hooks of this memory, for the host that awaits them.
    #[must_use]
    pub fn own_hooks(&self) -> Option<Arc<dyn MemoryHooks>> {
        self.hooks.clone()
    }

    /// The first half of `execute`.
    #[must_use]
    pub fn begin_execute(&self, json: MemdirText) -> PendingCall {
        PendingCall::new(self, Decoded::parse(json.as_bytes()), String::new())
    }

    /// The first half of the method for `command`. The arguments have their names from the tool's documentation.
    #[must_use]
    pub fn begin_command(
        &self,
        command: String,
        texts: HashMap<String, MemdirText>,
        view_range: Option<Vec<i64>>,
        insert_line: Option<i64>,
    ) -> PendingCall {
        let viewed = texts.get("path").map(MemdirText::shown).unwrap_or_default();
        let arguments = Arguments { texts, view_range, insert_line };
        PendingCall::new(self, Decoded::named(&command, &arguments), viewed)
    }
}

/// The arguments of a method.
struct Arguments {
    texts: HashMap<String, MemdirText>,
    view_range: Option<Vec<i64>>,
    insert_line: Option<i64>,
}

impl Fields for Arguments {
    fn get<'a>(&'a self, name: &str) -> Option<Value<'a>> {
        match name {
            "view_range" => self.view_range.as_deref().map(lines),
            "insert_line" => self.insert_line.map(Value::Integer),
            text => self.texts.get(text).map(MemdirText::field),
        }
    }
}

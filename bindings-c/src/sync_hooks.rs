//! [`OwnHooks`]: hooks of the application that decide about the changes of a sync. They get [requests](crate::request) in JSON, and finish
//! each call with `memdir_finish`.

use std::ffi::CString;
use std::sync::Arc;

use memdir::{Call as CoreCall, CallHandler, HookError, Memory};
use serde_json::{Value, json};

use crate::handles::Opened;
use crate::hooks::{self, PENDING, Pending};
use crate::host::Host;
use crate::own_error::OwnError;
use crate::request::Waiting;

/// Dropping it tells the application that it can release the hooks.
pub(crate) struct OwnHooks {
    pub(crate) host: Host,
    pub(crate) number: u64,
}

impl Drop for OwnHooks {
    fn drop(&mut self) {
        self.host.release(self.number);
    }
}

impl OwnHooks {
    /// Asks the hooks about the calls of this memory.
    pub(crate) fn call_handler(self, opened: Opened) -> Arc<CallHandler> {
        Arc::new(move |memory, call| self.ask(&opened, memory, call))
    }

    fn ask(
        &self,
        opened: &Opened,
        memory: &Memory,
        call: CoreCall<'static>,
    ) -> Result<(), HookError> {
        let waiting = Waiting::begin("hook", memory.cancellation(), None)?;
        let command = hooks::command(&call).map(|command| serde_json::from_str::<Value>(&command));
        let opened = opened.acting(memory.clone());
        let pending = PENDING.add(Pending { opened, call });
        let asked = json!({
            "operation": "hook", "call": waiting.call, "to_the_end": false, "pending": pending,
            "command": command.transpose()?,
        });
        // JSON contains no NUL byte.
        let asked = CString::new(asked.to_string()).unwrap_or_default();
        self.host.serve(self.number, waiting.number, &asked, b"");
        let answer = waiting.end(|answer| Ok(answer.result));
        // After a cancellation or a failure, nothing is to be executed later.
        drop(PENDING.take(pending));
        match answer? {
            Value::Null => Ok(()),
            answer => Err(OwnError::of_answer(&answer, "it answered something else than null")),
        }
    }
}

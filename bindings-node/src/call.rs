//! [`PendingCall`]: a call between its two halves, while JavaScript calls the hook `before`.
//!
//! A hook may take long and may use the memory, so no thread waits for it. The call is decoded and
//! validated on JavaScript's thread, and goes to a thread of ours when the hook has returned.

use std::sync::{Arc, Mutex, PoisonError};

use memdir::value::Value;
use memdir::{Call, Cancellation, Command, Event, HookDecision, HookError, Memory};
use napi::bindgen_prelude::{Array, JsObjectValue, Object, Unknown};
use napi::{Env, Error, JsValue};
use napi_derive::napi;

use crate::answer::Answer;
use crate::input::{OwnFields, value};
use crate::thread_pool::{Purpose, Ready, Workers};

/// One tool call that is decoded and validated. Call one of `returned`, `deny` and `fail`, once, to
/// finish it.
#[napi]
pub struct PendingCall {
    call: Mutex<Option<Call<'static>>>,
    memory: Memory,
    workers: Arc<Workers>,
    cancellation: Cancellation,
}

impl PendingCall {
    pub(crate) fn new(
        call: Call<'static>,
        memory: Memory,
        workers: Arc<Workers>,
        cancellation: Cancellation,
    ) -> Self {
        Self { call: Mutex::new(Some(call)), memory, workers, cancellation }
    }

    fn take(&self) -> napi::Result<Call<'static>> {
        let taken = self.call.lock().unwrap_or_else(PoisonError::into_inner).take();
        taken.ok_or_else(|| Error::from_reason("the call has gone on already"))
    }

    fn finish<'env>(
        &self,
        env: &'env Env,
        mut call: Call<'static>,
        before: Result<HookDecision, HookError>,
    ) -> napi::Result<Object<'env>> {
        let memory = self.memory.cancelled_by(&self.cancellation);
        let purpose = match call.command() {
            None | Some(Command::View { .. }) => Purpose::View,
            Some(_) => Purpose::Change,
        };
        let work = move |ready: Ready| {
            if let Err(error) = ready {
                call.fail(error);
            }
            let (reply, event) = memory.finish(call, before);
            (Answer::from(reply), event)
        };
        self.workers.answer(env, purpose, work, |env, (answer, event)| {
            let mut object = answer.into_object(&env)?;
            if let Some(event) = event {
                object.set_named_property("event", event_object(&env, event)?)?;
            }
            Ok(object)
        })
    }
}

#[napi]
impl PendingCall {
    /// The command for `before`; null if the call is already refused.
    #[napi(getter, ts_return_type = "object | null")]
    pub fn command<'env>(&self, env: &'env Env) -> napi::Result<Option<Object<'env>>> {
        let call = self.call.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(command) = call.as_ref().and_then(Call::command) else { return Ok(None) };
        let mut object = Object::new(env)?;
        for (name, field) in command.fields() {
            match field {
                Value::Text(text) => object.set_named_property(name, &*text)?,
                Value::Integer(integer) => object.set_named_property(name, integer)?,
                Value::List(items) => {
                    let items: Vec<i64> = items.iter().filter_map(Value::as_integer).collect();
                    object.set_named_property(name, Array::from_vec(env, items)?)?;
                }
                _ => {}
            }
        }
        Ok(Some(object))
    }

    /// Finishes the call with the value that `before` returned.
    #[napi(
        ts_args_type = "returned: unknown",
        ts_return_type = "Promise<{ content: string, isError: boolean, kind?: string, cause?: string, hook?: true, event: object }>"
    )]
    pub fn returned<'env>(
        &self,
        env: &'env Env,
        returned: Unknown<'_>,
    ) -> napi::Result<Object<'env>> {
        let call = self.take()?;
        let before = match value(&returned)? {
            Value::Null => Ok(HookDecision::Allow),
            Value::Object => {
                let fields = OwnFields(returned.coerce_to_object()?);
                call.command().map_or(Ok(HookDecision::Allow), |command| {
                    HookDecision::read(&command, &fields)
                })
            }
            other => Err(format!("it returned {other}, and neither nothing nor an object").into()),
        };
        self.finish(env, call, before)
    }

    /// Finishes the call with the denial of `before`.
    #[napi(
        ts_return_type = "Promise<{ content: string, isError: boolean, kind?: string, cause?: string, hook?: true, event: object }>"
    )]
    pub fn deny<'env>(&self, env: &'env Env, sentence: String) -> napi::Result<Object<'env>> {
        self.finish(env, self.take()?, Ok(HookDecision::Deny(sentence)))
    }

    /// Finishes the call after `before` failed.
    #[napi(
        ts_return_type = "Promise<{ content: string, isError: boolean, kind?: string, cause?: string, hook?: true, event: object }>"
    )]
    pub fn fail<'env>(&self, env: &'env Env, reason: String) -> napi::Result<Object<'env>> {
        self.finish(env, self.take()?, Err(reason.into()))
    }
}

/// The event for the hook `after`, without empty fields.
#[expect(clippy::cast_precision_loss, reason = "exact up to 2^53")]
fn event_object<'env>(env: &'env Env, event: Event) -> napi::Result<Object<'env>> {
    let mut object = Object::new(env)?;
    if let Some(command) = event.command {
        object.set_named_property("command", command)?;
    }
    if let Some(path) = &event.path {
        object.set_named_property("path", path.as_str())?;
    }
    if let Some(new_path) = &event.new_path {
        object.set_named_property("newPath", new_path.as_str())?;
    }
    object.set_named_property("outcome", event.outcome.as_str())?;
    object.set_named_property("bytes", event.bytes as f64)?;
    object.set_named_property("lines", event.lines as f64)?;
    object.set_named_property("duration", event.duration.as_secs_f64() * 1_000.0)?;
    let repairs: Vec<&str> = event.repairs.iter().map(|repair| repair.as_str()).collect();
    object.set_named_property("repairs", Array::from_vec(env, repairs)?)?;
    if let Some(change) = event.change {
        object.set_named_property("change", change.to_string())?;
    }
    if let Some(content) = event.content {
        object.set_named_property("content", content)?;
    }
    Ok(object)
}

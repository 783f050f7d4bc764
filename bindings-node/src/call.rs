//! [`PendingCall`]: a call between its two halves, while JavaScript runs the hook `before`.
//!
//! A hook may take long and may use the memory, so no thread waits for it. The call is decoded and validated
//! on JavaScript's thread, and is passed to one of our threads when the hook has returned.

use std::sync::{Arc, Mutex, PoisonError};

use memdir::value::Value;
use memdir::{Call, Command, HookDecision, HookError, Memory, StoreError};
use napi::bindgen_prelude::{Array, JsObjectValue, Object, Unknown};
use napi::{Env, Error, JsValue};
use napi_derive::napi;

use crate::answer::Answer;
use crate::cancel::Caller;
use crate::errors::Failure;
use crate::input::{OwnFields, value};
use crate::results::Shown;
use crate::thread_pool::{Purpose, Ready, Workers};

/// One tool call that is decoded and validated. To finish it, call exactly one of `returned`, `deny`, `fail`
/// and `cancel`, once.
#[napi]
pub struct PendingCall {
    call: Mutex<Option<Call<'static>>>,
    memory: Memory,
    workers: Arc<Workers>,
    caller: Option<Arc<Caller>>,
}

impl PendingCall {
    pub(crate) fn new(
        call: Call<'static>,
        memory: Memory,
        workers: Arc<Workers>,
        caller: Option<Arc<Caller>>,
    ) -> Self {
        Self { call: Mutex::new(Some(call)), memory, workers, caller }
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
        let memory = Caller::of_memory(self.caller.as_ref(), &self.memory);
        let purpose = match call.command() {
            None | Some(Command::View { .. }) => Purpose::View,
            Some(_) => Purpose::Change,
        };
        let work = move |ready: Ready| {
            if let Err(error) = ready {
                call.fail(error);
            }
            let (reply, event) = memory.finish(call, before);
            (Answer::from(reply), event.map(Shown::of))
        };
        let caller = self.caller.clone();
        self.workers.answer(env, purpose, caller, work, |env, (answer, event)| {
            finished(&env, answer, event)
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

    /// The other facts about the call for `before`; null if the hook is not called.
    #[napi(
        getter,
        ts_return_type = "{ actor?: string, session: string, toolUseId?: string } | null"
    )]
    pub fn known<'env>(&self, env: &'env Env) -> napi::Result<Option<Object<'env>>> {
        let call = self.call.lock().unwrap_or_else(PoisonError::into_inner);
        let known = call.as_ref().and_then(|call| self.memory.hook_call(call));
        let Some(known) = known else { return Ok(None) };
        let mut object = Object::new(env)?;
        object.set_named_property("session", known.session())?;
        for (name, text) in [("actor", known.actor()), ("toolUseId", known.tool_use_id())] {
            if let Some(text) = text {
                object.set_named_property(name, text)?;
            }
        }
        Ok(Some(object))
    }

    /// The command's change as a unified diff; empty if `before` is not called.
    #[napi(ts_return_type = "Promise<string>")]
    pub fn diff<'env>(&self, env: &'env Env) -> napi::Result<Object<'env>> {
        let memory = Caller::of_memory(self.caller.as_ref(), &self.memory);
        let call = self.call.lock().unwrap_or_else(PoisonError::into_inner);
        let known = call.as_ref().and_then(|call| memory.hook_call(call));
        let known = known.map(memdir::HookCall::into_owned);
        drop(call);
        let work = move || known.map_or_else(|| Ok(String::new()), |known| known.diff());
        self.workers.promise(env, Purpose::View, self.caller.clone(), work, |env, diff| {
            diff.map_err(|error| Failure::from(error).into_js(&env))
        })
    }

    /// Finishes the call with the value that `before` returned.
    #[napi(
        ts_args_type = "returned: unknown",
        ts_return_type = "Promise<{ content: string, isError: boolean, kind?: string, cause?: string, code?: string, thrown?: unknown, hook?: true, event: results.Event }>"
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
        ts_return_type = "Promise<{ content: string, isError: boolean, kind?: string, cause?: string, code?: string, thrown?: unknown, hook?: true, event: results.Event }>"
    )]
    pub fn deny<'env>(&self, env: &'env Env, sentence: String) -> napi::Result<Object<'env>> {
        self.finish(env, self.take()?, Ok(HookDecision::Deny(sentence)))
    }

    /// Finishes the call after `before` failed.
    #[napi(
        ts_return_type = "Promise<{ content: string, isError: boolean, kind?: string, cause?: string, code?: string, thrown?: unknown, hook?: true, event: results.Event }>"
    )]
    pub fn fail<'env>(&self, env: &'env Env, reason: String) -> napi::Result<Object<'env>> {
        self.finish(env, self.take()?, Err(reason.into()))
    }

    /// Ends the call at once, because its caller has cancelled it before the command began.
    #[napi(
        ts_return_type = "{ content: string, isError: boolean, kind?: string, cause?: string, code?: string, thrown?: unknown, hook?: true, event: results.Event }"
    )]
    pub fn cancel<'env>(&self, env: &'env Env) -> napi::Result<Object<'env>> {
        let mut call = self.take()?;
        call.fail(StoreError::Cancelled);
        // A failed call is not executed, so nothing waits here.
        let (reply, event) = self.memory.finish(call, Ok(HookDecision::Allow));
        finished(env, Answer::from(reply), event.map(Shown::of))
    }
}

fn finished(env: &Env, answer: Answer, event: Option<Shown>) -> napi::Result<Object<'static>> {
    let mut object = answer.into_object(env)?;
    if let Some(event) = event {
        object.set_named_property("event", event)?;
    }
    Ok(object)
}

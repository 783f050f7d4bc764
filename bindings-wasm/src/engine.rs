//! The operations of an `Engine`: opening a memory, and beginning and finishing tool calls.

use std::sync::Arc;

use memdir::store::{encrypt, encrypt_lazily};
use memdir::{Call, Content, Event, HookCall, HookDecision, Memory, Reply, StoreError};
use serde_json::{Value as Json, json};

use crate::answer;
use crate::arguments::Arguments;
use crate::errors::{Failure, unknown};
use crate::handles::{CALLS, MEMORIES, OPENED};
use crate::input::{decode, decode_search};
use crate::js_embedder::JsEmbedder;
use crate::js_hooks::{decision, known};
use crate::options::{flag, read, span};
use crate::progress::go_on;
use crate::results::shown;
use crate::stores::check_address;
use crate::sync::sync;

pub(crate) fn perform(method: &str, given: &Arguments) -> Result<Json, Failure> {
    match method {
        "open" => {
            let (address, options) = (given.text(0), read(given.get(1))?);
            check_address(address)?;
            Ok(MEMORIES.add(Memory::open(address, options)?).into())
        }
        "onStore" => {
            let (store, options) = (OPENED.get(given.number(0))?, read(given.get(1))?);
            // A store in JavaScript is used later, as with the native addon: its first answer may be an error of the
            // first command.
            let store = match given.flag(2) {
                true => encrypt_lazily(store, &options)?,
                false => encrypt(store, &options)?,
            };
            Ok(MEMORIES.add(Memory::with_store(store, options).validated()?).into())
        }
        "withEmbedder" => {
            let embedder = Arc::new(JsEmbedder(given.number(1)));
            Ok(MEMORIES.add(MEMORIES.get(given.number(0))?.with_embedder(embedder)?).into())
        }
        "drop" => Ok(MEMORIES.take(given.number(0)).is_some().into()),
        "execute" => {
            let memory = MEMORIES.get(given.number(0))?;
            let decoded = decode(given.get(2), given.get(3).as_str());
            let memory = memory.cancelled_by(&given.cancellation(1));
            Ok(answer::reply(memory.execute_decoded(decoded)))
        }
        "executeSearch" => {
            let memory = MEMORIES.get(given.number(0))?.cancelled_by(&given.cancellation(1));
            Ok(answer::reply(memory.execute_search(decode_search(given.get(2)))))
        }
        "begin" => {
            let memory = MEMORIES.get(given.number(0))?;
            let call = memory.begin(decode(given.get(1), given.get(2).as_str()));
            let command = call.command().map(|command| answer::command(&command));
            let known = memory.hook_call(&call).map(|call| known(&call));
            let pending = CALLS.add((memory, call));
            Ok(json!({ "pending": pending, "command": command, "known": known }))
        }
        "diff" => {
            let cancellation = given.cancellation(1);
            let known = CALLS.look(given.number(0), |(memory, call)| {
                let memory = memory.cancelled_by(&cancellation);
                memory.hook_call(call).map(HookCall::into_owned)
            })?;
            // The table is not locked here, because this may call a store in JavaScript.
            Ok(known.map(|call| call.diff()).transpose()?.unwrap_or_default().into())
        }
        "finish" => finish(given),
        "cancelCall" => {
            let (memory, mut call) = pending(given)?;
            call.fail(StoreError::Cancelled);
            Ok(finished(memory.finish(call, Ok(HookDecision::Allow))))
        }
        "dropCall" => Ok(CALLS.take(given.number(0)).is_some().into()),
        "clear" => {
            let memory = MEMORIES.get(given.number(0))?.cancelled_by(&given.cancellation(1));
            Ok(answer::reply(Reply::from(memory.clear().map(Content::Text))))
        }
        "expire" => expire(given),
        "sync" => sync(given),
        _ => Err(unknown(method)),
    }
}

/// Finishes a call. The hook's decision is its return value, a sentence, or the reason why it failed.
fn finish(given: &Arguments) -> Result<Json, Failure> {
    let (memory, call) = pending(given)?;
    let before = decision(call.command().as_ref(), given.text(2), given.get(3));
    Ok(finished(memory.cancelled_by(&given.cancellation(1)).finish(call, before)))
}

fn pending(given: &Arguments) -> Result<(Memory, Call<'static>), Failure> {
    let gone = || Failure::Plain("the call has gone on already".into());
    CALLS.take(given.number(0)).ok_or_else(gone)
}

fn finished((reply, event): (Reply, Option<Event>)) -> Json {
    let mut answer = answer::reply(reply);
    if let Some(event) = event {
        answer["event"] = shown(event);
    }
    answer
}

fn expire(given: &Arguments) -> Result<Json, Failure> {
    let memory = MEMORIES.get(given.number(0))?.cancelled_by(&given.cancellation(1));
    let older_than = given.given(2, "olderThan", span)?;
    let dry_run = given.given(3, "dryRun", flag)?;
    let watched = given.flag(4);
    let mut thrown = false;
    let expired =
        memory.expire(older_than, dry_run, &mut |progress| go_on(watched, progress, &mut thrown));
    if thrown {
        return Err(Failure::Thrown);
    }
    Ok(shown(expired?))
}

//! Syncs two memories of the module.

use std::sync::Arc;
use std::time::Duration;

use memdir::sync::{MergeError, SyncMerge};
use memdir::value::{Fields, Value};
use memdir::{NameCase, OnConflict, SyncError};
use memdir_bindings_shared::arguments::{Arguments as Named, Times};
use memdir_bindings_shared::sync::sync_options;
use serde_json::{Value as Json, json};

use crate::arguments::Arguments;
use crate::border::asked;
use crate::errors::Failure;
use crate::handles::MEMORIES;
use crate::input::value;
use crate::js_hooks::JsHooks;
use crate::progress::go_on;
use crate::results::shown;

/// No option of a sync is a time.
const TIMES: Times = Times { read: |_| Err(" must be a valid Date"), rest: Duration::ZERO };

/// The arguments are the number of the memory, whether the call is cancelled, the number of the other memory, the options, whether
/// JavaScript wants the progress, whether it merges conflicts, and whether each memory has hooks.
pub(crate) fn sync(given: &Arguments) -> Result<Json, Failure> {
    let mut memory = MEMORIES.get(given.number(0))?.cancelled_by(&given.cancellation(1));
    let mut other = MEMORIES.get(given.number(2))?;
    if given.flag(6) {
        memory = memory.with_hooks(Arc::new(JsHooks("a")));
    }
    if given.flag(7) {
        other = other.with_hooks(Arc::new(JsHooks("b")));
    }
    let mut options = sync_options(&Named::new(&Given(given.get(3)), Vec::new(), TIMES))?;
    // It was cancelled before it began.
    memory.cancellation().check().map_err(|_| Failure::Sync(SyncError::Stopped))?;
    if given.flag(5) {
        options.on_conflict = OnConflict::merge(merge);
    }
    let watched = given.flag(4);
    let mut thrown = false;
    let synced = memdir::sync(&memory, &other, &options, &mut |progress| {
        go_on(watched, progress, &mut thrown)
    });
    if thrown {
        return Err(Failure::Thrown);
    }
    synced.map(shown).map_err(Failure::Sync)
}

/// The text that the function of JavaScript makes of both. JavaScript keeps what it throws.
fn merge(file: &SyncMerge) -> Result<Option<String>, MergeError> {
    let answer = asked(&json!({ "merge": shown(file) }));
    match answer["error"].as_str() {
        Some(message) => Err(message.into()),
        None => Ok(answer["text"].as_str().map(str::to_owned)),
    }
}

/// The given options, under their JavaScript names.
struct Given<'a>(&'a Json);

impl Fields for Given<'_> {
    fn get<'a>(&'a self, name: &str) -> Option<Value<'a>> {
        self.0.get(NameCase::Camel.of(name)).map(value)
    }
}

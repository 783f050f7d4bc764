//! The operations of an `Engine` that are about the history of a memory.

use std::time::SystemTime;

use memdir::history::Restored;
use memdir::{ConfigError, Memory};
use memdir_bindings_shared::grep_query;
use memdir_bindings_shared::history::{Query, Undo, export, id, undo_options};
use serde_json::Value as Json;

use crate::arguments::Arguments;
use crate::border::placed;
use crate::errors::{Failure, unknown};
use crate::files::sought;
use crate::handles::MEMORIES;
use crate::options::{count, flag, string};
use crate::results::shown;
use crate::times::{end_of_date, from_millis};

/// The number of the memory, whether the call is cancelled, and the arguments as `native.d.cts` has them.
pub(crate) fn perform(method: &str, given: &Arguments) -> Result<Json, Failure> {
    let memory = MEMORIES.get(given.number(0))?;
    carry_out(&memory.cancelled_by(&given.cancellation(1)), method, given)
}

fn carry_out(memory: &Memory, method: &str, given: &Arguments) -> Result<Json, Failure> {
    let text = |place, name| given.given(place, name, string);
    let optional = |place, name| given.optional(place, name, string);
    Ok(match method {
        "actingAs" => MEMORIES.add(memory.acting_as(&text(2, "actor")?)).into(),
        "history" => {
            let query = Query {
                path: optional(2, "path")?,
                limit: given.optional(3, "limit", count)?,
                before: optional(4, "before")?,
                actor: optional(5, "actor")?,
                change: optional(6, "change")?,
                since: time(given, 7, "since")?,
            };
            shown(memory.history(&query.into_core()?)?)
        }
        "resolveId" => shown(memory.resolve_id(&text(2, "part")?)?),
        "exportHistory" => placed(export(memory)?),
        "grepHistory" => {
            let (query, path, limit) = sought(given)?;
            shown(memory.grep_history(&query, &path, limit)?)
        }
        "filesAt" => shown(memory.files_at(at(given, 2)?)?),
        "readAt" => {
            let path = text(2, "path")?;
            memory.read_at(&path, at(given, 3)?)?.map_or(Json::Null, placed)
        }
        "blame" => shown(memory.blame(&text(2, "path")?)?),
        "readVersion" => placed(memory.read_version(id(&text(2, "id")?)?)?),
        "diff" => {
            let (one, other) = (text(2, "id")?, optional(3, "other")?);
            memory.diff(id(&one)?, other.as_deref().map(id).transpose()?)?.into()
        }
        "restore" => {
            let (one, overwrite) = (text(2, "id")?, given.given(3, "overwrite", flag)?);
            shown(memory.restore(id(&one)?, overwrite)?)
        }
        "undo" => shown(undo(memory, given)?),
        "restoreAll" => shown(memory.restore_all(at(given, 2)?, given.given(3, "dryRun", flag)?)?),
        "redact" => {
            let (one, reason) = (text(2, "id")?, text(3, "reason")?);
            shown(memory.redact(id(&one)?, &reason)?)
        }
        "redactText" => {
            let (sought, regex) = (text(2, "query")?, given.given(3, "regex", flag)?);
            let query = grep_query(&sought, regex, given.given(4, "ignoreCase", flag)?)?;
            let (reason, dry_run) = (text(5, "reason")?, given.given(6, "dryRun", flag)?);
            shown(memory.redact_text(&query, &reason, dry_run)?)
        }
        "trimHistory" => memory.trim_history()?.into(),
        _ => return Err(unknown(method)),
    })
}

fn undo(memory: &Memory, given: &Arguments) -> Result<Restored, Failure> {
    let change = given.optional(2, "change", string)?;
    let since = time(given, 3, "since")?;
    let actor = given.optional(4, "actor", string)?;
    let flag = |place, name| given.given(place, name, flag);
    let how = undo_options(flag(5, "dryRun")?, flag(6, "skipConflicts")?, flag(7, "merge")?);
    let undo = Undo::of(change, since, actor)?;
    Ok(undo.take_back(memory, how)?)
}

/// A time from its milliseconds; none if it is null. What is no number is the time of a `Date` that is none.
fn time(given: &Arguments, place: usize, name: &str) -> Result<Option<SystemTime>, Failure> {
    match given.get(place) {
        Json::Null => Ok(None),
        millis => {
            let time = millis.as_f64().and_then(from_millis);
            time.map(Some).ok_or_else(|| no_date(name))
        }
    }
}

/// A time at which something was.
fn at(given: &Arguments, place: usize) -> Result<SystemTime, Failure> {
    let at = time(given, place, "at")?.ok_or_else(|| no_date("at"))?;
    Ok(end_of_date(at))
}

fn no_date(name: &str) -> Failure {
    ConfigError::of_option(name).and(" must be a valid Date").into()
}

//! The operations of an `Engine` that are about the history of a memory.

use std::time::{Duration, SystemTime};

use memdir::history::{BlamedLine, Operation, PastFile, Restored, Version};
use memdir::{ConfigError, Memory, MemoryPath};
use memdir_bindings_shared::grep_query;
use memdir_bindings_shared::history::{Query, Undo, export, id, undo_options};
use serde_json::{Value as Json, json};

use crate::answer::{self, object};
use crate::arguments::Arguments;
use crate::border::placed;
use crate::conflict::conflict;
use crate::errors::{Failure, unknown};
use crate::files::sought;
use crate::handles::MEMORIES;
use crate::options::{count, flag, string};

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
            memory.history(&query.into_core()?)?.into_iter().map(version).collect()
        }
        "resolveId" => memory.resolve_id(&text(2, "part")?)?.to_string().into(),
        "exportHistory" => placed(export(memory)?),
        "grepHistory" => {
            let (query, path, limit) = sought(given)?;
            let found = memory.grep_history(&query, &path, limit)?;
            let shown = found.into_iter().map(|found| {
                object([
                    ("version", version(found.version)),
                    ("text", found.text.into()),
                    ("line", found.line.into()),
                ])
            });
            shown.collect()
        }
        "filesAt" => memory.files_at(at(given, 2)?)?.iter().map(past_file).collect(),
        "readAt" => {
            let path = text(2, "path")?;
            memory.read_at(&path, at(given, 3)?)?.map_or(Json::Null, placed)
        }
        "blame" => memory.blame(&text(2, "path")?)?.into_iter().map(blamed_line).collect(),
        "readVersion" => placed(memory.read_version(id(&text(2, "id")?)?)?),
        "diff" => {
            let (one, other) = (text(2, "id")?, optional(3, "other")?);
            memory.diff(id(&one)?, other.as_deref().map(id).transpose()?)?.into()
        }
        "restore" => {
            let (one, overwrite) = (text(2, "id")?, given.given(3, "overwrite", flag)?);
            restored(memory.restore(id(&one)?, overwrite)?)
        }
        "undo" => restored(undo(memory, given)?),
        "restoreAll" => {
            restored(memory.restore_all(at(given, 2)?, given.given(3, "dryRun", flag)?)?)
        }
        "redact" => {
            let (one, reason) = (text(2, "id")?, text(3, "reason")?);
            memory.redact(id(&one)?, &reason)?.map(|change| change.to_string()).into()
        }
        "redactText" => {
            let (sought, regex) = (text(2, "query")?, given.given(3, "regex", flag)?);
            let query = grep_query(&sought, regex, given.given(4, "ignoreCase", flag)?)?;
            let (reason, dry_run) = (text(5, "reason")?, given.given(6, "dryRun", flag)?);
            let redacted = memory.redact_text(&query, &reason, dry_run)?;
            let versions: Vec<Json> = redacted.versions.into_iter().map(version).collect();
            let paths = |paths: &[MemoryPath]| -> Vec<Json> {
                paths.iter().map(|path| path.as_str().into()).collect()
            };
            object([
                ("change", redacted.change.map(|change| change.to_string()).into()),
                ("versions", versions.into()),
                ("current", paths(&redacted.current).into()),
                ("names", paths(&redacted.names).into()),
                ("keptNames", paths(&redacted.kept_names).into()),
            ])
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
            let time = millis.as_f64().and_then(answer::time);
            time.map(Some).ok_or_else(|| no_date(name))
        }
    }
}

/// A time at which something was. JavaScript's times are whole milliseconds: see the binary's.
fn at(given: &Arguments, place: usize) -> Result<SystemTime, Failure> {
    let at = time(given, place, "at")?.ok_or_else(|| no_date("at"))?;
    Ok(at + Duration::from_nanos(999_999))
}

fn no_date(name: &str) -> Failure {
    ConfigError::of_option(name).and(" must be a valid Date").into()
}

fn version(version: Version) -> Json {
    object([
        ("id", version.id.to_string().into()),
        ("change", version.change.to_string().into()),
        ("operation", version.operation.as_str().into()),
        ("path", version.path.as_str().into()),
        ("oldPath", version.old_path.map(|path| path.to_string()).into()),
        ("time", answer::millis(version.time).into()),
        ("actor", version.actor.into()),
        ("size", version.size.into()),
        ("sha256", version.sha256.into()),
        ("isCurrent", version.is_current.into()),
        ("redacted", version.redacted.into()),
    ])
}

fn past_file(file: &PastFile) -> Json {
    object([
        ("path", file.path.as_str().into()),
        ("size", file.size.into()),
        ("modified", file.modified.map(answer::millis).into()),
        ("version", file.version.as_ref().map(ToString::to_string).into()),
    ])
}

fn blamed_line(line: BlamedLine) -> Json {
    object([
        ("line", line.line.into()),
        ("text", line.text.into()),
        ("version", line.version.map(|id| id.to_string()).into()),
        ("change", line.change.map(|id| id.to_string()).into()),
        ("operation", line.operation.map(Operation::as_str).into()),
        ("actor", line.actor.into()),
        ("time", line.time.map(answer::millis).into()),
        ("mayBeOlder", line.may_be_older.into()),
    ])
}

fn restored(restored: Restored) -> Json {
    let files = restored.files.into_iter().map(|file| {
        object([
            ("operation", file.operation.as_str().into()),
            ("path", file.path.as_str().into()),
            ("oldPath", file.old_path.map(|path| path.to_string()).into()),
            ("merged", file.merged.into()),
        ])
    });
    let files: Vec<Json> = files.collect();
    let skipped: Vec<Json> = restored.skipped.iter().map(conflict).collect();
    object([
        ("change", restored.change.map(|change| change.to_string()).into()),
        ("files", json!(files)),
        ("skipped", json!(skipped)),
    ])
}

//! The history of a memory, for your own code: see `Memory::history` and its like.

use std::time::SystemTime;

use data_encoding::BASE64;
use memdir::history::Restored;
use memdir::{Error, Memory};
use memdir_bindings_shared::grep_query;
use memdir_bindings_shared::history::{Query, Undo, export, id, undo_options};
use serde_json::{Value, json};

use crate::arguments::{Arguments, wrong};
use crate::failure::Failure;
use crate::files::sought;
use crate::operations::shown;

/// Does the operation `name`; none if there is no such operation here.
pub(crate) fn call(
    memory: &Memory,
    name: &str,
    given: &Arguments,
) -> Result<Option<Value>, Failure> {
    Ok(Some(match name {
        "history" => {
            given.none_but(&["path", "limit", "before", "actor", "change", "since"])?;
            let text = |name| Ok::<_, Failure>(given.optional_text(name)?.map(str::to_owned));
            let query = Query {
                path: text("path")?,
                limit: given.number("limit")?,
                before: text("before")?,
                actor: text("actor")?,
                change: text("change")?,
                since: time(given, "since")?,
            };
            shown(&memory.history(&query.into_core()?)?)?
        }
        "resolve_id" => {
            given.none_but(&["part"])?;
            memory.resolve_id(given.text("part")?)?.to_string().into()
        }
        "export_history" => {
            given.none_but(&[])?;
            content(export(memory)?)
        }
        "grep_history" => {
            let (query, path, limit) = sought(given)?;
            shown(&memory.grep_history(&query, path, limit)?)?
        }
        "files_at" => {
            given.none_but(&["at"])?;
            shown(&memory.files_at(at(given)?)?)?
        }
        "read_at" => {
            given.none_but(&["path", "at"])?;
            memory.read_at(given.text("path")?, at(given)?)?.map_or(Value::Null, content)
        }
        "blame" => {
            given.none_but(&["path"])?;
            shown(&memory.blame(given.text("path")?)?)?
        }
        "read_version" => {
            given.none_but(&["id"])?;
            content(memory.read_version(id(given.text("id")?)?)?)
        }
        "diff" => {
            given.none_but(&["id", "other"])?;
            let other = given.optional_text("other")?.map(id).transpose()?;
            memory.diff(id(given.text("id")?)?, other)?.into()
        }
        "restore" => {
            given.none_but(&["id", "overwrite"])?;
            shown(&memory.restore(id(given.text("id")?)?, given.flag("overwrite")?)?)?
        }
        "undo" => {
            given.none_but(&["change", "since", "actor", "dry_run", "skip_conflicts", "merge"])?;
            shown(&undo(memory, given)?)?
        }
        "restore_all" => {
            given.none_but(&["at", "dry_run"])?;
            shown(&memory.restore_all(at(given)?, given.flag("dry_run")?)?)?
        }
        "redact" => {
            given.none_but(&["id", "reason"])?;
            let change = memory.redact(id(given.text("id")?)?, given.text("reason")?)?;
            change.map(|change| change.to_string()).into()
        }
        "redact_text" => {
            given.none_but(&["query", "reason", "regex", "ignore_case", "dry_run"])?;
            let (regex, ignore_case) = (given.flag("regex")?, given.flag("ignore_case")?);
            let query = grep_query(given.text("query")?, regex, ignore_case)?;
            let dry_run = given.flag("dry_run")?;
            shown(&memory.redact_text(&query, given.text("reason")?, dry_run)?)?
        }
        "trim_history" => {
            given.none_but(&[])?;
            memory.trim_history()?.into()
        }
        _ => return Ok(None),
    }))
}

fn undo(memory: &Memory, given: &Arguments) -> Result<Restored, Failure> {
    let (change, since) = (given.optional_text("change")?, time(given, "since")?);
    let actor = given.optional_text("actor")?;
    let flag = |name| given.flag(name);
    let how = undo_options(flag("dry_run")?, flag("skip_conflicts")?, flag("merge")?);
    let (change, actor) = (change.map(str::to_owned), actor.map(str::to_owned));
    let undo = Undo::of(change, since, actor).map_err(Error::from)?;
    Ok(undo.take_back(memory, how)?)
}

const NO_TIME: &str = " must be a time as text, such as \"2026-03-14T15:09:26.535897Z\"";

/// A time; none if it is left out.
fn time(given: &Arguments, name: &str) -> Result<Option<SystemTime>, Failure> {
    match given.get(name) {
        Value::Null => Ok(None),
        text => {
            let time = text.as_str().and_then(memdir::text::parse_rfc3339);
            time.map(Some).ok_or_else(|| wrong(name, NO_TIME))
        }
    }
}

fn at(given: &Arguments) -> Result<SystemTime, Failure> {
    time(given, "at")?.ok_or_else(|| wrong("at", NO_TIME))
}

/// A content, which need not be text.
fn content(bytes: Vec<u8>) -> Value {
    match String::from_utf8(bytes) {
        Ok(text) => json!({ "text": text }),
        Err(binary) => json!({ "base64": BASE64.encode(binary.as_bytes()) }),
    }
}

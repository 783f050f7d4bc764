//! `memdir restore`, `undo` and `redact`: they change what a memory holds, or what its history does.

use serde_json::json;

use super::history::{self, failure};
use super::history_arguments::{RedactArguments, RestoreArguments, UndoArguments};
use super::output::{Output, count};
use super::stores::{self, StoreArgument};
use super::{Ended, Failure, say};
use memdir::history::{HistoryError, Restored};
use memdir::path::MemoryPath;
use memdir::{GrepQuery, Memory, MemoryOptions};

pub(super) fn restore(wanted: &RestoreArguments, output: &mut Output) -> Result<Ended, Failure> {
    let argument = stores::only(&wanted.store, MemoryOptions::default())?;
    let memory = history::changing_memory(&argument, &wanted.by.name)?;
    let reading = history::reading(&memory, &argument)?;
    let restored = match (&wanted.id, wanted.at) {
        (Some(id), _) => {
            let id = history::id(&reading, id)?;
            memory.restore(id, wanted.overwrite)
        }
        (None, Some(at)) => memory.restore_all(at, wanted.dry_run),
        (None, None) => return Err(Failure::Usage("--all needs --at".to_owned())),
    };
    // With --all nothing is a conflict that could be overwritten.
    let advice = if wanted.overwrite || wanted.all { "" } else { ": --overwrite would replace it" };
    told(restored, wanted.dry_run, advice, &argument, output)
}

pub(super) fn undo(wanted: &UndoArguments, output: &mut Output) -> Result<Ended, Failure> {
    let argument = stores::only(&wanted.store, MemoryOptions::default())?;
    let memory = history::changing_memory(&argument, &wanted.by.name)?;
    let reading = history::reading(&memory, &argument)?;
    let restored = match (&wanted.change, wanted.since) {
        (Some(change), _) => {
            let change = history::id(&reading, change)?;
            memory.undo(change, wanted.dry_run)
        }
        (None, Some(since)) => memory.undo_since(since, wanted.actor.as_deref(), wanted.dry_run),
        (None, None) => return Err(Failure::Usage("give a change or --since".to_owned())),
    };
    told(restored, wanted.dry_run, "", &argument, output)
}

pub(super) fn redact(wanted: &RedactArguments, output: &mut Output) -> Result<Ended, Failure> {
    let argument = stores::only(&wanted.store, MemoryOptions::default())?;
    let memory = history::changing_memory(&argument, &wanted.by.name)?;
    let reading = history::reading(&memory, &argument)?;
    let id = match (&wanted.id, &wanted.text) {
        (Some(id), _) => history::id(&reading, id)?,
        (None, Some(text)) => return redact_text(&memory, text, wanted, &argument, output),
        (None, None) => return Err(Failure::Usage("give an id or --text".to_owned())),
    };
    let change = memory.redact(id, &wanted.reason).map_err(|error| failure(&error, &argument))?;
    if output.json {
        output.object(&json!({"type": "summary", "change": change}))?;
    } else {
        output.line(&match change {
            Some(change) => format!("redacted, as change {change}"),
            None => "nothing was left to redact".to_owned(),
        })?;
    }
    Ok(Ended::Well)
}

fn redact_text(
    memory: &Memory,
    text: &str,
    wanted: &RedactArguments,
    argument: &StoreArgument,
    output: &mut Output,
) -> Result<Ended, Failure> {
    let query = if wanted.regex { GrepQuery::regex(text) } else { Ok(GrepQuery::text(text)) };
    let query = query.map_err(|error| argument.error(&error))?;
    let query = if wanted.ignore_case { query.ignoring_case() } else { query };
    let redact = |dry_run| {
        let redacted = memory.redact_text(&query, &wanted.reason, dry_run);
        redacted.map_err(|error| failure(&error, argument))
    };
    // What has the text is named in any case.
    let found = redact(true)?;
    for version in &found.versions {
        if output.json {
            let id = version.id;
            let path = version.path.as_str();
            output.object(&json!({"type": "version", "id": id, "path": path}))?;
        } else {
            output.line(&format!("{}  {}", version.id, version.path))?;
        }
    }
    for path in &found.current {
        if output.json {
            output.object(&json!({"type": "current", "path": path.as_str()}))?;
        } else {
            say(&format!("{path}: has the text now"));
        }
    }
    if !found.current.is_empty() {
        let files = count(found.current.len() as u64, "file has", "files have");
        say(&format!("nothing was redacted, as {files} the text now: change or delete it first"));
        return Ok(Ended::WithProblems);
    }
    let change = if wanted.yes { redact(false)?.change } else { None };
    let number = found.versions.len();
    if output.json {
        let object = json!({
            "type": "summary", "change": change, "versions": number, "dry_run": !wanted.yes,
        });
        output.object(&object)?;
        return Ok(Ended::Well);
    }
    let versions = count(number as u64, "version", "versions");
    output.line(&match change {
        Some(change) => format!("{versions} redacted, as change {change}"),
        None if wanted.yes || number == 0 => "nothing was left to redact".to_owned(),
        None => format!("{versions} would be redacted: --yes does it"),
    })?;
    Ok(Ended::Well)
}

/// Says what was done, would be done, or is in the way.
fn told(
    restored: Result<Restored, HistoryError>,
    dry_run: bool,
    advice: &str,
    argument: &StoreArgument,
    output: &mut Output,
) -> Result<Ended, Failure> {
    let restored = match restored {
        Err(HistoryError::Conflict { paths, in_the_way }) => {
            for path in &paths {
                let is_in_the_way = in_the_way.contains(path);
                if output.json {
                    let mut object = json!({"type": "conflict", "path": path.as_str()});
                    if is_in_the_way {
                        object["in_the_way"] = json!(true);
                    }
                    output.object(&object)?;
                } else {
                    say(&format!(
                        "{path}: {}",
                        if is_in_the_way { "in the way" } else { "changed since" }
                    ));
                }
            }
            let changed = (paths.len() - in_the_way.len()) as u64;
            let changed = (changed > 0)
                .then(|| format!("{} changed since", count(changed, "path was", "paths were")));
            let obstacles = (!in_the_way.is_empty()).then(|| {
                format!("{} in the way", count(in_the_way.len() as u64, "path is", "paths are"))
            });
            // What is in the way is never replaced.
            let advice = if in_the_way.is_empty() { advice } else { "" };
            let reasons: Vec<String> = changed.into_iter().chain(obstacles).collect();
            say(&format!("nothing was changed, as {}{advice}", reasons.join(" and ")));
            return Ok(Ended::WithProblems);
        }
        restored => restored.map_err(|error| failure(&error, argument))?,
    };
    for file in &restored.files {
        let old_path = file.old_path.as_ref().map(MemoryPath::as_str);
        output.file(file.operation.as_str(), file.path.as_str(), old_path)?;
    }
    let number = restored.files.len();
    if output.json {
        let (change, files) = (restored.change, number);
        let object =
            json!({"type": "summary", "change": change, "files": files, "dry_run": dry_run});
        output.object(&object)?;
        return Ok(Ended::Well);
    }
    let files = count(number as u64, "file", "files");
    output.line(&match restored.change {
        Some(change) => format!("{files} changed, as change {change}"),
        None if number == 0 => "nothing to change".to_owned(),
        None => format!("{files} would be changed"),
    })?;
    Ok(Ended::Well)
}

//! `memdir restore`, `undo` and `redact`: change the files of a memory, or its history.

use serde_json::{Value, json};

use super::history::{self, failure};
use super::history_arguments::{RedactArguments, RestoreArguments, UndoArguments};
use super::output::{Output, count};
use super::stores::{self, StoreArgument};
use super::style::escaped;
use super::{Ended, Failure, say};
use crate::with::with;
use memdir::history::{Conflict, HistoryError, Restored, RestoredFile, UndoOptions};
use memdir::path::MemoryPath;
use memdir::text::{rfc3339, unified_diff};
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
        (None, None) => return Err(Failure::Usage("--all needs --at TIME".to_owned())),
    };
    // With --all, files that were changed since are replaced anyway.
    let advice =
        if wanted.overwrite || wanted.all { "" } else { ": --overwrite replaces what is there" };
    told(restored, wanted.dry_run, advice, &memory, &argument, output)
}

pub(super) fn undo(wanted: &UndoArguments, output: &mut Output) -> Result<Ended, Failure> {
    let argument = stores::only(&wanted.store, MemoryOptions::default())?;
    let memory = history::changing_memory(&argument, &wanted.by.name)?;
    let reading = history::reading(&memory, &argument)?;
    let how = with(UndoOptions::default(), |how| {
        how.dry_run = wanted.dry_run;
        how.skip_conflicts = wanted.skip_conflicts;
        how.merge = wanted.merge;
    });
    let restored = match (&wanted.change, wanted.since) {
        (Some(change), _) => {
            let change = history::id(&reading, change)?;
            memory.undo(change, how)
        }
        (None, Some(since)) => memory.undo_since(since, wanted.actor.as_deref(), how),
        (None, None) => {
            return Err(Failure::Usage("give the id of a change, or --since TIME".to_owned()));
        }
    };
    let advice = match (wanted.skip_conflicts, wanted.merge) {
        (false, false) => {
            ": --skip-conflicts undoes the rest, --merge keeps later changes of other lines"
        }
        (false, true) => ": --skip-conflicts undoes the rest",
        (true, _) => "",
    };
    told(restored, wanted.dry_run, advice, &memory, &argument, output)
}

pub(super) fn redact(wanted: &RedactArguments, output: &mut Output) -> Result<Ended, Failure> {
    let argument = stores::only(&wanted.store, MemoryOptions::default())?;
    let memory = history::changing_memory(&argument, &wanted.by.name)?;
    let reading = history::reading(&memory, &argument)?;
    let id = match (&wanted.id, &wanted.text) {
        (Some(id), _) => history::id(&reading, id)?,
        (None, Some(text)) => return redact_text(&memory, text, wanted, &argument, output),
        (None, None) => return Err(Failure::Usage("give an id, or --text TEXT".to_owned())),
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
    if text.is_empty() {
        return Err(Failure::Usage("--text must not be empty".to_owned()));
    }
    let query = if wanted.regex { GrepQuery::regex(text) } else { Ok(GrepQuery::text(text)) };
    let query = query.map_err(|error| argument.error(&error))?;
    let query = if wanted.ignore_case { query.ignoring_case() } else { query };
    let redact = |dry_run| {
        let redacted = memory.redact_text(&query, &wanted.reason, dry_run);
        redacted.map_err(|error| failure(&error, argument))
    };
    // List the versions with the text in any case.
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
    for path in &found.names {
        if output.json {
            output.object(&json!({"type": "name", "path": path.as_str()}))?;
        } else {
            output.line(&format!("name  {path}"))?;
        }
    }
    for path in &found.kept_names {
        if output.json {
            output.object(&json!({"type": "kept-name", "path": path.as_str()}))?;
        } else {
            say(&format!("{path}: is there now, so it keeps its name"));
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
    let (number, names) = (found.versions.len(), found.names.len());
    if output.json {
        let object = json!({
            "type": "summary", "change": change, "versions": number, "names": names,
            "dry_run": !wanted.yes,
        });
        output.object(&object)?;
        return Ok(Ended::Well);
    }
    let versions = count(number as u64, "version", "versions");
    let names_too = format!(" and {}", count(names as u64, "name", "names"));
    let what = versions + if names == 0 { "" } else { &names_too };
    output.line(&match change {
        Some(change) => format!("{what} redacted, as change {change}"),
        None if wanted.yes => "nothing was left to redact".to_owned(),
        None if number + names == 0 => {
            "nothing would be redacted; if a redaction failed before, --yes does what it left"
                .to_owned()
        }
        None => format!("{what} would be redacted: --yes does it"),
    })?;
    Ok(Ended::Well)
}

/// Prints what was done or would be done, or what is in the way.
fn told(
    restored: Result<Restored, HistoryError>,
    dry_run: bool,
    advice: &str,
    memory: &Memory,
    argument: &StoreArgument,
    output: &mut Output,
) -> Result<Ended, Failure> {
    let restored = match restored {
        Err(HistoryError::Conflict { conflicts, .. }) => {
            return refused(&conflicts, advice, output);
        }
        restored => restored.map_err(|error| failure(&error, argument))?,
    };
    for file in &restored.files {
        let before = restored.path_before(file);
        told_file(file, dry_run.then_some((before, memory)), output)?;
    }
    for conflict in &restored.skipped {
        if output.json {
            output.object(&shown_json("skipped", conflict))?;
        } else {
            output.line(&format!("skipped   {}", shown(conflict)))?;
        }
    }
    let (number, skipped) = (restored.files.len(), restored.skipped.len());
    if output.json {
        let object = json!({
            "type": "summary", "change": restored.change, "files": number, "skipped": skipped,
            "dry_run": dry_run,
        });
        output.object(&object)?;
        return Ok(Ended::Well);
    }
    let files = count(number as u64, "file", "files");
    let left_out = if skipped > 0 { format!(", {skipped} skipped") } else { String::new() };
    output.line(&match restored.change {
        Some(change) => format!("{files} changed{left_out}, as change {change}"),
        None if number == 0 => format!("nothing to change{left_out}"),
        None => format!("{files} would be changed{left_out}"),
    })?;
    Ok(Ended::Well)
}

/// Prints a change of a file. For a merge in a dry run, it prints a diff against the present file, whose path is given.
fn told_file(
    file: &RestoredFile,
    dry_run: Option<(&MemoryPath, &Memory)>,
    output: &mut Output,
) -> Result<(), Failure> {
    let (operation, path) = (file.operation.as_str(), file.path.as_str());
    let old_path = file.old_path.as_ref().map(MemoryPath::as_str);
    let Some(merged) = &file.merged else { return output.file(operation, path, old_path) };
    if output.json {
        return output.object(&json!({
            "type": "file", "operation": operation, "path": path, "old_path": old_path, "merged": merged,
        }));
    }
    output.changed("merged", path)?;
    if let Some((before, memory)) = dry_run {
        let now = memory.store().read(before).unwrap_or_default();
        output.diff(&unified_diff(before.as_str(), &now, path, merged.as_bytes()))?;
    }
    Ok(())
}

/// Prints why nothing was changed.
fn refused(conflicts: &[Conflict], advice: &str, output: &mut Output) -> Result<Ended, Failure> {
    for conflict in conflicts {
        if output.json {
            output.object(&shown_json("conflict", conflict))?;
        } else {
            say(&shown(conflict));
        }
    }
    let in_the_way = conflicts.iter().filter(|conflict| conflict.in_the_way).count() as u64;
    let changed = conflicts.len() as u64 - in_the_way;
    let said_changed = (changed > 0)
        .then(|| format!("{} changed since", count(changed, "path was", "paths were")));
    let obstacles = (in_the_way > 0)
        .then(|| format!("{} in the way", count(in_the_way, "path is", "paths are")));
    // An obstacle is never replaced.
    let advice =
        if in_the_way == 0 { advice } else { ": rename or delete what is in the way first" };
    let reasons: Vec<String> = said_changed.into_iter().chain(obstacles).collect();
    say(&format!("nothing was changed, as {}{advice}", reasons.join(" and ")));
    Ok(Ended::WithProblems)
}

/// The path, and the change since.
fn shown(conflict: &Conflict) -> String {
    let path = &conflict.path;
    if conflict.in_the_way {
        return format!("{path}: in the way");
    }
    match (conflict.change, conflict.time) {
        (Some(change), Some(time)) => {
            let actor = conflict.actor.as_deref().map_or_else(|| "-".to_owned(), escaped);
            format!("{path}: changed since by {actor} at {}, as change {change}", rfc3339(time))
        }
        _ => format!("{path}: changed since"),
    }
}

fn shown_json(kind: &str, conflict: &Conflict) -> Value {
    let path = conflict.path.as_str();
    if conflict.in_the_way {
        return json!({"type": kind, "path": path, "in_the_way": true});
    }
    let Conflict { change, actor, time, .. } = conflict;
    let time = time.map(rfc3339);
    json!({"type": kind, "path": path, "change": change, "actor": actor, "time": time})
}

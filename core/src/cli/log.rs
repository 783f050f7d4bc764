//! `memdir log`: the versions of a memory's files.

use serde_json::json;

use super::history::{self, failure};
use super::history_arguments::{Format, Log};
use super::output::Output;
use super::stores::{self, Place};
use super::style::{Style, escaped};
use super::{Ended, Failure};
use crate::history::time::to_text;
use crate::history::{HistoryQuery, Named, NotWritten, Reading, Version, write_fast_import};
use crate::options::MemoryOptions;
use crate::text::human_size;

pub(super) fn run(wanted: &Log, output: &mut Output) -> Result<Ended, Failure> {
    let path = wanted.path.as_deref().map(stores::path).transpose()?;
    let place = stores::only(&wanted.store, MemoryOptions::default())?;
    let memory = history::reading_memory(&place)?;
    let reading = history::reading(&memory, &place)?;
    if wanted.format == Some(Format::GitFastImport) {
        return match write_fast_import(&reading, output.stream()) {
            Ok(()) => Ok(Ended::Well),
            Err(NotWritten::Output(error)) => Err(error.into()),
            Err(NotWritten::History(error)) => Err(failure(&error, &place)),
        };
    }
    let before = match &wanted.before {
        None => None,
        Some(given) => Some(match history::named(&reading, given)? {
            // Before all of its versions.
            Named::Change(change, versions) => versions.into_iter().min().unwrap_or(change),
            _ => history::version(&reading, given)?,
        }),
    };
    let query = HistoryQuery {
        path: path.map(|path| path.as_str().to_owned()),
        limit: wanted.limit,
        before,
        actor: wanted.actor.clone(),
        since: wanted.since,
        ..HistoryQuery::default()
    };
    let versions = memory.history(&query).map_err(|error| failure(&error, &place))?;
    let actors = versions.iter().map(|version| actor(version).chars().count());
    let widest = actors.max().unwrap_or(0).min(24);
    for version in &versions {
        let diff = wanted.patch.then(|| diff(&reading, version, &place)).transpose()?;
        if output.json {
            let mut object = json!({"type": "version"});
            if let (Some(object), Ok(serde_json::Value::Object(fields))) =
                (object.as_object_mut(), serde_json::to_value(version))
            {
                object.extend(fields);
            }
            if let Some(diff) = diff {
                object["diff"] = json!(diff);
            }
            output.object(&object)?;
            continue;
        }
        let [before, operation, after] = line(version, widest);
        let style = Style::of_operation(version.operation.as_str());
        output.pieces(&[(Style::Plain, &before), (style, &operation), (Style::Plain, &after)])?;
        if let Some(diff) = diff {
            let diff = match &version.redacted {
                Some(reason) if diff.is_none() => format!("redacted: {}\n", escaped(reason)),
                _ => diff.unwrap_or_else(|| "the history does not have the content\n".to_owned()),
            };
            output.diff(&diff)?;
            output.line("")?;
        }
    }
    Ok(Ended::Well)
}

/// A line: what is before the operation, the operation, and what is after it.
fn line(version: &Version, widest: usize) -> [String; 3] {
    let (id, time, operation) = (version.id, to_text(version.time), version.operation);
    let size = version.size.map_or_else(|| "-".to_owned(), human_size);
    let actor = actor(version);
    let from = version.old_path.as_ref().map(|old| format!(" from {old}")).unwrap_or_default();
    let redacted = match &version.redacted {
        Some(reason) => format!(" (redacted: {})", escaped(reason)),
        None => String::new(),
    };
    let path = &version.path;
    [
        format!("{id}  {time}  {actor:widest$}  "),
        format!("{operation:<11}"),
        format!(" {size:>6}  {path}{from}{redacted}"),
    ]
}

fn actor(version: &Version) -> String {
    version.actor.as_deref().map_or_else(|| "-".to_owned(), escaped)
}

/// What a version changed; `None` if the history cannot tell it any more.
fn diff(
    reading: &Reading<'_>,
    version: &Version,
    place: &Place,
) -> Result<Option<String>, Failure> {
    match reading.diff(version.id) {
        Ok(diff) => Ok(Some(diff)),
        Err(error @ crate::history::HistoryError::Store(_)) => Err(failure(&error, place)),
        Err(_) => Ok(None),
    }
}

//! `memdir log`: lists the versions of a memory's files.

use serde_json::json;

use super::history::{self, failure};
use super::history_arguments::{Format, LogArguments};
use super::output::Output;
use super::stores::{self, StoreArgument};
use super::style::{Style, escaped};
use super::{Ended, Failure};
use crate::with::with;
use memdir::MemoryOptions;
use memdir::history::{FastImportError, HistoryQuery, HistorySnapshot, ResolvedId, Version};
use memdir::text::human_size;
use memdir::text::rfc3339;

pub(super) fn run(wanted: &LogArguments, output: &mut Output) -> Result<Ended, Failure> {
    let path = wanted.path.as_deref().map(stores::path).transpose()?;
    let argument = stores::only(&wanted.store, MemoryOptions::default())?;
    let memory = history::reading_memory(&argument)?;
    let reading = history::reading(&memory, &argument)?;
    if wanted.format == Some(Format::GitFastImport) {
        return match reading.write_fast_import(&mut output.stream()) {
            Ok(()) => Ok(Ended::Well),
            Err(FastImportError::Output(error)) => Err(error.into()),
            Err(FastImportError::History(error)) => Err(failure(&error, &argument)),
        };
    }
    let before = match &wanted.before {
        None => None,
        Some(given) => Some(match history::named(&reading, given)? {
            // Only versions before all versions of the change.
            ResolvedId::Change(change, versions) => versions.into_iter().min().unwrap_or(change),
            _ => history::version(&reading, given)?,
        }),
    };
    let query = with(HistoryQuery::default(), |query| {
        query.path = path.map(|path| path.as_str().to_owned());
        query.limit = wanted.limit;
        query.before = before;
        query.actor.clone_from(&wanted.actor);
        query.since = wanted.since;
    });
    let versions = memory.history(&query).map_err(|error| failure(&error, &argument))?;
    let actors = versions.iter().map(|version| actor(version).chars().count());
    let widest = actors.max().unwrap_or(0).min(24);
    for version in &versions {
        let diff = wanted.patch.then(|| diff(&reading, version, &argument)).transpose()?;
        if output.json {
            let mut more = json!({});
            if let Some(redacts) = reading.redacted_by(version.id) {
                more["redacts"] = json!(redacts);
            }
            if let Some(diff) = diff {
                more["diff"] = json!(diff);
            }
            output.result("version", version, more)?;
            continue;
        }
        let [before, operation, after] = line(&reading, version, widest);
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

/// A line in three parts: the text before the operation, the operation, and the text after it.
fn line(reading: &HistorySnapshot<'_>, version: &Version, widest: usize) -> [String; 3] {
    let (id, time, operation) = (version.id, rfc3339(version.time), version.operation);
    let size = version.size.map_or_else(|| "-".to_owned(), human_size);
    let actor = actor(version);
    let from = version.old_path.as_ref().map(|old| format!(" from {old}")).unwrap_or_default();
    let about = reading.redacted_by(version.id).map(|id| format!(" version {id}"));
    let about = about.unwrap_or_default();
    let redacted = match &version.redacted {
        Some(reason) => format!(" (redacted: {})", escaped(reason)),
        None => String::new(),
    };
    let path = &version.path;
    [
        format!("{id}  {time}  {actor:widest$}  "),
        format!("{operation:<11}"),
        format!(" {size:>6}  {path}{from}{about}{redacted}"),
    ]
}

fn actor(version: &Version) -> String {
    let actor = version.actor.as_deref().map_or_else(|| "-".to_owned(), escaped);
    match &version.partner {
        Some(partner) => format!("{actor} with {}", escaped(partner)),
        None => actor,
    }
}

/// The diff of a version; `None` if the history no longer has its contents.
fn diff(
    reading: &HistorySnapshot<'_>,
    version: &Version,
    argument: &StoreArgument,
) -> Result<Option<String>, Failure> {
    match reading.diff(version.id) {
        Ok(diff) => Ok(Some(diff)),
        Err(error @ memdir::history::HistoryError::Store(_)) => Err(failure(&error, argument)),
        Err(_) => Ok(None),
    }
}

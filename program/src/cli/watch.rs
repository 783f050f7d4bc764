//! `memdir watch`: prints a line for each change as it happens.

use std::collections::{HashMap, HashSet};
use std::thread;
use std::time::{Duration, SystemTime};

use serde_json::json;

use super::file_arguments::WatchArguments;
use super::output::Output;
use super::stores::{self, StoreArgument};
use super::style::{Style, escaped};
use super::{Ended, Failure, history, say};
use crate::with::with;
use memdir::history::{HistoryId, HistoryQuery, Operation, Version};
use memdir::path::MemoryPath;
use memdir::store::StoreError;
use memdir::text::rfc3339;
use memdir::{Change, Error, Memory, MemoryOptions};

/// The pause after a failure of the store.
const PAUSE: Duration = Duration::from_secs(1);

/// The timeout of one call.
const LONG: Duration = Duration::from_secs(3600);

/// The number of newest versions that are read after a change.
const NEWEST: usize = 1_000;

pub(super) fn run(wanted: &WatchArguments, output: &mut Output) -> Result<Ended, Failure> {
    let path = stores::path(&wanted.path)?;
    let argument = stores::only(&wanted.store, MemoryOptions::default())?;
    let memory =
        history::with_history_if_any(argument.readable()?, &argument, argument.options().clone())?;
    let failed = |error: Error| argument.error(&error);
    let mut told = ReportedVersions::new(&memory, &argument)?;
    let mut watch = memory.watch(path.as_str(), wanted.every).map_err(failed)?;
    // Whether the store failed at the last attempt.
    let mut is_away = false;
    loop {
        match watch.changes(LONG) {
            Ok(changes) => {
                is_away = false;
                told.tell(&changes, output)?;
                output.flush()?;
            }
            Err(error @ Error::Store(StoreError::Cancelled)) => return Err(failed(error)),
            // No change is lost: the next successful poll reports everything since.
            Err(error) => {
                if !std::mem::replace(&mut is_away, true) {
                    let sentence = argument.without_secrets(&error.to_string());
                    say(&format!(
                        "{sentence}; the watch continues when the store can be read again"
                    ));
                }
                thread::sleep(PAUSE);
            }
        }
    }
}

/// The versions in the history that belong to reported changes. Each version is reported once.
struct ReportedVersions<'t> {
    memory: &'t Memory,
    argument: &'t StoreArgument,
    /// The newest version when the watch started.
    beginning: Option<HistoryId>,
    /// The newest reported version of each path.
    newest: HashMap<MemoryPath, HistoryId>,
}

impl<'t> ReportedVersions<'t> {
    fn new(memory: &'t Memory, argument: &'t StoreArgument) -> Result<Self, Failure> {
        let mut told = Self { memory, argument, beginning: None, newest: HashMap::new() };
        told.beginning = told.versions(1)?.first().map(|version| version.id);
        Ok(told)
    }

    /// The newest versions, if there is a history.
    fn versions(&self, limit: usize) -> Result<Vec<Version>, Failure> {
        if !self.memory.options().history {
            return Ok(Vec::new());
        }
        let query = with(HistoryQuery::default(), |query| query.limit = Some(limit));
        self.memory.history(&query).map_err(|error| history::failure(&error, self.argument))
    }

    fn tell(&mut self, changes: &[Change], output: &mut Output) -> Result<(), Failure> {
        if changes.is_empty() {
            return Ok(());
        }
        // If the history cannot be read, report the changes as the watch saw them.
        let mut versions = self.versions(NEWEST).unwrap_or_default();
        // Changes by other programs are reported as the watch saw them, because the history records them later.
        versions.retain(|version| {
            Some(version.id) > self.beginning && version.operation != Operation::External
        });
        let mut now: HashSet<HistoryId> = HashSet::new();
        for change in changes {
            let known = self.newest.get(&change.path).copied();
            let is_new = |version: &&Version| {
                Some(version.id) > known
                    && (version.path == change.path
                        || version.old_path.as_ref() == Some(&change.path))
            };
            let new: Vec<&Version> = versions.iter().filter(is_new).collect();
            let Some(newest) = new.first() else {
                line(change.kind.as_str(), &change.path, None, output)?;
                continue;
            };
            self.newest.insert(change.path.clone(), newest.id);
            for version in new.into_iter().rev() {
                if now.insert(version.id) {
                    line(version.operation.as_str(), &version.path, Some(version), output)?;
                }
            }
        }
        Ok(())
    }
}

fn line(
    operation: &str,
    path: &MemoryPath,
    version: Option<&Version>,
    output: &mut Output,
) -> Result<(), Failure> {
    let time = rfc3339(version.map_or_else(SystemTime::now, |version| version.time));
    let actor = version.and_then(|version| version.actor.as_deref());
    let old_path = version.and_then(|version| version.old_path.as_ref());
    if output.json {
        return output.object(&json!({
            "type": "change",
            "time": time,
            "actor": actor,
            "operation": operation,
            "path": path.as_str(),
            "old_path": old_path.map(MemoryPath::as_str),
            "version": version.map(|version| version.id),
        }));
    }
    let actor = actor.map_or_else(|| "-".to_owned(), escaped);
    let from = old_path.map(|old| format!(" from {old}")).unwrap_or_default();
    let done = format!("{operation:<11}");
    output.pieces(&[
        (Style::Dim, &format!("{time}  ")),
        (Style::Plain, &format!("{actor}  ")),
        (Style::of_operation(operation), &done),
        (Style::Plain, &format!("  {path}{from}")),
    ])
}

//! [`HistoryQuery`]: selects versions of a history.

use std::time::SystemTime;

use memdir_store::path::MemoryPath;
use memdir_store::{Context, HistoryId};

use super::error::HistoryError;
use super::reader::HistoryReader;
use super::snapshot::Snapshot;
use super::version::Version;

/// Selects the versions that `Memory::history` returns, newest first. The default selects all.
///
/// ```
/// use memdir::history::HistoryQuery;
/// use memdir::{Memory, MemoryOptions};
///
/// let mut options = MemoryOptions::default();
/// options.history = true;
/// let memory = Memory::open("memory:", options)?;
/// memory.create("/memories/a.md", "one\n")?;
/// memory.create("/memories/b.md", "two\n")?;
///
/// let mut query = HistoryQuery::default();
/// query.path = Some("/memories/a.md".to_owned());
/// assert_eq!(memory.history(&query)?.len(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct HistoryQuery {
    /// A file or a directory. It need not exist now. Selects the versions of everything that is or was at this path or below it, and
    /// the earlier versions of files that were moved there. `None` for everything.
    pub path: Option<String>,
    /// The maximum number of versions. `None` for all.
    pub limit: Option<usize>,
    /// Only versions before this one. Pass the last version of the previous page.
    pub before: Option<HistoryId>,
    /// Only versions made by this actor.
    pub actor: Option<String>,
    /// Only versions of this change.
    pub change: Option<HistoryId>,
    /// Only versions made at this time or later.
    pub since: Option<SystemTime>,
}

impl HistoryReader {
    /// The versions that match the query, newest first.
    ///
    /// # Errors
    /// [`HistoryError::Store`] if the history cannot be read.
    pub fn versions(
        &self,
        context: &Context,
        query: &HistoryQuery,
    ) -> Result<Vec<Version>, HistoryError> {
        let path = match &query.path {
            None => None,
            Some(path) => {
                Some(MemoryPath::parse(path).map_err(|_| HistoryError::Path(path.clone()))?)
            }
        };
        let snapshot = self.snapshot(context)?;
        let timeline = &snapshot.timeline;
        let end = match query.before {
            None => timeline.moments.len(),
            // The version may have been removed for its age since.
            Some(before) => timeline.find(before).unwrap_or_else(|| {
                let older = timeline.moments.iter().rposition(|moment| moment.id < before);
                older.map_or(0, |older| older + 1)
            }),
        };
        let wanted = |number: &usize| {
            let moment = &timeline.moments[*number];
            query.since.is_none_or(|since| moment.id.time() >= since)
                && query.change.is_none_or(|change| moment.change() == change)
                && query.actor.as_deref().is_none_or(|actor| moment.actor() == Some(actor))
                && path.as_ref().is_none_or(|path| snapshot.concerns(*number, path))
        };
        let newest_first = (0..end).rev().filter(wanted);
        let limit = query.limit.unwrap_or(usize::MAX);
        Ok(newest_first.take(limit).map(|number| timeline.version(number)).collect())
    }
}

impl Snapshot {
    /// Whether a version is of a file that is or was at `path` or below it.
    pub(super) fn concerns(&self, number: usize, path: &MemoryPath) -> bool {
        let is_at = |other: &MemoryPath| {
            let (path, other) = (self.folding.key(path), self.folding.key(other));
            path == other || path.is_above(&other)
        };
        let moment = &self.timeline.moments[number];
        let latest = &self.timeline.moments[self.timeline.latest[moment.file]];
        is_at(&moment.path)
            || moment.old_path.as_ref().is_some_and(is_at)
            || (latest.state.is_there() && is_at(&latest.path))
    }
}

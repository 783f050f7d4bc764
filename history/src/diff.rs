//! `diff`: the changes between two versions, as a unified diff.

use memdir_store::path::MemoryPath;
use memdir_store::{Context, HistoryId};

use super::error::HistoryError;
use super::reader::HistoryReader;
use super::snapshot::Snapshot;
use super::timeline::FileState;
use crate::text_diff::unified_diff;

/// The name of a file that does not exist, in a diff.
const NOTHING: &str = "/dev/null";

impl HistoryReader {
    /// The content of a version.
    ///
    /// # Errors
    /// [`HistoryError::Unknown`], [`HistoryError::NoContent`], [`HistoryError::Redacted`], [`HistoryError::Damaged`],
    /// [`HistoryError::Store`].
    pub fn read_version(&self, context: &Context, id: HistoryId) -> Result<Vec<u8>, HistoryError> {
        let snapshot = self.snapshot(context)?;
        match snapshot.timeline.find(id) {
            Some(number) => self.content_of(context, &snapshot, number),
            None => Err(HistoryError::Unknown(id.to_string())),
        }
    }

    /// The diff from one version to another. Without another version, the diff of the change that made the version.
    ///
    /// # Errors
    /// As [`read_version`](Self::read_version). A file that does not exist counts as empty.
    pub fn diff(
        &self,
        context: &Context,
        one: HistoryId,
        other: Option<HistoryId>,
    ) -> Result<String, HistoryError> {
        let snapshot = self.snapshot(context)?;
        let find = |id: HistoryId| {
            snapshot.timeline.find(id).ok_or_else(|| HistoryError::Unknown(id.to_string()))
        };
        let (from, to) = match other {
            Some(other) => (Some(find(one)?), find(other)?),
            None => {
                let number = find(one)?;
                (snapshot.timeline.moments[number].earlier, number)
            }
        };
        let (old_path, old) = self.side(context, &snapshot, from)?;
        let (path, new) = self.side(context, &snapshot, Some(to))?;
        Ok(unified(old_path.as_ref(), &old, path.as_ref(), &new))
    }

    /// The path and the content of one side of a diff.
    fn side(
        &self,
        context: &Context,
        snapshot: &Snapshot,
        number: Option<usize>,
    ) -> Result<(Option<MemoryPath>, Vec<u8>), HistoryError> {
        let Some(number) = number else { return Ok((None, Vec::new())) };
        let moment = &snapshot.timeline.moments[number];
        match moment.state {
            FileState::Gone => Ok((None, Vec::new())),
            _ => Ok((Some(moment.path.clone()), self.content_of(context, snapshot, number)?)),
        }
    }
}

/// A unified diff of two versions. Their paths may differ, and either file may not exist.
pub(crate) fn unified(
    old_path: Option<&MemoryPath>,
    old: &[u8],
    path: Option<&MemoryPath>,
    new: &[u8],
) -> String {
    let name = |path: Option<&MemoryPath>| path.map_or(NOTHING, MemoryPath::as_str).to_owned();
    unified_diff(&name(old_path), old, &name(path), new)
}

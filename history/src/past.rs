//! [`PastFile`]: the files that existed at a time, and their contents.

use std::collections::HashSet;
use std::time::SystemTime;

use memdir_store::Node;
use memdir_store::path::MemoryPath;
use memdir_store::{Context, HistoryId};
use serde::Serialize;

use super::error::HistoryError;
use super::reader::HistoryReader;
use super::snapshot::Snapshot;
use super::timeline::FileState;

/// A file as it was at a given time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct PastFile {
    /// The path at that time.
    pub path: MemoryPath,
    /// Its size in bytes. `None` if its content is redacted, or if it was not read since it was moved.
    pub size: Option<u64>,
    /// The time of its last change before the given time; `None` if unknown.
    #[serde(serialize_with = "memdir_store::time::serialize_optional")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<memdir_store::schema::Time>"))]
    pub modified: Option<SystemTime>,
    /// The id of its version. `None` for a file that was not changed since the history began.
    pub version: Option<HistoryId>,
}

impl HistoryReader {
    /// The files that existed at a time, sorted by path.
    ///
    /// # Errors
    /// [`HistoryError::Trimmed`] if the history does not reach back to that time; [`HistoryError::Store`].
    pub fn files_at(
        &self,
        context: &Context,
        at: SystemTime,
    ) -> Result<Vec<PastFile>, HistoryError> {
        let snapshot = self.snapshot(context)?;
        let timeline = &snapshot.timeline;
        let mut files = Vec::new();
        for number in snapshot.there_at(at)? {
            let moment = &timeline.moments[number];
            let size = match moment.state {
                FileState::Content(content) if timeline.redaction(content).is_some() => None,
                FileState::Content(content) => Some(content.size),
                // The file was moved with its directory, and this is its latest version.
                _ if timeline.is_latest(number) => {
                    match self.store.open_in(context, &moment.path, 0) {
                        Ok(Node::File(size, _)) => Some(size),
                        _ => None,
                    }
                }
                _ => None,
            };
            // The history has no time for a file that existed before it began.
            let modified = Some(moment.id.time()).filter(|time| *time <= at);
            let (path, version) = (moment.path.clone(), Some(moment.id));
            files.push(PastFile { path, size, modified, version });
        }
        let known: HashSet<MemoryPath> =
            files.iter().map(|file| snapshot.folding.key(&file.path).into_owned()).collect();
        self.visible_files(context, &mut |entry| {
            let key = snapshot.folding.key(&entry.path);
            let is_known = timeline.live.contains_key(&*key) || known.contains(&*key);
            let is_of_memory = !is_known && !entry.path.is_reserved();
            if let (true, memdir_store::EntryKind::File(size)) = (is_of_memory, entry.kind)
                && entry.modified.is_none_or(|modified| modified <= at)
            {
                let (path, size) = (entry.path.clone(), Some(size));
                files.push(PastFile { path, size, modified: entry.modified, version: None });
            }
        })?;
        files.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(files)
    }

    /// The content of a file at a time; `None` if the file did not exist then.
    ///
    /// # Errors
    /// As [`files_at`](Self::files_at) and [`read_version`](Self::read_version).
    pub fn read_at(
        &self,
        context: &Context,
        path: &MemoryPath,
        at: SystemTime,
    ) -> Result<Option<Vec<u8>>, HistoryError> {
        let snapshot = self.snapshot(context)?;
        let wanted = snapshot.folding.key(path);
        let is_it = |other: &MemoryPath| snapshot.folding.key(other) == wanted;
        let moments = &snapshot.timeline.moments;
        let there = snapshot.there_at(at)?;
        if let Some(number) = there.into_iter().find(|number| is_it(&moments[*number].path)) {
            return self.content_of(context, &snapshot, number).map(Some);
        }
        let unknown = self.files_at(context, at)?.into_iter().find(|file| is_it(&file.path));
        match unknown {
            Some(file) => Ok(Some(self.store.read_in(context, &file.path)?)),
            None => Ok(None),
        }
    }
}

impl Snapshot {
    /// The versions of the files that existed at a time.
    fn there_at(&self, at: SystemTime) -> Result<Vec<usize>, HistoryError> {
        let there = self.states_at(at)?.into_iter().filter_map(|(_, number)| number);
        Ok(there.filter(|number| self.timeline.moments[*number].state.is_there()).collect())
    }
}

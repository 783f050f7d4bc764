//! Loads a history: the [`Snapshot`] of the present journal, and the contents of its versions.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Arc, PoisonError};

use memdir_store::batch::{in_batches, read_all};
use memdir_store::path::{Folding, MemoryPath};
use memdir_store::{Context, HistoryId, Operation, StoreError};

use super::error::HistoryError;
use super::journal::Stored;
use super::reader::HistoryReader;
use super::record::{ContentId, Digest};
use super::settle::PathState;
use super::snapshot::{LoadedUntil, Snapshot};
use super::timeline::FileState;

impl HistoryReader {
    /// A snapshot of the present history.
    pub(super) fn snapshot(&self, context: &Context) -> Result<Arc<Snapshot>, HistoryError> {
        self.snapshot_behind(context, context)
    }

    /// As [`snapshot`](Self::snapshot), for a step that is made although its call is cancelled. Only behind another call that loads the
    /// journal it ends with `waiting`.
    pub(super) fn snapshot_behind(
        &self,
        waiting: &Context,
        context: &Context,
    ) -> Result<Arc<Snapshot>, HistoryError> {
        let (mut snapshot, new, in_doubt, loaded) = {
            let mut index = self.index_in(waiting)?;
            index.refresh(context, &*self.journal)?;
            let (extent, end, loaded_end) = (index.extent(), index.end(), index.loaded.end);
            let mut last = self.last_snapshot();
            if let Some((of, snapshot)) = &*last
                && (of.extent, of.loaded_end) == (extent, loaded_end)
            {
                return Ok(Arc::clone(snapshot));
            }
            // A history that grew is extended and not computed again, unless a caller still reads the earlier snapshot. A new record
            // in doubt may depend on any earlier record, so it is not decided from the new ones alone.
            let in_doubt = index.in_doubt();
            let earlier = last.take().and_then(|(of, snapshot)| {
                let mut new = index.records_from(of.end.0);
                let goes_on = snapshot.can_go_on()
                    && index.goes_on_after(of)
                    && !new.any(|stored| in_doubt.contains(&stored.header.id));
                let snapshot = goes_on.then(|| Arc::try_unwrap(snapshot).ok()).flatten()?;
                Some((snapshot, of.end.0))
            });
            let folding = Folding::new(self.store.info().folds_case);
            let (mut snapshot, from) = earlier.unwrap_or_else(|| (Snapshot::new(folding), 0));
            snapshot.loaded_end = loaded_end;
            snapshot.damaged.clone_from(&index.loaded.damaged);
            let new: Vec<Stored> = index.records_from(from).cloned().collect();
            (snapshot, new, in_doubt, LoadedUntil { extent, loaded_end, end })
        };
        // Each file is read once, so all decisions about it use the same state.
        let mut found = self.found_together(context, &new, &in_doubt)?;
        let (mut broken, mut was_asked) = (None, false);
        snapshot.extend(new, &in_doubt, &mut |path| {
            was_asked = true;
            *found.entry(path.clone()).or_insert_with(|| {
                self.found(context, path).unwrap_or_else(|error| {
                    broken = Some(error);
                    PathState::Unknown
                })
            })
        });
        if let Some(error) = broken {
            return Err(error.into());
        }
        let snapshot = Arc::new(snapshot);
        // An unconfirmed change may be in progress, so do not cache a snapshot that depended on the present files.
        *self.last_snapshot() = (!was_asked).then(|| (loaded, Arc::clone(&snapshot)));
        Ok(snapshot)
    }

    /// The present state of a path.
    pub(super) fn found(
        &self,
        context: &Context,
        path: &MemoryPath,
    ) -> Result<PathState, StoreError> {
        state_of(self.store.read_in(context, path))
    }

    /// The present states of the files that changes in doubt have written, read together.
    fn found_together(
        &self,
        context: &Context,
        new: &[Stored],
        in_doubt: &HashSet<HistoryId>,
    ) -> Result<HashMap<MemoryPath, PathState>, StoreError> {
        let doubted = new.iter().filter(|stored| in_doubt.contains(&stored.header.id));
        let rows = doubted.flat_map(|stored| &stored.header.rows);
        let written: BTreeMap<&MemoryPath, u64> =
            rows.filter_map(|row| Some((&row.path, row.after?.size))).collect();
        let written: Vec<(&MemoryPath, u64)> = written.into_iter().collect();
        let mut found = HashMap::new();
        for some in in_batches(&written, |(_, size)| *size) {
            let paths = some.iter().map(|(path, _)| *path).collect();
            for ((path, _), read) in some.iter().zip(read_all(&*self.store, context, paths)) {
                found.insert((*path).clone(), state_of(read)?);
            }
        }
        Ok(found)
    }

    /// A content of the history.
    pub(super) fn content(
        &self,
        context: &Context,
        snapshot: &Snapshot,
        wanted: ContentId,
    ) -> Result<Vec<u8>, HistoryError> {
        /// Each attempt fails only if another process removes a record between a load and a read.
        const MAX_ATTEMPTS: usize = 100;
        let mut read = self.computed(context, snapshot, wanted);
        if matches!(read, Err(HistoryError::Damaged | HistoryError::Store(_))) {
            for _ in 0..MAX_ATTEMPTS {
                // Another process may have rewritten the journal since it was loaded. Then the records have moved.
                self.index_in(context)?.reload(context, &*self.journal)?;
                read = self.computed(context, &*self.snapshot(context)?, wanted);
                if !matches!(read, Err(HistoryError::Store(StoreError::NotFound))) {
                    break;
                }
            }
        }
        read
    }

    fn computed(
        &self,
        context: &Context,
        snapshot: &Snapshot,
        wanted: ContentId,
    ) -> Result<Vec<u8>, HistoryError> {
        let last = snapshot.last.lock().unwrap_or_else(PoisonError::into_inner).take();
        let content = snapshot.contents.read(
            context,
            &snapshot.records,
            &*self.journal,
            wanted,
            &mut |digest| {
                if let Some((of, content)) = &last
                    && *of == digest
                {
                    return Some(content.clone());
                }
                let content =
                    self.store.read_in(context, snapshot.timeline.holder(digest)?).ok()?;
                (Digest::of(&content) == digest).then_some(content)
            },
        )?;
        *snapshot.last.lock().unwrap_or_else(PoisonError::into_inner) =
            Some((wanted.sha256, content.clone()));
        Ok(content)
    }

    /// As [`content`](Self::content), for many contents.
    pub(super) fn all_contents(
        &self,
        context: &Context,
        snapshot: &Snapshot,
        wanted: &[ContentId],
    ) -> Result<Vec<Vec<u8>>, HistoryError> {
        let (records, journal) = (&snapshot.records, &*self.journal);
        let whole = snapshot.contents.read_whole(context, records, journal, wanted);
        let or_computed = |(wanted, whole): (&ContentId, Option<Vec<u8>>)| match whole {
            Some(content) => Ok(content),
            None => self.content(context, snapshot, *wanted),
        };
        wanted.iter().zip(whole).map(or_computed).collect()
    }

    /// The content after a version.
    pub(super) fn content_of(
        &self,
        context: &Context,
        snapshot: &Snapshot,
        number: usize,
    ) -> Result<Vec<u8>, HistoryError> {
        let moment = &snapshot.timeline.moments[number];
        match &moment.state {
            FileState::Content(content) => match snapshot.timeline.redaction(*content) {
                Some(redaction) => Err(HistoryError::Redacted(redaction.reason.clone())),
                None => self.content(context, snapshot, *content),
            },
            // This version says that the content or the name of another version was removed. It is not a deletion.
            FileState::Gone if moment.operation == Operation::Redacted => {
                let reason = snapshot.timeline.reason_of(moment).map(str::to_owned);
                Err(reason.map_or(HistoryError::Damaged, HistoryError::Redacted))
            }
            FileState::Gone => Err(HistoryError::NoContent(moment.id.to_string())),
            // The file was moved with its directory and has not changed since, so it still has this content.
            FileState::Unread if snapshot.timeline.is_latest(number) => {
                match self.store.read_in(context, &moment.path) {
                    // Another program deleted the file or replaced it.
                    Err(error) if !error.is_failure() => Err(HistoryError::Damaged),
                    read => Ok(read?),
                }
            }
            FileState::Unread => Err(HistoryError::Damaged),
        }
    }
}

/// The state of a path that was read.
fn state_of(read: Result<Vec<u8>, StoreError>) -> Result<PathState, StoreError> {
    match read {
        Ok(content) => Ok(PathState::File(Digest::of(&content))),
        Err(StoreError::PermissionDenied) => Ok(PathState::Unknown),
        Err(error) if error.is_failure() => Err(error),
        Err(_) => Ok(PathState::Nothing),
    }
}

#[cfg(test)]
mod tests {
    use memdir_store::{Durability, InProcess, Mutation, OnExisting, Splice, Store};

    use super::*;
    use crate::query::HistoryQuery;
    use crate::record::{Record, Row};
    use crate::recorder::Recorder;

    /// A record of an edit that a killed process left, with these contents before and after it.
    fn left_behind(path: &MemoryPath, before: &[u8], after: &[u8]) -> Record {
        let id = HistoryId::new().unwrap();
        let mut record = Record::new(id, id, None);
        let (before, after) = (ContentId::of(before), ContentId::of(after));
        record.header.rows.push(Row {
            operation: Operation::Modified,
            path: path.clone(),
            old_path: None,
            before: Some(before),
            after: Some(after),
            splice: None,
            is_trimmed: false,
        });
        record
    }

    #[test]
    fn a_history_that_grew_is_what_a_new_reader_sees() {
        let store: Arc<dyn Store> = Arc::new(InProcess::new());
        let recorder = Arc::new(Recorder::untrimmed(Arc::clone(&store), Durability::Full));
        let path = MemoryPath::parse("/memories/log").unwrap();
        let context = Context::new();
        let writer: Arc<dyn Store> = Arc::clone(&recorder).into_store();
        let mutate = |mutation| writer.mutate(&Context::new(), mutation).unwrap();
        let existing = OnExisting::Error;
        mutate(Mutation::Write { path: &path, content: b"a", existing });
        let edit = &mut |_: &[u8]| Some(Splice { range: 0..1, text: b"x".to_vec() });
        mutate(Mutation::Update { path: &path, edit });
        let id = HistoryId::new().unwrap();
        let mut note = Record::new(id, id, None);
        note.header.confirms = recorder.reader().index().take_unconfirmed();
        recorder.journal.append_alone(&note).unwrap();
        let versions = |recorder: &Recorder| {
            let query = HistoryQuery { path: Some(path.to_string()), ..HistoryQuery::default() };
            let versions = recorder.reader().versions(&context, &query).unwrap();
            versions.into_iter().map(|version| version.id).collect::<Vec<_>>()
        };
        let follower = Recorder::untrimmed(Arc::clone(&store), Durability::Full);
        let before = versions(&follower);
        assert_eq!(before.len(), 2);
        // Only the earlier records show that this edit was not made: the file still has the content of the last certain one.
        recorder.journal.append_alone(&left_behind(&path, b"b", b"c")).unwrap();
        for reader in [&follower, &follower, &Recorder::untrimmed(store, Durability::Full)] {
            assert_eq!(versions(reader), before);
        }
    }
}

//! How a history is read: the [`Snapshot`] of what is in the journal now, and the contents of its versions.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use memdir_store::path::{Folding, MemoryPath};
use memdir_store::{Context, Operation, StoreError};

use super::contents::Contents;
use super::error::HistoryError;
use super::journal::Stored;
use super::record::{ContentId, Digest};
use super::recorder::Recorder;
use super::settle::PathState;
use super::snapshot::Snapshot;
use super::timeline::{FileState, Timeline};

impl Recorder {
    /// The history as it is now.
    pub(super) fn snapshot(&self, context: &Context) -> Result<Arc<Snapshot>, HistoryError> {
        let (records, confirmed, damaged, extent) = {
            let mut index = self.index();
            index.refresh(context, &*self.journal)?;
            let extent = index.extent();
            if let Some((of, snapshot)) = &*self.last_snapshot()
                && *of == extent
            {
                return Ok(Arc::clone(snapshot));
            }
            let records: Vec<Stored> = index.records().cloned().collect();
            (records, index.loaded.confirmed.clone(), index.loaded.damaged.clone(), extent)
        };
        let folding = Folding::new(self.store.info().folds_case);
        let borrowed: Vec<&Stored> = records.iter().collect();
        // A file is read once, so all that is decided about it is decided by one state.
        let (mut broken, mut found) = (None, HashMap::new());
        let timeline = Timeline::new(&borrowed, &confirmed, folding, &mut |path| {
            *found.entry(path.clone()).or_insert_with(|| {
                self.found(context, path).unwrap_or_else(|error| {
                    broken = Some(error);
                    PathState::Unknown
                })
            })
        });
        let is_in_doubt = !found.is_empty();
        if let Some(error) = broken {
            return Err(error.into());
        }
        let contents = Contents::new(&borrowed);
        let mut holders = HashMap::new();
        for file in timeline.live.values() {
            let moment = &timeline.moments[timeline.latest[*file]];
            if let FileState::Content(content) = moment.state {
                holders.insert(content.sha256, moment.path.clone());
            }
        }
        let last = Mutex::default();
        let snapshot =
            Arc::new(Snapshot { records, timeline, folding, contents, holders, damaged, last });
        // A change that is not confirmed may be one that is just being made: that is asked again.
        *self.last_snapshot() = (!is_in_doubt).then(|| (extent, Arc::clone(&snapshot)));
        Ok(snapshot)
    }

    /// What is at a path now.
    pub(super) fn found(
        &self,
        context: &Context,
        path: &MemoryPath,
    ) -> Result<PathState, StoreError> {
        match self.store.read_in(context, path) {
            Ok(content) => Ok(PathState::File(Digest::of(&content))),
            Err(StoreError::PermissionDenied) => Ok(PathState::Unknown),
            Err(error) if error.is_failure() => Err(error),
            Err(_) => Ok(PathState::Nothing),
        }
    }

    /// A content of the history.
    pub(super) fn content(
        &self,
        context: &Context,
        snapshot: &Snapshot,
        wanted: ContentId,
    ) -> Result<Vec<u8>, HistoryError> {
        let read = self.computed(context, snapshot, wanted);
        if matches!(read, Err(HistoryError::Damaged | HistoryError::Store(_))) {
            // Somebody may have rewritten the journal since it was loaded: the records are elsewhere then.
            self.index().reload(context, &*self.journal)?;
            return self.computed(context, &*self.snapshot(context)?, wanted);
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
                let content = self.store.read_in(context, snapshot.holders.get(&digest)?).ok()?;
                (Digest::of(&content) == digest).then_some(content)
            },
        )?;
        *snapshot.last.lock().unwrap_or_else(PoisonError::into_inner) =
            Some((wanted.sha256, content.clone()));
        Ok(content)
    }

    /// The content that a version left.
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
            // It says that the content or the name of another version was removed, and is no deletion.
            FileState::Gone if moment.operation == Operation::Redacted => {
                let reason = snapshot.timeline.reason_of(moment).map(str::to_owned);
                Err(reason.map_or(HistoryError::Damaged, HistoryError::Redacted))
            }
            FileState::Gone => Err(HistoryError::NoContent(moment.id.to_string())),
            // It was moved with its directory, and nobody has changed it since: the file has it.
            FileState::Unread if snapshot.timeline.is_latest(number) => {
                match self.store.read_in(context, &moment.path) {
                    // Somebody else deleted it, or put something else there.
                    Err(error) if !error.is_failure() => Err(HistoryError::Damaged),
                    read => Ok(read?),
                }
            }
            FileState::Unread => Err(HistoryError::Damaged),
        }
    }
}

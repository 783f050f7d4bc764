//! Records files that other processes wrote into a directory while it was deleted or moved.
//!
//! The deletion or move of a directory is recorded before it is made, with the files that exist at that time. Another process may
//! write one more file before the store makes the change, and the store changes the directory as a whole. Such a file
//! is known from its own record, but is not where that record left it. So a further record of the same change says afterwards
//! what happened to the file.
//!
//! This is reliable if the journal can lock out other writers, or rejects records that come too late. A journal of hidden files can
//! do neither. There, the next change of the file detects that it is gone.

use memdir_store::path::{Folding, MemoryPath};
use memdir_store::{Context, HistoryId, Node, Operation, StoreError};

use super::error::HistoryError;
use super::journal::Rewrite;
use super::record::{ContentId, Record, Row};
use super::recorder::Recorder;
use super::snapshot::Snapshot;

impl Recorder {
    /// Records the files that were deleted with the directory at `from`, or moved with it to `to`. The change itself was made, so
    /// errors in recording are ignored. A cancelled call records them, too, unless it would wait for another call.
    pub(super) fn record_taken_along(
        &self,
        context: &Context,
        from: &MemoryPath,
        to: Option<&MemoryPath>,
        operation: Operation,
    ) {
        /// Each attempt fails only if another process changed something meanwhile and the journal has no lock.
        const MAX_ATTEMPTS: usize = 20;
        if !self.journal.is_apart() {
            return;
        }
        for _ in 0..MAX_ATTEMPTS {
            match self.try_to_record_taken_along(context, from, to, operation) {
                Ok(false) => {}
                Ok(true) | Err(_) => return,
            }
        }
    }

    /// Returns `false` if another process recorded something meanwhile.
    fn try_to_record_taken_along(
        &self,
        context: &Context,
        from: &MemoryPath,
        to: Option<&MemoryPath>,
        operation: Operation,
    ) -> Result<bool, HistoryError> {
        let folding = Folding::new(self.store.info().folds_case);
        let reading = &Context::new();
        // Waiting for the lock stops all writers, so take it only if there may be something to record.
        let snapshot = self.reader.snapshot_behind(context, reading)?;
        let in_doubt = self.reader.index_in(context)?.paths_in_doubt(folding);
        let above = folding.key(from);
        if self.gone_below(&snapshot, from)?.is_empty()
            && !in_doubt.iter().any(|path| above.is_above(path))
        {
            return Ok(true);
        }
        drop(snapshot);
        // While the lock is held, no writer is between a record and its change.
        let locked = self.journal.lock()?;
        let snapshot = self.reader.snapshot_behind(context, reading)?;
        let id = HistoryId::new()?;
        let mut record = Record::by(context, id, context.change().unwrap_or(id));
        for (path, content) in self.gone_below(&snapshot, from)? {
            let row =
                self.taken_along(context, &mut record, path, content, (from, to), operation)?;
            record.header.rows.extend(row);
        }
        if record.header.rows.is_empty() {
            return Ok(true);
        }
        record.header.confirms.push(id);
        let mut rewrite = Rewrite {
            concerns: &|_| false,
            is_forced: false,
            loaded_end: Some(snapshot.loaded_end),
            change: &mut |record| Ok(Some(record)),
        };
        let is_done = self.journal.rewrite(&locked, &mut rewrite, Some(&record))?;
        self.reader.index_in(context)?.reload(reading, &*self.journal)?;
        Ok(is_done)
    }

    /// The files below a directory that exist according to the history but not in the store, with their last content.
    fn gone_below(
        &self,
        snapshot: &Snapshot,
        directory: &MemoryPath,
    ) -> Result<Vec<(MemoryPath, Option<ContentId>)>, StoreError> {
        let above = snapshot.folding.key(directory);
        let mut gone = Vec::new();
        for (_, file) in snapshot.timeline.live.iter().filter(|(path, _)| above.is_above(path)) {
            let latest = &snapshot.timeline.moments[snapshot.timeline.latest[*file]];
            if !self.is_file(&latest.path)? {
                gone.push((latest.path.clone(), latest.state.content()));
            }
        }
        Ok(gone)
    }

    fn is_file(&self, path: &MemoryPath) -> Result<bool, StoreError> {
        match self.store.open_in(&Context::new(), path, 0) {
            Ok(node) => Ok(matches!(node, Node::File(..))),
            Err(StoreError::NotFound | StoreError::NotADirectory) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// The row for one of these files; `None` if its fate is unknown.
    fn taken_along(
        &self,
        context: &Context,
        record: &mut Record,
        path: MemoryPath,
        content: Option<ContentId>,
        (from, to): (&MemoryPath, Option<&MemoryPath>),
        operation: Operation,
    ) -> Result<Option<Row>, StoreError> {
        if let Some(to) = to
            && let Ok(now) = path.moved(from, to)
            && self.is_file(&now)?
        {
            let bytes = self.store.read_in(&Context::new(), &now)?;
            let found = ContentId::of(&bytes);
            self.keep_unknown(context, record, found, &bytes)?;
            return Ok(Some(Row::renamed(operation, path, now, Some(found))));
        }
        let operation = if to.is_some() { Operation::Deleted } else { operation };
        Ok(content.map(|content| Row::deleted(operation, path, content)))
    }
}

//! Records a conditional deletion or move of a file.
//!
//! The condition gets the content that is recorded, and the change is made only if the file still has this content. So the record
//! has exactly the content that the condition accepted. There is no record if the condition returns false.
//!
//! Deletions and moves of files by commands are conditional changes, too: on the content that is recorded. If the record is in the
//! transaction of the change, the content is recorded when the store reads it there, so it is not read before.

use memdir_store::Operation;
use memdir_store::path::MemoryPath;
use memdir_store::{Condition, Context, Mutation, StoreError};

use super::record::{ContentId, Row};
use super::recorder::{Recorded, Recorder};

/// The maximum number of times that the file is read again after concurrent changes. Then the store is considered broken.
const MAX_ATTEMPTS: usize = 1_000;

impl Recorder {
    pub(super) fn delete_if_recorded(
        &self,
        context: &Context,
        path: &MemoryPath,
        condition: &mut Condition<'_>,
    ) -> Result<bool, StoreError> {
        self.refuse_hidden(path)?;
        if path.is_reserved() {
            return self.store.mutate(context, Mutation::DeleteIf { path, condition });
        }
        self.delete_if_as(context, path, Operation::Deleted, condition)
    }

    /// As [`delete_if_recorded`](Self::delete_if_recorded), with this operation in the history.
    pub(super) fn delete_if_as(
        &self,
        context: &Context,
        path: &MemoryPath,
        operation: Operation,
        condition: &mut Condition<'_>,
    ) -> Result<bool, StoreError> {
        for _ in 0..MAX_ATTEMPTS {
            let content = self.store.read_in(context, path).map_err(StoreError::unchanged)?;
            if !condition(&content) {
                return Ok(false);
            }
            let operation = context.operation(operation);
            let row = |id| Row::deleted(operation, path.clone(), id);
            let recorded = self.record_content(context, &content, row)?;
            let mut is_same = |now: &[u8]| now == content;
            let delete = Mutation::DeleteIf { path, condition: &mut is_same };
            if self.finish_if_changed(context, recorded, self.store.mutate(context, delete))? {
                return Ok(true);
            }
        }
        Err(restless("deleting", path))
    }

    /// Deletes a file. The record has the content that is deleted.
    pub(super) fn delete_file_as(
        &self,
        context: &Context,
        path: &MemoryPath,
        operation: Operation,
    ) -> Result<bool, StoreError> {
        if !self.journal.is_in_transaction() {
            return self.delete_if_as(context, path, operation, &mut |_| true);
        }
        let operation = context.operation(operation);
        let row = |id| Row::deleted(operation, path.clone(), id);
        self.record_in_transaction(context, &row, &mut |condition| {
            self.store.mutate(context, Mutation::DeleteIf { path, condition })
        })
    }

    /// Moves a file. The record has the content that is moved.
    pub(super) fn rename_file_recorded(
        &self,
        context: &Context,
        from: &MemoryPath,
        to: &MemoryPath,
    ) -> Result<bool, StoreError> {
        if !self.journal.is_in_transaction() {
            return self.rename_if_recorded(context, from, to, &mut |_| true);
        }
        let operation = context.operation(Operation::Renamed);
        let row = |id| Row::renamed(operation, from.clone(), to.clone(), Some(id));
        self.record_in_transaction(context, &row, &mut |condition| {
            self.store.mutate(context, Mutation::RenameIf { from, to, condition })
        })
    }

    /// Makes a conditional change. When the store asks for the condition, it is recorded that the content changes.
    fn record_in_transaction(
        &self,
        context: &Context,
        row: &dyn Fn(ContentId) -> Row,
        change: &mut dyn FnMut(&mut Condition<'_>) -> Result<bool, StoreError>,
    ) -> Result<bool, StoreError> {
        let (mut recorded, mut broken) = (None, None);
        let mut record = |content: &[u8]| {
            // The store asks again if its transaction was rolled back.
            if let Some(earlier) = recorded.take() {
                self.withdraw(context, earlier);
            }
            match self.record_content(context, content, row) {
                Ok(new) => recorded = Some(new),
                Err(error) => broken = Some(error),
            }
            recorded.is_some()
        };
        let changed = change(&mut record);
        match broken {
            Some(error) => Err(error),
            None => self.finish_if_changed(context, recorded, changed),
        }
    }

    pub(super) fn rename_if_recorded(
        &self,
        context: &Context,
        from: &MemoryPath,
        to: &MemoryPath,
        condition: &mut Condition<'_>,
    ) -> Result<bool, StoreError> {
        if self.reader.is_hidden(from) {
            return Err(StoreError::NotFound);
        }
        self.refuse_hidden(to)?;
        // A reserved name means a move between mounts. Conditions do not apply to it.
        if from.is_reserved() || to.is_reserved() {
            return Err(StoreError::PermissionDenied);
        }
        for _ in 0..MAX_ATTEMPTS {
            let read = self.store.read_in(context, from);
            let content = read.map_err(|error| error.about_source().unchanged())?;
            if !condition(&content) {
                return Ok(false);
            }
            let operation = context.operation(Operation::Renamed);
            let row = |id| Row::renamed(operation, from.clone(), to.clone(), Some(id));
            let recorded = self.record_content(context, &content, row)?;
            let mut is_same = |now: &[u8]| now == content;
            let rename = Mutation::RenameIf { from, to, condition: &mut is_same };
            if self.finish_if_changed(context, recorded, self.store.mutate(context, rename))? {
                return Ok(true);
            }
        }
        Err(restless("renaming", from))
    }

    /// A record of one change of a file with this content.
    fn record_content(
        &self,
        context: &Context,
        content: &[u8],
        row: impl FnOnce(ContentId) -> Row,
    ) -> Result<Recorded, StoreError> {
        let id = ContentId::of(content);
        let mut draft = self.draft(context)?;
        self.keep_unknown(context, &mut draft.record, id, content)?;
        draft.record.header.rows.push(row(id));
        self.append(context, draft)
    }

    /// Ends a change that the store makes only on a condition. If the condition was false, the record is withdrawn.
    pub(super) fn finish_if_changed(
        &self,
        context: &Context,
        recorded: impl Into<Option<Recorded>>,
        result: Result<bool, StoreError>,
    ) -> Result<bool, StoreError> {
        match (result, recorded.into()) {
            (Ok(false), recorded) => {
                if let Some(recorded) = recorded {
                    self.withdraw(context, recorded);
                }
                Ok(false)
            }
            (result, recorded) => self.finish(context, recorded, result),
        }
    }
}

fn restless(operation: &str, path: &MemoryPath) -> StoreError {
    let operation = format!("{operation} {path}");
    StoreError::failed(operation, "gave up: the content was different at each attempt").unchanged()
}

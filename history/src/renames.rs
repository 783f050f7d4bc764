//! Records the move of a file or a directory.

use std::collections::HashSet;

use memdir_store::path::{Folding, MemoryPath};
use memdir_store::{Context, Mutation, Operation, StoreError};

use super::record::{ContentId, Row};
use super::recorder::{Recorded, Recorder};

impl Recorder {
    pub(super) fn rename_recorded(
        &self,
        context: &Context,
        from: &MemoryPath,
        to: &MemoryPath,
    ) -> Result<(), StoreError> {
        if self.reader.is_hidden(from) {
            return Err(StoreError::NotFound);
        }
        self.refuse_hidden(to)?;
        let of_source = |error: StoreError| StoreError::Source(Box::new(error.unchanged()));
        let files = self.files_in_tree(context, from).map_err(of_source)?;
        // A reserved name means a move between mounts: this store sees the file disappear or appear.
        if from.is_reserved() || to.is_reserved() {
            let recorded = match (from.is_reserved(), to.is_reserved()) {
                (true, true) => None,
                (true, false) => {
                    self.record_arrival(context, &files, from, to).map_err(of_source)?
                }
                (false, _) => {
                    self.record_deletion(context, &files, Operation::Deleted).map_err(of_source)?
                }
            };
            let renamed = self.store.mutate(context, Mutation::Rename { from, to }).map(drop);
            return self.finish(context, recorded, renamed);
        }
        let folding = Folding::new(self.store.info().folds_case);
        let is_file = files.first().is_some_and(|file| file.path == *from);
        // Record nothing if the move would be refused.
        if !files.is_empty() {
            let is_other = from == to || !folding.are_same(from, to);
            let is_asked = is_other && !self.journal.is_in_transaction();
            if is_asked && self.store.open_in(context, to, 0).is_ok() {
                return Err(StoreError::AlreadyExists);
            }
            if folding.key(from).is_above(&folding.key(to)) {
                return Err(if is_file {
                    StoreError::NotADirectory
                } else {
                    StoreError::IntoItself
                });
            }
        }
        if is_file {
            // Another process may edit the file meanwhile, so move exactly the recorded content.
            return self.rename_file_recorded(context, from, to).map(drop);
        }
        let paths = files.into_iter().map(|file| file.path).collect();
        let recorded = self.record_move(context, paths, from, to)?;
        let renamed = self.store.mutate(context, Mutation::Rename { from, to }).map(drop);
        self.finish(context, recorded, renamed)?;
        self.record_taken_along(context, from, Some(to), context.operation(Operation::Renamed));
        Ok(())
    }

    /// Records that the files below a directory move with it. Only the returned value keeps the journal open, so the caller may lock
    /// the journal after the directory was moved.
    fn record_move(
        &self,
        context: &Context,
        files: Vec<MemoryPath>,
        from: &MemoryPath,
        to: &MemoryPath,
    ) -> Result<Option<Recorded>, StoreError> {
        if files.is_empty() {
            return Ok(None);
        }
        let folding = Folding::new(self.store.info().folds_case);
        let mut draft = self.draft(context)?;
        let in_doubt = self.in_doubt(context)?;
        for old_path in files {
            let Ok(path) = old_path.moved(from, to) else {
                // The store will refuse the move and give the reason.
                continue;
            };
            let mut content = None;
            // A directory's files are not read, except files whose last change is unconfirmed: after the move, their content at the old
            // path can no longer be checked.
            if in_doubt.contains(&*folding.key(&old_path)) {
                let bytes = self
                    .store
                    .read_in(context, &old_path)
                    .map_err(|error| StoreError::Source(Box::new(error.unchanged())))?;
                let found = ContentId::of(&bytes);
                self.keep_unknown(context, &mut draft.record, found, &bytes)?;
                content = Some(found);
            }
            let operation = context.operation(Operation::Renamed);
            draft.record.header.rows.push(Row::renamed(operation, old_path, path, content));
        }
        if draft.record.header.rows.is_empty() {
            return Ok(None);
        }
        self.append(context, draft).map(Some)
    }

    /// The paths of changes with an unknown outcome.
    fn in_doubt(&self, context: &Context) -> Result<HashSet<MemoryPath>, StoreError> {
        if self.journal.is_in_transaction() {
            return Ok(HashSet::new());
        }
        let mut index = self.reader.index_in(context)?;
        index.refresh(context, &*self.journal).map_err(StoreError::unchanged)?;
        Ok(index.paths_in_doubt(Folding::new(self.store.info().folds_case)))
    }
}

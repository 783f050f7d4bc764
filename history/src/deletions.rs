//! Records deleted files and files that appear as a whole, and lists the files that a command deletes or moves.

use std::time::SystemTime;

use memdir_store::Operation;
use memdir_store::batch::{in_batches, read_all};
use memdir_store::path::MemoryPath;
use memdir_store::{Context, EntryKind, Mutation, Node, StoreError};

use super::record::{ContentId, Row};
use super::recorder::{Recorded, Recorder};

/// A file that a command deletes or moves, with its size in a listing.
pub(super) struct FileInTree {
    pub(super) path: MemoryPath,
    pub(super) size: u64,
}

impl Recorder {
    pub(super) fn delete_recorded(
        &self,
        context: &Context,
        path: &MemoryPath,
    ) -> Result<(), StoreError> {
        self.refuse_hidden(path)?;
        if path.is_reserved() {
            return self.store.mutate(context, Mutation::Delete { path }).map(drop);
        }
        self.delete_as(context, path, Operation::Deleted)
    }

    pub(super) fn delete_as(
        &self,
        context: &Context,
        path: &MemoryPath,
        operation: Operation,
    ) -> Result<(), StoreError> {
        let files = self.files_in_tree(context, path).map_err(StoreError::unchanged)?;
        if files.first().is_some_and(|file| file.path == *path) {
            // Another process may edit the file meanwhile, so delete exactly the recorded content.
            match self.delete_file_as(context, path, operation) {
                // It has become a directory since.
                Err(StoreError::IsADirectory) => {
                    return self.delete_as(context, path, operation);
                }
                deleted => return deleted.map(drop),
            }
        }
        let recorded = self.record_deletion(context, &files, operation)?;
        let deleted = self.store.mutate(context, Mutation::Delete { path }).map(drop);
        self.finish(context, recorded, deleted)?;
        self.record_taken_along(context, path, None, context.operation(operation));
        Ok(())
    }

    pub(super) fn delete_unused_recorded(
        &self,
        context: &Context,
        path: &MemoryPath,
        since: SystemTime,
    ) -> Result<bool, StoreError> {
        if self.reader.is_hidden(path) {
            return Ok(false);
        }
        // Its size does not matter, because it is alone.
        let file = FileInTree { path: path.clone(), size: 0 };
        let recorded =
            self.record_deletion(context, std::slice::from_ref(&file), Operation::Expired)?;
        let deleted = self.store.mutate(context, Mutation::DeleteUnused { path, since });
        self.finish_if_changed(context, recorded, deleted)
    }

    pub(super) fn clear_recorded(&self, context: &Context) -> Result<(), StoreError> {
        // The journal is in the store and must not be deleted.
        if self.reader.is_inside {
            return self.empty(context, &MemoryPath::root(), &mut false);
        }
        let root = MemoryPath::root();
        let files = self.files_in_tree(context, &root).map_err(StoreError::unchanged)?;
        let recorded = self.record_deletion(context, &files, Operation::Cleared)?;
        let cleared = self.store.mutate(context, Mutation::Clear).map(drop);
        self.finish(context, recorded, cleared)?;
        self.record_taken_along(context, &root, None, context.operation(Operation::Cleared));
        Ok(())
    }

    /// Records that the files are deleted, each with its content.
    pub(super) fn record_deletion(
        &self,
        context: &Context,
        files: &[FileInTree],
        operation: Operation,
    ) -> Result<Option<Recorded>, StoreError> {
        if files.is_empty() {
            return Ok(None);
        }
        let operation = context.operation(operation);
        let mut draft = self.draft(context)?;
        let record = &mut draft.record;
        for some in in_batches(files, |file| file.size) {
            let paths = some.iter().map(|file| &file.path).collect();
            for (file, read) in some.iter().zip(read_all(&*self.store, context, paths)) {
                let bytes = match read {
                    Err(StoreError::NotFound | StoreError::IsADirectory) => continue,
                    // A file whose content cannot be recorded is not deleted.
                    read => read.map_err(StoreError::unchanged)?,
                };
                let content = ContentId::of(&bytes);
                self.keep_unknown(context, record, content, &bytes)?;
                record.header.rows.push(Row::deleted(operation, file.path.clone(), content));
            }
        }
        if draft.record.header.rows.is_empty() {
            return Ok(None);
        }
        self.append(context, draft).map(Some)
    }

    /// Records that files appear from a reserved name, under which they were not part of the memory.
    pub(super) fn record_arrival(
        &self,
        context: &Context,
        files: &[FileInTree],
        from: &MemoryPath,
        to: &MemoryPath,
    ) -> Result<Option<Recorded>, StoreError> {
        let operation = context.operation(Operation::Created);
        let mut draft = self.draft(context)?;
        let record = &mut draft.record;
        for FileInTree { path: hidden, .. } in files {
            // The store will refuse a file that cannot be moved, and give the reason.
            let Ok(path) = hidden.moved(from, to) else { continue };
            let bytes = self.store.read_in(context, hidden)?;
            let content = ContentId::of(&bytes);
            record.keep(content, &bytes);
            record.header.rows.push(Row {
                operation,
                path,
                old_path: None,
                before: None,
                after: Some(content),
                splice: None,
                is_trimmed: false,
            });
        }
        if draft.record.header.rows.is_empty() {
            return Ok(None);
        }
        self.append(context, draft).map(Some)
    }

    /// The file at `path`, or all files below the directory there. Fails if one of them cannot be inspected, because it
    /// would be deleted or moved without a record.
    pub(super) fn files_in_tree(
        &self,
        context: &Context,
        path: &MemoryPath,
    ) -> Result<Vec<FileInTree>, StoreError> {
        match self.store.open_in(context, path, 0) {
            Ok(Node::File(size, _)) => Ok(vec![FileInTree { path: path.clone(), size }]),
            Ok(Node::Directory(_)) => {
                let mut files = Vec::new();
                self.files_below(context, path, &mut files)?;
                files.sort_unstable_by(|a, b| a.path.cmp(&b.path));
                Ok(files)
            }
            // The store's own method reports this in its own way.
            Err(StoreError::NotFound | StoreError::NotADirectory) => Ok(Vec::new()),
            Err(error) => Err(error),
        }
    }

    fn files_below(
        &self,
        context: &Context,
        directory: &MemoryPath,
        files: &mut Vec<FileInTree>,
    ) -> Result<(), StoreError> {
        let entries = match self.store.list_in(context, directory) {
            // The directory was removed meanwhile.
            Err(StoreError::NotFound | StoreError::NotADirectory) => return Ok(()),
            listed => listed?,
        };
        for entry in entries.into_iter().filter(|entry| !self.reader.is_hidden(&entry.path)) {
            match entry.kind {
                EntryKind::File(size) => files.push(FileInTree { path: entry.path, size }),
                EntryKind::Directory => self.files_below(context, &entry.path, files)?,
            }
        }
        Ok(())
    }

    /// Deletes everything below a directory, each entry with its own record: if the store fails partway, the history shows exactly
    /// what was deleted. A directory that cannot be deleted because a store is mounted there is emptied.
    pub(super) fn empty(
        &self,
        context: &Context,
        directory: &MemoryPath,
        changed: &mut bool,
    ) -> Result<(), StoreError> {
        let mut listed = self.store.list_in(context, directory).map_err(StoreError::unchanged)?;
        listed.sort_by(|a, b| a.path.cmp(&b.path));
        for entry in listed.iter().filter(|entry| !self.reader.is_journal(&entry.path)) {
            let deleted = if entry.path.is_reserved() {
                self.store.mutate(context, Mutation::Delete { path: &entry.path }).map(drop)
            } else {
                self.delete_as(context, &entry.path, Operation::Cleared)
            };
            match deleted {
                Ok(()) => *changed = true,
                Err(StoreError::MountPoint) => self.empty(context, &entry.path, changed)?,
                Err(StoreError::NotFound) => {}
                Err(StoreError::ReadOnly) if !directory.is_root() => {}
                Err(error) => return Err(if *changed { error.after_changes() } else { error }),
            }
        }
        Ok(())
    }
}

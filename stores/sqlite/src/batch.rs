//! Writes many files in one transaction, and deletes many unused ones in one.

use std::time::SystemTime;

use memdir_store::access::is_unused;
use memdir_store::path::MemoryPath;
use memdir_store::{BatchError, Context, FileToDelete, FileToWrite, StoreError};

use super::tree::{FoundRow, Tree};
use super::{SqliteDatabase, SqliteError, note};

impl SqliteDatabase {
    /// [`Store::write_batch`](memdir_store::Store::write_batch). If the tree forbids a file, the files before it are committed. If
    /// SQLite fails, nothing is.
    pub(super) fn write_together(
        &self,
        context: &Context,
        files: &[FileToWrite<'_>],
    ) -> Result<(), BatchError> {
        let (mut written, mut forbidden) = (0, None);
        let done = self.change(context, "writing files", |tree| {
            for file in files {
                match self.write_with_times(&tree, file) {
                    Ok(()) => written += 1,
                    Err(SqliteError::Condition(error)) if written > 0 && !error.is_failure() => {
                        forbidden = Some(error);
                        break;
                    }
                    Err(error) => return Err(error),
                }
                if let Err(error) = context.check() {
                    forbidden = Some(error);
                    break;
                }
            }
            Ok(())
        });
        match (done, forbidden) {
            (Err(error), _) => Err(BatchError { written: 0, error }),
            (Ok(()), Some(error)) => Err(BatchError { written, error }),
            (Ok(()), None) => Ok(()),
        }
    }

    /// [`Store::delete_unused_batch`](memdir_store::Store::delete_unused_batch). If SQLite fails, nothing is deleted.
    pub(super) fn delete_unused_together(
        &self,
        context: &Context,
        files: &[FileToDelete<'_>],
        since: SystemTime,
        visit: &mut dyn FnMut(bool),
    ) -> Result<(), StoreError> {
        let mut deleted = Vec::with_capacity(files.len());
        self.change_if(context, "deleting unused files", |tree| {
            for file in files {
                context.check()?;
                let is_deleted = tree.remove_unused(file.path, since)?;
                if let Some(note) = file.note.filter(|_| is_deleted) {
                    note::add(&tree, note)?;
                }
                deleted.push(is_deleted);
            }
            Ok(deleted.contains(&true))
        })?;
        deleted.into_iter().for_each(visit);
        Ok(())
    }

    /// A condition of the tree is found before anything is changed for the file.
    fn write_with_times(&self, tree: &Tree<'_>, file: &FileToWrite<'_>) -> Result<(), SqliteError> {
        let id = self.write_file(tree, file.path, file.content, file.existing)?;
        if let Some(time) = file.times.modified {
            tree.set_modified(id, time)?;
        }
        if let Some(time) = file.times.accessed {
            tree.record_access(id, time)?;
        }
        if let Some(note) = file.note {
            note::add(tree, note)?;
        }
        Ok(())
    }
}

impl Tree<'_> {
    /// Removes the file if it was not used at `since` or later, and returns whether it did.
    pub(super) fn remove_unused(
        &self,
        path: &MemoryPath,
        since: SystemTime,
    ) -> Result<bool, SqliteError> {
        match self.find(path)? {
            Some(FoundRow { id, size: Some(_), modified, accessed, .. })
                if is_unused(modified, accessed, since) =>
            {
                self.remove(id).map(|()| true)
            }
            _ => Ok(false),
        }
    }
}

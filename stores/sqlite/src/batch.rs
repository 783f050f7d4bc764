//! Writes many files in one transaction.

use memdir_store::{BatchError, Context, FileToWrite};

use super::tree::Tree;
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

//! The [`Recorder`] as a [`Layer`]: records changes, and hides the journal's own directory.

use std::time::SystemTime;

use memdir_store::path::MemoryPath;
use memdir_store::{
    BatchError, Context, Entry, FileToDelete, FileToWrite, Layer, Mutation, Node, Operation,
    Problem, ProblemKind, Store, StoreError, Times,
};

use super::recorder::Recorder;

impl Layer for Recorder {
    fn inner(&self) -> &dyn Store {
        &*self.store
    }

    fn mutate(&self, context: &Context, mutation: Mutation<'_>) -> Result<bool, StoreError> {
        let done = match mutation {
            Mutation::Write { path, content, existing } => {
                self.write_recorded(context, path, content, existing)
            }
            Mutation::Update { path, .. } if path.is_reserved() && !self.reader.is_hidden(path) => {
                return self.store.mutate(context, mutation);
            }
            Mutation::Update { path, edit } => {
                self.update_as(context, path, edit, Operation::Modified)
            }
            Mutation::Delete { path } => self.delete_recorded(context, path),
            Mutation::DeleteUnused { path, since } => {
                return self.delete_unused_recorded(context, path, since);
            }
            Mutation::DeleteIf { path, condition } => {
                return self.delete_if_recorded(context, path, condition);
            }
            Mutation::Rename { from, to } => self.rename_recorded(context, from, to),
            Mutation::RenameIf { from, to, condition } => {
                return self.rename_if_recorded(context, from, to, condition);
            }
            Mutation::Clear => self.clear_recorded(context),
            Mutation::MakeDirectory { path }
            | Mutation::RemoveDirectory { path }
            | Mutation::SetModified { path, .. }
            | Mutation::RecordAccess { path, .. } => {
                self.refuse_hidden(path)?;
                return self.store.mutate(context, mutation);
            }
            Mutation::WriteUnique { .. } => return self.store.mutate(context, mutation),
        };
        done.map(|()| true)
    }

    fn write_batch(&self, context: &Context, files: &[FileToWrite<'_>]) -> Result<(), BatchError> {
        self.write_together(context, files)
    }

    fn delete_unused_batch(
        &self,
        context: &Context,
        files: &[FileToDelete<'_>],
        since: SystemTime,
        visit: &mut dyn FnMut(bool),
    ) -> Result<(), StoreError> {
        self.delete_unused_together(context, files, since, visit)
    }

    fn read_batch(
        &self,
        context: &Context,
        paths: &[&MemoryPath],
        visit: &mut dyn FnMut(Vec<u8>),
    ) -> Result<(), StoreError> {
        let shown = paths.iter().position(|path| self.reader.is_hidden(path));
        let shown = shown.map_or(paths, |hidden| &paths[..hidden]);
        self.store.read_batch(context, shown, visit)?;
        if shown.len() < paths.len() { Err(StoreError::NotFound) } else { Ok(()) }
    }

    fn read_times(
        &self,
        context: &Context,
        paths: &[&MemoryPath],
    ) -> Result<Vec<Times>, StoreError> {
        if paths.iter().any(|path| self.reader.is_hidden(path)) {
            return Err(StoreError::NotFound);
        }
        self.store.read_times(context, paths)
    }

    fn read_in(&self, context: &Context, path: &MemoryPath) -> Result<Vec<u8>, StoreError> {
        if self.reader.is_hidden(path) {
            Err(StoreError::NotFound)
        } else {
            self.store.read_in(context, path)
        }
    }

    fn list_in(&self, context: &Context, path: &MemoryPath) -> Result<Vec<Entry>, StoreError> {
        if self.reader.is_hidden(path) {
            return Err(StoreError::NotFound);
        }
        let mut entries = self.store.list_in(context, path)?;
        self.reader.hide_in(&mut entries);
        Ok(entries)
    }

    fn open_in(
        &self,
        context: &Context,
        path: &MemoryPath,
        depth: usize,
    ) -> Result<Node<'_>, StoreError> {
        // In a listing it is hidden, like every name that begins with a dot.
        if self.reader.is_hidden(path) {
            Err(StoreError::NotFound)
        } else {
            self.store.open_in(context, path, depth)
        }
    }

    fn open_nowait(&self, path: &MemoryPath, depth: usize) -> Option<Result<Node<'_>, StoreError>> {
        if self.reader.is_hidden(path) {
            return Some(Err(StoreError::NotFound));
        }
        self.store.open_nowait(path, depth)
    }

    fn files_in(&self, context: &Context, visit: &mut dyn FnMut(Entry)) -> Result<(), StoreError> {
        self.reader.visible_files(context, visit)
    }

    fn modified(&self, path: &MemoryPath) -> Result<Option<SystemTime>, StoreError> {
        if self.reader.is_hidden(path) {
            Err(StoreError::NotFound)
        } else {
            self.store.modified(path)
        }
    }

    fn accessed(&self, path: &MemoryPath) -> Result<Option<SystemTime>, StoreError> {
        if self.reader.is_hidden(path) {
            Err(StoreError::NotFound)
        } else {
            self.store.accessed(path)
        }
    }

    fn inspect(&self, report: &mut dyn FnMut(Problem)) -> Result<(), StoreError> {
        self.store.inspect(report)?;
        for problem in self.reader.check_history(&Context::new())? {
            report(Problem::new(ProblemKind::Damaged, &MemoryPath::root(), problem));
        }
        Ok(())
    }
}

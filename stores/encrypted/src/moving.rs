//! Renames: add the rename to the record, rename in the underlying store, then bind the moved files to their
//! new paths.
//!
//! No edit is lost, because binding changes only a file's header, within an update of the underlying store.

use memdir_store::access::Times;
use memdir_store::path::MemoryPath;
use memdir_store::{
    Condition, Context, Effect, EntryKind, Mutation, Node, Splice, Store, StoreError,
};

use super::{Encrypted, Known, file, renames, seal};
use crate::renames::Rename;

impl Encrypted {
    pub(super) fn move_bound(
        &self,
        context: &Context,
        from: &MemoryPath,
        to: &MemoryPath,
        condition: Option<&mut Condition<'_>>,
    ) -> Result<bool, StoreError> {
        let at_from = self.at_existing(from).map_err(|error| match error {
            StoreError::NotFound => StoreError::NotFound,
            other => StoreError::Source(Box::new(other)),
        })?;
        let at_to = match self.at(to) {
            Ok(at) => at,
            Err(problem) => {
                if let Some(condition) = condition {
                    let content = self.read_in(context, from).map_err(StoreError::about_source)?;
                    if !condition(&content) {
                        return Ok(false);
                    }
                }
                return Err(self.nowhere_to_go(context, from, &at_from, to, problem));
            }
        };
        let id = u64::from_be_bytes(*seal::random().map_err(StoreError::unchanged)?);
        // A rename in the record that does not happen does no harm.
        self.change(&context.separate(), &mut |record, ring, mut renames| {
            renames.push(Rename::new(id, from, to));
            record.set_renames(ring, &renames)
        })
        .map_err(StoreError::unchanged)?;
        let (at_from, at_to) = (&at_from, &at_to);
        let renamed = match condition {
            None => self.inner.mutate(context, Mutation::Rename { from: at_from, to: at_to }),
            Some(condition) => self.change_if(context, from, condition, &mut |condition| {
                let rename = Mutation::RenameIf { from: at_from, to: at_to, condition };
                self.inner.mutate(context, rename)
            }),
        };
        // From here on the rename completes, even if the call is cancelled.
        match renamed {
            Ok(true) => {
                // The rename succeeded. If binding fails, its entry stays in the record and keeps the files
                // readable.
                let _ = self.bind_and_finish(id, to);
                Ok(true)
            }
            Ok(false) => {
                let _ = self.finish(id);
                Ok(false)
            }
            Err(error) => {
                // The rename may have succeeded, or in part, despite the error. In that case the entry must
                // stay.
                if self.was_left_alone(&error, at_to) {
                    let _ = self.finish(id);
                }
                Err(error)
            }
        }
    }

    /// Whether a failed rename certainly moved nothing to `at_to`.
    fn was_left_alone(&self, error: &StoreError, at_to: &MemoryPath) -> bool {
        match error {
            StoreError::Failed { effect, .. } => *effect == Effect::Unchanged,
            // A store that moves in several steps may return these errors after some of them.
            StoreError::PermissionDenied | StoreError::Full | StoreError::Source(_) => {
                matches!(self.inner.open(at_to, 0), Err(StoreError::NotFound))
            }
            _ => true,
        }
    }

    /// Completes the renames of killed processes, as far as possible.
    pub(super) fn finish_abandoned(&self, known: &Known) {
        for rename in known.renames.iter().filter(|rename| rename.is_abandoned()) {
            let _ = self.bind_and_finish(rename.id, &rename.to);
        }
    }

    fn bind_and_finish(&self, id: u64, to: &MemoryPath) -> Result<(), StoreError> {
        self.bind_below(to, &*self.reload(&Context::new())?)?;
        self.finish(id)
    }

    fn finish(&self, id: u64) -> Result<(), StoreError> {
        self.change(&Context::new(), &mut |record, ring, mut renames| {
            renames::finish(&mut renames, id);
            record.set_renames(ring, &renames)
        })
    }

    /// The error of a rename to a path that this store cannot represent, in the order of the contract.
    fn nowhere_to_go(
        &self,
        context: &Context,
        from: &MemoryPath,
        at_from: &MemoryPath,
        to: &MemoryPath,
        problem: StoreError,
    ) -> StoreError {
        match self.inner.open_in(context, at_from, 0) {
            Ok(Node::Directory(_)) if from.is_above(to) => StoreError::IntoItself,
            Ok(_) => problem,
            Err(StoreError::NotFound) => StoreError::NotFound,
            Err(error) if error.is_failure() => error.unchanged(),
            Err(error) => StoreError::Source(Box::new(error)),
        }
    }

    /// Binds the file at `path`, or all files below it, to their current paths.
    fn bind_below(&self, path: &MemoryPath, known: &Known) -> Result<(), StoreError> {
        let entries = match self.list(path) {
            Ok(entries) => entries,
            Err(StoreError::NotADirectory) => {
                return self.bind(path, Times::of(self, path)?, known);
            }
            // Moved again, or deleted.
            Err(StoreError::NotFound) => return Ok(()),
            Err(error) => return Err(error),
        };
        for entry in entries {
            match entry.kind {
                EntryKind::Directory => self.bind_below(&entry.path, known)?,
                EntryKind::File(_) => self.bind(&entry.path, Times::from(&entry), known)?,
            }
        }
        Ok(())
    }

    fn bind(&self, path: &MemoryPath, times: Times, known: &Known) -> Result<(), StoreError> {
        let at = self.at(path)?;
        let origins = renames::origins(&known.renames, path);
        let mut bound = Ok(false);
        let updated = self.inner.update(&at, &mut |bytes| {
            let header = file::rebound(&known.ring, path, &origins, bytes);
            bound = header.as_ref().map(Option::is_some).map_err(|_| ());
            Some(Splice { range: 0..file::HEADER, text: header.ok()?? })
        });
        match (updated, bound) {
            (Ok(()), Ok(false)) | (Err(StoreError::NotFound | StoreError::IsADirectory), _) => {
                Ok(())
            }
            (Ok(()), Ok(true)) => self.keep_times(path, times),
            (Ok(()), Err(())) => {
                Err(StoreError::failed(format!("binding {path}"), "its key is not known"))
            }
            (Err(error), _) => Err(error),
        }
    }

    /// Restores the times of a file that was rewritten with the same content. A concurrent edit gets the
    /// older time, too.
    pub(super) fn keep_times(&self, path: &MemoryPath, times: Times) -> Result<(), StoreError> {
        match times.set(self, path) {
            Err(StoreError::NotFound | StoreError::IsADirectory) => Ok(()),
            set => set,
        }
    }
}

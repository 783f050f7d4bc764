//! [`UnitOfWork`]: the store, policies and context of one command or method, and the changes that it makes.
//!
//! A change concerns the history, the limits of the tree, the log of views, and the observers of the store.
//! This is the only place that notifies them.

use std::cell::RefCell;
use std::sync::Arc;
use std::time::SystemTime;

use memdir_store::path::MemoryPath;

use crate::changes::{self, Change, ChangeKind};
use crate::history::{
    Erased, HistoryError, HistoryId, Operation, Recorder, Restored, RestoredFile,
};
use crate::policies::Policies;
use crate::store::{
    BatchError, Context, FileToDelete, FileToWrite, InContext, Mutation, Store, StoreError,
};

/// The store and the policies of a memory, and the context of changes, for one command or method.
pub(crate) struct UnitOfWork<'m> {
    store: &'m Arc<dyn Store>,
    /// The target of changes: the store, or a layer over it.
    target: &'m dyn Store,
    in_context: InContext<'m>,
    policies: &'m Policies,
    context: Context,
    /// The changes, in order. Empty while the store has no observers.
    changes: RefCell<Vec<Change>>,
}

impl<'m> UnitOfWork<'m> {
    pub(crate) fn new(store: &'m Arc<dyn Store>, policies: &'m Policies, context: Context) -> Self {
        Self::through(store, &**store, policies, context)
    }

    /// Like [`UnitOfWork::new`], but changes go through a layer over the store.
    pub(crate) fn through(
        store: &'m Arc<dyn Store>,
        target: &'m dyn Store,
        policies: &'m Policies,
        context: Context,
    ) -> Self {
        let in_context = InContext::new(&**store, &context);
        Self { store, target, in_context, policies, context, changes: RefCell::default() }
    }

    /// Returns the store. Its methods return early if the call is cancelled.
    pub(crate) fn store(&self) -> &InContext<'m> {
        &self.in_context
    }

    pub(crate) fn policies(&self) -> &'m Policies {
        self.policies
    }

    pub(crate) fn context(&self) -> &Context {
        &self.context
    }

    /// Makes a change. A layer of the store records it in the history.
    ///
    /// # Errors
    /// Same as [`Store::mutate`].
    pub(crate) fn mutate(&self, mutation: Mutation<'_>) -> Result<bool, StoreError> {
        let (limits, views) = (&self.policies.limits, &self.policies.views);
        match mutation {
            Mutation::Write { path, .. } => {
                let written = self.target.mutate(&self.context, mutation);
                self.note(is_changed(&written), ChangeKind::Written, path, None);
                written
            }
            Mutation::Update { path, edit } => {
                let mut is_edited = false;
                let mut watched = |old: &[u8]| {
                    let splice = edit(old);
                    is_edited = splice.is_some();
                    splice
                };
                let update = Mutation::Update { path, edit: &mut watched };
                let updated = self.target.mutate(&self.context, update);
                let is_changed = is_changed(&updated) && (is_edited || updated.is_err());
                self.note(is_changed, ChangeKind::Written, path, None);
                updated
            }
            Mutation::Delete { path }
            | Mutation::DeleteUnused { path, .. }
            | Mutation::DeleteIf { path, .. } => {
                let moving = limits.moving();
                let deleted = self.target.mutate(&self.context, mutation);
                drop(moving);
                if let Ok(true) = deleted {
                    views.removed(path);
                }
                self.note(is_changed(&deleted), ChangeKind::Deleted, path, None);
                deleted
            }
            Mutation::Rename { from, to } | Mutation::RenameIf { from, to, .. } => {
                let moving = limits.moving();
                let renamed = self.target.mutate(&self.context, mutation);
                drop(moving);
                if let Ok(true) = renamed {
                    views.moved(from, to);
                }
                self.note(is_changed(&renamed), ChangeKind::Renamed, to, Some(from));
                renamed
            }
            Mutation::Clear => {
                let (cleared, root) =
                    (self.target.mutate(&self.context, mutation), MemoryPath::root());
                if is_changed(&cleared) {
                    views.removed(&root);
                }
                self.note(is_changed(&cleared), ChangeKind::Cleared, &root, None);
                cleared
            }
            // No command makes these changes, and they change no file's content.
            other => self.target.mutate(&self.context, other),
        }
    }

    /// Writes files together. A layer of the store records them in the history.
    ///
    /// # Errors
    /// Same as [`Store::write_batch`].
    pub(crate) fn write_batch(&self, files: &[FileToWrite<'_>]) -> Result<(), BatchError> {
        let done = self.target.write_batch(&self.context, files);
        let (written, is_unknown) = match &done {
            Ok(()) => (files.len(), false),
            Err(failed) => (failed.written, may_have_changed(&failed.error)),
        };
        for (number, file) in files.iter().enumerate() {
            self.note(number < written || is_unknown, ChangeKind::Written, file.path, None);
        }
        done
    }

    /// Deletes the files that were not used at `since` or later, together. A layer of the store records them in the history.
    ///
    /// # Errors
    /// Same as [`Store::delete_unused_batch`].
    pub(crate) fn delete_unused_batch(
        &self,
        files: &[FileToDelete<'_>],
        since: SystemTime,
        visit: &mut dyn FnMut(bool),
    ) -> Result<(), StoreError> {
        let mut rest = files.iter();
        let moving = self.policies.limits.moving();
        let done =
            self.target.delete_unused_batch(&self.context, files, since, &mut |is_deleted| {
                if let Some(file) = rest.next().filter(|_| is_deleted) {
                    self.policies.views.removed(file.path);
                    self.note(true, ChangeKind::Deleted, file.path, None);
                }
                visit(is_deleted);
            });
        drop(moving);
        let is_unknown = done.as_ref().is_err_and(may_have_changed);
        for file in rest {
            self.note(is_unknown, ChangeKind::Deleted, file.path, None);
        }
        done
    }

    /// Permanently removes everything, including the history.
    ///
    /// # Errors
    /// Same as [`Recorder::erase`].
    pub(crate) fn erase(&self, recorder: &Recorder, dry_run: bool) -> Result<Erased, StoreError> {
        let erased = recorder.erase(&self.context, dry_run);
        let is_changed = !dry_run && erased.as_ref().err().is_none_or(may_have_changed);
        if is_changed {
            self.policies.views.removed(&MemoryPath::root());
        }
        self.note(is_changed, ChangeKind::Cleared, &MemoryPath::root(), None);
        erased
    }

    /// Updates the policies after files were restored from the history, or may have been.
    pub(crate) fn restored(&self, restored: &Result<Restored, HistoryError>) {
        let files = match restored {
            Ok(Restored { change: Some(_), files, .. }) => files.as_slice(),
            Ok(_) => return,
            // Something may have been changed.
            Err(_) => &[],
        };
        self.policies.limits.restored();
        let is_there = |file: &&RestoredFile| file.operation != Operation::Deleted;
        let there = files.iter().filter(is_there);
        self.policies.views.restored(there.map(|file| (&file.path, file.old_path.as_ref())));
        for file in files {
            let kind = match file.operation {
                Operation::Deleted => ChangeKind::Deleted,
                Operation::Renamed => ChangeKind::Renamed,
                _ => ChangeKind::Written,
            };
            self.note(true, kind, &file.path, file.old_path.as_ref());
        }
    }

    fn note(
        &self,
        is_changed: bool,
        kind: ChangeKind,
        path: &MemoryPath,
        old_path: Option<&MemoryPath>,
    ) {
        if is_changed && changes::are_observed() {
            let (path, old_path) = (path.clone(), old_path.cloned());
            self.changes.borrow_mut().push(Change { kind, path, old_path });
        }
    }

    /// Ends the work: notifies the observers of the store of changes that were made, or may have been. Returns
    /// the id of the change in the history, if one was recorded.
    pub(crate) fn finish(self) -> Option<HistoryId> {
        changes::tell(self.store, &self.changes.into_inner());
        self.context.change()
    }
}

/// Returns whether something was changed, or may have been.
fn is_changed(done: &Result<bool, StoreError>) -> bool {
    match done {
        Ok(is_changed) => *is_changed,
        Err(error) => may_have_changed(error),
    }
}

fn may_have_changed(error: &StoreError) -> bool {
    match error {
        StoreError::Source(error) => error.may_have_changed(),
        error => error.may_have_changed(),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use memdir_store::path::Folding;

    use super::*;
    use crate::store::{InProcess, OnExisting};
    use crate::{Memory, MemoryOptions};

    #[test]
    fn what_a_condition_decides_is_told_once_and_not_at_all_if_it_says_no() {
        let store: Arc<dyn Store> = Arc::new(InProcess::new());
        let memory = Memory::with_store(Arc::clone(&store), MemoryOptions::default());
        let [a, b] = ["/memories/a", "/memories/b"].map(|path| MemoryPath::parse(path).unwrap());
        store.write(&a, b"one", OnExisting::Error).unwrap();
        let told = Arc::new(Mutex::new(Vec::new()));
        let by = Arc::clone(&told);
        let _subscription = memory.observe(move |change| {
            by.lock().unwrap().push(format!("{} {}", change.kind, change.path));
        });
        let policies = Policies::new(MemoryOptions::default(), Folding::new(false));
        let work = UnitOfWork::new(&store, &policies, Context::new());
        for answer in [false, true] {
            let (mut one, mut two) = (|_: &[u8]| answer, |_: &[u8]| answer);
            let rename = Mutation::RenameIf { from: &a, to: &b, condition: &mut one };
            assert_eq!(work.mutate(rename).unwrap(), answer);
            let path = if answer { &b } else { &a };
            let delete = Mutation::DeleteIf { path, condition: &mut two };
            assert_eq!(work.mutate(delete).unwrap(), answer);
        }
        work.finish();
        assert_eq!(*told.lock().unwrap(), ["renamed /memories/b", "deleted /memories/b"]);
    }
}

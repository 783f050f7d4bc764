//! [`InContext`]: a store with the cancellation of one call.

use crate::Sealing;
use std::time::SystemTime;

use super::notes::Notes;
use super::{
    BatchError, Cancellation, Context, Entry, FileToDelete, FileToWrite, MountTable, Mutation,
    Node, Problem, Store, StoreError, StoreInfo, Times, methods_by_mutate,
};
use crate::path::MemoryPath;

/// A store with the cancellation of one call: methods without a context return early when the call is cancelled.
///
/// Use it for code that reads many files or works on any store, so the code needs no context parameter. Methods that get a
/// context use that one.
pub struct InContext<'s> {
    store: &'s dyn Store,
    cancellation: Cancellation,
}

impl<'s> InContext<'s> {
    /// `store`, with the cancellation of `context`.
    #[must_use]
    pub fn new(store: &'s dyn Store, context: &Context) -> Self {
        Self { store, cancellation: context.cancellation().clone() }
    }

    /// Whether the call is cancelled.
    ///
    /// # Errors
    /// [`StoreError::Cancelled`].
    pub fn check(&self) -> Result<(), StoreError> {
        self.cancellation.check()
    }

    /// The cancellation of the call.
    #[must_use]
    pub fn cancellation(&self) -> &Cancellation {
        &self.cancellation
    }

    fn context(&self) -> Context {
        Context::new().cancelled_by(&self.cancellation)
    }
}

impl std::fmt::Debug for InContext<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("InContext")
            .field("cancellation", &self.cancellation)
            .finish_non_exhaustive()
    }
}

// A method left at `Store`'s default would bypass the wrapped store.
#[deny(clippy::missing_trait_methods)]
impl Store for InContext<'_> {
    methods_by_mutate!(Self::context);

    fn info(&self) -> StoreInfo {
        self.store.info()
    }

    fn read(&self, path: &MemoryPath) -> Result<Vec<u8>, StoreError> {
        self.store.read_in(&self.context(), path)
    }

    fn list(&self, path: &MemoryPath) -> Result<Vec<Entry>, StoreError> {
        self.store.list_in(&self.context(), path)
    }

    fn open(&self, path: &MemoryPath, depth: usize) -> Result<Node<'_>, StoreError> {
        self.store.open_in(&self.context(), path, depth)
    }

    fn files(&self, visit: &mut dyn FnMut(Entry)) -> Result<(), StoreError> {
        self.store.files_in(&self.context(), visit)
    }

    fn read_in(&self, context: &Context, path: &MemoryPath) -> Result<Vec<u8>, StoreError> {
        self.store.read_in(context, path)
    }

    fn list_in(&self, context: &Context, path: &MemoryPath) -> Result<Vec<Entry>, StoreError> {
        self.store.list_in(context, path)
    }

    fn open_in(
        &self,
        context: &Context,
        path: &MemoryPath,
        depth: usize,
    ) -> Result<Node<'_>, StoreError> {
        self.store.open_in(context, path, depth)
    }

    fn files_in(&self, context: &Context, visit: &mut dyn FnMut(Entry)) -> Result<(), StoreError> {
        self.store.files_in(context, visit)
    }

    fn open_nowait(&self, path: &MemoryPath, depth: usize) -> Option<Result<Node<'_>, StoreError>> {
        self.store.open_nowait(path, depth)
    }

    fn modified(&self, path: &MemoryPath) -> Result<Option<SystemTime>, StoreError> {
        self.store.modified(path)
    }

    fn accessed(&self, path: &MemoryPath) -> Result<Option<SystemTime>, StoreError> {
        self.store.accessed(path)
    }

    fn unused(&self, files: Vec<Entry>, since: SystemTime) -> Result<Vec<Entry>, StoreError> {
        self.store.unused(files, since)
    }

    fn mutate(&self, context: &Context, mutation: Mutation<'_>) -> Result<bool, StoreError> {
        self.store.mutate(context, mutation)
    }

    fn write_batch(&self, context: &Context, files: &[FileToWrite<'_>]) -> Result<(), BatchError> {
        self.store.write_batch(context, files)
    }

    fn delete_unused_batch(
        &self,
        context: &Context,
        files: &[FileToDelete<'_>],
        since: SystemTime,
        visit: &mut dyn FnMut(bool),
    ) -> Result<(), StoreError> {
        self.store.delete_unused_batch(context, files, since, visit)
    }

    fn read_batch(
        &self,
        context: &Context,
        paths: &[&MemoryPath],
        visit: &mut dyn FnMut(Vec<u8>),
    ) -> Result<(), StoreError> {
        self.store.read_batch(context, paths, visit)
    }

    fn read_times(
        &self,
        context: &Context,
        paths: &[&MemoryPath],
    ) -> Result<Vec<Times>, StoreError> {
        self.store.read_times(context, paths)
    }

    fn inspect(&self, report: &mut dyn FnMut(Problem)) -> Result<(), StoreError> {
        self.store.inspect(report)
    }

    fn revision(&self) -> Result<Option<String>, StoreError> {
        self.store.revision()
    }

    fn notes(&self) -> Option<&dyn Notes> {
        self.store.notes()
    }

    fn sealing(&self) -> Option<&dyn Sealing> {
        self.store.sealing()
    }

    fn mounts(&self) -> Option<&dyn MountTable> {
        self.store.mounts()
    }

    fn can_keep(&self, path: &MemoryPath) -> bool {
        self.store.can_keep(path)
    }
}

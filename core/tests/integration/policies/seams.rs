//! A store with callbacks: a test sees each operation, and can do something before it runs.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use memdir::store::{Context, Entry, InProcess, Layer, Mutation};
use memdir::{MemoryPath, Store, StoreError};

/// Runs before a method does its work. An error is returned instead of that work.
type Before = dyn Fn() -> Result<(), StoreError> + Send + Sync;

/// A store in this process.
#[derive(Default)]
pub(crate) struct Seams {
    store: InProcess,
    /// How many times all files were listed.
    pub(crate) walks: AtomicUsize,
    before_writing: Mutex<Option<Arc<Before>>>,
    before_walking: Mutex<Option<Arc<Before>>>,
    after_editing: Mutex<Option<Arc<Before>>>,
    /// A directory that cannot be listed.
    pub(crate) closed: Option<MemoryPath>,
}

impl Seams {
    pub(crate) fn before_writing(
        &self,
        before: impl Fn() -> Result<(), StoreError> + Send + Sync + 'static,
    ) {
        *self.before_writing.lock().unwrap() = Some(Arc::new(before));
    }

    pub(crate) fn before_walking(
        &self,
        before: impl Fn() -> Result<(), StoreError> + Send + Sync + 'static,
    ) {
        *self.before_walking.lock().unwrap() = Some(Arc::new(before));
    }

    /// Runs after an edit is made, before its caller knows of it.
    pub(crate) fn after_editing(
        &self,
        after: impl Fn() -> Result<(), StoreError> + Send + Sync + 'static,
    ) {
        *self.after_editing.lock().unwrap() = Some(Arc::new(after));
    }

    /// Each runs once, because its own calls may get here again.
    fn pass(seam: &Mutex<Option<Arc<Before>>>) -> Result<(), StoreError> {
        let before = seam.lock().unwrap().take();
        before.map_or(Ok(()), |before| before())
    }
}

impl Layer for Seams {
    fn inner(&self) -> &dyn Store {
        &self.store
    }

    fn mutate(&self, context: &Context, mutation: Mutation<'_>) -> Result<bool, StoreError> {
        let is_edit = matches!(mutation, Mutation::Update { .. });
        if matches!(mutation, Mutation::Write { .. }) {
            Self::pass(&self.before_writing)?;
        }
        let done = self.store.mutate(context, mutation)?;
        if is_edit {
            Self::pass(&self.after_editing)?;
        }
        Ok(done)
    }

    fn list_in(&self, context: &Context, path: &MemoryPath) -> Result<Vec<Entry>, StoreError> {
        if self.closed.as_ref() == Some(path) {
            return Err(StoreError::PermissionDenied);
        }
        self.store.list_in(context, path)
    }

    fn files_in(&self, context: &Context, visit: &mut dyn FnMut(Entry)) -> Result<(), StoreError> {
        self.walks.fetch_add(1, Ordering::Relaxed);
        Self::pass(&self.before_walking)?;
        self.store.files_in(context, visit)
    }
}

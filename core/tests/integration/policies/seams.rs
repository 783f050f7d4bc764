//! A store with a seam: a test sees what is asked of it, and does something before it is done.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use memdir::store::{Context, Entry, InProcess, Layer, Mutation};
use memdir::{MemoryPath, Store, StoreError};

/// What is done before a method does its work; an error takes its place.
type Before = dyn Fn() -> Result<(), StoreError> + Send + Sync;

/// A store in this process.
#[derive(Default)]
pub(crate) struct Seams {
    store: InProcess,
    /// How often all files were gone through.
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

    /// When an edit is made, and nobody knows of it yet.
    pub(crate) fn after_editing(
        &self,
        after: impl Fn() -> Result<(), StoreError> + Send + Sync + 'static,
    ) {
        *self.after_editing.lock().unwrap() = Some(Arc::new(after));
    }

    /// Each is done once, so that what it does may come here again.
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

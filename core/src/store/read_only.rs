//! [`ReadOnly`]: a layer that refuses every change.

use std::sync::Arc;
use std::time::SystemTime;

use super::{Edit, Entry, Layer, Location, Mounts, Store, StoreError};
use crate::path::MemoryPath;
use crate::store::settings::OnExisting;

/// A store that can be read but not changed. Every change is refused with [`StoreError::ReadOnly`],
/// whether or not the path exists.
///
/// To open a directory or a database by its address without making it, use
/// [`MemoryOptions::read_only`](crate::MemoryOptions::read_only).
///
/// ```
/// use std::sync::Arc;
/// use memdir::store::{InProcess, ReadOnly};
/// use memdir::{Memory, MemoryOptions};
///
/// let memory = Memory::with_store(Arc::new(ReadOnly::new(InProcess::new())), MemoryOptions::default());
/// assert_eq!(
///     memory.create("/memories/a.md", "one").unwrap_err().to_string(),
///     "Error: /memories/a.md is read-only: it can be viewed but not changed",
/// );
/// ```
pub struct ReadOnly {
    store: Arc<dyn Store>,
}

impl ReadOnly {
    /// Wraps `store`.
    #[must_use]
    pub fn new(store: impl Store + 'static) -> Self {
        Self::from(Arc::new(store) as Arc<dyn Store>)
    }

    /// `store`, wrapped if `asked` is set and the store is not read-only itself.
    pub(crate) fn where_asked(store: Arc<dyn Store>, asked: bool) -> Arc<dyn Store> {
        if asked && !store.is_read_only() {
            return Arc::new(Self::from(store));
        }
        store
    }
}

impl From<Arc<dyn Store>> for ReadOnly {
    fn from(store: Arc<dyn Store>) -> Self {
        Self { store }
    }
}

impl std::fmt::Debug for ReadOnly {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ReadOnly").finish_non_exhaustive()
    }
}

impl Layer for ReadOnly {
    fn inner(&self) -> &dyn Store {
        &*self.store
    }

    fn mounts(&self) -> Option<&Mounts> {
        self.store.mounts()
    }

    fn write(&self, _: &MemoryPath, _: &[u8], _: OnExisting) -> Result<(), StoreError> {
        Err(StoreError::ReadOnly)
    }

    fn write_unique(&self, _: &MemoryPath, _: &[u8]) -> Result<(), StoreError> {
        Err(StoreError::ReadOnly)
    }

    fn update(&self, _: &MemoryPath, _: &mut Edit<'_>) -> Result<(), StoreError> {
        Err(StoreError::ReadOnly)
    }

    fn delete(&self, _: &MemoryPath) -> Result<(), StoreError> {
        Err(StoreError::ReadOnly)
    }

    fn rename(&self, _: &MemoryPath, _: &MemoryPath) -> Result<(), StoreError> {
        Err(StoreError::Source(Box::new(StoreError::ReadOnly)))
    }

    fn clear(&self) -> Result<(), StoreError> {
        Err(StoreError::ReadOnly)
    }

    fn set_modified(&self, _: &MemoryPath, _: SystemTime) -> Result<(), StoreError> {
        Err(StoreError::ReadOnly)
    }

    /// Records nothing and does not fail, so views succeed.
    fn record_access(&self, _: &MemoryPath, _: SystemTime) -> Result<(), StoreError> {
        Ok(())
    }

    /// None, because nothing can be removed here.
    fn unused(&self, _: Vec<Entry>, _: SystemTime) -> Result<Vec<Entry>, StoreError> {
        Ok(Vec::new())
    }

    fn delete_unused(&self, _: &MemoryPath, _: SystemTime) -> Result<bool, StoreError> {
        Err(StoreError::ReadOnly)
    }

    fn make_directory(&self, _: &MemoryPath) -> Result<(), StoreError> {
        Err(StoreError::ReadOnly)
    }

    fn is_read_only(&self) -> bool {
        true
    }

    fn locations(&self) -> Vec<Location> {
        self.store.locations().into_iter().map(Location::read_only).collect()
    }
}

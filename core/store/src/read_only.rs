//! [`ReadOnly`]: a layer that refuses every change.

use std::sync::Arc;
use std::time::SystemTime;

use super::path::MemoryPath;
use super::{
    Context, Entry, Layer, Location, MountTable, Mutation, Store, StoreError, StoreInfo, Times,
};

/// A store that can be read but not changed. Every change is refused with [`StoreError::ReadOnly`],
/// whether or not the path exists.
///
/// To open a directory or a database by its address without creating it, use `MemoryOptions::read_only`.
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

    /// `store`, wrapped if `asked` is set and the store is not already read-only.
    pub fn where_asked(store: Arc<dyn Store>, asked: bool) -> Arc<dyn Store> {
        if asked && !store.info().is_read_only {
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

    fn info(&self) -> StoreInfo {
        let mut info = self.store.info();
        info.is_read_only = true;
        info.locations = info.locations.into_iter().map(Location::read_only).collect();
        info
    }

    fn mounts(&self) -> Option<&dyn MountTable> {
        self.store.mounts()
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

    /// Ignores an access instead of failing, so views succeed.
    fn mutate(&self, _: &Context, mutation: Mutation<'_>) -> Result<bool, StoreError> {
        match mutation {
            Mutation::RecordAccess { .. } => Ok(false),
            Mutation::Rename { .. } | Mutation::RenameIf { .. } => {
                Err(StoreError::Source(Box::new(StoreError::ReadOnly)))
            }
            _ => Err(StoreError::ReadOnly),
        }
    }

    /// Empty, because nothing can be removed here.
    fn unused(&self, _: Vec<Entry>, _: SystemTime) -> Result<Vec<Entry>, StoreError> {
        Ok(Vec::new())
    }
}

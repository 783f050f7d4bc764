//! A store that may be looked at and not be changed: what is true of a handbook, or of the notes
//! of somebody else's agent.

use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use super::{Edit, Entry, Location, Node, Problem, Store, StoreError};
use crate::path::MemoryPath;
use crate::store::settings::OnExisting;

/// Hands on what reads, and refuses what would change anything with [`StoreError::ReadOnly`].
///
/// A change is refused without a look at what is there. To open a directory or a database by its
/// address without making it, use [`Options::read_only`](crate::Options::read_only).
///
/// ```
/// use std::sync::Arc;
/// use memdir::store::{InProcess, ReadOnly};
/// use memdir::{Memory, Options};
///
/// let memory = Memory::with_store(Arc::new(ReadOnly::new(InProcess::new())), Options::default());
/// assert_eq!(
///     memory.create("/memories/a.md", "one").unwrap_err().to_string(),
///     "Error: /memories/a.md is read-only: it can be viewed but not changed",
/// );
/// ```
pub struct ReadOnly {
    store: Arc<dyn Store>,
}

impl ReadOnly {
    /// `store`, which by this way cannot be changed.
    #[must_use]
    pub fn new(store: impl Store + 'static) -> Self {
        Self::from(Arc::new(store) as Arc<dyn Store>)
    }

    /// `store`, read-only if that is `asked` for and it is not that already.
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

impl Store for ReadOnly {
    fn read(&self, path: &MemoryPath) -> Result<Vec<u8>, StoreError> {
        self.store.read(path)
    }

    fn list(&self, path: &MemoryPath) -> Result<Vec<Entry>, StoreError> {
        self.store.list(path)
    }

    fn open(&self, path: &MemoryPath, depth: usize) -> Result<Node<'_>, StoreError> {
        self.store.open(path, depth)
    }

    fn files(&self, visit: &mut dyn FnMut(Entry)) -> Result<(), StoreError> {
        self.store.files(visit)
    }

    fn write(&self, _: &MemoryPath, _: &[u8], _: OnExisting) -> Result<(), StoreError> {
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

    fn modified(&self, path: &MemoryPath) -> Result<Option<SystemTime>, StoreError> {
        self.store.modified(path)
    }

    fn set_modified(&self, _: &MemoryPath, _: SystemTime) -> Result<(), StoreError> {
        Err(StoreError::ReadOnly)
    }

    fn tracks_access(&self) -> bool {
        self.store.tracks_access()
    }

    fn accessed(&self, path: &MemoryPath) -> Result<Option<SystemTime>, StoreError> {
        self.store.accessed(path)
    }

    /// Nothing: a view of what may be viewed is not refused, and records nothing.
    fn record_access(&self, _: &MemoryPath, _: SystemTime) -> Result<(), StoreError> {
        Ok(())
    }

    /// None: nothing is removed here, so that nothing has to be said to be.
    fn unused(&self, _: Vec<Entry>, _: SystemTime) -> Result<Vec<Entry>, StoreError> {
        Ok(Vec::new())
    }

    fn delete_unused(&self, _: &MemoryPath, _: SystemTime) -> Result<bool, StoreError> {
        Err(StoreError::ReadOnly)
    }

    fn make_directory(&self, _: &MemoryPath) -> Result<(), StoreError> {
        Err(StoreError::ReadOnly)
    }

    fn inspect(&self, report: &mut dyn FnMut(Problem)) -> Result<(), StoreError> {
        self.store.inspect(report)
    }

    fn is_read_only(&self) -> bool {
        true
    }

    fn folds_case(&self) -> bool {
        self.store.folds_case()
    }

    fn directory(&self) -> Option<&Path> {
        self.store.directory()
    }

    fn locations(&self) -> Vec<Location> {
        self.store.locations().into_iter().map(Location::read_only).collect()
    }

    fn can_keep(&self, path: &MemoryPath) -> bool {
        self.store.can_keep(path)
    }
}

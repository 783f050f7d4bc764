//! [`MountTable`]: what is known of a store that is made of others, without knowing how it mounts them.

use std::sync::Arc;

use super::Store;
use crate::path::MemoryPath;

/// Makes a store of another one.
pub(crate) type Wrap<'w> = dyn FnMut(&Arc<dyn Store>) -> Arc<dyn Store> + 'w;

/// The stores that one store mounts into one tree. A history is kept of each of them, where it is.
pub trait MountTable {
    /// The mount points, the root first, each with the number of its store. Stores are numbered as they come, one that is
    /// mounted twice once.
    fn numbered(&self) -> Vec<(MemoryPath, usize)>;

    /// The stores, each once, with the first of their mount points.
    fn stores(&self) -> Vec<(MemoryPath, Arc<dyn Store>)>;

    /// The same tree of other stores. `wrap` makes one of each store, once if that is mounted twice, as a rename within a
    /// store is recognized by its being the same.
    fn with_each(&self, wrap: &mut Wrap<'_>) -> Arc<dyn Store>;
}

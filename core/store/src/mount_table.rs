//! [`MountTable`]: the interface of a store composed of other stores, independent of how it mounts them.

use std::sync::Arc;

use super::Store;
use crate::path::MemoryPath;

/// Wraps a store in another one.
pub(crate) type Wrap<'w> = dyn FnMut(&Arc<dyn Store>) -> Arc<dyn Store> + 'w;

/// The stores that are mounted into one tree. Each of them keeps its own history.
pub trait MountTable {
    /// The mount points, root first, each with the number of its store. Stores are numbered in this order. A store that
    /// is mounted twice has one number.
    fn numbered(&self) -> Vec<(MemoryPath, usize)>;

    /// The stores, each with its first mount point. A store that is mounted twice is listed once.
    fn stores(&self) -> Vec<(MemoryPath, Arc<dyn Store>)>;

    /// The same tree with wrapped stores. `wrap` is called once per store, even if that store is mounted twice, because a
    /// rename within one store is detected by pointer identity.
    fn with_each(&self, wrap: &mut Wrap<'_>) -> Arc<dyn Store>;
}

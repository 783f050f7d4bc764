//! Several stores mounted into one tree.

use std::sync::Arc;

use crate::border::MemdirText;
use crate::built_in_store::BuiltInStore;
use crate::error::MemdirError;
use crate::foreign_store::core_store;
use crate::options::MemoryOptions;
use crate::store::Store;

/// A store and its mount point.
#[derive(uniffi::Object)]
pub struct Mount {
    path: MemdirText,
    place: Place,
    read_only: bool,
}

enum Place {
    Address(MemdirText),
    Store(Arc<dyn Store>),
}

impl std::fmt::Debug for Mount {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The store is not printed: an address may contain a password.
        f.debug_struct("Mount").field("path", &self.path).finish_non_exhaustive()
    }
}

#[uniffi::export]
impl Mount {
    /// Mounts the store at the address `store` at `path`. An address without a scheme is a
    /// directory. At `/memories` the files are in its `memories` directory; below, they are in the
    /// directory itself.
    ///
    /// With `read_only` the store can be viewed but not changed, and must exist.
    #[uniffi::constructor(default(read_only = false))]
    pub fn new(path: MemdirText, store: MemdirText, read_only: bool) -> Self {
        Self { path, place: Place::Address(store), read_only }
    }

    /// Mounts your own store, or one that is already open, at `path`.
    #[uniffi::constructor(default(read_only = false))]
    pub fn with_store(path: MemdirText, store: Arc<dyn Store>, read_only: bool) -> Self {
        Self { path, place: Place::Store(store), read_only }
    }
}

/// Opens several stores and mounts them into one tree. One of them must be at `/memories`.
///
/// Only options about stores apply, as for `open_store`. Throws `Config` if a path, an address or
/// an option is wrong, `Store` if a store cannot be opened.
#[uniffi::export(default(options))]
#[expect(clippy::needless_pass_by_value, reason = "UniFFI hands lists over by value")]
pub fn open_mounts(
    mounts: Vec<Arc<Mount>>,
    options: MemoryOptions,
) -> Result<Arc<dyn Store>, MemdirError> {
    let mounts = mounts.iter().map(|mount| {
        let place = match &mount.place {
            Place::Address(address) => memdir::store::Place::from(address.clone().option("store")?),
            Place::Store(store) => memdir::store::Place::from(core_store(Arc::clone(store))),
        };
        let of_core = memdir::store::Mount::new(mount.path.clone().option("path")?, place);
        Ok(if mount.read_only { of_core.read_only() } else { of_core })
    });
    let mounts = mounts.collect::<Result<Vec<_>, MemdirError>>()?;
    let opened = memdir::store::open_mounts(mounts, &memdir::MemoryOptions::try_from(options)?)?;
    Ok(Arc::new(BuiltInStore::new(Arc::new(opened))))
}

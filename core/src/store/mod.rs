//! [`Store`], the trait that every storage of a memory implements, and its implementations.
//!
//! A store keeps bytes under a [`MemoryPath`](crate::MemoryPath). It does not depend on commands and replies.
//! [`Store`] and its methods document the guarantees of every store, and `contract` (feature `testing`) checks
//! them.
//!
//! Each store with dependencies of its own is a separate crate. This module re-exports them all, and opens them
//! by their addresses.

mod address;
mod address_hint;
mod fork;
mod mounts;
mod options;
#[cfg(feature = "encryption")]
mod rekey;

#[cfg(feature = "encryption")]
pub use address::{encrypt, encrypt_lazily};
pub use address::{
    location_of, namespaces, open_bare_directory, open_directory, open_existing_store,
    open_raw_store, open_store, redact_address,
};
pub use fork::{after_fork_in_child, after_fork_in_parent, before_fork};
#[cfg(feature = "encryption")]
pub use memdir_encrypted::{Encrypted, EncryptionKey};
#[cfg(any(unix, windows))]
pub use memdir_local::LocalDirectory;
#[cfg(feature = "object-storage")]
pub use memdir_object_storage::ObjectStorage;
#[cfg(feature = "postgres")]
pub use memdir_postgres::PostgresDatabase;
#[cfg(feature = "sqlite")]
pub use memdir_sqlite::SqliteDatabase;
pub use memdir_store::access::Times;
pub use memdir_store::local_path::own_files_hint;
pub use memdir_store::settings::MAX_FILE_BYTES as DEFAULT_MAX_FILE_BYTES;
pub use memdir_store::{
    BatchError, Cancellation, Condition, Context, Durability, Edit, Effect, Entry, EntryKind,
    FileToDelete, FileToWrite, Fingerprint, Fingerprints, InContext, InProcess, Layer, Location,
    MountTable, Mounts, Mutation, NOWAIT_BYTES, NOWAIT_ENTRIES, Namespace, Node, OnExisting,
    Problem, ProblemKind, ReadOnly, Sealing, Splice, Store, StoreError, StoreInfo, Swap,
    TotalLimits, display_name, listed_time, micros, open_whole, update_by_swap, walk_files,
};
pub(crate) use memdir_store::{
    MOVING, NEW_DIRECTORY, access, batch, overlap, settings, sort_by_path, transfer,
};
#[cfg(feature = "testing")]
pub use memdir_store::{check_contract, contract};
pub use mounts::{Mount, Place, exists_at, open_mounts, open_place};
pub use options::StoreOptions;
#[cfg(feature = "encryption")]
pub use rekey::rekey;

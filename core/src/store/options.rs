//! [`StoreOptions`]: the options for opening a store.

use std::time::Duration;

#[cfg(feature = "encryption")]
use super::EncryptionKey;
#[cfg(any(feature = "sqlite", feature = "postgres"))]
use super::TotalLimits;
use super::settings::{Durability, LOCK_TIMEOUT, MAX_FILE_BYTES, max_edited_bytes};

/// The options for opening a store. They are the subset of a memory's [`MemoryOptions`](crate::MemoryOptions)
/// that concerns its store, with the same names and defaults. Functions that open a store also accept
/// `&MemoryOptions`.
///
/// ```
/// use memdir::store::{StoreOptions, open_store};
///
/// let mut options = StoreOptions::default();
/// options.read_only = true;
/// assert!(open_store("memory:", options)?.info().is_read_only);
/// # Ok::<(), memdir::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct StoreOptions {
    /// [`MemoryOptions::max_file_bytes`](crate::MemoryOptions::max_file_bytes). A store uses it as the limit
    /// for reading a file into memory to edit it. That limit is never below 16 MiB.
    pub max_file_bytes: Option<u64>,
    /// [`MemoryOptions::max_total_bytes`](crate::MemoryOptions::max_total_bytes), for the stores that check it
    /// themselves: SQLite and PostgreSQL.
    pub max_total_bytes: Option<u64>,
    /// [`MemoryOptions::max_files`](crate::MemoryOptions::max_files), for the same stores.
    pub max_files: Option<u64>,
    /// [`MemoryOptions::durability`](crate::MemoryOptions::durability).
    pub durability: Durability,
    /// [`MemoryOptions::read_only`](crate::MemoryOptions::read_only).
    pub read_only: bool,
    /// [`MemoryOptions::lock_timeout`](crate::MemoryOptions::lock_timeout).
    pub lock_timeout: Option<Duration>,
    /// [`MemoryOptions::namespace`](crate::MemoryOptions::namespace).
    pub namespace: Option<String>,
    /// [`MemoryOptions::encryption_key`](crate::MemoryOptions::encryption_key).
    #[cfg(feature = "encryption")]
    pub encryption_key: Option<EncryptionKey>,
    /// [`MemoryOptions::encrypt_names`](crate::MemoryOptions::encrypt_names).
    #[cfg(feature = "encryption")]
    pub encrypt_names: bool,
}

impl StoreOptions {
    /// The most bytes of a file that are read into memory to edit it.
    #[cfg_attr(
        not(any(unix, windows)),
        allow(dead_code, reason = "a store in the process reads nothing")
    )]
    pub(super) fn max_edited_bytes(&self) -> Option<u64> {
        max_edited_bytes(self.max_file_bytes)
    }

    /// Returns the limits that the store checks itself. An encrypted store has none, because the limits are
    /// about the sizes before encryption.
    #[cfg(any(feature = "sqlite", feature = "postgres"))]
    pub(super) fn total_limits(&self) -> TotalLimits {
        #[cfg(feature = "encryption")]
        if self.encryption_key.is_some() {
            return TotalLimits::default();
        }
        TotalLimits { bytes: self.max_total_bytes, files: self.max_files }
    }
}

impl Default for StoreOptions {
    fn default() -> Self {
        Self {
            max_file_bytes: Some(MAX_FILE_BYTES),
            max_total_bytes: None,
            max_files: None,
            durability: Durability::Full,
            read_only: false,
            lock_timeout: Some(LOCK_TIMEOUT),
            namespace: None,
            #[cfg(feature = "encryption")]
            encryption_key: None,
            #[cfg(feature = "encryption")]
            encrypt_names: false,
        }
    }
}

impl From<&StoreOptions> for StoreOptions {
    fn from(options: &StoreOptions) -> Self {
        options.clone()
    }
}

//! [`Sealing`]: how a store that encrypts lets a history be kept beneath it.
//!
//! The records of a history go where the store beneath keeps its own: beside a directory, or in the transactions of a
//! database. They are encrypted on the way.

use std::sync::Arc;

use super::{Store, StoreError};

/// A store that encrypts what it keeps in another one.
pub trait Sealing: Send + Sync {
    /// The store beneath, which keeps what is encrypted.
    fn beneath(&self) -> &Arc<dyn Store>;

    /// Encrypts bytes. Only the same `purpose` opens them again.
    ///
    /// # Errors
    /// Failures of the store, which keeps the keys.
    fn seal(&self, purpose: &[u8], bytes: &[u8]) -> Result<Vec<u8>, StoreError>;

    /// The bytes that were sealed for this purpose; `None` if they were not sealed by this store, or are damaged.
    ///
    /// # Errors
    /// As [`seal`](Self::seal).
    fn unseal(&self, purpose: &[u8], sealed: &[u8]) -> Result<Option<Vec<u8>>, StoreError>;
}

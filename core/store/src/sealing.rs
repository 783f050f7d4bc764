//! [`Sealing`]: how an encrypting store lets a history be stored in the underlying store.
//!
//! The records of a history are stored where the underlying store would keep its own history: beside a directory, or in
//! the transactions of a database. They are encrypted before they are written.

use std::sync::Arc;

use super::{Store, StoreError};

/// A store that encrypts the data that it keeps in another store.
pub trait Sealing: Send + Sync {
    /// The underlying store, which contains the encrypted data.
    fn beneath(&self) -> &Arc<dyn Store>;

    /// Encrypts bytes. Decryption requires the same `purpose`.
    ///
    /// # Errors
    /// Failures of the store, which contains the keys.
    fn seal(&self, purpose: &[u8], bytes: &[u8]) -> Result<Vec<u8>, StoreError>;

    /// Decrypts bytes that were sealed for this purpose. `None` if this store did not seal them, or if they are
    /// damaged.
    ///
    /// # Errors
    /// As [`seal`](Self::seal).
    fn unseal(&self, purpose: &[u8], sealed: &[u8]) -> Result<Option<Vec<u8>>, StoreError>;
}

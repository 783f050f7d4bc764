//! [`rekey`]: changes the key of an encrypted store, and of its history.

use std::sync::Arc;

use memdir_encrypted::{EncryptionKey, rekey_with};
use memdir_store::Store;

use crate::Error;
use memdir_history::seal_again;

/// Changes the key of the encrypted store in `inner`: encrypts every file and the history again, then removes
/// `old`. Returns the number of encrypted files.
///
/// The store can be used during the change, with either key. After the change, programs that opened it with the
/// old key get errors. If the change is interrupted, both keys open the store; call this again to continue.
/// Encrypted names keep their key.
///
/// ```
/// use std::sync::Arc;
/// use memdir::store::{Encrypted, InProcess, rekey};
/// use memdir::{EncryptionKey, Store};
///
/// let (old, new) = (EncryptionKey::from_bytes([1; 32]), EncryptionKey::from_bytes([2; 32]));
/// let inner: Arc<dyn Store> = Arc::new(InProcess::new());
/// Encrypted::open(Arc::clone(&inner), &old, false)?;
/// rekey(&inner, &old, &new)?;
/// assert!(Encrypted::open(Arc::clone(&inner), &old, false).is_err());
/// assert!(Encrypted::open(inner, &new, false).is_ok());
/// # Ok::<(), memdir::Error>(())
/// ```
///
/// # Errors
/// [`Error::Config`] if the store is not encrypted or neither key opens it, if both keys are the same, or if a
/// change to a third key has not been finished. [`Error::Store`] if `inner` fails, or a file is damaged: the
/// error names its path, no data is lost, and the old key stays.
pub fn rekey(
    inner: &Arc<dyn Store>,
    old: &EncryptionKey,
    new: &EncryptionKey,
) -> Result<u64, Error> {
    rekey_with(inner, old, new, &seal_again)
}

//! [`rekey`]: changes the key of an encrypted store.
#![allow(clippy::needless_pass_by_value, reason = "UniFFI hands over what it has made")]

use std::sync::Arc;

use crate::border::{MemdirKey, MemdirText};
use crate::error::MemdirError;
use crate::store::Store;

/// Changes the key of an encrypted store: encrypts every file again, and then removes the old key.
/// Returns the number of files that were encrypted.
///
/// The store can be in use meanwhile: both keys open it until the end. If the change is interrupted,
/// both keys still open the store; call this again to continue. The model cannot call this.
///
/// Throws `Config` if the store is not encrypted or the old key is wrong, `Store` if the store failed or
/// a file in it is damaged.
#[uniffi::export]
pub fn rekey(
    address: MemdirText,
    old_key: MemdirKey,
    new_key: MemdirKey,
) -> Result<i64, MemdirError> {
    let address = address.option("address")?;
    #[cfg(feature = "encryption")]
    return rekey_core(
        &memdir::store::open_raw_store(&address, &memdir::MemoryOptions::default())?,
        &old_key,
        &new_key,
    );
    #[cfg(not(feature = "encryption"))]
    {
        let _ = (address, new_key);
        old_key.option("old_key")
    }
}

/// As `rekey`, for your own store. Pass the store that holds the encrypted files.
#[uniffi::export]
pub fn rekey_store(
    store: Arc<dyn Store>,
    old_key: MemdirKey,
    new_key: MemdirKey,
) -> Result<i64, MemdirError> {
    #[cfg(feature = "encryption")]
    return rekey_core(&crate::foreign_store::core_store(store), &old_key, &new_key);
    #[cfg(not(feature = "encryption"))]
    {
        let _ = (store, new_key);
        old_key.option("old_key")
    }
}

#[cfg(feature = "encryption")]
fn rekey_core(
    store: &Arc<dyn memdir::Store>,
    old_key: &MemdirKey,
    new_key: &MemdirKey,
) -> Result<i64, MemdirError> {
    let (old, new) = (old_key.option("old_key")?, new_key.option("new_key")?);
    Ok(crate::number::number(memdir::store::rekey(store, &old, &new)?))
}

//! [`key_from_file`]: a key that is kept in a file. Kotlin and Swift offer it as a member of their
//! `EncryptionKey`.
#![allow(clippy::needless_pass_by_value, reason = "UniFFI hands over what it has made")]

use crate::border::{MemdirKey, MemdirText};
use crate::error::MemdirError;

/// The key in the file at `path`, which is created if it does not exist.
#[uniffi::export]
pub fn key_from_file(path: MemdirText) -> Result<MemdirKey, MemdirError> {
    let path = path.option("path")?;
    #[cfg(feature = "encryption")]
    return Ok(MemdirKey::of_bytes(&*memdir::EncryptionKey::bytes_from_file(path)?));
    #[cfg(not(feature = "encryption"))]
    {
        let error = memdir::ConfigError::of_option("path");
        drop(path);
        Err(error.and(" is for encryption, and this library was built without it").into())
    }
}

//! An encrypted store keeps the contract of a store, with plain and with encrypted names.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::sync::Arc;

use memdir_encrypted::{Encrypted, EncryptionKey};
use memdir_store::{InProcess, check_contract};

#[test]
fn an_encrypted_store_keeps_the_contract() {
    let key = EncryptionKey::from_bytes([1; 32]);
    for encrypt_names in [false, true] {
        check_contract(&|| {
            Arc::new(Encrypted::open(Arc::new(InProcess::new()), &key, encrypt_names).unwrap())
        })
        .unwrap();
    }
}

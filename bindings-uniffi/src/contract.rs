//! Checks the contract on stores that Kotlin or Swift creates.

use std::sync::{Arc, Mutex, PoisonError};

use memdir::store::{InProcess, contract};

use crate::foreign_store::ForeignStore;
use crate::store::{Store, StoreError};

/// Creates stores for `check_contract`.
#[uniffi::export(rust, foreign)]
pub trait StoreFactory: Send + Sync {
    /// A fresh, empty store.
    fn make(&self) -> Result<Arc<dyn Store>, StoreError>;
}

/// Checks that the stores of `factory` keep the contract of a store. Use it in the tests of your
/// own store.
///
/// Returns the first rule that the stores break, with details, or null if they keep all rules.
/// Throws the errors of the factory.
#[uniffi::export]
#[expect(clippy::needless_pass_by_value, reason = "UniFFI hands objects over by value")]
pub fn check_contract(factory: Arc<dyn StoreFactory>) -> Result<Option<String>, StoreError> {
    let failed = Mutex::new(None);
    let checked = contract::check_contract(&|| match factory.make() {
        Ok(store) => Arc::new(ForeignStore::new(store)) as Arc<dyn memdir::Store>,
        Err(failure) => {
            // The check cannot stop here. Its result is discarded.
            failed.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(failure);
            Arc::new(InProcess::new())
        }
    });
    match failed.into_inner().unwrap_or_else(PoisonError::into_inner) {
        Some(failure) => Err(failure),
        None => Ok(checked.err().map(|violation| violation.to_string())),
    }
}

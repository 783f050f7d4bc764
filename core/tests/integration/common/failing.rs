//! An empty store that fails in every method.

use memdir::store::{Edit, Entry};
use memdir::{MemoryPath, OnExisting, Store, StoreError};

/// The result of every method. A function that panics makes a store that must not be called.
pub(crate) struct Failing(pub(crate) fn() -> StoreError);

/// A store on an unreachable host.
#[allow(dead_code, reason = "each test file uses its part")]
pub(crate) const UNREACHABLE: Failing =
    Failing(|| StoreError::failed("asking", "db.internal is gone"));

impl Store for Failing {
    fn read(&self, _: &MemoryPath) -> Result<Vec<u8>, StoreError> {
        Err((self.0)())
    }

    fn list(&self, _: &MemoryPath) -> Result<Vec<Entry>, StoreError> {
        Err((self.0)())
    }

    fn write(&self, _: &MemoryPath, _: &[u8], _: OnExisting) -> Result<(), StoreError> {
        Err((self.0)())
    }

    fn update(&self, _: &MemoryPath, _: &mut Edit<'_>) -> Result<(), StoreError> {
        Err((self.0)())
    }

    fn delete(&self, _: &MemoryPath) -> Result<(), StoreError> {
        Err((self.0)())
    }

    fn rename(&self, _: &MemoryPath, _: &MemoryPath) -> Result<(), StoreError> {
        Err((self.0)())
    }
}

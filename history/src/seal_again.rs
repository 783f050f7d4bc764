//! [`seal_again`]: encrypts the history of an encrypted store again when its key changes.

use std::sync::Arc;

use memdir_store::{Durability, Store, StoreError};

use super::journal::Rewrite;
use super::recorder::Recorder;
use super::retention::Retention;

/// Encrypts the records of an encrypted store again with its present key. Records that the store keeps among its files are not changed:
/// they are encrypted as its files are.
///
/// # Errors
/// Failures of the store.
pub fn seal_again(store: &Arc<dyn Store>) -> Result<(), StoreError> {
    let Some(sealing) = store.sealing() else { return Ok(()) };
    let beneath = sealing.beneath();
    if beneath.info().directory.is_none() && beneath.notes().is_none() {
        return Ok(());
    }
    let recorder = Recorder::of_one(Arc::clone(store), Durability::Full, Retention::default());
    let locked = recorder.journal.lock()?;
    let mut rewrite = Rewrite {
        concerns: &|_| true,
        is_forced: true,
        loaded_end: None,
        change: &mut |record| Ok(Some(record)),
    };
    /// Each attempt fails only if another process appended records meanwhile.
    const MAX_ATTEMPTS: usize = 100;
    for _ in 0..MAX_ATTEMPTS {
        if recorder.journal.rewrite(&locked, &mut rewrite, None)? {
            return Ok(());
        }
    }
    Err(StoreError::Busy)
}

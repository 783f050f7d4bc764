//! [`check`]: reads a whole store and reports its problems.
#![allow(clippy::needless_pass_by_value, reason = "UniFFI hands over what it has made")]

use std::sync::Arc;

use crate::error::MemdirError;
use crate::foreign_store::core_store;
use crate::results::Checked;
use crate::store::Store;

/// Checks a store and its history: inspects the store's structures, reads every file, reads every record of the history and
/// computes every version. Changes nothing. Others may use the store meanwhile. The model cannot call this.
///
/// A store that fails in the middle is a problem, too: what was found before is kept. Throws `Store` if it fails before anything
/// was read or found.
#[uniffi::export]
pub fn check(store: Arc<dyn Store>) -> Result<Checked, MemdirError> {
    let never = memdir::Cancellation::never();
    Ok(memdir_bindings_shared::check::check(&never, &core_store(store))?.into())
}

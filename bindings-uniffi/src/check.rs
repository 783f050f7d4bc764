//! [`check`]: verifies a whole store and reports its problems.
#![allow(clippy::needless_pass_by_value, reason = "UniFFI hands over what it has made")]

use std::sync::Arc;

use crate::error::MemdirError;
use crate::foreign_store::core_store;
use crate::results::Checked;
use crate::store::Store;

/// Verifies a store and its history: inspects the store's structures, reads every file and every record of the history, and
/// reconstructs every version. It changes nothing, and the store may be in use meanwhile. The model cannot call this.
///
/// If the store fails midway, that is reported as one more problem, and the problems found before it are kept. Throws
/// `Store` if the store fails before anything was read or found.
#[uniffi::export]
pub fn check(store: Arc<dyn Store>) -> Result<Checked, MemdirError> {
    let never = memdir::Cancellation::never();
    Ok(memdir_bindings_shared::check::check(&never, &core_store(store))?.into())
}

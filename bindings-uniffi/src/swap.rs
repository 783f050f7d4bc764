//! [`Swap`]: the edit that a store written in Kotlin or Swift gets.

use std::sync::Arc;

use crate::store::{Edit, StoreError};

/// Computes the new content for an update. The host may call it from any thread, and keep it.
pub(crate) struct Swap(pub(crate) Arc<memdir::store::Swap>);

impl Edit for Swap {
    fn apply(&self, content: Vec<u8>) -> Result<Option<Vec<u8>>, StoreError> {
        Ok(self.0.apply(&content))
    }
}

//! [`Swap`]: the edit that a store written in Kotlin or Swift is given.

use std::sync::Arc;

use crate::store::{Edit, StoreError};

/// What an update makes of a content. The host may call it from any thread and keep it for as long
/// as it likes.
pub(crate) struct Swap(pub(crate) Arc<memdir::store::Swap>);

impl Edit for Swap {
    fn apply(&self, content: Vec<u8>) -> Result<Option<Vec<u8>>, StoreError> {
        Ok(self.0.apply(&content))
    }
}

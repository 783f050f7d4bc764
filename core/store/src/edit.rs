//! [`Edit`]: the callback that decides how a file changes, and the application of an edit without an abort
//! when memory runs out.

use super::StoreError;
use crate::splice::Splice;

/// Gets a file's content and returns the change, or `None` to change nothing.
pub type Edit<'e> = dyn FnMut(&[u8]) -> Option<Splice> + 'e;

impl Splice {
    /// As [`apply`](Self::apply), but returns an error if there is not enough memory.
    pub fn try_apply(&self, old: &[u8]) -> Result<Vec<u8>, StoreError> {
        let mut new = Vec::new();
        reserve(&mut new, self.pieces(old).map(<[u8]>::len).iter().sum())?;
        self.pieces(old).iter().for_each(|piece| new.extend_from_slice(piece));
        Ok(new)
    }
}

/// Reserves memory for `bytes` more bytes of a file.
///
/// # Errors
/// [`StoreError::TooLarge`] if there is not enough memory.
pub fn reserve(content: &mut Vec<u8>, bytes: usize) -> Result<(), StoreError> {
    let size = bytes as u64;
    content.try_reserve_exact(bytes).map_err(|_| StoreError::TooLarge { size })
}

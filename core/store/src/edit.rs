//! [`Edit`]: the callback that decides how a file changes. Also applies a change without running out of
//! memory.

use super::StoreError;
use crate::splice::Splice;

/// Gets a file's content and returns the change; `None` changes nothing.
pub type Edit<'e> = dyn FnMut(&[u8]) -> Option<Splice> + 'e;

impl Splice {
    /// As [`apply`](Self::apply), but too little memory is an error.
    pub fn try_apply(&self, old: &[u8]) -> Result<Vec<u8>, StoreError> {
        let mut new = Vec::new();
        reserve(&mut new, self.pieces(old).map(<[u8]>::len).iter().sum())?;
        self.pieces(old).iter().for_each(|piece| new.extend_from_slice(piece));
        Ok(new)
    }
}

/// Reserves room for `bytes` more bytes of a file.
///
/// # Errors
/// [`StoreError::TooLarge`] if there is not enough memory.
pub fn reserve(content: &mut Vec<u8>, bytes: usize) -> Result<(), StoreError> {
    let size = bytes as u64;
    content.try_reserve_exact(bytes).map_err(|_| StoreError::TooLarge { size })
}

//! [`Edit`]: what decides the change of a file, and how a change is applied to a content whose size somebody
//! else decided.

#[cfg(any(feature = "sqlite", feature = "postgres", feature = "object-storage"))]
use super::StoreError;
use crate::text::Splice;

/// Looks at a file's content and says what to change; `None` changes nothing.
pub type Edit<'e> = dyn FnMut(&[u8]) -> Option<Splice> + 'e;

#[cfg(any(feature = "sqlite", feature = "postgres", feature = "object-storage"))]
impl Splice {
    /// As [`apply`](Self::apply), where there may be too little memory.
    pub(crate) fn try_apply(&self, old: &[u8]) -> Result<Vec<u8>, StoreError> {
        let mut new = Vec::new();
        reserve(&mut new, self.pieces(old).map(<[u8]>::len).iter().sum())?;
        self.pieces(old).iter().for_each(|piece| new.extend_from_slice(piece));
        Ok(new)
    }
}

/// Makes room for `bytes` more, which a file's size decides.
///
/// # Errors
/// [`StoreError::TooLarge`] where there is not so much memory.
#[cfg(any(feature = "sqlite", feature = "postgres", feature = "object-storage"))]
pub(crate) fn reserve(content: &mut Vec<u8>, bytes: usize) -> Result<(), StoreError> {
    let size = bytes as u64;
    content.try_reserve_exact(bytes).map_err(|_| StoreError::TooLarge { size })
}

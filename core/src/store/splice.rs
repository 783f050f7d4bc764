//! [`Splice`]: the change of a file that an edit asks for.

use std::ops::Range;

#[cfg(any(feature = "sqlite", feature = "postgres", feature = "object-storage"))]
use super::StoreError;

/// Looks at a file's content and says what to change; `None` changes nothing.
pub type Edit<'e> = dyn FnMut(&[u8]) -> Option<Splice> + 'e;

/// A change of one stretch of a file: the bytes in `range` give way to `text`.
///
/// ```
/// use memdir::store::Splice;
///
/// let splice = Splice { range: 6..11, text: b"there".to_vec() };
/// assert_eq!(splice.apply(b"hello world!"), b"hello there!");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Splice {
    /// The bytes that go; empty where text is only inserted. Must lie within the content.
    pub range: Range<usize>,
    /// The bytes that come in their place.
    pub text: Vec<u8>,
}

impl Splice {
    /// The three pieces of the new content, in order. A store can write them one after the other
    /// without building the whole.
    #[must_use]
    pub fn pieces<'s>(&'s self, old: &'s [u8]) -> [&'s [u8]; 3] {
        let start = self.range.start.min(old.len());
        let end = self.range.end.clamp(start, old.len());
        [&old[..start], &self.text, &old[end..]]
    }

    /// The new content as a whole.
    #[must_use]
    pub fn apply(&self, old: &[u8]) -> Vec<u8> {
        self.pieces(old).concat()
    }

    /// As [`apply`](Self::apply), for a content whose size somebody else decided.
    #[cfg(any(feature = "sqlite", feature = "postgres", feature = "object-storage"))]
    pub(crate) fn try_apply(&self, old: &[u8]) -> Result<Vec<u8>, StoreError> {
        let mut new = Vec::new();
        reserve(&mut new, self.pieces(old).map(<[u8]>::len).iter().sum())?;
        self.pieces(old).iter().for_each(|piece| new.extend_from_slice(piece));
        Ok(new)
    }

    /// How many bytes a content of `old_len` bytes has after the change.
    #[must_use]
    pub fn len_after(&self, old_len: usize) -> usize {
        old_len - self.range.len() + self.text.len()
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

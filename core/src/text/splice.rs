//! [`Splice`]: the replacement of one range of a content.

use std::ops::Range;

/// The replacement of one range of a content: `text` replaces the bytes in `range`.
///
/// ```
/// use memdir::text::Splice;
///
/// let splice = Splice { range: 6..11, text: b"there".to_vec() };
/// assert_eq!(splice.apply(b"hello world!"), b"hello there!");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Splice {
    /// The bytes to replace; empty to insert only. Must be within the content.
    pub range: Range<usize>,
    /// The new bytes.
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

    /// How many bytes a content of `old_len` bytes has after the change.
    #[must_use]
    pub fn len_after(&self, old_len: usize) -> usize {
        old_len - self.range.len() + self.text.len()
    }
}

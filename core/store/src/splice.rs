//! [`Splice`]: the replacement of one range of bytes.

use std::ops::Range;

/// The replacement of one range of bytes: `text` replaces the bytes in `range`.
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
    /// The change from `old` to `new`, from the first to the last character that differs.
    ///
    /// ```
    /// use memdir::text::Splice;
    ///
    /// let splice = Splice::between("likes tea\n", "likes green tea\n");
    /// assert_eq!(splice, Splice { range: 6..6, text: b"green ".to_vec() });
    /// ```
    #[must_use]
    pub fn between(old: &str, new: &str) -> Self {
        let same = |(a, b): &((usize, char), char)| a.1 == *b;
        let start = old
            .char_indices()
            .zip(new.chars())
            .take_while(same)
            .last()
            .map_or(0, |((at, char), _)| at + char.len_utf8());
        let (old_rest, new_rest) = (&old[start..], &new[start..]);
        let end: usize = old_rest
            .chars()
            .rev()
            .zip(new_rest.chars().rev())
            .take_while(|(a, b)| a == b)
            .map(|(char, _)| char.len_utf8())
            .sum();
        let text = new_rest.as_bytes()[..new_rest.len() - end].to_vec();
        Self { range: start..old.len() - end, text }
    }

    /// The three pieces of the new content, in order. A store can write them one by one without building the
    /// whole content.
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

    /// The size of the new content in bytes, for an old content of `old_len` bytes.
    #[must_use]
    pub fn len_after(&self, old_len: usize) -> usize {
        old_len - self.range.len() + self.text.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_between_two_texts_is_as_short_as_it_can_be() {
        for (old, new, range, text) in [
            ("", "", 0..0, ""),
            ("", "a", 0..0, "a"),
            ("abc", "", 0..3, ""),
            ("abc", "abc", 3..3, ""),
            ("aa", "aaa", 2..2, "a"),
            ("axb", "ayb", 1..2, "y"),
            // In the first pair the two letters share their first byte, in the second their last.
            ("é", "è", 0..2, "è"),
            ("\u{e9}", "\u{129}", 0..2, "\u{129}"),
        ] {
            let splice = Splice::between(old, new);
            assert_eq!(splice, Splice { range, text: text.as_bytes().to_vec() }, "{old:?} {new:?}");
            assert_eq!(splice.apply(old.as_bytes()), new.as_bytes());
        }
    }
}

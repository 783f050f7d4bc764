//! [`Edit`]: a planned change of a text.

use std::ops::Range;

/// A planned change of a text: the replacement of one range.
#[derive(Debug, Clone)]
pub struct Edit<'t> {
    pub(super) old: &'t str,
    pub(super) range: Range<usize>,
    pub(super) text: &'t str,
}

impl<'t> Edit<'t> {
    /// The edit that replaces the bytes `range` of `old` by `text`. The range may be empty.
    ///
    /// `None` if the range is not within `old`, or starts or ends within a character.
    #[must_use]
    pub fn new(old: &'t str, range: Range<usize>, text: &'t str) -> Option<Self> {
        old.get(range.clone())?;
        Some(Self { old, range, text })
    }

    /// The three pieces of the text after the edit: before the new text, the new text, and after it.
    pub(super) fn pieces(&self) -> [&str; 3] {
        [&self.old[..self.range.start], self.text, &self.old[self.range.end..]]
    }

    /// The lines from two before the edit to two after it, as a reply may show them, and the number of the
    /// first.
    #[cfg(test)]
    pub(super) fn lines_around(&self) -> (u64, String) {
        let [before, text, after] = self.pieces();
        let start = before.rmatch_indices('\n').nth(2).map_or(0, |(at, _)| at + 1);
        let ends = 1 + usize::from(!text.ends_with('\n'));
        let end = after.match_indices('\n').nth(ends).map_or(after.len(), |(at, _)| at + 1);
        let first = 1 + before[..start].matches('\n').count() as u64;
        (first, [&before[start..], text, &after[..end]].concat())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_edit_is_within_its_text_and_between_characters() {
        let old = "é and more";
        for (range, is_edit) in [
            (0..2, true),
            (2..2, true),
            (11..11, true),
            (0..1, false),
            (1..2, false),
            (11..12, false),
        ] {
            assert_eq!(Edit::new(old, range.clone(), "x").is_some(), is_edit, "{range:?}");
        }
        let (start, end) = (3, 2);
        assert!(Edit::new(old, start..end, "x").is_none());
    }
}

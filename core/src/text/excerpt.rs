//! [`excerpt`]: cuts a long line around a match.

use std::ops::Range;

/// The most characters of a line that an [`excerpt`] shows.
pub const EXCERPT_CHARS: usize = 300;

/// Returns the line, or [`EXCERPT_CHARS`] characters of it around the bytes `at`, with `…` where text is left
/// out. Matches of [`Memory::grep`](crate::Memory::grep) show it. With `0..0` it is the beginning of the line.
///
/// ```
/// use memdir::text::excerpt;
///
/// let line = format!("{}tea", "a".repeat(1_000));
/// assert_eq!(excerpt("likes tea", 6..9), "likes tea");
/// assert!(excerpt(&line, 1_000..1_003).starts_with("…aaa"));
/// assert!(excerpt(&line, 1_000..1_003).ends_with("tea"));
/// ```
#[must_use]
pub fn excerpt(line: &str, at: Range<usize>) -> String {
    const BEFORE: usize = EXCERPT_CHARS / 3;
    if line.chars().nth(EXCERPT_CHARS).is_none() {
        return line.to_owned();
    }
    let before = line.char_indices().take_while(|(byte, _)| *byte < at.start).count();
    let start = before.saturating_sub(BEFORE);
    let shown: String = line.chars().skip(start).take(EXCERPT_CHARS).collect();
    let more = line.chars().nth(start + EXCERPT_CHARS).is_some();
    format!("{}{shown}{}", if start > 0 { "…" } else { "" }, if more { "…" } else { "" })
}

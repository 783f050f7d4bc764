//! Pure functions over text: lines, occurrences, splices, diffs and merges, pages, sizes and times as text.
//!
//! Nothing here depends on paths, stores or replies. Only `\n` ends a line. A final `\n` ends the last line and
//! starts no further one.

mod excerpt;
mod find;
mod lines;
mod page;
mod size;

pub use excerpt::{EXCERPT_CHARS, excerpt};
pub use find::{Occurrences, find};
pub(crate) use lines::count_lines_of;
pub use lines::{Snippet, count_lines, insert_lines, line_at, snippet};
pub use memdir_history::text_diff::unified_diff;
pub(crate) use memdir_history::text_merge::union;
pub use memdir_history::text_merge::{
    CONFLICT_MARKS, Merged, count_conflict_marks, merge, merge_without_base,
};
pub use memdir_store::Splice;
pub use memdir_store::similar::most_similar;
pub use memdir_store::time::{parse as parse_rfc3339, rfc3339};
pub use page::{Ending, NotText, Page, Pager};
pub use size::human_size;

/// The most lines that a file may have to be shown: line numbers are six characters wide (documentation of the
/// tool, "view").
pub const MAX_LINES: u64 = 999_999;

/// Appends a line's number, right-aligned to six characters, and the tab that follows it.
///
/// It does not use `format!`, which would be most of the cost of a small view.
pub(crate) fn push_number(out: &mut String, number: u64) {
    const WIDTH: usize = 6;
    let mut digits = [b' '; 20];
    let mut at = digits.len();
    let mut rest = number;
    while at > 0 && (rest > 0 || at == digits.len()) {
        at -= 1;
        digits[at] = b'0' + u8::try_from(rest % 10).unwrap_or(0);
        rest /= 10;
    }
    let start = at.min(digits.len() - WIDTH);
    out.extend(digits[start..].iter().map(|&digit| char::from(digit)));
    out.push('\t');
}

#[cfg(test)]
mod tests {
    use super::push_number;

    #[test]
    fn numbers_are_right_aligned_to_six() {
        for number in [0, 1, 9, 10, 100, 999_999, 1_000_000, u64::MAX] {
            let mut out = String::new();
            push_number(&mut out, number);
            assert_eq!(out, format!("{number:>6}\t"));
        }
    }
}

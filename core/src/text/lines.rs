//! Counts lines, inserts them, and returns the lines around a change.

use memchr::{memchr_iter, memrchr_iter};

use super::Splice;

/// Returns the number of lines in `content`. An unfinished last line counts.
///
/// ```
/// use memdir::text::count_lines;
///
/// assert_eq!(count_lines(b""), 0);
/// assert_eq!(count_lines(b"a\nb\n"), 2);
/// assert_eq!(count_lines(b"a\nb"), 2);
/// ```
#[must_use]
pub fn count_lines(content: &[u8]) -> u64 {
    let newlines = memchr_iter(b'\n', content).count() as u64;
    newlines + u64::from(content.last().is_some_and(|&last| last != b'\n'))
}

/// Like [`count_lines`], for a content in pieces, without copying it.
pub(crate) fn count_lines_of(pieces: &[&[u8]]) -> u64 {
    let newlines: usize = pieces.iter().map(|piece| memchr_iter(b'\n', piece).count()).sum();
    let last = pieces.iter().rev().find_map(|piece| piece.last());
    newlines as u64 + u64::from(last.is_some_and(|&last| last != b'\n'))
}

/// Returns the 1-based number of the line that contains byte `at` of `content`.
///
/// ```
/// use memdir::text::line_at;
///
/// assert_eq!(line_at(b"a\nb", 2), 2);
/// ```
#[must_use]
pub fn line_at(content: &[u8], at: usize) -> u64 {
    1 + memchr_iter(b'\n', content.get(..at).unwrap_or(content)).count() as u64
}

/// Returns the change that inserts `text` as whole lines after line `after` of `content`.
///
/// One final `\n` of `text` ends its last line. The end of the content is unchanged: if its last line has no
/// `\n`, the last line of the result has none.
///
/// # Errors
/// The number of lines, if `after` is not within `0..=lines`.
pub fn insert_lines(content: &[u8], after: i64, text: &str) -> Result<Splice, u64> {
    let lines = count_lines(content);
    let after = u64::try_from(after).ok().filter(|&after| after <= lines).ok_or(lines)?;
    let body = text.strip_suffix('\n').unwrap_or(text);
    let at = match after.checked_sub(1) {
        None => Some(0),
        Some(skip) => usize::try_from(skip)
            .ok()
            .and_then(|skip| memchr_iter(b'\n', content).nth(skip))
            .map(|newline| newline + 1),
    };
    Ok(match at {
        Some(at) => Splice { range: at..at, text: [body, "\n"].concat().into_bytes() },
        // The last line of the content is unfinished: the change ends that line, and leaves the text's last
        // line unfinished.
        None => {
            let end = content.len();
            Splice { range: end..end, text: ["\n", body].concat().into_bytes() }
        }
    })
}

/// The lines around a change, in the new content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snippet {
    /// The number of the first line of `text`.
    pub first: u64,
    /// Whole lines; empty if the new content is empty.
    pub text: Vec<u8>,
}

/// The number of lines that a snippet shows before and after the changed ones.
const CONTEXT: usize = 2;

/// Returns the changed lines of the new content, with two lines before and two after them.
///
/// The changed lines are those of the new text. If it is empty, the line from which the old text was removed
/// counts.
#[must_use]
pub fn snippet(old: &[u8], splice: &Splice) -> Snippet {
    let [before, text, after] = splice.pieces(old);
    let start = memrchr_iter(b'\n', before).nth(CONTEXT).map_or(0, |newline| newline + 1);
    let first = 1 + memchr_iter(b'\n', &before[..start]).count() as u64;
    // If the new text ends its own line, only unchanged lines follow it. Otherwise the rest of the last changed
    // line follows first.
    let ends = CONTEXT + usize::from(text.last() != Some(&b'\n'));
    let end = memchr_iter(b'\n', after).nth(ends - 1).map_or(after.len(), |newline| newline + 1);
    Snippet { first, text: [&before[start..], text, &after[..end]].concat() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Splits into lines by definition: `\n` ends a line, and the rest is an unfinished one.
    fn naive_lines(content: &str) -> Vec<&str> {
        let mut lines: Vec<&str> = content.split('\n').collect();
        if lines.last() == Some(&"") {
            lines.pop();
        }
        lines
    }

    proptest! {
        #![proptest_config(memdir_test_support::effort::cases(200))]
        #[test]
        fn counts_as_the_naive_split(content in "[ab\n\r]{0,30}") {
            prop_assert_eq!(count_lines(content.as_bytes()), naive_lines(&content).len() as u64);
        }

        #[test]
        fn inserts_as_a_list_of_lines_would(
            content in "[ab\n]{0,30}", text in "[xy\n]{0,10}", after in -2_i64..12
        ) {
            let lines = naive_lines(&content);
            let ended = content.is_empty() || content.ends_with('\n');
            let expected = usize::try_from(after).ok().filter(|&at| at <= lines.len()).map(|at| {
                let body = text.strip_suffix('\n').unwrap_or(&text);
                let mut all = lines.clone();
                all.insert(at, body);
                all.join("\n") + if ended { "\n" } else { "" }
            });
            let got = insert_lines(content.as_bytes(), after, &text)
                .map(|splice| String::from_utf8(splice.apply(content.as_bytes())).unwrap());
            prop_assert_eq!(got.ok(), expected);
        }

        #[test]
        fn snippets_are_the_changed_lines_and_two_around(
            before in "[ab\n]{0,20}", old in "[o\n]{0,4}", new in "[n\n]{0,4}", after in "[cd\n]{0,20}"
        ) {
            let content = format!("{before}{old}{after}");
            let splice = Splice {
                range: before.len()..before.len() + old.len(),
                text: new.clone().into_bytes(),
            };
            let result = format!("{before}{new}{after}");
            let all = naive_lines(&result);
            // 0-based numbers of the first and last changed line.
            let first = before.matches('\n').count();
            let last = match new.as_bytes() {
                [] => first,
                [most @ .., _] => first + most.iter().filter(|&&byte| byte == b'\n').count(),
            };
            let from = first.saturating_sub(2);
            let to = (last + 3).min(all.len());
            let snippet = snippet(content.as_bytes(), &splice);
            let text = String::from_utf8(snippet.text).unwrap();
            prop_assert_eq!(naive_lines(&text), &all[from.min(to)..to]);
            prop_assert!(text.is_empty() || snippet.first == from as u64 + 1);
        }
    }
}

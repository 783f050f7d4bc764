//! [`ContextWindow`]: the part of a text that must be checked for an edit. Checking the whole text would take
//! most of the time of a small edit in a large file.
//!
//! A built-in rule checks one line only, so a line with its line end gives the same findings alone as within
//! its text. Private keys are the exception. The whole text is checked if a private key can start in the
//! window, or if there are custom rules, which may match anywhere.

use std::ops::Range;

use memchr::{memchr, memrchr};

use super::custom_rules::SensitiveRule;
use super::edit::Edit;
use super::{private_keys, steps};

/// A part of a text, before and after an edit.
#[derive(Debug, Clone)]
pub(super) struct ContextWindow {
    /// Its range in the old text.
    pub(super) old: Range<usize>,
    /// Its content after the edit.
    pub(super) new: String,
    /// The range of the inserted text in `new`.
    pub(super) inserted: Range<usize>,
}

impl ContextWindow {
    /// The part around an edit that can affect the findings.
    pub(super) fn around(edit: &Edit<'_>, own: &[SensitiveRule]) -> Self {
        if own.is_empty() {
            let lines = Self::cut(edit, lines(edit.old.as_bytes(), &edit.range));
            let multi_line = private_keys::may_begin_in(&edit.old[..lines.old.end])
                || private_keys::may_begin_in(&lines.new);
            if !multi_line {
                return lines;
            }
        }
        Self::whole(edit)
    }

    /// Whether lines around an edit can be checked alone.
    pub(super) fn lines_alone(edit: &Edit<'_>, lines: &str, own: &[SensitiveRule]) -> bool {
        // The lines before these are before the edit, too.
        own.is_empty()
            && !private_keys::may_begin_in(&edit.old[..edit.range.start])
            && !private_keys::may_begin_in(lines)
    }

    /// The whole text.
    pub(super) fn whole(edit: &Edit<'_>) -> Self {
        Self::cut(edit, 0..edit.old.len())
    }

    fn cut(edit: &Edit<'_>, range: Range<usize>) -> Self {
        let [before, text, after] = edit.pieces();
        let new = [&before[range.start..], text, &after[..range.end - edit.range.end]].concat();
        steps::add(new.len());
        let start = edit.range.start - range.start;
        Self { inserted: start..start + text.len(), old: range, new }
    }
}

/// The lines that a range touches or adjoins, with their line ends.
fn lines(text: &[u8], touched: &Range<usize>) -> Range<usize> {
    let start = memrchr(b'\n', &text[..touched.start]).map_or(0, |newline| newline + 1);
    let rest = &text[touched.end..];
    let end = memchr(b'\n', rest).map_or(text.len(), |newline| touched.end + newline + 1);
    start..end
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::sample::{Index, select};

    use super::super::{examples, redacted};
    use super::*;

    /// Secrets, their surroundings, and halves of both.
    fn pieces() -> Vec<String> {
        let mut pieces: Vec<String> = [
            "\n",
            "\n",
            "\n",
            "\r\n",
            " ",
            "x",
            "é",
            "-",
            "\"",
            ":",
            "=",
            "\\n",
            "prose about tokens",
            "password: ",
            "pass",
            "word",
            "sun7-Flower!",
            "'sun7-Flower!",
            "public_",
            "token = ",
            "4111 1111 ",
            "1111 1111",
            "4111111111111111",
            "postgres://app:",
            "t7Kq-9zLw2@db/app",
            "Bearer ",
            "-----BEGIN PRIVATE KEY-----\n",
            "-----BEGIN ",
            "PRIVATE KEY-----\n",
            "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7\n",
            "-----END PRIVATE KEY-----",
            "Private-Lines: 2\n",
            "AAAAgQD3v9Uj2bXk\n",
            "110201543:",
            "twilio ",
        ]
        .map(str::to_owned)
        .to_vec();
        for example in examples::found() {
            let example = example.replace('¦', "");
            let middle = example.char_indices().nth(example.chars().count() / 2).unwrap().0;
            pieces.extend([example[..middle].to_owned(), example[middle..].to_owned(), example]);
        }
        pieces
    }

    fn texts(most: usize) -> impl Strategy<Value = String> {
        prop::collection::vec(select(pieces()), 0..most).prop_map(|pieces| pieces.concat())
    }

    fn place(text: &str, index: Index) -> usize {
        let places: Vec<usize> =
            text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
        *index.get(&places)
    }

    proptest! {
        #![proptest_config(memdir_test_support::effort::cases(500))]

        #[test]
        fn lines_alone_are_checked_as_in_their_text(
            old in texts(16), text in texts(4), from in any::<Index>(), to in any::<Index>(),
        ) {
            let (from, to) = (place(&old, from), place(&old, to));
            let edit = Edit::new(&old, from.min(to)..from.max(to), &text).unwrap();
            let checked = |window: ContextWindow| {
                let introduced = edit.find_in(window, &[]);
                introduced.map(|introduced| (introduced.numbered(), introduced.redacted()))
            };
            let window = ContextWindow::around(&edit, &[]);
            prop_assert_eq!(checked(window), checked(ContextWindow::whole(&edit)));

            // Redacting some lines must equal the same lines of the redacted text.
            let new = edit.pieces().concat();
            let (first, lines) = edit.lines_around();
            let shown = edit.redacted_lines(first, &lines, &[]);
            let whole = redacted(&new, &[]);
            let skipped = usize::try_from(first).unwrap() - 1;
            let count = lines.split_inclusive('\n').count();
            let expected: String =
                whole.split_inclusive('\n').skip(skipped).take(count).collect();
            prop_assert_eq!(shown, expected);
        }
    }

    #[test]
    fn only_the_lines_around_are_looked_at() {
        let old = "one\ntwo\nthree\n";
        let around = |old: &str, range, text: &str| {
            ContextWindow::around(&Edit::new(old, range, text).unwrap(), &[]).old
        };
        assert_eq!(around(old, 5..6, "W"), 4..8);
        assert_eq!(around(old, 4..4, "new\n"), 4..8);
        assert_eq!(around(old, 3..4, ""), 0..8);
        assert_eq!(around(old, 14..14, "four"), 14..14);
        let key = "-----BEGIN PRIVATE KEY-----\ntwo\n";
        assert_eq!(around(key, 30..31, ""), 0..key.len());
        assert_eq!(around(old, 5..6, "\n-----BEGIN "), 0..old.len());
    }
}

//! [`ContextWindow`]: the part of a file that must be checked for a change. To check the whole file
//! would be most of the cost of a small edit in a large file.
//!
//! A built-in rule looks at one line only, so a line with its end gives the same findings alone as in
//! its file. Private keys are the exception. If one can begin in the window, or if there are custom
//! rules, which may look anywhere, the whole file is checked.

use std::ops::Range;

use memchr::{memchr, memrchr};

use super::custom_rules::SensitiveRule;
use super::{private_keys, steps};
use crate::text::Snippet;
use crate::text::Splice;

/// A part of a file before and after a change.
pub(super) struct ContextWindow {
    /// Where it is in the old file.
    pub(super) old: Range<usize>,
    /// What it becomes.
    pub(super) new: Vec<u8>,
    /// The new text's place in that.
    pub(super) inserted: Range<usize>,
}

impl ContextWindow {
    /// The part around a change that its findings depend on.
    pub(super) fn around(old: &[u8], splice: &Splice, own: &[SensitiveRule]) -> Self {
        if own.is_empty() {
            let lines = Self::cut(old, splice, lines(old, &splice.range));
            let multi_line = private_keys::may_begin_in(&old[..lines.old.end])
                || private_keys::may_begin_in(&lines.new);
            if !multi_line {
                return lines;
            }
        }
        Self::whole(old, splice)
    }

    /// Whether the lines that a snippet shows around a change can be checked alone.
    pub(super) fn lines_alone(
        old: &[u8],
        splice: &Splice,
        snippet: &Snippet,
        own: &[SensitiveRule],
    ) -> bool {
        // Lines above the snippet are above the change, too.
        own.is_empty()
            && !private_keys::may_begin_in(&old[..splice.range.start])
            && !private_keys::may_begin_in(&snippet.text)
    }

    /// All of the file.
    pub(super) fn whole(old: &[u8], splice: &Splice) -> Self {
        Self::cut(old, splice, 0..old.len())
    }

    fn cut(old: &[u8], splice: &Splice, range: Range<usize>) -> Self {
        let [before, text, after] = splice.pieces(old);
        let new = [&before[range.start..], text, &after[..range.end - splice.range.end]].concat();
        steps::add(new.len());
        let start = splice.range.start - range.start;
        Self { inserted: start..start + text.len(), old: range, new }
    }
}

/// The lines that a range touches or adjoins, with their ends.
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

    use super::super::edit::{check_window, shown_lines};
    use super::super::{SensitiveText, Settings, examples};
    use super::*;
    use crate::path::MemoryPath;
    use crate::text::snippet;

    /// Secrets, what stands around them, and halves of both.
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
        fn lines_alone_are_checked_as_in_their_file(
            old in texts(16), text in texts(4), from in any::<Index>(), to in any::<Index>(),
            reject in any::<bool>(),
        ) {
            let (from, to) = (place(&old, from), place(&old, to));
            let splice = Splice { range: from.min(to)..from.max(to), text: text.into_bytes() };
            let sensitive = if reject { SensitiveText::Reject } else { SensitiveText::Redact };
            let settings = Settings { mode: sensitive, on_view: true, rules: Vec::new() };
            let path = MemoryPath::root().join("a").unwrap();
            let checked = |window: ContextWindow| {
                check_window(&settings, &path, &old, &splice, &window)
                    .map(|redacted| redacted.map(|redacted| (redacted.instead, redacted.note)))
                    .map_err(|error| error.to_string())
            };
            let window = ContextWindow::around(old.as_bytes(), &splice, &[]);
            prop_assert_eq!(checked(window), checked(ContextWindow::whole(old.as_bytes(), &splice)));

            // A snippet, as the lines of a view of the whole.
            let new = String::from_utf8(splice.apply(old.as_bytes())).unwrap();
            let cut = snippet(old.as_bytes(), &splice);
            let (first, count) = (cut.first, cut.text.split_inclusive(|b| *b == b'\n').count());
            let shown = shown_lines(&settings, &path, old.as_bytes(), &splice, cut).unwrap();
            let whole = super::super::shown(&settings, &new);
            let skipped = usize::try_from(first).unwrap() - 1;
            let lines: String = whole.split_inclusive('\n').skip(skipped).take(count).collect();
            prop_assert_eq!(String::from_utf8(shown.text).unwrap(), lines);
        }
    }

    #[test]
    fn only_the_lines_around_are_looked_at() {
        let old = "one\ntwo\nthree\n";
        let around = |old: &str, range, text: &str| {
            let splice = Splice { range, text: text.as_bytes().to_vec() };
            ContextWindow::around(old.as_bytes(), &splice, &[]).old
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

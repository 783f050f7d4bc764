//! Finds the occurrences of a text, including overlapping ones, in linear time.
//!
//! A model may send any `old_str` for any file, so no combination of them may take quadratic time. The common
//! cases (zero or one occurrence) use memchr's search. Several occurrences are an error anyway; the
//! Knuth–Morris–Pratt automaton finds them all.

use memchr::{memchr_iter, memmem};

/// The occurrences of a text in a content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Occurrences {
    /// Not found.
    None,
    /// Found once, at this byte.
    One(usize),
    /// Found several times: the distinct 1-based numbers of the lines on which an occurrence starts, ascending.
    Many(Vec<u64>),
}

/// Finds `needle` in `content`. Occurrences may overlap: `aa` occurs twice in `aaa`.
///
/// An empty `needle` is never found.
#[must_use]
pub fn find(content: &[u8], needle: &[u8]) -> Occurrences {
    if needle.is_empty() {
        return Occurrences::None;
    }
    let finder = memmem::Finder::new(needle);
    let Some(first) = finder.find(content) else {
        return Occurrences::None;
    };
    // Search right after the first byte, because the second occurrence may overlap the first.
    if finder.find(&content[first + 1..]).is_none() {
        return Occurrences::One(first);
    }
    Occurrences::Many(lines_of_starts(content, first, needle))
}

/// Returns the lines on which an occurrence starts. The first occurrence starts at `from`.
fn lines_of_starts(content: &[u8], from: usize, needle: &[u8]) -> Vec<u64> {
    let borders = borders(needle);
    let mut lines: Vec<u64> = Vec::new();
    let mut newlines = memchr_iter(b'\n', content).peekable();
    let mut line = 1;
    let mut matched = 0;
    for (at, &byte) in content.iter().enumerate().skip(from) {
        while matched > 0 && needle[matched] != byte {
            matched = borders[matched - 1];
        }
        if needle[matched] == byte {
            matched += 1;
        }
        if matched == needle.len() {
            let start = at + 1 - needle.len();
            while newlines.next_if(|&newline| newline < start).is_some() {
                line += 1;
            }
            if lines.last() != Some(&line) {
                lines.push(line);
            }
            matched = borders[matched - 1];
        }
    }
    lines
}

/// Returns, for each prefix of `needle`, the length of its longest proper prefix that is also its suffix.
fn borders(needle: &[u8]) -> Vec<usize> {
    let mut borders = vec![0; needle.len()];
    let mut length = 0;
    for at in 1..needle.len() {
        while length > 0 && needle[length] != needle[at] {
            length = borders[length - 1];
        }
        if needle[length] == needle[at] {
            length += 1;
        }
        borders[at] = length;
    }
    borders
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The naive algorithm, in quadratic time.
    fn naive(content: &str, needle: &str) -> Occurrences {
        let starts: Vec<usize> = (0..content.len())
            .filter(|&at| content.as_bytes()[at..].starts_with(needle.as_bytes()))
            .collect();
        match starts.as_slice() {
            [] => Occurrences::None,
            [one] => Occurrences::One(*one),
            many => {
                let mut lines: Vec<u64> =
                    many.iter().map(|&at| 1 + content[..at].matches('\n').count() as u64).collect();
                lines.dedup();
                Occurrences::Many(lines)
            }
        }
    }

    proptest! {
        #![proptest_config(memdir_test_support::effort::cases(200))]
        #[test]
        fn agrees_with_the_naive_search(content in "[ab\n]{0,40}", needle in "[ab\n]{1,4}") {
            prop_assert_eq!(find(content.as_bytes(), needle.as_bytes()), naive(&content, &needle));
        }

        #[test]
        fn finds_what_was_put_there(before in "[^x]{0,50}", needle in "x[^x]{0,20}", after in "[^x]{0,50}") {
            let content = format!("{before}{needle}{after}");
            prop_assert_eq!(
                find(content.as_bytes(), needle.as_bytes()),
                Occurrences::One(before.len())
            );
        }
    }

    #[test]
    fn hostile_pairs_take_linear_time() {
        // Quadratic work here would be 10^13 steps, and the test would not end.
        let content = "\n".repeat(8_000_000);
        let Occurrences::Many(lines) = find(content.as_bytes(), "\n".repeat(4_000_000).as_bytes())
        else {
            panic!("there are many")
        };
        assert_eq!(lines.len(), 4_000_001);
        let mut needle = "a".repeat(4_000_000);
        needle.push('b');
        assert_eq!(find("a".repeat(8_000_000).as_bytes(), needle.as_bytes()), Occurrences::None);
    }
}

//! Finds the keywords of rules in a text, in one pass over its bytes.
//!
//! The three bytes at each position are looked up in the set of all keyword prefixes. If they are in it, the
//! keywords are compared. `aho-corasick` does the same, but would add a quarter of a mebibyte to every app.

use std::ops::Range;
use std::sync::LazyLock;

use super::{built_in, steps};

/// The number of bytes that are looked up. No keyword is shorter.
const LOOKED_UP: usize = 3;

/// The number of used bits of each byte. For letters these are all except the case.
const BITS: u32 = 5;
const MASK: usize = (1 << (BITS as usize * LOOKED_UP)) - 1;

struct Keywords {
    /// One bit for each prefix.
    starts: Box<[u64]>,
    /// The prefix, the rule's number, and the keyword, sorted.
    keywords: Vec<(usize, usize, &'static str)>,
}

static KEYWORDS: LazyLock<Keywords> = LazyLock::new(|| {
    let mut starts = vec![0; (MASK + 1) / 64].into_boxed_slice();
    let mut keywords = Vec::new();
    for (rule, keyword) in built_in::rules()
        .enumerate()
        .flat_map(|(number, rule)| rule.keywords.iter().map(move |k| (number, *k)))
    {
        let start = keyword.bytes().take(LOOKED_UP).fold(0, shifted);
        starts[start / 64] |= 1_u64 << (start % 64);
        keywords.push((start, rule, keyword));
    }
    keywords.sort_unstable();
    Keywords { starts, keywords }
});

fn shifted(start: usize, byte: u8) -> usize {
    ((start << BITS) | usize::from(byte & 31)) & MASK
}

/// Calls `hit` with the number of a rule and the range of its keyword, in ascending order of position.
pub(super) fn each(text: &str, mut hit: impl FnMut(usize, Range<usize>)) {
    let Keywords { starts, keywords } = &*KEYWORDS;
    let text = text.as_bytes();
    steps::add(text.len());
    let mut start = 0;
    for (last, &byte) in text.iter().enumerate() {
        start = shifted(start, byte);
        if starts[start / 64] & (1 << (start % 64)) == 0 || last + 1 < LOOKED_UP {
            continue;
        }
        let at = last + 1 - LOOKED_UP;
        let from = keywords.partition_point(|&(of, ..)| of < start);
        for &(_, rule, keyword) in keywords[from..].iter().take_while(|&&(of, ..)| of == start) {
            let there = text[at..].get(..keyword.len());
            if there.is_some_and(|there| there.eq_ignore_ascii_case(keyword.as_bytes())) {
                hit(rule, at..at + keyword.len());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_keyword_is_found_wherever_it_stands() {
        for (number, rule) in built_in::rules().enumerate() {
            for keyword in rule.keywords {
                assert!(keyword.len() >= LOOKED_UP, "{keyword}");
                for text in [
                    (*keyword).to_owned(),
                    format!("日本語 {keyword}"),
                    keyword.to_uppercase() + " then more",
                ] {
                    let mut places = Vec::new();
                    each(&text, |rule, at| {
                        if rule == number {
                            places.push(at.start);
                        }
                    });
                    // Non-ASCII keywords are compared with case.
                    let expected = text.to_ascii_lowercase().find(&keyword.to_ascii_lowercase());
                    assert_eq!(places.first().copied(), expected, "{text}");
                }
            }
        }
    }

    #[test]
    fn texts_without_one_have_no_hits() {
        for text in ["", "a", "ab", "plain words about the weather"] {
            each(text, |rule, at| panic!("{text:?}: rule {rule} at {at:?}"));
        }
    }
}

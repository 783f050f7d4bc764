//! Finds an exact phrase in a text.
//!
//! Text and phrase are compared after folding, with one space for everything between two words. So case, punctuation and line breaks do not
//! matter, and endings and diacritics do.

use std::ops::Range;

use unicode_segmentation::{GraphemeCursor, UnicodeSegmentation};

use crate::fold::fold_into;
use crate::pieces::MAX_PIECE_BYTES;
use crate::scripts::is_unspaced;
use crate::stop::{Stop, go_on};

/// A text in the form in which phrases are compared.
#[derive(Debug, Default)]
pub(crate) struct Normal {
    text: String,
    /// The place of each of its bytes in the original text.
    places: Vec<u32>,
    /// The end of the character of each of its bytes in the original text.
    ends: Vec<u32>,
}

impl Normal {
    pub(crate) fn of(text: &str) -> Self {
        let mut normal = Self::default();
        space(&mut normal.text);
        normal.fill(0, 0);
        for (start, cluster) in text.grapheme_indices(true) {
            let end = if append(cluster, &mut normal.text) { start + cluster.len() } else { start };
            normal.fill(start, end);
        }
        space(&mut normal.text);
        normal.fill(text.len(), text.len());
        normal
    }

    fn fill(&mut self, start: usize, end: usize) {
        let place = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        self.places.resize(self.text.len(), place(start));
        self.ends.resize(self.text.len(), place(end));
    }

    /// The places of a phrase in the original text, up to `most` of them.
    pub(crate) fn find(&self, phrase: &Phrase, most: usize) -> Vec<Range<usize>> {
        let last = phrase.text.len().saturating_sub(1);
        let place = |start: usize| self.places[start] as usize..self.ends[start + last] as usize;
        phrase.places(&self.text).take(most).map(place).collect()
    }
}

/// Appends the folded form of a character with its marks, or a space if it is not of a word, and returns whether it is.
fn append(cluster: &str, normal: &mut String) -> bool {
    if !cluster.chars().next().is_some_and(char::is_alphanumeric) {
        space(normal);
        return false;
    }
    // A character with any number of marks is one of its first marks.
    let mut end = cluster.len().min(MAX_PIECE_BYTES);
    while !cluster.is_char_boundary(end) {
        end -= 1;
    }
    fold_into(&cluster[..end], normal);
    true
}

fn space(normal: &mut String) {
    if !normal.ends_with(' ') {
        normal.push(' ');
    }
}

/// The bytes of a text that are compared at once.
const BLOCK: usize = 64 * 1024;

/// Whether a text has all of the phrases, and none of those that are excluded. `None` if the search is stopped. It takes memory for a block of
/// the text only.
pub(crate) fn is_allowed(
    text: &str,
    phrases: &[Phrase],
    excluded: &[Phrase],
    is_stopped: Stop<'_>,
) -> Option<bool> {
    let all = || phrases.iter().chain(excluded);
    // The end of a block that may be the beginning of a phrase: with the character before it, and without the one after it.
    let kept = all().map(|phrase| phrase.text.len()).max().unwrap_or(0) + 4;
    let mut missing: Vec<&Phrase> = phrases.iter().collect();
    let mut normal = String::from(" ");
    let mut rest = text;
    loop {
        go_on(is_stopped)?;
        let (block, after) = rest.split_at(block_end(rest));
        append_block(block, &mut normal);
        if after.is_empty() {
            space(&mut normal);
        }
        if excluded.iter().any(|phrase| phrase.places(&normal).next().is_some()) {
            return Some(false);
        }
        missing.retain(|phrase| phrase.places(&normal).next().is_none());
        if after.is_empty() || missing.is_empty() && excluded.is_empty() {
            return Some(missing.is_empty());
        }
        let mut from = normal.len().saturating_sub(kept);
        while !normal.is_char_boundary(from) {
            from -= 1;
        }
        normal.drain(..from);
        rest = after;
    }
}

/// The end of the next block, between two characters with their marks.
fn block_end(text: &str) -> usize {
    let is_boundary = |at: &usize| {
        let mut cursor = GraphemeCursor::new(*at, text.len(), true);
        text.is_char_boundary(*at) && cursor.is_boundary(text, 0).unwrap_or(false)
    };
    (BLOCK..text.len()).find(is_boundary).unwrap_or(text.len())
}

/// Appends all characters of a text. The tables of Unicode are slow, so it asks them only for characters that are not of ASCII, and for those
/// beside them: these may have marks, or be a part of such a character.
fn append_block(text: &str, normal: &mut String) {
    let bytes = text.as_bytes();
    let is_ascii = |at: usize| bytes.get(at).is_none_or(u8::is_ascii);
    let mut start = 0;
    while start < bytes.len() {
        let is_beside = |at: &usize| !is_ascii(*at) || !is_ascii(at + 1);
        let end = (start..bytes.len()).find(is_beside).unwrap_or(bytes.len());
        for byte in &bytes[start..end] {
            if byte.is_ascii_alphanumeric() {
                normal.push(byte.to_ascii_lowercase().into());
            } else {
                space(normal);
            }
        }
        let is_end = |at: &usize| is_ascii(at - 1) && is_ascii(*at);
        let next = (end + 1..bytes.len()).find(is_end).unwrap_or(bytes.len());
        text[end..next].graphemes(true).for_each(|cluster| {
            append(cluster, normal);
        });
        start = next;
    }
}

/// A phrase to find.
#[derive(Debug)]
pub(crate) struct Phrase {
    text: String,
    /// Whether it begins, and ends, at the boundary of a word. Scripts without spaces have none.
    begins: bool,
    ends: bool,
}

impl Phrase {
    pub(crate) fn new(phrase: &str) -> Self {
        let text = Normal::of(phrase).text.trim().to_owned();
        let is_spaced =
            |character: Option<char>| character.is_some_and(|character| !is_unspaced(character));
        Self {
            begins: is_spaced(text.chars().next()),
            ends: is_spaced(text.chars().next_back()),
            text,
        }
    }

    /// Its places in the normal form of a text, each with its first byte.
    fn places<'n>(&self, normal: &'n str) -> impl Iterator<Item = usize> + use<'n, '_> {
        let is_at_boundary = move |start: &usize| {
            let end = start + self.text.len();
            (!self.begins || normal[..*start].ends_with(' '))
                && (!self.ends || normal[end..].starts_with(' '))
        };
        let text = (!self.is_empty()).then_some(&*self.text);
        let starts = text.into_iter().flat_map(|text| normal.match_indices(text));
        starts.map(|(start, _)| start).filter(is_at_boundary)
    }

    /// Whether the phrase has no word.
    pub(crate) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str, phrase: &str) -> Vec<String> {
        let places = Normal::of(text).find(&Phrase::new(phrase), 10);
        places.into_iter().map(|place| text[place].to_owned()).collect()
    }

    #[test]
    fn case_and_punctuation_do_not_matter() {
        assert_eq!(found("A Green\n(tea)!", "green tea"), ["Green\n(tea"]);
        assert_eq!(
            found("Cafe\u{301} noir, CAFÉ NOIR", "café noir"),
            ["Cafe\u{301} noir", "CAFÉ NOIR"]
        );
        assert_eq!(found("getUserById(1)", "getuserbyid"), ["getUserById"]);
    }

    /// Texts in which each character may be beside each other one.
    fn odd_texts() -> Vec<String> {
        let parts = [
            "a",
            "B",
            " ",
            "\n",
            "\r\n",
            "é",
            "e\u{301}",
            "\u{301}",
            "\u{600}",
            "北京",
            "ｶﾞ",
            "😀",
            "1\u{fe0f}\u{20e3}",
            "ß",
            "I\u{307}",
            "🇩🇪",
            "\0",
        ];
        let pairs = parts.iter().flat_map(|a| parts.iter().map(move |b| format!("{a}{b}")));
        let pairs: Vec<String> = pairs.collect();
        let both =
            pairs.iter().flat_map(|a| pairs.iter().step_by(7).map(move |b| format!("{a}{b}")));
        both.chain([String::new(), pairs.concat()]).collect()
    }

    #[test]
    fn a_text_has_the_same_form_in_blocks() {
        for text in odd_texts() {
            let mut normal = String::from(" ");
            append_block(&text, &mut normal);
            space(&mut normal);
            assert_eq!(normal, Normal::of(&text).text, "{text:?}");
        }
    }

    #[test]
    fn a_phrase_is_found_at_each_place_of_a_large_text() {
        let allowed = |text: &str, phrase: &[Phrase], excluded: &[Phrase]| {
            is_allowed(text, phrase, excluded, &|| false).unwrap()
        };
        for (filler, phrases) in
            [("x ", &["green tea", "grün", "北京"][..]), ("é", &["ab\u{301}c"])]
        {
            for phrase in phrases {
                let wanted = [Phrase::new(phrase)];
                let other = [Phrase::new("black tea")];
                for before in BLOCK - 14..BLOCK + 3 {
                    let mut text = filler.repeat(before / filler.len());
                    text.push_str(&" ".repeat(before - text.len()));
                    assert!(!allowed(&text, &wanted, &[]));
                    text.push_str(&format!(" {phrase} "));
                    assert!(allowed(&text, &wanted, &other), "{filler} {phrase} {before}");
                    text.push_str(&filler.repeat(20));
                    assert!(!allowed(&text, &[], &wanted) && !allowed(&text, &other, &[]));
                }
            }
        }
    }

    #[test]
    fn a_phrase_ends_at_the_ends_of_words() {
        assert_eq!(found("the party", "art"), Vec::<String>::new());
        assert_eq!(found("green teas", "green tea"), Vec::<String>::new());
        assert_eq!(found("他住在北京市", "北京"), ["北京"]);
        assert_eq!(found("résumé", "resume"), Vec::<String>::new());
        assert_eq!(found("tea", "!"), Vec::<String>::new());
    }
}

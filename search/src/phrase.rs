//! Finds an exact phrase in a text.
//!
//! Text and phrase are compared after folding, with one space for everything between two words. So case, punctuation and line breaks do not
//! matter, and endings and diacritics do.

use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;

use crate::fold::fold_into;
use crate::pieces::MAX_PIECE_BYTES;
use crate::scripts::is_unspaced;

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
        normal.space(0);
        for (start, cluster) in text.grapheme_indices(true) {
            let first = cluster.chars().next().unwrap_or(' ');
            if first.is_alphanumeric() {
                // A character with any number of marks is one of its first marks.
                let mut end = cluster.len().min(MAX_PIECE_BYTES);
                while !cluster.is_char_boundary(end) {
                    end -= 1;
                }
                fold_into(&cluster[..end], &mut normal.text);
                normal.fill(start, start + cluster.len());
            } else {
                normal.space(start);
            }
        }
        normal.space(text.len());
        normal
    }

    fn space(&mut self, at: usize) {
        if !self.text.ends_with(' ') {
            self.text.push(' ');
            self.fill(at, at);
        }
    }

    fn fill(&mut self, start: usize, end: usize) {
        let place = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        self.places.resize(self.text.len(), place(start));
        self.ends.resize(self.text.len(), place(end));
    }

    /// The places of a phrase in the original text, up to `most` of them.
    pub(crate) fn find(&self, phrase: &Phrase, most: usize) -> Vec<Range<usize>> {
        if phrase.text.is_empty() {
            return Vec::new();
        }
        let at_boundary = |start: usize| {
            let end = start + phrase.text.len();
            (!phrase.begins || self.text[..start].ends_with(' '))
                && (!phrase.ends || self.text[end..].starts_with(' '))
        };
        self.text
            .match_indices(&phrase.text)
            .filter(|(start, _)| at_boundary(*start))
            .take(most)
            .map(|(start, found)| {
                self.places[start] as usize..self.ends[start + found.len() - 1] as usize
            })
            .collect()
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

    #[test]
    fn a_phrase_ends_at_the_ends_of_words() {
        assert_eq!(found("the party", "art"), Vec::<String>::new());
        assert_eq!(found("green teas", "green tea"), Vec::<String>::new());
        assert_eq!(found("他住在北京市", "北京"), ["北京"]);
        assert_eq!(found("résumé", "resume"), Vec::<String>::new());
        assert_eq!(found("tea", "!"), Vec::<String>::new());
    }
}

//! The words that someone may have meant by a word that occurs nowhere.
//!
//! One fault is a letter that is missing, added, wrong, or swapped with its neighbour. The first letter is right in nearly all misspelt
//! words, so it is kept. The index has no words, only their stems, so the variants of the word are made, and their stems looked up. For two
//! faults these are too many, so the stems themselves are compared.

use crate::language::{LANGUAGES, Language, Languages};
use crate::pieces::{Kind, Piece};
use crate::scripts::{Alphabet, alphabet};
use crate::terms::Terms;
use crate::vocabulary::{TermId, Vocabulary};

/// A shorter word has too many neighbours, in characters.
const LEAST_CHARS: usize = 4;
/// A shorter word may have one fault only, in characters.
const LEAST_CHARS_FOR_TWO: usize = 8;
/// A longer word is no word of a language, in characters.
const MOST_CHARS: usize = 32;
/// The most words that are taken for one.
const MOST_FOUND: usize = 8;

/// A term that may have been meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Near {
    pub(crate) term: TermId,
    /// The languages of the texts in which the term stands for such a word.
    pub(crate) languages: Languages,
    /// The number of faults: 1 or 2.
    pub(crate) faults: u8,
}

/// The terms near a folded word that occurs nowhere: those with one fault, or else those with two. The most frequent come first.
pub(crate) fn near(vocabulary: &Vocabulary, folded: &str, languages: Languages) -> Vec<Near> {
    let letters: Vec<char> = folded.chars().collect();
    if !(LEAST_CHARS..=MOST_CHARS).contains(&letters.len())
        || !letters.iter().all(|letter| letter.is_alphabetic())
    {
        return Vec::new();
    }
    let mut found = Vec::new();
    let mut terms = Terms::default();
    for variant in variants(&letters) {
        each_term(&mut terms, &variant, languages, &mut |term, language| {
            if let Some(id) = vocabulary.find(term) {
                add(&mut found, id, language, 1);
            }
        });
    }
    if found.is_empty() && letters.len() >= LEAST_CHARS_FOR_TWO {
        let mut stems: Vec<(Vec<char>, Language)> = Vec::new();
        each_term(&mut terms, folded, languages, &mut |term, language| {
            stems.push((term.chars().collect(), language));
        });
        for id in vocabulary.live() {
            let text = vocabulary.text(id);
            for (stem, language) in &stems {
                if text.starts_with(stem[0]) && is_within_two(stem, text) {
                    add(&mut found, id, *language, 2);
                }
            }
        }
    }
    found.sort_unstable_by(|a, b| {
        let text = |near: &Near| vocabulary.text(near.term);
        vocabulary.count(b.term).cmp(&vocabulary.count(a.term)).then_with(|| text(a).cmp(text(b)))
    });
    found.truncate(MOST_FOUND);
    found
}

fn add(found: &mut Vec<Near>, term: TermId, language: Language, faults: u8) {
    let languages = Languages::of(language);
    match found.iter_mut().find(|near| near.term == term) {
        Some(near) => near.languages = near.languages.with(languages),
        None => found.push(Near { term, languages, faults }),
    }
}

/// Calls `found` with the terms of a word in each of the languages.
fn each_term(
    terms: &mut Terms,
    word: &str,
    languages: Languages,
    found: &mut dyn FnMut(&str, Language),
) {
    let piece = Piece { kind: Kind::Word, folded: word, range: 0..0, position: 0 };
    for language in LANGUAGES.into_iter().filter(|language| languages.has(*language)) {
        terms.of(&piece, language).for_each(|term| found(term, language));
    }
}

/// The words with one fault.
fn variants(letters: &[char]) -> Vec<String> {
    let alphabet: &[std::ops::RangeInclusive<char>] = match alphabet(&String::from(letters[0])) {
        Alphabet::Latin => &['a'..='z'],
        Alphabet::Cyrillic => &['а'..='я', 'є'..='ї'],
        Alphabet::Greek => &['α'..='ω'],
        Alphabet::Other => &[],
    };
    let alphabet = || alphabet.iter().cloned().flatten();
    let mut variants = Vec::new();
    let joined = |before: &[char], between: Option<char>, after: &[char]| -> String {
        before.iter().copied().chain(between).chain(after.iter().copied()).collect()
    };
    for at in 1..=letters.len() {
        let (before, after) = letters.split_at(at);
        variants.extend(alphabet().map(|letter| joined(before, Some(letter), after)));
        if let [_, rest @ ..] = after {
            variants.push(joined(before, None, rest));
            variants.extend(alphabet().map(|letter| joined(before, Some(letter), rest)));
        }
        if let [first, second, rest @ ..] = after {
            let mut swapped = joined(before, Some(*second), &[*first]);
            swapped.extend(rest);
            variants.push(swapped);
        }
    }
    variants
}

/// Whether at most two faults make one word from the other (restricted Damerau-Levenshtein distance).
fn is_within_two(word: &[char], other: &str) -> bool {
    const MOST: usize = 2;
    // A letter has at most four bytes.
    if other.len() > 4 * (word.len() + MOST) {
        return false;
    }
    let other: Vec<char> = other.chars().collect();
    if word.len().abs_diff(other.len()) > MOST {
        return false;
    }
    let width = other.len() + 1;
    let mut rows = [vec![0; width], (0..width).collect::<Vec<usize>>(), vec![0; width]];
    for (row, letter) in word.iter().enumerate() {
        rows[2][0] = row + 1;
        for (column, facing) in other.iter().enumerate() {
            let wrong = usize::from(letter != facing);
            let mut least =
                (rows[1][column] + wrong).min(rows[1][column + 1] + 1).min(rows[2][column] + 1);
            if row > 0 && column > 0 && *letter == other[column - 1] && word[row - 1] == *facing {
                least = least.min(rows[0][column - 1] + 1);
            }
            rows[2][column + 1] = least;
        }
        if rows[2].iter().all(|distance| *distance > MOST) {
            return false;
        }
        rows.rotate_left(1);
    }
    rows[1][width - 1] <= MOST
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::postings::Posting;

    #[test]
    fn all_single_faults_are_variants() {
        let letters: Vec<char> = "meet".chars().collect();
        let variants = variants(&letters);
        for variant in ["met", "meets", "meat", "mete", "meeet", "mee"] {
            assert!(variants.iter().any(|each| each == variant), "{variant}");
        }
        assert!(variants.iter().all(|each| each.starts_with('m')));
    }

    #[test]
    fn two_faults_are_counted() {
        let within = |a: &str, b: &str| is_within_two(&a.chars().collect::<Vec<_>>(), b);
        for (a, b, expected) in [
            ("meeting", "meeting", true),
            ("meeting", "meetnig", true),
            ("meeting", "metnig", true),
            ("meeting", "matnig", false),
            ("abcd", "badc", true),
            ("", "ab", true),
            ("", "abc", false),
            ("встреча", "встерчи", true),
        ] {
            assert_eq!(within(a, b), expected, "{a} {b}");
            assert_eq!(within(b, a), expected, "{b} {a}");
        }
    }

    #[test]
    fn one_fault_is_preferred_to_two() {
        let mut vocabulary = Vocabulary::default();
        for (passage, term) in (0..).zip(["calendar", "salamand", "prefer"]) {
            let id = vocabulary.intern(term);
            vocabulary.push(id, Posting { passage, times: 1, in_heading: false });
        }
        let texts = |word: &str| -> Vec<(&str, u8)> {
            let found = near(&vocabulary, word, Languages::of(Language::English));
            found.iter().map(|near| (vocabulary.text(near.term), near.faults)).collect()
        };
        assert_eq!(texts("calender"), [("calendar", 1)]);
        assert_eq!(texts("salmander"), [("salamand", 1)]);
        assert_eq!(texts("clanedar"), [("calendar", 2)]);
        assert_eq!(texts("perferring"), [("prefer", 1)]);
        assert_eq!(texts("tea"), []);
    }
}

//! The ranking: its formulas, and its weights with the reason for each.
//!
//! `tests/search-bench` measures them. They were chosen on its development half, and its held-out half gave the figures in the README.

use crate::arithmetic::ln;

/// How soon further occurrences of a word count less (`k1` of BM25).
pub(crate) const SATURATION: f64 = 1.2;
/// How much a long passage counts less (`b` of BM25). Passages have similar lengths.
pub(crate) const PASSAGE_LENGTH: f64 = 0.5;
/// How much a long file counts less. Its passages compete already, so its length matters less than in a search of files alone.
pub(crate) const FILE_LENGTH: f64 = 0.5;
/// The score of the file beside that of its best passage. Words of a question may be in two passages of one file.
pub(crate) const FILE_WEIGHT: f64 = 1.5;
/// An occurrence in a heading above a passage, as a part of one in its text.
pub(crate) const HEADING_WEIGHT: f64 = 1.0;
/// An occurrence in the path, as occurrences in the text of the file.
pub(crate) const PATH_WEIGHT: f64 = 2.0;
/// The part of the score that depends on how many of the words a passage has.
pub(crate) const COVERAGE_WEIGHT: f64 = 0.3;
/// The bonus if all words occur exactly as they were typed.
pub(crate) const EXACT_WEIGHT: f64 = 0.1;
/// The bonus if the words are adjacent as in the query.
pub(crate) const NEARNESS_WEIGHT: f64 = 0.3;
/// The weight of an identifier that is found as a whole.
pub(crate) const WHOLE_WEIGHT: f64 = 2.0;
/// The weight of a part of an identifier that is found as a whole.
pub(crate) const INNER_WEIGHT: f64 = 0.3;
/// The weight of a pair of characters that is mostly grammar.
pub(crate) const GRAMMAR_WEIGHT: f64 = 0.1;
/// The weight of a word with one fault.
pub(crate) const VERY_NEAR_WEIGHT: f64 = 0.7;
/// The weight of a word with two faults.
pub(crate) const NEAR_WEIGHT: f64 = 0.5;

/// How much a word says: more if fewer of `all` passages or files have it.
pub(crate) fn rarity(having: u32, all: usize) -> f64 {
    let (having, all) = (f64::from(having), all as f64);
    ln(1.0 + (all - having + 0.5).max(0.5) / (having + 0.5))
}

/// The share of a word in a score, between 0 and `1 + SATURATION`, from its occurrences in a text of `words` words.
pub(crate) fn share(occurrences: f64, words: u32, average: f64, length: f64) -> f64 {
    let relative = if average > 0.0 { f64::from(words) / average } else { 1.0 };
    occurrences * (SATURATION + 1.0)
        / (occurrences + SATURATION * (1.0 - length + length * relative))
}

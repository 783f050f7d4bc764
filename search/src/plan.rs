//! From the words of a query to the terms to look up.
//!
//! The language of a query is unknown: it is often a single word. So each word is stemmed in every language that a file of the index has,
//! and a stem counts only in files of its language. A word thus finds exactly the words that have the same stem where they occur.

use std::ops::Range;

use crate::index::Index;
use crate::language::{LANGUAGES, Languages};
use crate::near::near;
use crate::pieces::{Kind, Piece, pieces};
use crate::query::Query;
use crate::rank::{GRAMMAR_WEIGHT, INNER_WEIGHT, NEAR_WEIGHT, VERY_NEAR_WEIGHT, WHOLE_WEIGHT};
use crate::stop::{Stop, go_on};
use crate::terms::Terms;
use crate::vocabulary::TermId;

/// The words of a query that count.
const MOST_WORDS: usize = 64;
/// The words for which others are tried, because they occur nowhere.
const MOST_CORRECTED: usize = 8;
/// The most terms for a single character of a script without spaces, which is searched in all pairs.
const MOST_PAIRS: usize = 256;

/// A term to look up.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Alternative {
    pub(crate) term: TermId,
    /// The languages of the files in which it stands for the word.
    pub(crate) languages: Languages,
    /// The part of a full match: less than 1 for a word that was probably meant.
    pub(crate) weight: f64,
}

/// A word of a query.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Word {
    pub(crate) folded: String,
    pub(crate) kind: Kind,
    /// Its place in the query.
    range: Range<usize>,
    /// Whether the word is a stop word in the language of some files.
    pub(crate) is_stop_word: bool,
    /// The weight of the word in the query.
    pub(crate) weight: f64,
    pub(crate) alternatives: Vec<Alternative>,
}

/// The words of a query that the index has, each once, in their order in the query. `None` if the search is stopped.
pub(crate) fn plan(index: &Index, query: &Query, is_stopped: Stop<'_>) -> Option<Vec<Word>> {
    let mut words = looked_up(index, &query.text);
    let languages = index.languages();
    for word in words.iter_mut().filter(|word| word.alternatives.is_empty()).take(MOST_CORRECTED) {
        go_on(is_stopped)?;
        word.alternatives = instead(index, word, languages);
    }
    words.retain(|word| !word.alternatives.is_empty());
    weigh(&mut words);
    Some(words)
}

/// The words of a text with the terms that the index has: none for a word that it does not have. Stop words are left out.
pub(crate) fn looked_up(index: &Index, text: &str) -> Vec<Word> {
    let languages = index.languages();
    let mut words: Vec<Word> = Vec::new();
    let mut terms = Terms::default();
    pieces(text, &mut |piece: Piece<'_>| {
        let is_known = |word: &Word| word.folded == piece.folded;
        if words.len() >= MOST_WORDS || words.iter().any(is_known) {
            return;
        }
        let mut alternatives: Vec<Alternative> = Vec::new();
        let (mut has_term, mut is_stop_word) = (false, false);
        for language in LANGUAGES.into_iter().filter(|language| languages.has(*language)) {
            let mut of_piece = terms.of(&piece, language).peekable();
            is_stop_word |= of_piece.peek().is_none();
            for term in of_piece {
                has_term = true;
                let Some(id) = index.vocabulary.find(term) else { continue };
                match alternatives.iter_mut().find(|each| each.term == id) {
                    Some(each) => each.languages = each.languages.with(Languages::of(language)),
                    None => alternatives.push(Alternative {
                        term: id,
                        languages: Languages::of(language),
                        weight: 1.0,
                    }),
                }
            }
        }
        if has_term {
            let folded = piece.folded.to_owned();
            words.push(Word {
                folded,
                kind: piece.kind,
                range: piece.range,
                is_stop_word,
                weight: 1.0,
                alternatives,
            });
        }
    });
    words
}

/// The terms for a word that occurs nowhere.
fn instead(index: &Index, word: &Word, languages: Languages) -> Vec<Alternative> {
    match word.kind {
        Kind::Word | Kind::Part => {
            let weight = |faults| if faults == 1 { VERY_NEAR_WEIGHT } else { NEAR_WEIGHT };
            near(&index.vocabulary, &word.folded, languages)
                .into_iter()
                .map(|near| Alternative {
                    term: near.term,
                    languages: near.languages,
                    weight: weight(near.faults),
                })
                .collect()
        }
        // The index has single characters only where they stand alone.
        Kind::Pair if word.folded.chars().count() == 1 => {
            let mut found: Vec<TermId> = index
                .vocabulary
                .live()
                .filter(|id| index.vocabulary.text(*id).contains(&word.folded))
                .collect();
            let text = |id: &TermId| index.vocabulary.text(*id);
            found.sort_unstable_by(|a, b| {
                index
                    .vocabulary
                    .count(*b)
                    .cmp(&index.vocabulary.count(*a))
                    .then_with(|| text(a).cmp(text(b)))
            });
            found.truncate(MOST_PAIRS);
            found
                .into_iter()
                .map(|term| Alternative { term, languages: Languages::all(), weight: 1.0 })
                .collect()
        }
        _ => Vec::new(),
    }
}

/// Weighs the words: the parts of an identifier that the index has as a whole say little more.
fn weigh(words: &mut [Word]) {
    let has_day = words.iter().any(|word| word.kind == Kind::Day);
    let wholes: Vec<Range<usize>> = words
        .iter()
        .filter(|word| word.kind == Kind::Whole)
        .map(|word| word.range.clone())
        .collect();
    for word in words {
        let is_inside = |whole: &Range<usize>| {
            *whole != word.range && whole.start <= word.range.start && word.range.end <= whole.end
        };
        word.weight = match word.kind {
            Kind::GrammarPair => GRAMMAR_WEIGHT,
            Kind::Month | Kind::Number if has_day => INNER_WEIGHT,
            _ if wholes.iter().any(is_inside) => INNER_WEIGHT,
            Kind::Whole => WHOLE_WEIGHT,
            _ => 1.0,
        };
    }
}

//! From a file to the drafts of its passages: their places, and the numbers of their terms.

use std::collections::HashMap;
use std::ops::Range;

use crate::fold::fold_into;
use crate::hashing::WordMap;
use crate::language::{Detector, Language};
use crate::passages::passages;
use crate::pieces::{Kind, pieces};
use crate::postings::Posting;
use crate::scripts::{Alphabet, alphabet, is_common_letter, is_letter};
use crate::terms::{MOST_TERMS, Terms};
use crate::vocabulary::{TermId, Vocabulary};

/// The bytes of a text from which its language is detected.
const DETECTED_BYTES: usize = 4_096;
/// The words whose terms are remembered at one time.
const MOST_KNOWN: usize = 4_096;

/// The text up to the first byte that is not UTF-8.
pub(crate) fn valid(bytes: &[u8]) -> &str {
    match str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or_default(),
    }
}

/// The language of a text.
pub(crate) fn detected(text: &str) -> Language {
    let mut end = text.len().min(DETECTED_BYTES);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let mut detector = Detector::default();
    let mut folded = String::new();
    // The exact boundaries of words do not matter for frequent words.
    for word in
        text[..end].split(|character: char| !is_letter(character)).filter(|word| !word.is_empty())
    {
        // A word that begins with a common letter keeps its alphabet when it is folded.
        if word.starts_with(is_common_letter) && alphabet(word) != Alphabet::Latin {
            continue;
        }
        folded.clear();
        fold_into(word, &mut folded);
        detector.word(&folded);
    }
    detector.language()
}

/// A passage on its way into the index.
pub(crate) struct Draft<'d> {
    /// Its place in the text, and its first line; `None` for the path.
    pub(crate) place: Option<(Range<usize>, u32)>,
    /// The number of each term, and whether it is in a heading above.
    pub(crate) terms: &'d mut Vec<(TermId, bool)>,
    /// The number of words in the text.
    pub(crate) words: usize,
}

/// The numbers of the terms of a word.
#[derive(Debug, Clone, Copy, Default)]
struct Numbers {
    ids: [TermId; MOST_TERMS],
    count: u8,
}

/// Makes the drafts of files.
///
/// It remembers the numbers of words, because texts repeat words and stems take time. So the vocabulary must be the same for each file,
/// and must not have lost a term.
#[derive(Debug, Default)]
pub(crate) struct Drafter {
    known: HashMap<Language, WordMap<Box<str>, Numbers>>,
    /// The number of words in `known`.
    count: usize,
    /// The terms of the current passage.
    ids: Vec<(TermId, bool)>,
    /// The number of pieces with terms in the current passage. A word with two terms is one word.
    words: usize,
    terms: Terms,
}

/// The way to the number of a term. `None` if the vocabulary does not have it.
pub(crate) type Numbering = fn(&mut Vocabulary, &str) -> Option<TermId>;

impl Drafter {
    /// Calls `found` with the passage of the path, and then with those of the text, until it returns false.
    pub(crate) fn each(
        &mut self,
        (path, text, language): (&str, &str, Language),
        (vocabulary, numbering): (&mut Vocabulary, Numbering),
        found: &mut dyn FnMut(&mut Vocabulary, Draft<'_>) -> bool,
    ) {
        self.clear();
        self.collect(&spaced_path(path), (language, false), vocabulary, numbering);
        let mut goes_on = found(vocabulary, Draft { place: None, terms: &mut self.ids, words: 0 });
        passages(text, &mut |cut, headings| {
            if !goes_on {
                return;
            }
            self.clear();
            self.collect(&text[cut.range.clone()], (language, false), vocabulary, numbering);
            let words = self.words;
            for heading in headings {
                self.collect(&text[heading.clone()], (language, true), vocabulary, numbering);
            }
            let place = Some((cut.range, cut.line));
            goes_on = found(vocabulary, Draft { place, terms: &mut self.ids, words });
        });
    }

    fn clear(&mut self) {
        self.ids.clear();
        self.words = 0;
    }

    /// Adds the terms of a text.
    fn collect(
        &mut self,
        text: &str,
        (language, in_heading): (Language, bool),
        vocabulary: &mut Vocabulary,
        numbering: Numbering,
    ) {
        let known = self.known.entry(language).or_default();
        pieces(text, &mut |piece| {
            // The term of another piece is the piece itself.
            let is_word = matches!(piece.kind, Kind::Word | Kind::Part);
            let remembered = is_word.then(|| known.get(piece.folded).copied()).flatten();
            let numbers = remembered.unwrap_or_else(|| {
                let mut numbers = Numbers::default();
                let ids =
                    self.terms.of(&piece, language).filter_map(|term| numbering(vocabulary, term));
                for (place, id) in numbers.ids.iter_mut().zip(ids) {
                    *place = id;
                    numbers.count += 1;
                }
                if is_word {
                    known.insert(piece.folded.into(), numbers);
                    self.count += 1;
                }
                numbers
            });
            let ids = numbers.ids.into_iter().take(numbers.count.into());
            self.ids.extend(ids.map(|id| (id, in_heading)));
            self.words += usize::from(numbers.count > 0);
        });
        if self.count > MOST_KNOWN {
            self.forget();
        }
    }

    /// Forgets the numbers of words.
    pub(crate) fn forget(&mut self) {
        self.known.clear();
        self.count = 0;
    }
}

/// The text of a path for its pieces. In a name, `-` and `_` are spaces more often than parts of an identifier, but a date keeps its marks.
fn spaced_path(path: &str) -> String {
    let stem = path
        .rsplit_once('.')
        .filter(|(stem, ending)| !stem.is_empty() && ending.len() <= 4 && !ending.contains('/'));
    let mut text = String::new();
    for part in stem.map_or(path, |(stem, _)| stem).split('/') {
        text.push_str(part);
        text.push('\n');
        if part.contains('_') {
            text.push_str(&part.replace('_', " "));
            text.push('\n');
        }
    }
    text
}

/// The postings of a passage from the numbers of its terms, ordered by these.
pub(crate) fn counted(
    ids: &mut [(TermId, bool)],
    passage: u32,
) -> impl Iterator<Item = (TermId, Posting)> {
    ids.sort_unstable();
    ids.chunk_by(|a, b| a.0 == b.0).map(move |same| {
        let times = same.iter().filter(|(_, in_heading)| !in_heading).count();
        let times = u32::try_from(times).unwrap_or(u32::MAX);
        let in_heading = same.last().is_some_and(|(_, in_heading)| *in_heading);
        (same[0].0, Posting { passage, times, in_heading })
    })
}

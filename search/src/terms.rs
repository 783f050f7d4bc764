//! From a piece of a text to the terms by which the index finds it.
//!
//! A word has the term of its stem, without diacritics. A word with diacritics has a second one if its stem is another without them:
//! Spanish `programación` has the stem `program`, and `programacion`, as people type it, has `programacion`.

use crate::fold::plain_into;
use crate::language::{Language, STEMMERS, is_stop_word};
use crate::pieces::{Kind, Piece};
use crate::scripts::{Alphabet, alphabet};

/// The most terms of a piece.
pub(crate) const MOST_TERMS: usize = 2;

/// The terms of a piece. Reused from piece to piece.
#[derive(Debug, Default)]
pub(crate) struct Terms {
    first: String,
    second: String,
    plain: String,
}

impl Terms {
    /// The terms of a piece in a text of this language: none for a stop word, otherwise one or two.
    pub(crate) fn of(
        &mut self,
        piece: &Piece<'_>,
        language: Language,
    ) -> impl Iterator<Item = &str> {
        self.make(piece.kind, piece.folded, language);
        [self.first.as_str(), self.second.as_str()].into_iter().filter(|term| !term.is_empty())
    }

    fn make(&mut self, kind: Kind, folded: &str, language: Language) {
        self.first.clear();
        self.second.clear();
        self.plain.clear();
        if !matches!(kind, Kind::Word | Kind::Part) {
            self.first.push_str(folded);
            return;
        }
        let mut has_diacritics = plain_into(folded, &mut self.plain);
        let folded = if alphabet(folded) == Alphabet::Greek {
            has_diacritics = false;
            &self.plain
        } else {
            folded
        };
        if is_stop_word(folded, language) {
            return;
        }
        let Some(stemmer) = STEMMERS.stemmer(folded, language) else {
            self.first.push_str(&self.plain);
            return;
        };
        // A stemmer expects a word of letters; a part may be a number.
        if folded.starts_with(|first: char| first.is_numeric()) {
            self.first.push_str(folded);
            return;
        }
        plain_into(&stemmer.stem(folded), &mut self.first);
        if has_diacritics {
            let mut second = String::new();
            plain_into(&stemmer.stem(&self.plain), &mut second);
            if second != self.first {
                self.second = second;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pieces::pieces;

    fn terms(text: &str, language: Language) -> Vec<String> {
        let (mut all, mut terms) = (Vec::new(), Terms::default());
        pieces(text, &mut |piece| all.extend(terms.of(&piece, language).map(str::to_owned)));
        all
    }

    #[test]
    fn a_word_is_found_by_its_stem() {
        assert_eq!(terms("The meetings", Language::English), ["meet"]);
        assert_eq!(terms("Rechnungen", Language::German), terms("Rechnung", Language::German));
        assert_eq!(terms("встречи", Language::English), terms("встречу", Language::English));
        assert_eq!(terms("The meetings", Language::None), ["the", "meetings"]);
    }

    #[test]
    fn a_word_without_its_diacritics_has_a_term_of_the_word_with_them() {
        let with = terms("programación", Language::Spanish);
        assert!(with.contains(&terms("programacion", Language::Spanish)[0]), "{with:?}");
        assert!(with.contains(&terms("programaciones", Language::Spanish)[0]), "{with:?}");
        assert_eq!(terms("Αθήνα", Language::English), terms("ΑΘΗΝΑ", Language::English));
    }
}

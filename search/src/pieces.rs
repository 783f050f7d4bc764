//! Cuts a text into the pieces by which it is found: words, identifiers and their parts, pairs of characters, dates.
//!
//! Boundaries of words are those of Unicode. Between them, this module decides what belongs together:
//!
//! - `max_view_chars`, `getUserById`, `v1.2.3`, `ana@example.com`, `PROJ-17` are pieces as a whole, and their parts are further pieces
//! - a run of Chinese, Japanese, Korean or Thai becomes the pairs of its adjacent characters
//! - a date becomes its day and its month
//!
//! A piece does not depend on a language. `terms.rs` makes the terms of the index from it.

use std::ops::Range;

use unicode_normalization::UnicodeNormalization;
use unicode_segmentation::UnicodeSegmentation;

use crate::dates::{Date, DateReader, of_numbers};
use crate::fold::fold_into;
use crate::identifier::{Shape, parts};
use crate::scripts::{is_grammar, is_simple, is_unspaced};

/// The longest piece, in bytes. A longer word is cut there, so a text without spaces costs no more than another one.
pub(crate) const MAX_PIECE_BYTES: usize = 64;

/// The most parts of one identifier.
const MAX_PARTS: usize = 12;

/// The characters that join words to an identifier.
const CONNECTORS: &[u8] = b"@-/:#+._~\\";

/// The kind of a piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A word of letters.
    Word,
    /// A number.
    Number,
    /// An identifier as a whole.
    Whole,
    /// A part of an identifier: letters or digits.
    Part,
    /// Two adjacent characters of a script without spaces, or a run of one character.
    Pair,
    /// A pair of characters that are mostly grammar.
    GrammarPair,
    /// A day.
    Day,
    /// A month.
    Month,
}

/// A piece of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Piece<'f> {
    pub(crate) kind: Kind,
    /// The folded text.
    pub(crate) folded: &'f str,
    /// Its place in the text, in bytes.
    pub(crate) range: Range<usize>,
    /// The number of the word in the text. An identifier has the number of its last part.
    pub(crate) position: u32,
}

/// Words that are joined by connectors.
#[derive(Debug, Default)]
struct Compound {
    range: Range<usize>,
    words: usize,
    /// The end of the part before `@`.
    at_sign: Option<usize>,
}

/// Calls `found` with each piece of a text, in the order of their ends.
pub(crate) fn pieces(text: &str, found: &mut dyn FnMut(Piece<'_>)) {
    let mut cutter = Cutter {
        text,
        found,
        position: 0,
        folded: String::new(),
        compound: Compound::default(),
        dates: DateReader::default(),
    };
    let mut run = 0..0;
    for (start, word) in text.unicode_word_indices() {
        let end = start + word.len();
        if word.is_ascii() {
            cutter.run(&mut run);
            cutter.spaced(start..end);
            continue;
        }
        // A word of Unicode may have characters of both kinds, such as `2024년`.
        let mut at = start;
        while at < end {
            let rest = &text[at..end];
            let unspaced = rest.chars().next().is_some_and(is_unspaced);
            // A mark belongs to the character before it.
            let length = rest
                .char_indices()
                .find(|(_, each)| {
                    is_unspaced(*each) != unspaced && (!unspaced || each.is_alphanumeric())
                })
                .map_or(rest.len(), |(at, _)| at);
            let part = at..at + length;
            at += length;
            if !unspaced {
                cutter.run(&mut run);
                cutter.spaced(part);
            } else if run.end == part.start && !run.is_empty() {
                run.end = part.end;
            } else {
                cutter.run(&mut run);
                run = part;
            }
        }
    }
    cutter.run(&mut run);
    cutter.end_compound();
}

struct Cutter<'t, 'f> {
    text: &'t str,
    found: &'f mut dyn FnMut(Piece<'_>),
    position: u32,
    /// Reused from word to word.
    folded: String,
    compound: Compound,
    dates: DateReader,
}

impl Cutter<'_, '_> {
    fn emit(&mut self, kind: Kind, folded: &str, range: Range<usize>) {
        (self.found)(Piece { kind, folded, range, position: self.position });
    }

    fn emit_folded(&mut self, kind: Kind, range: Range<usize>) {
        let range = shortened(self.text, range);
        let mut folded = std::mem::take(&mut self.folded);
        folded.clear();
        fold_into(&self.text[range.clone()], &mut folded);
        self.emit(kind, &folded, range);
        self.folded = folded;
    }

    fn emit_date(&mut self, date: Date, range: &Range<usize>) {
        if let Some(day) = date.day_term() {
            self.emit(Kind::Day, &day, range.clone());
        }
        self.emit(Kind::Month, &date.month_term(), range.clone());
    }

    /// The dates that a text of numbers stands for.
    fn emit_dates_of(&mut self, range: &Range<usize>) {
        for date in of_numbers(&self.text[range.clone()]) {
            self.emit_date(date, range);
        }
    }

    /// A run of characters without spaces. It is empty afterwards.
    fn run(&mut self, run: &mut Range<usize>) {
        let range = std::mem::take(run);
        if range.is_empty() {
            return;
        }
        self.end_compound();
        let text = self.text;
        let first = text[range.clone()].chars().next().unwrap_or_default();
        if let Some(date) = self.dates.mark(first) {
            self.emit_date(date, &(range.start..range.start + first.len_utf8()));
        }
        if text[range.clone()].chars().all(is_simple) {
            self.simple_run(&range);
            return;
        }
        let mut previous: Option<Range<usize>> = None;
        let mut folded = String::new();
        let mut is_single = true;
        for (start, cluster) in text[range.clone()].grapheme_indices(true) {
            let start = range.start + start;
            // A cluster of any number of marks counts as its first bytes.
            let cluster = shortened(text, start..start + cluster.len());
            if let Some(before) = previous.replace(cluster.clone()) {
                self.position = self.position.saturating_add(1);
                is_single = false;
                folded.clear();
                folded.extend(text[before.clone()].nfkc().take(8));
                folded.extend(text[cluster.clone()].nfkc().take(8));
                self.emit(pair_kind(&folded), &folded, before.start..cluster.end);
            }
        }
        if let Some(only) = previous.filter(|_| is_single) {
            self.position = self.position.saturating_add(1);
            folded.extend(text[only.clone()].nfkc().take(8));
            self.emit(Kind::Pair, &folded, only);
        }
    }

    /// A run whose characters are folded and stand for themselves, as nearly all do.
    fn simple_run(&mut self, range: &Range<usize>) {
        let text = self.text;
        let mut characters =
            text[range.clone()].char_indices().map(|(at, character)| (range.start + at, character));
        let Some(mut before) = characters.next() else { return };
        self.position = self.position.saturating_add(1);
        let mut is_single = true;
        for (at, character) in characters {
            is_single = false;
            let pair = before.0..at + character.len_utf8();
            self.emit(pair_kind(&text[pair.clone()]), &text[pair.clone()], pair);
            self.position = self.position.saturating_add(1);
            before = (at, character);
        }
        if is_single {
            self.emit(Kind::Pair, &text[range.clone()], range.clone());
        }
    }

    /// A word in a script with spaces.
    fn spaced(&mut self, range: Range<usize>) {
        let end = self.compound.range.end;
        let joins = self.compound.words > 0
            && range.start == end + 1
            && CONNECTORS.contains(&self.text.as_bytes()[end])
            && range.end - self.compound.range.start <= MAX_PIECE_BYTES
            && self.compound.words < MAX_PARTS;
        if joins {
            if self.text.as_bytes()[end] == b'@' {
                self.compound.at_sign = Some(end);
            }
            self.compound.range.end = range.end;
            self.compound.words += 1;
        } else {
            self.end_compound();
            self.compound = Compound { range: range.clone(), words: 1, at_sign: None };
        }
        self.word(&range);
    }

    fn word(&mut self, range: &Range<usize>) {
        let range = shortened(self.text, range.clone());
        let word = &self.text[range.clone()];
        self.position = self.position.saturating_add(1);
        let mut shape = Shape::default();
        word.chars().for_each(|character| shape.add(character));
        if shape.letters && !shape.others && !shape.bends {
            self.plain_word(range);
        } else if !shape.letters && !shape.marks && !shape.apostrophes {
            self.emit_folded(Kind::Number, range.clone());
            let digits = &self.text[range.clone()];
            if let Some(date) = self.dates.word(digits) {
                self.emit_date(date, &range);
            }
            self.emit_dates_of(&range);
        } else if shape.apostrophes && !shape.marks && !shape.digits {
            self.around_apostrophes(&range);
        } else {
            self.identifier(&range);
        }
    }

    /// A word of letters alone.
    fn plain_word(&mut self, range: Range<usize>) {
        self.emit_folded(Kind::Word, range.clone());
        if let Some(date) = self.dates.word(&self.folded) {
            self.emit_date(date, &range);
        }
    }

    /// `Anna's` is `Anna`, and `l'eau` is `l` and `eau`.
    fn around_apostrophes(&mut self, range: &Range<usize>) {
        let word = &self.text[range.clone()];
        let is_apostrophe = |character: char| matches!(character, '\'' | '’' | 'ʼ');
        let mut start = range.start;
        let mut parts = word.split(is_apostrophe).peekable();
        let mut is_first = true;
        while let Some(part) = parts.next() {
            let is_ending = !is_first && parts.peek().is_none() && part.eq_ignore_ascii_case("s");
            let place = start..start + part.len();
            let mark = self.text[place.end..range.end].chars().next().map_or(0, char::len_utf8);
            start = place.end + mark;
            if !part.is_empty() && !is_ending {
                if !is_first {
                    self.position = self.position.saturating_add(1);
                }
                self.plain_word(place);
            }
            is_first = false;
        }
    }

    /// A word with digits, underscores, dots or capitals inside.
    fn identifier(&mut self, range: &Range<usize>) {
        let word = &self.text[range.clone()];
        if of_numbers(word).next().is_some() {
            self.emit_folded(Kind::Number, range.start..range.end);
            self.emit_dates_of(range);
            return;
        }
        self.dates.word("");
        let parts = parts(word);
        self.emit_folded(Kind::Whole, range.clone());
        // `v1.2.3` is also found as `1.2.3`.
        if let Some(version) = word
            .strip_prefix(['v', 'V'])
            .filter(|rest| rest.starts_with(|first: char| first.is_ascii_digit()))
        {
            self.emit_folded(Kind::Whole, range.end - version.len()..range.end);
        }
        if parts.len() > 1 {
            for (at, part) in parts.into_iter().take(MAX_PARTS).enumerate() {
                self.position = self.position.saturating_add(u32::from(at > 0));
                // A single letter or digit says nothing.
                if part.len() > 1 {
                    self.emit_folded(Kind::Part, range.start + part.start..range.start + part.end);
                }
            }
        }
    }

    /// The words joined so far, as one piece.
    fn end_compound(&mut self) {
        let compound = std::mem::take(&mut self.compound);
        if compound.words < 2 {
            return;
        }
        let joined = &self.text[compound.range.clone()];
        if of_numbers(joined).next().is_some() {
            self.emit_dates_of(&compound.range);
            return;
        }
        let is_identifier = |text: &str| {
            text.bytes().any(|byte| byte.is_ascii_digit() || b"@/._\\".contains(&byte))
        };
        if !is_identifier(joined) {
            return;
        }
        self.emit_folded(Kind::Whole, compound.range.clone());
        if let Some(at) = compound.at_sign {
            for side in [compound.range.start..at, at + 1..compound.range.end] {
                // A word by itself is a piece already.
                if self.text[side.clone()].bytes().any(|byte| b"-/:#+~\\".contains(&byte)) {
                    self.emit_folded(Kind::Whole, side);
                }
            }
        }
    }
}

fn pair_kind(folded: &str) -> Kind {
    if is_grammar(folded) { Kind::GrammarPair } else { Kind::Pair }
}

/// The range, cut to the longest piece at the boundary of a character.
fn shortened(text: &str, range: Range<usize>) -> Range<usize> {
    let mut end = range.end.min(range.start + MAX_PIECE_BYTES);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    range.start..end
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(text: &str) -> Vec<(Kind, String)> {
        let mut all = Vec::new();
        pieces(text, &mut |piece| {
            assert!(
                text.is_char_boundary(piece.range.start) && text.is_char_boundary(piece.range.end),
                "{piece:?}"
            );
            all.push((piece.kind, piece.folded.to_owned()));
        });
        all
    }

    fn folded(text: &str) -> Vec<String> {
        cut(text).into_iter().map(|(_, folded)| folded).collect()
    }

    #[test]
    fn words_are_those_of_unicode() {
        assert_eq!(folded("Anna's tea, l’eau"), ["anna", "tea", "l", "eau"]);
        assert_eq!(folded("don't"), ["don", "t"]);
        assert_eq!(folded("well-known"), ["well", "known"]);
        assert_eq!(folded(""), Vec::<String>::new());
    }

    #[test]
    fn an_identifier_is_found_whole_and_by_part() {
        assert_eq!(folded("max_view_chars"), ["max_view_chars", "max", "view", "chars"]);
        assert_eq!(folded("getUserById"), ["getuserbyid", "get", "user", "by", "id"]);
        assert_eq!(folded("HTTPServer"), ["httpserver"]);
        assert_eq!(folded("myHTTPServer"), ["myhttpserver", "my", "http", "server"]);
        assert_eq!(folded("v1.2.3"), ["v1.2.3", "1.2.3"]);
        assert_eq!(
            folded("ana.lopez@example.com"),
            ["ana.lopez", "ana", "lopez", "example.com", "example", "com", "ana.lopez@example.com"]
        );
        assert_eq!(folded("PROJ-1234"), ["proj", "1234", "proj-1234"]);
    }

    #[test]
    fn a_script_without_spaces_is_cut_into_pairs() {
        assert_eq!(folded("住在北京"), ["住在", "在北", "北京"]);
        assert_eq!(folded("猫"), ["猫"]);
        assert_eq!(folded("회의를 한다"), ["회의", "의를", "한다"]);
        assert_eq!(cut("です")[0].0, Kind::GrammarPair);
        assert_eq!(folded("Redisに保存"), ["redis", "に保", "保存"]);
        assert_eq!(folded("ｶﾞｲﾄﾞ"), folded("ガイド"));
    }

    #[test]
    fn a_date_is_a_day_and_a_month() {
        let dates = |text: &str| -> Vec<String> {
            let is_date = |(kind, _): &(Kind, String)| matches!(kind, Kind::Day | Kind::Month);
            cut(text).into_iter().filter(is_date).map(|(_, folded)| folded).collect()
        };
        for text in [
            "2024-03-17",
            "on 17 March 2024",
            "17.03.2024",
            "2024年3月17日に",
            "2024년 3월 17일에",
            "17 марта 2024",
            "March 17, 2024",
        ] {
            let mut dates = dates(text);
            dates.sort();
            dates.dedup();
            assert_eq!(dates, ["2024-03", "2024-03-17"], "{text}");
        }
        assert_eq!(dates("log/2024-03.md"), Vec::<String>::new());
        assert_eq!(dates("2024-03"), ["2024-03"]);
    }

    #[test]
    fn a_long_word_is_cut() {
        for piece in ["a", "é", "a1", "中", "\u{301}", "_", "e\u{301}\u{301}"] {
            let text = piece.repeat(10_000);
            pieces(&text, &mut |piece| {
                assert!(piece.folded.len() <= 4 * MAX_PIECE_BYTES, "{piece:?}");
            });
        }
    }
}

//! The search: from a query to ranked hits.
//!
//! The words of the query give every file a score by counts alone (`matching.rs`). The texts of the best files are then read for what counts
//! cannot tell: whether the words are exactly those of the query, and close to each other.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::Range;
use std::time::SystemTime;

use crate::hit::{Hit, Passage};
use crate::index::{File, Index, Span};
use crate::language::Language;
use crate::matching::{Match, files_with, matches};
use crate::phrase::{Normal, Phrase, is_allowed};
use crate::pieces::{Kind, Piece, pieces};
use crate::plan::{Word, looked_up, plan};
use crate::query::Query;
use crate::rank::{EXACT_WEIGHT, NEARNESS_WEIGHT};
use crate::stop::{Stop, go_on};
use crate::terms::Terms;

/// The files whose texts are read, beyond the limit of the search.
const READ_FILES: usize = 20;
/// The passages that are read before it is asked whether the search is stopped.
const SPANS: usize = 100;
/// The places of a phrase in a passage that are marked.
const MOST_PLACES: usize = 64;

/// The files that answer a query, and what was looked for.
pub(crate) struct WordRanking {
    pub(crate) words: Vec<Word>,
    pub(crate) rarities: Vec<f64>,
    pub(crate) phrases: Vec<Phrase>,
    pub(crate) files: Vec<Match>,
}

impl Index {
    /// The files that answer a query best, at most `limit`, the best first.
    ///
    /// Files with the same score are ordered by the bytes of their paths. The same files give the same answer on every machine, whatever
    /// the order in which they were added. A query never fails: one without a known word has no hits.
    ///
    /// The texts of a few more files than `limit` are read for the distance between words. So with a larger limit the order may differ a little.
    ///
    /// It takes time in proportion to the number of passages, and to the occurrences of the words.
    pub fn search(&self, query: &Query, limit: usize) -> Vec<Hit> {
        self.search_where(query, limit, |_| true, || false).unwrap_or_default()
    }

    /// As [`search`](Index::search), among the files for whose paths `is_wanted` returns true. The other files still count for the rarity of
    /// words, so the scores are the same.
    ///
    /// Returns `None` if `is_stopped` returns true. It is called again and again during a search: for each file or word, and each block of a
    /// large text.
    ///
    /// ```
    /// use memdir_search::{Index, Options, Query};
    ///
    /// let mut index = Index::new(Options::default());
    /// index.put("work/a.md", "green tea", None)?;
    /// index.put("home/a.md", "green tea", None)?;
    /// let is_home = |path: &str| path.starts_with("home/");
    /// let hits = index.search_where(&Query::parse("tea"), 10, is_home, || false).unwrap_or_default();
    /// assert_eq!((hits.len(), hits[0].path.as_str()), (1, "home/a.md"));
    /// # Ok::<(), memdir_search::IndexFull>(())
    /// ```
    pub fn search_where(
        &self,
        query: &Query,
        limit: usize,
        is_wanted: impl Fn(&str) -> bool,
        is_stopped: impl Fn() -> bool,
    ) -> Option<Vec<Hit>> {
        if limit == 0 || self.is_empty() {
            return Some(Vec::new());
        }
        let found = self.ranked(query, limit, is_wanted, &is_stopped)?;
        self.hits(&found, &found.files, &is_stopped)
    }

    /// The files that answer a query best, the best first, and what was looked for.
    pub(crate) fn ranked(
        &self,
        query: &Query,
        limit: usize,
        is_wanted: impl Fn(&str) -> bool,
        is_stopped: Stop<'_>,
    ) -> Option<WordRanking> {
        let words = plan(self, query, is_stopped)?;
        let mut phrases: Vec<Phrase> =
            query.phrases.iter().map(|phrase| Phrase::new(phrase)).collect();
        // A question of stop words alone is found as it is.
        if words.is_empty() && !query.is_restricted() && looked_up(self, &query.text).is_empty() {
            phrases.push(Phrase::new(&query.text));
        }
        phrases.retain(|phrase| !phrase.is_empty());
        let mut found = matches(self, &words, is_stopped)?;
        let mut files = std::mem::take(&mut found.files);
        if words.is_empty() {
            let is_open = !query.is_restricted() && phrases.is_empty();
            files = if is_open || !looked_up(self, &query.text).is_empty() {
                Vec::new()
            } else {
                self.paths
                    .values()
                    .map(|slot| Match { slot: *slot, score: 0.0, passages: Vec::new() })
                    .collect()
            };
        }
        files.retain(|found| is_wanted(self.path_of(found)));
        self.restrict(query, &phrases, &mut files, is_stopped)?;
        self.prefer_recent(&mut files);
        self.keep_best(&mut files, limit.saturating_add(READ_FILES));
        let reader = Reader::new(self, &words, &found.rarities, &phrases);
        for each in &mut files {
            go_on(is_stopped)?;
            if let Some(file) = self.slots.get(each.slot as usize).and_then(Option::as_ref) {
                each.passages = found.best_passages(file);
                each.score *= 1.0 + reader.bonus(file, each);
            }
        }
        self.sort(&mut files);
        files.truncate(limit);
        Some(WordRanking { rarities: found.rarities, words, phrases, files })
    }

    /// The hits for these files, with the passages to show.
    pub(crate) fn hits(
        &self,
        ranking: &WordRanking,
        files: &[Match],
        is_stopped: Stop<'_>,
    ) -> Option<Vec<Hit>> {
        let reader = Reader::new(self, &ranking.words, &ranking.rarities, &ranking.phrases);
        let mut hits = Vec::with_capacity(files.len());
        for found in files {
            let Some(file) = self.slots.get(found.slot as usize).and_then(Option::as_ref) else {
                continue;
            };
            let passages = reader.passages(file, found, is_stopped)?;
            let path = file.path.as_ref().to_owned();
            hits.push(Hit { path, score: found.score, modified: file.modified, passages });
        }
        Some(hits)
    }

    pub(crate) fn path_of(&self, found: &Match) -> &str {
        self.slots.get(found.slot as usize).and_then(Option::as_ref).map_or("", |file| &file.path)
    }

    fn order(&self, a: &Match, b: &Match) -> std::cmp::Ordering {
        b.score.total_cmp(&a.score).then_with(|| self.path_of(a).cmp(self.path_of(b)))
    }

    /// Keeps the best files, in any order.
    fn keep_best(&self, files: &mut Vec<Match>, most: usize) {
        if files.len() > most {
            files.select_nth_unstable_by(most, |a, b| self.order(a, b));
            files.truncate(most);
        }
    }

    pub(crate) fn sort(&self, files: &mut [Match]) {
        files.sort_by(|a, b| self.order(a, b));
    }

    /// Removes the files that do not meet the restrictions of the query. `None` if the search is stopped.
    pub(crate) fn restrict(
        &self,
        query: &Query,
        phrases: &[Phrase],
        files: &mut Vec<Match>,
        is_stopped: Stop<'_>,
    ) -> Option<()> {
        let contains = |path: &str, parts: &[String], all: bool| {
            let path = path.to_lowercase();
            let mut found = parts.iter().map(|part| path.contains(&part.to_lowercase()));
            if all { found.all(|found| found) } else { found.any(|found| found) }
        };
        if !query.paths.is_empty() {
            files.retain(|found| contains(self.path_of(found), &query.paths, true));
        }
        if !query.without_paths.is_empty() {
            files.retain(|found| !contains(self.path_of(found), &query.without_paths, false));
        }
        for excluded in &query.without {
            // All pieces of an identifier must occur, so `-max_chars` does not exclude `max`.
            let mut having: Option<Vec<u32>> = None;
            for word in looked_up(self, excluded) {
                let with = files_with(self, &word);
                having = Some(match having {
                    None => with,
                    Some(before) => {
                        before.into_iter().filter(|slot| with.binary_search(slot).is_ok()).collect()
                    }
                });
            }
            if let Some(having) = having {
                files.retain(|found| having.binary_search(&found.slot).is_err());
            }
        }
        let excluded: Vec<Phrase> =
            query.without_phrases.iter().map(|phrase| Phrase::new(phrase)).collect();
        // Only texts with all words of a phrase are read. A part of an identifier in the text is not one of these words.
        for word in query.phrases.iter().flat_map(|phrase| looked_up(self, phrase)) {
            if matches!(word.kind, Kind::Word | Kind::Number | Kind::Pair) && !word.is_stop_word {
                let with = files_with(self, &word);
                files.retain(|found| with.binary_search(&found.slot).is_ok());
            }
        }
        if phrases.is_empty() && excluded.is_empty() {
            return Some(());
        }
        let mut kept = Vec::with_capacity(files.len());
        for found in files.drain(..) {
            let Some(file) = self.slots.get(found.slot as usize).and_then(Option::as_ref) else {
                continue;
            };
            if is_allowed(&file.text, phrases, &excluded, is_stopped)? {
                kept.push(found);
            }
        }
        *files = kept;
        Some(())
    }

    /// Adds the bonus of [`Options::recency`](crate::Options::recency).
    fn prefer_recent(&self, files: &mut [Match]) {
        let Some(recency) = self.options.recency else { return };
        let weight = if recency.weight > 0.0 { recency.weight.min(1e6) } else { 0.0 };
        let newest: Option<SystemTime> =
            self.slots.iter().flatten().filter_map(|file| file.modified).max();
        let Some(newest) = newest else { return };
        let half_life = recency.half_life.as_secs_f64().max(1e-9);
        for found in files {
            let modified = self
                .slots
                .get(found.slot as usize)
                .and_then(Option::as_ref)
                .and_then(|file| file.modified);
            if let Some(modified) = modified {
                let age = newest.duration_since(modified).unwrap_or_default().as_secs_f64();
                found.score *= 1.0 + weight / (1.0 + age / half_life);
            }
        }
    }
}

/// A word of the query in a passage.
struct Place {
    word: usize,
    position: u32,
    is_exact: bool,
    range: Range<usize>,
}

/// Reads passages for the places of the words.
pub(crate) struct Reader<'q> {
    words: &'q [Word],
    rarities: &'q [f64],
    phrases: &'q [Phrase],
    /// The words that a term stands for, each with its place in `words` and in its alternatives.
    by_term: HashMap<&'q str, Vec<(usize, usize)>>,
    /// The words of the query that a word of a text stands for, by the language of the text. Texts repeat words, and stems take time.
    seen: RefCell<HashMap<Language, HashMap<String, Vec<usize>>>>,
}

impl<'q> Reader<'q> {
    pub(crate) fn new(
        index: &'q Index,
        words: &'q [Word],
        rarities: &'q [f64],
        phrases: &'q [Phrase],
    ) -> Self {
        let mut by_term: HashMap<&str, Vec<(usize, usize)>> = HashMap::new();
        for (at, word) in words.iter().enumerate() {
            for (which, alternative) in word.alternatives.iter().enumerate() {
                by_term
                    .entry(index.vocabulary.text(alternative.term))
                    .or_default()
                    .push((at, which));
            }
        }
        Self { words, rarities, phrases, by_term, seen: RefCell::default() }
    }

    /// The passages to show of a file. `None` if the search is stopped.
    fn passages(&self, file: &File, found: &Match, is_stopped: Stop<'_>) -> Option<Vec<Passage>> {
        go_on(is_stopped)?;
        let spans = found.passages.iter().filter_map(|number| file.span(*number));
        let mut shown: Vec<Passage> = spans
            .map(|span| {
                let text = &file.text[span.range()];
                let mut ranges: Vec<Range<usize>> =
                    self.places(text, file.language).into_iter().map(|place| place.range).collect();
                if !self.phrases.is_empty() {
                    let normal = Normal::of(text);
                    ranges.extend(
                        self.phrases.iter().flat_map(|phrase| normal.find(phrase, MOST_PLACES)),
                    );
                }
                passage(text, span, ranges)
            })
            .collect();
        if shown.is_empty()
            && let Some((span, ranges)) = self.first_shown(file, is_stopped)?
        {
            shown.push(passage(&file.text[span.range()], span, ranges));
        }
        Some(shown)
    }

    /// The passage to show of a file without words of the query: that of a phrase, else the first.
    fn first_shown(
        &self,
        file: &File,
        is_stopped: Stop<'_>,
    ) -> Option<Option<(Span, Vec<Range<usize>>)>> {
        for (number, span) in file.spans.iter().enumerate() {
            if self.phrases.is_empty() {
                break;
            }
            if number % SPANS == 0 {
                go_on(is_stopped)?;
            }
            let normal = Normal::of(&file.text[span.range()]);
            let ranges: Vec<_> =
                self.phrases.iter().flat_map(|phrase| normal.find(phrase, MOST_PLACES)).collect();
            if !ranges.is_empty() {
                return Some(Some((*span, ranges)));
            }
        }
        Some(file.spans.first().map(|span| (*span, Vec::new())))
    }

    fn places(&self, text: &str, language: Language) -> Vec<Place> {
        let mut places = Vec::new();
        let mut terms = Terms::default();
        let mut seen = self.seen.borrow_mut();
        let seen = seen.entry(language).or_default();
        pieces(text, &mut |piece| {
            let mut place = |words: &[usize]| {
                for word in words {
                    let is_exact = self.words[*word].folded == piece.folded;
                    places.push(Place {
                        word: *word,
                        position: piece.position,
                        is_exact,
                        range: piece.range.clone(),
                    });
                }
            };
            match seen.get(piece.folded) {
                // Only words have terms other than themselves.
                Some(words) if matches!(piece.kind, Kind::Word | Kind::Part) => place(words),
                _ => {
                    let words = self.meant(&mut terms, &piece, language);
                    place(&words);
                    if matches!(piece.kind, Kind::Word | Kind::Part) {
                        seen.insert(piece.folded.to_owned(), words);
                    }
                }
            }
        });
        places
    }

    /// The words of the query that a piece of a text stands for.
    fn meant(&self, terms: &mut Terms, piece: &Piece<'_>, language: Language) -> Vec<usize> {
        let mut words = Vec::new();
        for term in terms.of(piece, language) {
            for (word, alternative) in self.by_term.get(term).into_iter().flatten() {
                let is_in_language =
                    self.words[*word].alternatives[*alternative].languages.has(language);
                if is_in_language && !words.contains(word) {
                    words.push(*word);
                }
            }
        }
        words
    }

    /// The bonus of a file if its best passage has exact words, and words that are close to each other as in the query.
    fn bonus(&self, file: &File, found: &Match) -> f64 {
        let all: f64 = self.rarities.iter().sum();
        let best = found.passages.first().and_then(|number| file.span(*number));
        let Some(span) = best.filter(|_| all > 0.0) else { return 0.0 };
        let places = self.places(&file.text[span.range()], file.language);
        let mut exact = 0.0;
        for (at, rarity) in self.rarities.iter().enumerate() {
            if places.iter().any(|place| place.word == at && place.is_exact) {
                exact += rarity;
            }
        }
        let mut near = 0.0;
        for at in 1..self.words.len() {
            let positions = |word: usize| {
                places.iter().filter(move |place| place.word == word).map(|place| place.position)
            };
            let distances = positions(at)
                .flat_map(|second| positions(at - 1).map(move |first| (first, second)));
            // A word after the other one is as in the query; a word before it is one step farther.
            let distance = distances.map(|(a, b)| if b > a { b - a } else { a - b + 1 }).min();
            if let Some(distance) = distance {
                near += self.rarities[at].min(self.rarities[at - 1]) / f64::from(distance.max(1));
            }
        }
        EXACT_WEIGHT * exact / all + NEARNESS_WEIGHT * near / all
    }
}

/// A passage as it is shown.
fn passage(text: &str, span: Span, mut ranges: Vec<Range<usize>>) -> Passage {
    let end = text.trim_end().len();
    let skipped = text.len() - text.trim_start().len();
    // Whole lines: only empty lines are left out at the beginning.
    let start = text[..skipped.min(end)].rfind('\n').map_or(0, |at| at + 1);
    let lines = |text: &str| {
        u32::try_from(text.bytes().filter(|byte| *byte == b'\n').count()).unwrap_or(u32::MAX)
    };
    let first_line = span.line.saturating_add(lines(&text[..start]));
    let shown = &text[start..end.max(start)];
    ranges.sort_unstable_by_key(|range| (range.start, range.end));
    let mut matches: Vec<Range<usize>> = Vec::new();
    for range in ranges {
        let range =
            range.start.saturating_sub(start)..range.end.saturating_sub(start).min(shown.len());
        match matches.last_mut() {
            Some(last)
                if range.start < last.end || (range.start == last.end && range.is_empty()) =>
            {
                last.end = last.end.max(range.end);
            }
            _ if range.start < range.end => matches.push(range),
            _ => {}
        }
    }
    Passage {
        text: shown.to_owned(),
        first_line,
        last_line: first_line.saturating_add(lines(shown)),
        matches,
    }
}

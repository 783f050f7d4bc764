//! Joins the ranking by words with another one, such as that of vectors, which finds what words cannot: a question in other words.
//!
//! The scores of two rankings cannot be compared, so their ranks are (reciprocal rank fusion): a file gets `1 / (60 + rank)` from each
//! ranking that has it.

use std::collections::HashMap;

use crate::hit::Hit;
use crate::index::Index;
use crate::matching::{BEST_PASSAGES, Match};
use crate::passages::passages;
use crate::query::Query;

/// How little the first ranks differ. 60 is the constant of the paper that introduced the method, and the one that search engines use.
const EVEN: f64 = 60.0;
/// The files of each ranking that count, if the limit of the search is not larger.
const DEPTH: usize = 100;

/// A passage in another ranking.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RankedPassage<'p> {
    /// The path of its file.
    pub path: &'p str,
    /// Its place among the passages of the file, from 0, as in [`Index::passages`].
    pub passage: usize,
}

impl Index {
    /// The texts of a file's passages, in order, each below the path and the headings that it belongs to. They are made for a model that embeds
    /// texts. `None` if the index does not have the path.
    ///
    /// ```
    /// use memdir_search::{Index, Options};
    ///
    /// let mut index = Index::new(Options::default());
    /// index.put("people/anna.md", "# Anna\n\nPrefers green tea, and lives in Boston.\n\n## Work\n\nEngineer.\n", None)?;
    /// let texts = index.passages("people/anna.md").unwrap_or_default();
    /// assert_eq!(texts[0], "people/anna.md\n# Anna\n\nPrefers green tea, and lives in Boston.");
    /// assert_eq!(texts[1], "people/anna.md\nAnna\n## Work\n\nEngineer.");
    /// # Ok::<(), memdir_search::IndexFull>(())
    /// ```
    pub fn passages(&self, path: &str) -> Option<Vec<String>> {
        let file = self.slots.get(*self.paths.get(path)? as usize)?.as_ref()?;
        let mut texts = Vec::with_capacity(file.spans.len());
        passages(&file.text, &mut |cut, headings| {
            let mut text = path.trim_start_matches('/').to_owned();
            let headings = headings.iter().map(|heading| file.text[heading.clone()].trim());
            for part in headings.chain([file.text[cut.range].trim_end()]) {
                text.push('\n');
                text.push_str(part);
            }
            texts.push(text);
        });
        Some(texts)
    }

    /// The number of passages of a file; 0 if the index does not have the path.
    pub fn passage_count(&self, path: &str) -> usize {
        let slot = self.paths.get(path).and_then(|slot| self.slots.get(*slot as usize));
        slot.and_then(Option::as_ref).map_or(0, |file| file.spans.len())
    }

    /// As [`search_where`](Index::search_where), joined with another ranking of passages, the best first. The restrictions of the query hold
    /// for both. A hit's score is at most `2 / 61`.
    ///
    /// ```
    /// use memdir_search::{Index, Options, Query, RankedPassage};
    ///
    /// let mut index = Index::new(Options::default());
    /// index.put("car.md", "The car is red.", None)?;
    /// index.put("tea.md", "The tea is green.", None)?;
    /// let query = Query::parse("which colour has the automobile");
    /// assert!(index.search(&query, 1).is_empty());
    ///
    /// let others = [RankedPassage { path: "car.md", passage: 0 }, RankedPassage { path: "tea.md", passage: 0 }];
    /// let hits = index.search_joined(&query, 1, |_| true, || false, &others).unwrap_or_default();
    /// assert_eq!(hits[0].path, "car.md");
    /// # Ok::<(), memdir_search::IndexFull>(())
    /// ```
    pub fn search_joined(
        &self,
        query: &Query,
        limit: usize,
        is_wanted: impl Fn(&str) -> bool,
        is_stopped: impl Fn() -> bool,
        others: &[RankedPassage<'_>],
    ) -> Option<Vec<Hit>> {
        if limit == 0 || self.is_empty() {
            return Some(Vec::new());
        }
        let depth = limit.max(DEPTH);
        let by_words = self.ranked(query, depth, &is_wanted, &is_stopped)?;
        let mut by_others = self.files_of(others);
        by_others.retain(|found| is_wanted(self.path_of(found)));
        self.restrict(query, &by_words.phrases, &mut by_others, &is_stopped)?;
        by_others.truncate(depth);
        let mut joined = join(&by_words.files, by_others);
        self.sort(&mut joined);
        joined.truncate(limit);
        self.hits(&by_words, &joined, &is_stopped)
    }

    /// The files of a ranking of passages, in the order of their best ones.
    fn files_of(&self, ranking: &[RankedPassage<'_>]) -> Vec<Match> {
        let mut places: HashMap<u32, usize> = HashMap::new();
        let mut files: Vec<Match> = Vec::new();
        for ranked in ranking {
            let Some(slot) = self.paths.get(ranked.path) else { continue };
            let Some(file) = self.slots.get(*slot as usize).and_then(Option::as_ref) else {
                continue;
            };
            if ranked.passage >= file.spans.len() {
                continue;
            }
            let place = *places.entry(*slot).or_insert_with(|| {
                files.push(Match { slot: *slot, score: 0.0, passages: Vec::new() });
                files.len() - 1
            });
            let passages = &mut files[place].passages;
            if passages.len() < BEST_PASSAGES {
                // The first number is that of the path.
                passages
                    .extend(u32::try_from(ranked.passage).map(|passage| file.first + 1 + passage));
            }
        }
        files
    }
}

/// Sums up what each ranking gives to a file.
fn join(by_words: &[Match], by_others: Vec<Match>) -> Vec<Match> {
    let mut joined: HashMap<u32, Match> = HashMap::new();
    let mut ranks: HashMap<u32, usize> = HashMap::new();
    for (rank, found) in by_words.iter().enumerate() {
        ranks.insert(found.slot, rank);
        joined.insert(found.slot, Match { score: share(rank), ..found.clone() });
    }
    for (rank, found) in by_others.into_iter().enumerate() {
        match joined.get_mut(&found.slot) {
            None => {
                joined.insert(found.slot, Match { score: share(rank), ..found });
            }
            Some(both) => {
                both.score += share(rank);
                let words_first = ranks.get(&found.slot).is_some_and(|by_words| *by_words <= rank);
                let of_words = std::mem::take(&mut both.passages);
                both.passages = if words_first {
                    alternating(of_words, found.passages)
                } else {
                    alternating(found.passages, of_words)
                };
            }
        }
    }
    joined.into_values().collect()
}

fn share(rank: usize) -> f64 {
    1.0 / (EVEN + 1.0 + rank as f64)
}

/// The passages of both in turn, each once.
fn alternating(first: Vec<u32>, second: Vec<u32>) -> Vec<u32> {
    let mut all = Vec::with_capacity(BEST_PASSAGES);
    let (mut first, mut second) = (first.into_iter(), second.into_iter());
    loop {
        let pair = [first.next(), second.next()];
        if pair == [None, None] || all.len() >= BEST_PASSAGES {
            all.truncate(BEST_PASSAGES);
            return all;
        }
        for number in pair.into_iter().flatten() {
            if !all.contains(&number) {
                all.push(number);
            }
        }
    }
}

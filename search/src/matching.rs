//! The scores of all passages and files for the words of a query.
//!
//! A score is a sum over the words in the order of the query, so it is the same number for the same files, whatever the order in which these
//! came into the index.

use crate::index::{File, Index, NO_FILE, OF_PATH};
use crate::plan::Word;
use crate::rank::{
    COVERAGE_WEIGHT, FILE_LENGTH, FILE_WEIGHT, HEADING_WEIGHT, PASSAGE_LENGTH, PATH_WEIGHT, rarity,
    share,
};
use crate::stop::{Stop, go_on};

/// The best passages of a file that are kept.
pub(crate) const BEST_PASSAGES: usize = 3;

/// A file that has a word of the query.
#[derive(Debug, Clone)]
pub(crate) struct Match {
    pub(crate) slot: u32,
    pub(crate) score: f64,
    /// The numbers of its best passages, the best first. Empty until [`Matches::best_passages`] is asked for them, which is only done for the
    /// best files: a common word has a match in every file.
    pub(crate) passages: Vec<u32>,
}

/// The matches of the words, and how much each word says.
#[derive(Debug, Default)]
pub(crate) struct Matches {
    /// In the order of the numbers of files.
    pub(crate) files: Vec<Match>,
    /// The weight of each word, with its rarity.
    pub(crate) rarities: Vec<f64>,
    /// By the numbers of passages. Empty if there are no words.
    passages: Vec<Sum>,
}

/// A passage in which a word occurs.
#[derive(Debug, Clone, Copy)]
struct Occurrence {
    passage: u32,
    slot: u32,
    /// Those in the text, weighted.
    in_text: f64,
    in_heading: bool,
    is_path: bool,
}

/// The sums of a passage or a file.
#[derive(Debug, Clone, Copy, Default)]
struct Sum {
    score: f64,
    /// The sum of the rarities of the words that it has.
    covered: f64,
}

/// `None` if the search is stopped.
pub(crate) fn matches(index: &Index, words: &[Word], is_stopped: Stop<'_>) -> Option<Matches> {
    if words.is_empty() {
        return Some(Matches::default());
    }
    let mut passages = vec![Sum::default(); index.owners.len()];
    let mut files = vec![Sum::default(); index.slots.len()];
    let mut rarities = Vec::new();
    let totals = &index.totals;
    let (of_passages, of_files) = (totals.passages.max(1), index.len().max(1));
    let passage_average = totals.words as f64 / of_passages as f64;
    let file_average = totals.words as f64 / of_files as f64;
    let mut found: Vec<Occurrence> = Vec::new();
    for word in words {
        go_on(is_stopped)?;
        occurrences(index, word, &mut found);
        let same_file = |a: &Occurrence, b: &Occurrence| a.slot == b.slot;
        let (mut in_texts, mut in_files, mut last) = (0_u32, 0_u32, NO_FILE);
        for each in &found {
            in_texts += u32::from(!each.is_path);
            in_files += u32::from(each.slot != last);
            last = each.slot;
        }
        let passage_rarity = word.weight * rarity(in_texts, of_passages);
        let file_rarity = word.weight * rarity(in_files, of_files);
        rarities.push(passage_rarity);
        for of_file in found.chunk_by(same_file) {
            let slot = of_file[0].slot;
            let Some(file) = index.slots.get(slot as usize).and_then(Option::as_ref) else {
                continue;
            };
            let mut total = 0.0;
            for each in of_file {
                if each.is_path {
                    total += PATH_WEIGHT * each.in_text;
                    continue;
                }
                let occurrences = each.in_text + if each.in_heading { HEADING_WEIGHT } else { 0.0 };
                total += each.in_text;
                let length = u32::from(index.lengths[each.passage as usize]);
                let sum = &mut passages[each.passage as usize];
                sum.score +=
                    passage_rarity * share(occurrences, length, passage_average, PASSAGE_LENGTH);
                sum.covered += passage_rarity;
            }
            let sum = &mut files[slot as usize];
            sum.score += file_rarity * share(total, file.words, file_average, FILE_LENGTH);
            sum.covered += file_rarity;
        }
    }
    let mut found = Matches { files: Vec::new(), rarities, passages };
    found.files = found.joined(index, &files);
    Some(found)
}

impl Matches {
    /// The matches of the files: the own score of each, with that of its best passage.
    fn joined(&self, index: &Index, files: &[Sum]) -> Vec<Match> {
        let most = self.most();
        let mut matches = Vec::new();
        for (slot, sum) in (0..).zip(files) {
            if sum.score <= 0.0 {
                continue;
            }
            let Some(file) = index.slots.get(slot as usize).and_then(Option::as_ref) else {
                continue;
            };
            let scores = self.of_file(file).iter().map(|sum| sum.score * sum.coverage(most));
            let of_file = FILE_WEIGHT * sum.score * sum.coverage(most);
            let score = scores.fold(0.0, f64::max) + of_file;
            matches.push(Match { slot, score, passages: Vec::new() });
        }
        matches
    }

    /// The numbers of the passages of a file with the highest scores, the best first.
    pub(crate) fn best_passages(&self, file: &File) -> Vec<u32> {
        let most = self.most();
        let mut best: Vec<(f64, u32)> = Vec::with_capacity(BEST_PASSAGES + 1);
        for (number, sum) in file.numbers().zip(self.of_file(file)) {
            let score = sum.score * sum.coverage(most);
            let place = best.iter().position(|(other, _)| score > *other).unwrap_or(best.len());
            if score > 0.0 && place < BEST_PASSAGES {
                best.insert(place, (score, number));
                best.truncate(BEST_PASSAGES);
            }
        }
        best.into_iter().map(|(_, number)| number).collect()
    }

    /// The sums of the passages of a file.
    fn of_file(&self, file: &File) -> &[Sum] {
        let numbers = file.numbers();
        self.passages.get(numbers.start as usize..numbers.end as usize).unwrap_or_default()
    }

    /// The rarities of all words.
    fn most(&self) -> f64 {
        self.rarities.iter().sum()
    }
}

impl Sum {
    /// The factor of the score: less than 1 if not all words are there.
    fn coverage(&self, most: f64) -> f64 {
        1.0 - COVERAGE_WEIGHT + COVERAGE_WEIGHT * (self.covered / most.max(f64::MIN_POSITIVE))
    }
}

/// The passages in which a word occurs, ordered by number. A passage with several terms of the word counts with the best one.
fn occurrences(index: &Index, word: &Word, found: &mut Vec<Occurrence>) {
    found.clear();
    let all = index.languages();
    for alternative in &word.alternatives {
        let is_for_all = alternative.languages.includes(all);
        for posting in index.vocabulary.postings(alternative.term).iter() {
            let Some(slot) = index.owners.get(posting.passage as usize).copied() else { continue };
            let is_in_language = || {
                let file = index.slots.get(slot as usize).and_then(Option::as_ref);
                file.is_some_and(|file| alternative.languages.has(file.language))
            };
            if slot != NO_FILE && (is_for_all || is_in_language()) {
                found.push(Occurrence {
                    passage: posting.passage,
                    slot,
                    in_text: f64::from(posting.times) * alternative.weight,
                    in_heading: posting.in_heading,
                    is_path: index.lengths[posting.passage as usize] == OF_PATH,
                });
            }
        }
    }
    if word.alternatives.len() > 1 {
        // The order of terms with the same passage does not matter, because the larger number is taken.
        found.sort_by_key(|each| each.passage);
        found.dedup_by(|next, kept| {
            let is_same = next.passage == kept.passage;
            if is_same {
                kept.in_text = kept.in_text.max(next.in_text);
                kept.in_heading |= next.in_heading;
            }
            is_same
        });
    }
}

/// The numbers of the files that have a word in their texts or paths.
pub(crate) fn files_with(index: &Index, word: &Word) -> Vec<u32> {
    let mut found = Vec::new();
    occurrences(index, word, &mut found);
    let mut slots: Vec<u32> = found.into_iter().map(|each| each.slot).collect();
    slots.sort_unstable();
    slots.dedup();
    slots
}

//! The index: files with their passages, and the terms of these.
//!
//! Passages have ascending numbers, so a new file is appended to the lists of its terms. A removed file leaves gaps in the lists, which are
//! closed when half of the numbers are gaps. Everything that the ranking counts is exact at each moment, so an index does not remember
//! in which order files came.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;
use std::time::SystemTime;

use crate::error::IndexFull;
use crate::fold::fold_into;
use crate::language::{Detector, Language, Languages, number};
use crate::options::Options;
use crate::passages::passages;
use crate::pieces::pieces;
use crate::postings::Posting;
use crate::terms::Terms;
use crate::vocabulary::{TermId, Vocabulary};

/// The number of removed passages up to which lists are left alone.
const FEW_GAPS: usize = 4_096;
/// The owner of a removed passage.
pub(crate) const NO_FILE: u32 = u32::MAX;
/// The length of the passage of a path.
pub(crate) const OF_PATH: u16 = u16::MAX;

/// An index of texts, in memory.
///
/// The index holds a copy of each text, because a hit shows passages of it.
///
/// ```
/// use memdir_search::{Index, Options, Query};
///
/// let mut index = Index::new(Options::default());
/// index.put("people/anna.md", "# Anna\n- prefers green tea\n- lives in Boston\n", None)?;
/// index.put("people/ben.md", "# Ben\n- prefers espresso\n", None)?;
///
/// let hits = index.search(&Query::parse("Who prefers tea?"), 10);
/// assert_eq!(hits[0].path, "people/anna.md");
/// index.remove("people/anna.md");
/// assert_eq!(index.search(&Query::parse("tea"), 10), []);
/// # Ok::<(), memdir_search::IndexFull>(())
/// ```
#[derive(Debug)]
pub struct Index {
    pub(crate) options: Options,
    /// The slot of each file.
    pub(crate) paths: BTreeMap<Arc<str>, u32>,
    pub(crate) slots: Vec<Option<File>>,
    free: Vec<u32>,
    /// The slot of each passage's file.
    pub(crate) owners: Vec<u32>,
    /// The number of words in each passage's text, without stop words; `OF_PATH` for the passage of a path.
    pub(crate) lengths: Vec<u16>,
    pub(crate) vocabulary: Vocabulary,
    pub(crate) totals: Totals,
}

/// The sums over all files that the ranking needs.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Totals {
    /// Passages with a text: those of the paths do not count.
    pub(crate) passages: usize,
    /// The words in the texts, without stop words.
    pub(crate) words: u64,
    /// The number of files in each language.
    pub(crate) languages: [usize; crate::language::LANGUAGES.len()],
    /// The memory of files, in bytes.
    memory: usize,
}

/// A file in the index.
#[derive(Debug)]
pub(crate) struct File {
    pub(crate) path: Arc<str>,
    pub(crate) text: Box<str>,
    pub(crate) modified: Option<SystemTime>,
    pub(crate) language: Language,
    /// The number of the passage of its path. Those of its text follow.
    pub(crate) first: u32,
    pub(crate) spans: Box<[Span]>,
    /// The words in its text, without stop words.
    pub(crate) words: u32,
}

/// The memory of a passage without its terms: its place, its owner, its length.
const PASSAGE_BYTES: usize = size_of::<Span>() + size_of::<u32>() + size_of::<u16>();

/// A passage of a file's text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) start: u32,
    pub(crate) end: u32,
    /// The 1-based number of its first line.
    pub(crate) line: u32,
}

impl Span {
    pub(crate) fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }
}

impl File {
    /// The memory that it uses, in bytes: itself, its slot, its path in the tree, and what these point to.
    fn memory(&self) -> usize {
        2 * size_of::<Self>()
            + self.path.len()
            + 48
            + self.text.len()
            + (self.spans.len() + 1) * PASSAGE_BYTES
    }

    /// The numbers of its passages: the first is that of its path.
    pub(crate) fn numbers(&self) -> Range<u32> {
        // There are fewer passages than bytes of text.
        self.first..self.first + 1 + u32::try_from(self.spans.len()).unwrap_or(0)
    }

    /// Its passage with this number; `None` for that of its path.
    pub(crate) fn span(&self, number: u32) -> Option<Span> {
        self.spans.get((number - self.first).checked_sub(1)? as usize).copied()
    }
}

impl Index {
    /// An empty index.
    pub fn new(options: Options) -> Self {
        Self {
            options,
            paths: BTreeMap::new(),
            slots: Vec::new(),
            free: Vec::new(),
            owners: Vec::new(),
            lengths: Vec::new(),
            vocabulary: Vocabulary::default(),
            totals: Totals::default(),
        }
    }

    /// The options of the index.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// The number of files.
    pub fn len(&self) -> usize {
        self.paths.len()
    }

    /// Whether the index has no file.
    pub fn is_empty(&self) -> bool {
        self.paths.is_empty()
    }

    /// The paths of all files, in the order of their bytes.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.paths.keys().map(|path| &**path)
    }

    /// The time that was given for a file, and the text that the index holds. `None` if the index does not have the path.
    pub fn get(&self, path: &str) -> Option<(Option<SystemTime>, &str)> {
        let file = self.slots[*self.paths.get(path)? as usize].as_ref()?;
        Some((file.modified, &file.text))
    }

    /// The memory of the index, in bytes. This is an estimate from the capacities of its buffers, which is within a fifth of the memory
    /// that it requests from the system's allocator, for more than some kilobytes.
    pub fn memory(&self) -> usize {
        self.totals.memory + self.vocabulary.memory() + self.free.capacity() * size_of::<u32>()
    }

    /// Adds a text, or replaces the one at `path`.
    ///
    /// A path is any text that identifies a file. Its words are searched, too. `modified` is only used for
    /// [`Options::recency`], and returned with a hit. A text is indexed up to the first byte that is not UTF-8.
    ///
    /// It takes time in proportion to the length of the text, and sometimes of the index.
    ///
    /// # Errors
    /// [`IndexFull`] if the index would be larger than [`Options::max_bytes`], if the text has 4 GiB or more, if the path has 64 KiB or
    /// more, or if the index has more than four billion passages. The index then has no file at `path`.
    pub fn put(
        &mut self,
        path: &str,
        text: impl AsRef<[u8]>,
        modified: Option<SystemTime>,
    ) -> Result<(), IndexFull> {
        self.remove(path);
        let full = IndexFull { max_bytes: self.options.max_bytes };
        let text = valid(text.as_ref());
        let room = self.owners.len().saturating_add(text.len()).saturating_add(1);
        if u32::try_from(text.len()).is_err()
            || u32::try_from(room).is_err()
            || u16::try_from(path.len()).is_err()
            || self.vocabulary.is_full()
            || self.memory().saturating_add(text.len()) > self.options.max_bytes
        {
            return Err(full);
        }
        let language = match self.options.language {
            Language::Auto => detected(text),
            language => language,
        };
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots.push(None);
            u32::try_from(self.slots.len() - 1).unwrap_or(NO_FILE)
        });
        let first = u32::try_from(self.owners.len()).unwrap_or(NO_FILE);
        let mut spans: Vec<Span> = Vec::new();
        let mut words = 0_u32;
        let mut fits = true;
        let mut ids: Vec<(TermId, bool)> = Vec::new();
        let mut number = first;
        each_passage(path, text, language, &mut |passage| {
            // The rest of a text that does not fit is not indexed, and what was is removed below.
            let is_within = || {
                let memory = self.vocabulary.memory() + spans.len() * PASSAGE_BYTES;
                !self.vocabulary.is_full() && memory <= self.options.max_bytes
            };
            fits = fits && (passage.place.is_none() || is_within());
            if !fits {
                return;
            }
            ids.clear();
            ids.extend(
                passage
                    .terms
                    .iter()
                    .map(|(term, in_heading)| (self.vocabulary.intern(term), in_heading)),
            );
            for posting in counted(&mut ids, number) {
                self.vocabulary.push(posting.0, posting.1);
            }
            self.owners.push(slot);
            if let Some((range, line)) = passage.place {
                // A passage has at most about a thousand bytes, so it has fewer words.
                let of_text = u16::try_from(passage.words).unwrap_or(OF_PATH - 1).min(OF_PATH - 1);
                words = words.saturating_add(of_text.into());
                self.lengths.push(of_text);
                let at = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
                spans.push(Span { start: at(range.start), end: at(range.end), line });
            } else {
                self.lengths.push(OF_PATH);
            }
            number += 1;
        });
        let path: Arc<str> = path.into();
        let file = File {
            path: path.clone(),
            text: text.into(),
            modified,
            language,
            first,
            spans: spans.into(),
            words,
        };
        self.add(file, slot);
        if !fits || self.memory() > self.options.max_bytes {
            self.remove(&path);
            self.close_gaps();
            return Err(full);
        }
        Ok(())
    }

    /// Sets the time of a file that has the same text as before, without reading its words again. Returns whether the index has the file.
    pub fn set_modified(&mut self, path: &str, modified: Option<SystemTime>) -> bool {
        let slot = self.paths.get(path).map(|slot| *slot as usize);
        let file = slot.and_then(|slot| self.slots.get_mut(slot)).and_then(Option::as_mut);
        file.map(|file| file.modified = modified).is_some()
    }

    /// Adds a file whose passages have their postings and owners.
    pub(crate) fn add(&mut self, file: File, slot: u32) {
        self.totals.passages += file.spans.len();
        self.totals.words += u64::from(file.words);
        self.totals.languages[usize::from(number(file.language))] += 1;
        self.totals.memory += file.memory();
        self.paths.insert(file.path.clone(), slot);
        self.slots[slot as usize] = Some(file);
    }

    /// Removes a file, and returns whether the index had it. Nothing of its text remains in the index.
    pub fn remove(&mut self, path: &str) -> bool {
        let Some(slot) = self.paths.remove(path) else { return false };
        let Some(file) = self.slots[slot as usize].take() else { return false };
        self.free.push(slot);
        self.totals.passages -= file.spans.len();
        self.totals.words -= u64::from(file.words);
        self.totals.languages[usize::from(number(file.language))] -= 1;
        self.totals.memory -= file.memory();
        let mut numbers = file.numbers();
        let vocabulary = &mut self.vocabulary;
        let mut ids: Vec<TermId> = Vec::new();
        each_passage(&file.path, &file.text, file.language, &mut |passage| {
            // A file that did not fit has only some of its passages.
            if numbers.next().is_none() {
                return;
            }
            ids.clear();
            ids.extend(passage.terms.iter().filter_map(|(term, _)| vocabulary.find(term)));
            ids.sort_unstable();
            ids.dedup();
            ids.iter().for_each(|id| vocabulary.release(*id));
        });
        for number in file.numbers() {
            self.owners[number as usize] = NO_FILE;
        }
        let live = self.totals.passages + self.paths.len();
        if self.owners.len() > 2 * live + FEW_GAPS {
            self.close_gaps();
        }
        true
    }

    /// Gives back the memory that removed files have left. The index does this by itself from time to time. It takes time in proportion to the
    /// size of the index.
    pub fn shrink(&mut self) {
        let live = self.totals.passages + self.paths.len();
        if self.owners.len() > live {
            self.close_gaps();
        }
    }

    /// The languages of the files.
    pub(crate) fn languages(&self) -> Languages {
        let present = crate::language::LANGUAGES
            .iter()
            .zip(self.totals.languages)
            .filter(|(_, count)| *count > 0);
        present.fold(Languages::default(), |all, (language, _)| all.with(Languages::of(*language)))
    }

    /// Numbers the passages again, without those that were removed.
    fn close_gaps(&mut self) {
        let mut new = vec![NO_FILE; self.owners.len()];
        let (mut owners, mut lengths) = (Vec::new(), Vec::new());
        for (old, owner) in self.owners.iter().enumerate().filter(|(_, owner)| **owner != NO_FILE) {
            new[old] = u32::try_from(owners.len()).unwrap_or(NO_FILE);
            owners.push(*owner);
            lengths.push(self.lengths[old]);
        }
        let renumber = |old: u32| new.get(old as usize).copied().filter(|new| *new != NO_FILE);
        self.vocabulary = self.vocabulary.rebuilt(self.vocabulary.live(), true, &renumber);
        for file in self.slots.iter_mut().flatten() {
            file.first = renumber(file.first).unwrap_or(NO_FILE);
        }
        (self.owners, self.lengths) = (owners, lengths);
    }
}

/// The text up to the first byte that is not UTF-8.
fn valid(bytes: &[u8]) -> &str {
    match str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or_default(),
    }
}

/// The bytes of a text from which its language is detected.
const DETECTED_BYTES: usize = 4_096;

fn detected(text: &str) -> Language {
    let mut end = text.len().min(DETECTED_BYTES);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let mut detector = Detector::default();
    let mut folded = String::new();
    // The exact boundaries of words do not matter for frequent words.
    for word in text[..end]
        .split(|character: char| !character.is_alphabetic())
        .filter(|word| !word.is_empty())
    {
        folded.clear();
        fold_into(word, &mut folded);
        detector.word(&folded);
    }
    detector.language()
}

/// A passage on its way into the index.
struct Draft<'d> {
    /// Its place in the text, and its first line; `None` for the path.
    place: Option<(Range<usize>, u32)>,
    terms: &'d TermList,
    /// The number of words in the text.
    words: usize,
}

/// The terms of a passage, in one buffer.
#[derive(Debug, Default)]
struct TermList {
    text: String,
    /// The end of each term, and whether it is in a heading above.
    ends: Vec<(usize, bool)>,
    /// The number of pieces with terms. A word with two terms is one word.
    words: usize,
}

impl TermList {
    fn clear(&mut self) {
        self.text.clear();
        self.ends.clear();
        self.words = 0;
    }

    /// Adds the terms of a text.
    fn collect(&mut self, text: &str, language: Language, in_heading: bool, of_piece: &mut Terms) {
        pieces(text, &mut |piece| {
            let before = self.ends.len();
            for term in of_piece.of(&piece, language) {
                self.text.push_str(term);
                self.ends.push((self.text.len(), in_heading));
            }
            self.words += usize::from(self.ends.len() > before);
        });
    }

    fn iter(&self) -> impl Iterator<Item = (&str, bool)> {
        let mut start = 0;
        self.ends.iter().map(move |(end, in_heading)| {
            (&self.text[std::mem::replace(&mut start, *end)..*end], *in_heading)
        })
    }
}

/// Calls `found` with the passage of the path, and then with those of the text.
fn each_passage(path: &str, text: &str, language: Language, found: &mut dyn FnMut(Draft<'_>)) {
    let mut terms = TermList::default();
    let mut of_piece = Terms::default();
    terms.collect(&spaced_path(path), language, false, &mut of_piece);
    found(Draft { place: None, terms: &terms, words: 0 });
    passages(text, &mut |cut, headings| {
        terms.clear();
        terms.collect(&text[cut.range.clone()], language, false, &mut of_piece);
        let words = terms.words;
        for heading in headings {
            terms.collect(&text[heading.clone()], language, true, &mut of_piece);
        }
        found(Draft { place: Some((cut.range, cut.line)), terms: &terms, words });
    });
}

/// The text of a path for its pieces. In a name, `-` and `_` are spaces more often than parts of an identifier, but a date keeps its marks.
pub(crate) fn spaced_path(path: &str) -> String {
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
fn counted(ids: &mut [(TermId, bool)], passage: u32) -> impl Iterator<Item = (TermId, Posting)> {
    ids.sort_unstable();
    ids.chunk_by(|a, b| a.0 == b.0).map(move |same| {
        let times = same.iter().filter(|(_, in_heading)| !in_heading).count();
        let times = u32::try_from(times).unwrap_or(u32::MAX);
        let in_heading = same.last().is_some_and(|(_, in_heading)| *in_heading);
        (same[0].0, Posting { passage, times, in_heading })
    })
}

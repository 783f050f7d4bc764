//! The index: files with their passages, and the terms of these.
//!
//! Passages have ascending numbers, so a new file is appended to the lists of its terms. A removed file leaves gaps in the lists, which are
//! closed when half of the numbers are gaps. Everything that the ranking counts is exact at each moment, so an index does not remember
//! in which order files came.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;
use std::time::SystemTime;

use crate::drafts::{Drafter, Numbering, counted, detected, valid};
use crate::error::IndexFull;
use crate::language::{Language, Languages, number};
use crate::options::Options;
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
        self.put_by(&mut Drafter::default(), path, text.as_ref(), modified)
    }

    /// As [`put`](Index::put), with a drafter that has only made drafts for this index.
    pub(crate) fn put_by(
        &mut self,
        drafter: &mut Drafter,
        path: &str,
        text: &[u8],
        modified: Option<SystemTime>,
    ) -> Result<(), IndexFull> {
        if self.remove(path) {
            // A term may be gone.
            drafter.forget();
        }
        let full = IndexFull { max_bytes: self.options.max_bytes };
        let text = valid(text);
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
        let slot = self.free_slot();
        let first = u32::try_from(self.owners.len()).unwrap_or(NO_FILE);
        let mut spans: Vec<Span> = Vec::new();
        let mut words = 0_u32;
        let mut fits = true;
        let mut number = first;
        let Self { vocabulary, owners, lengths, options, .. } = self;
        let names = (vocabulary, (|all, term| Some(all.intern(term))) as Numbering);
        drafter.each((path, text, language), names, &mut |vocabulary, draft| {
            // The rest of a text that does not fit is not indexed, and what was is removed below.
            let memory = vocabulary.memory() + spans.len() * PASSAGE_BYTES;
            fits = draft.place.is_none() || (!vocabulary.is_full() && memory <= options.max_bytes);
            if !fits {
                return false;
            }
            for (term, posting) in counted(draft.terms, number) {
                vocabulary.push(term, posting);
            }
            owners.push(slot);
            if let Some((range, line)) = draft.place {
                // A passage has at most about a thousand bytes, so it has fewer words.
                let of_text = u16::try_from(draft.words).unwrap_or(OF_PATH - 1).min(OF_PATH - 1);
                words = words.saturating_add(of_text.into());
                lengths.push(of_text);
                let at = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
                spans.push(Span { start: at(range.start), end: at(range.end), line });
            } else {
                lengths.push(OF_PATH);
            }
            number += 1;
            true
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
            drafter.forget();
            return Err(full);
        }
        Ok(())
    }

    /// A slot without a file.
    pub(crate) fn free_slot(&mut self) -> u32 {
        self.free.pop().unwrap_or_else(|| {
            self.slots.push(None);
            u32::try_from(self.slots.len() - 1).unwrap_or(NO_FILE)
        })
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
        let mut ids: Vec<TermId> = Vec::new();
        let names = (&mut self.vocabulary, (|all, term| all.find(term)) as Numbering);
        let text = (&*file.path, &*file.text, file.language);
        Drafter::default().each(text, names, &mut |vocabulary, draft| {
            // A file that did not fit has only some of its passages.
            if numbers.next().is_none() {
                return false;
            }
            ids.clear();
            ids.extend(draft.terms.iter().map(|(term, _)| *term));
            ids.sort_unstable();
            ids.dedup();
            ids.iter().for_each(|id| vocabulary.release(*id));
            true
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

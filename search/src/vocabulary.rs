//! The terms of the index, with their postings.
//!
//! A memory has many terms that occur once, so a term must be small: the texts of all terms are in one buffer, and the hash table has
//! numbers of terms.

use std::hash::BuildHasher;
use std::ops::Range;

use hashbrown::HashTable;

use crate::hashing::WordHasher;
use crate::postings::{Posting, Postings};

/// The number of a term.
pub(crate) type TermId = u32;

#[derive(Debug, Default)]
struct Entry {
    /// The place of its text.
    start: u32,
    length: u16,
    /// The number of live passages that have the term. 0 if the entry is free.
    count: u32,
    /// The last passage in the list.
    last: u32,
    postings: Postings,
}

impl Entry {
    /// The place of its text.
    fn place(&self) -> Range<usize> {
        self.start as usize..self.start as usize + usize::from(self.length)
    }
}

/// All terms.
#[derive(Debug, Default)]
pub(crate) struct Vocabulary {
    hasher: WordHasher,
    table: HashTable<TermId>,
    entries: Vec<Entry>,
    texts: String,
    /// The memory of the lists of postings, in bytes.
    heap: usize,
}

impl Vocabulary {
    /// The number of a term, if the index has it.
    pub(crate) fn find(&self, term: &str) -> Option<TermId> {
        self.table.find(self.hasher.hash_one(term), |id| self.text(*id) == term).copied()
    }

    /// The number of a term, which is added if the index does not have it.
    pub(crate) fn intern(&mut self, term: &str) -> TermId {
        let hash = self.hasher.hash_one(term);
        if let Some(id) =
            self.table.find(hash, |id| text_of(&self.texts, &self.entries, *id) == term)
        {
            return *id;
        }
        let id = u32::try_from(self.entries.len()).unwrap_or(u32::MAX);
        if self.entries.len() == self.entries.capacity() {
            // A fourth more, because the entries are most of an index with many distinct terms.
            self.entries.reserve_exact(self.entries.len() / 4 + 16);
        }
        self.entries.push(Entry {
            start: u32::try_from(self.texts.len()).unwrap_or(u32::MAX),
            length: u16::try_from(term.len()).unwrap_or(u16::MAX),
            ..Entry::default()
        });
        self.texts.push_str(term);
        let (hasher, texts, entries) = (&self.hasher, &self.texts, &self.entries);
        self.table.insert_unique(hash, id, |id| hasher.hash_one(text_of(texts, entries, *id)));
        id
    }

    /// The text of a term.
    pub(crate) fn text(&self, id: TermId) -> &str {
        text_of(&self.texts, &self.entries, id)
    }

    /// The number of live passages that have the term.
    pub(crate) fn count(&self, id: TermId) -> u32 {
        self.entries.get(id as usize).map_or(0, |entry| entry.count)
    }

    /// The postings of a term, also those of passages that were removed.
    pub(crate) fn postings(&self, id: TermId) -> &Postings {
        &self.entries[id as usize].postings
    }

    /// Adds a posting, whose passage must be the last one.
    pub(crate) fn push(&mut self, id: TermId, posting: Posting) {
        let entry = &mut self.entries[id as usize];
        let before = entry.postings.heap_bytes();
        entry.postings.push(posting, entry.last);
        entry.last = posting.passage;
        entry.count += 1;
        self.heap = self.heap + entry.postings.heap_bytes() - before;
    }

    /// Takes note that a passage with the term was removed. A term without passages is erased.
    pub(crate) fn release(&mut self, id: TermId) {
        let entry = &mut self.entries[id as usize];
        entry.count = entry.count.saturating_sub(1);
        if entry.count > 0 {
            return;
        }
        self.heap -= entry.postings.heap_bytes();
        let place = entry.place();
        let hash = self.hasher.hash_one(&self.texts[place.clone()]);
        *entry = Entry::default();
        if let Ok(found) = self.table.find_entry(hash, |other| *other == id) {
            found.remove();
        }
        // A text that was removed from a memory must not remain in its index.
        self.texts.replace_range(place.clone(), &"\0".repeat(place.len()));
    }

    /// Adds a term with an encoded list, which must be valid.
    pub(crate) fn insert(&mut self, term: &str, encoded: &[u8], count: u32, last: u32) {
        let id = self.intern(term);
        let entry = &mut self.entries[id as usize];
        entry.postings.append(encoded);
        (entry.count, entry.last) = (count, last);
        self.heap += entry.postings.heap_bytes();
    }

    /// Adds the postings of another vocabulary, whose passages have numbers from 0 on, as those of the passages from `before` on.
    ///
    /// The other one must have no removed passages. The lists grow as with [`push`](Self::push), so their memory is the same.
    pub(crate) fn append(&mut self, other: &Self, before: u32) {
        for of_other in &other.entries {
            let id = self.intern(&other.texts[of_other.place()]);
            let entry = &mut self.entries[id as usize];
            self.heap -= entry.postings.heap_bytes();
            entry.postings.append_all(&of_other.postings, before, entry.last);
            self.heap += entry.postings.heap_bytes();
            entry.count += of_other.count;
            entry.last = before + of_other.last;
        }
    }

    /// Whether the texts of another vocabulary certainly fit.
    pub(crate) fn has_room_for(&self, other: &Self) -> bool {
        u32::try_from(self.texts.len() + other.texts.len()).is_ok() && !self.is_full()
    }

    /// The terms that live passages have, in the order in which they were added.
    pub(crate) fn live(&self) -> impl Iterator<Item = TermId> {
        (0..).zip(&self.entries).filter(|(_, entry)| entry.count > 0).map(|(id, _)| id)
    }

    /// The memory that the terms use, in bytes.
    pub(crate) fn memory(&self) -> usize {
        // A number, and a byte for the table.
        let table = self.table.capacity() * 8 / 7 * 5;
        table + self.entries.capacity() * size_of::<Entry>() + self.texts.capacity() + self.heap
    }

    /// Whether the terms of a further passage may not fit in its numbers.
    pub(crate) fn is_full(&self) -> bool {
        self.texts.len() >= (u32::MAX - (1 << 22)) as usize
    }

    /// A vocabulary with the live terms in the given order, whose postings have the numbers that `renumber` gives for those of now.
    /// `None` is a removed passage. Ascending numbers must stay ascending if `is_ordered`.
    pub(crate) fn rebuilt(
        &self,
        ids: impl Iterator<Item = TermId>,
        is_ordered: bool,
        renumber: &dyn Fn(u32) -> Option<u32>,
    ) -> Self {
        let mut rebuilt = Self::default();
        let mut list = Vec::new();
        for old in ids {
            list.clear();
            let renumbered =
                |posting: Posting| Some(Posting { passage: renumber(posting.passage)?, ..posting });
            list.extend(self.postings(old).iter().filter_map(renumbered));
            if !is_ordered {
                list.sort_unstable_by_key(|posting| posting.passage);
            }
            let new = rebuilt.intern(self.text(old));
            list.iter().for_each(|posting| rebuilt.push(new, *posting));
        }
        rebuilt
    }
}

fn text_of<'t>(texts: &'t str, entries: &[Entry], id: TermId) -> &'t str {
    let Some(entry) = entries.get(id as usize) else { return "" };
    &texts[entry.place()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_term_without_passages_is_erased() {
        let mut vocabulary = Vocabulary::default();
        let (tea, cup) = (vocabulary.intern("tea"), vocabulary.intern("cup"));
        for (term, passage) in [(tea, 0), (cup, 0), (tea, 4)] {
            vocabulary.push(term, Posting { passage, times: 1, in_heading: false });
        }
        vocabulary.release(cup);
        assert_eq!((vocabulary.find("cup"), vocabulary.count(tea)), (None, 2));
        assert!(!vocabulary.texts.contains("cup"));
        assert_eq!(vocabulary.live().collect::<Vec<_>>(), [tea]);
        assert_eq!(
            vocabulary.postings(tea).iter().map(|posting| posting.passage).collect::<Vec<_>>(),
            [0, 4]
        );
    }
}

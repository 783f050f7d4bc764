//! Computes the content of a version from the records.
//!
//! Every splice leads from one content to another, in both directions. A content is computed along the shortest path of splices from
//! a content that is whole: one in a record, or one in the file itself. If a record on the path is damaged, another path
//! is searched. The result is compared with its SHA-256, so a wrong content is never returned.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};

use memdir_store::batch::in_batches;
use memdir_store::{Context, StoreError};

use super::error::HistoryError;
use super::journal::{Journal, OpenSegment, Stored};
use super::record::{ContentId, Digest, KeptSplice, Record};

/// A way to obtain a content.
#[derive(Debug, Clone, Copy)]
enum Source {
    /// The content is stored whole in this record.
    Whole { record: usize, content: ContentId },
    /// A splice of this record turns another content into this one.
    Splice { record: usize, splice: KeptSplice, from: ContentId, is_undone: bool },
}

/// A splice to apply on the path to a content: its record, and whether it is undone.
type Way = (usize, KeptSplice, bool);

/// The sources of all contents.
#[derive(Debug, Default)]
pub(super) struct Contents {
    sources: HashMap<Digest, Vec<Source>>,
}

impl Contents {
    /// Adds the contents of the records from this number on.
    pub(super) fn extend(&mut self, records: &[Stored], from: usize) {
        let sources = &mut self.sources;
        for (record, stored) in records.iter().enumerate().skip(from) {
            for kept in &stored.header.wholes {
                let whole = Source::Whole { record, content: kept.content };
                sources.entry(kept.content.sha256).or_default().push(whole);
            }
            for row in &stored.header.rows {
                let (Some(splice), Some(before), Some(after)) = (row.splice, row.before, row.after)
                else {
                    continue;
                };
                for (to, from, is_undone) in [(after, before, false), (before, after, true)] {
                    let way = Source::Splice { record, splice, from, is_undone };
                    sources.entry(to.sha256).or_default().push(way);
                }
            }
        }
    }

    /// Computes a content. `live` reads it from a file that has it now, if there is one.
    pub(super) fn read(
        &self,
        context: &Context,
        records: &[Stored],
        journal: &dyn Journal,
        wanted: ContentId,
        live: &mut dyn FnMut(Digest) -> Option<Vec<u8>>,
    ) -> Result<Vec<u8>, HistoryError> {
        let (mut broken, mut failed) = (HashSet::new(), None);
        let read = &mut OneByOne { context, journal, open: OpenSegment::default() };
        while let Some((start, ways)) = self.way(wanted.sha256, &broken, live) {
            let mut content = match start {
                Start::Live(content) => content,
                Start::Whole { record, content } => match whole(read, &records[record], content) {
                    Ok(content) => content,
                    Err(error) => {
                        broken.insert(record);
                        failed = error.or(failed);
                        continue;
                    }
                },
            };
            let mut is_broken = false;
            for (record, splice, is_undone) in ways {
                match applied(read, &records[record], &splice, is_undone, content) {
                    Ok(next) => content = next,
                    Err(error) => {
                        broken.insert(record);
                        failed = error.or(failed);
                        is_broken = true;
                        content = Vec::new();
                        break;
                    }
                }
            }
            if !is_broken {
                if Digest::of(&content) == wanted.sha256 {
                    return Ok(content);
                }
                // Each record is intact, but they do not fit together. This is a bug or a forgery.
                return Err(HistoryError::Damaged);
            }
        }
        Err(failed.map_or(HistoryError::Damaged, HistoryError::Store))
    }

    /// The contents that records hold whole, for a caller that needs many. Each of these records is read once, many of them together. `None`
    /// for a content that no record holds whole, or that could not be read this way.
    pub(super) fn read_whole(
        &self,
        context: &Context,
        records: &[Stored],
        journal: &dyn Journal,
        wanted: &[ContentId],
    ) -> Vec<Option<Vec<u8>>> {
        let mut by_record: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (at, wanted) in wanted.iter().enumerate() {
            let mut sources = self.sources.get(&wanted.sha256).into_iter().flatten();
            let record = sources.find_map(|source| match source {
                Source::Whole { record, .. } => Some(*record),
                Source::Splice { .. } => None,
            });
            if let Some(record) = record {
                by_record.entry(record).or_default().push(at);
            }
        }
        let mut contents = vec![None; wanted.len()];
        let holders: Vec<(usize, Vec<usize>)> = by_record.into_iter().collect();
        for some in in_batches(&holders, |(record, _)| records[*record].len) {
            let stored: Vec<&Stored> = some.iter().map(|(record, _)| &records[*record]).collect();
            let read = journal.read_together(context, &stored);
            for ((_, wanting), record) in some.iter().zip(read) {
                let Ok(record) = record else { continue };
                for at in wanting {
                    let content = record.whole(wanted[*at]).map(<[u8]>::to_vec);
                    contents[*at] = content.filter(|it| Digest::of(it) == wanted[*at].sha256);
                }
            }
        }
        contents
    }

    /// The shortest path to a content that avoids broken records: its start, and the splices to apply.
    fn way(
        &self,
        wanted: Digest,
        broken: &HashSet<usize>,
        live: &mut dyn FnMut(Digest) -> Option<Vec<u8>>,
    ) -> Option<(Start, Vec<Way>)> {
        let mut next: HashMap<Digest, (usize, KeptSplice, bool, Digest)> = HashMap::new();
        let mut waiting = VecDeque::from([wanted]);
        let mut seen = HashSet::from([wanted]);
        while let Some(digest) = waiting.pop_front() {
            let sources = self.sources.get(&digest).map_or(&[][..], Vec::as_slice);
            let whole = sources.iter().find_map(|source| match source {
                Source::Whole { record, content } if !broken.contains(record) => {
                    Some(Start::Whole { record: *record, content: *content })
                }
                _ => None,
            });
            if let Some(start) = whole.or_else(|| live(digest).map(Start::Live)) {
                let mut ways = Vec::new();
                let mut at = digest;
                while let Some((record, splice, is_undone, to)) = next.get(&at) {
                    ways.push((*record, *splice, *is_undone));
                    at = *to;
                }
                return Some((start, ways));
            }
            for source in sources {
                if let Source::Splice { record, splice, from, is_undone } = source
                    && !broken.contains(record)
                    && seen.insert(from.sha256)
                {
                    next.insert(from.sha256, (*record, *splice, *is_undone, digest));
                    waiting.push_back(from.sha256);
                }
            }
        }
        None
    }
}

enum Start {
    Live(Vec<u8>),
    Whole { record: usize, content: ContentId },
}

/// Reads one record after another.
struct OneByOne<'r> {
    context: &'r Context,
    journal: &'r dyn Journal,
    open: OpenSegment,
}

impl OneByOne<'_> {
    fn record(&mut self, stored: &Stored) -> Result<Record, StoreError> {
        self.journal.read_next(self.context, stored, &mut self.open)
    }
}

/// `None` for a damaged record, because the error is then that no other path exists.
fn unless_damaged(error: StoreError) -> Option<StoreError> {
    (!error.is_damage()).then_some(error)
}

/// A whole content of a record. The error is `None` if the record is damaged.
fn whole(
    read: &mut OneByOne<'_>,
    stored: &Stored,
    content: ContentId,
) -> Result<Vec<u8>, Option<StoreError>> {
    let record: Record = read.record(stored).map_err(unless_damaged)?;
    record.whole(content).map(<[u8]>::to_vec).ok_or(None)
}

fn applied(
    read: &mut OneByOne<'_>,
    stored: &Stored,
    splice: &KeptSplice,
    is_undone: bool,
    mut content: Vec<u8>,
) -> Result<Vec<u8>, Option<StoreError>> {
    let record = read.record(stored).map_err(unless_damaged)?;
    let (removed, inserted) = record.splice(splice).ok_or(None)?;
    let (there, instead) = if is_undone { (inserted, removed) } else { (removed, inserted) };
    let start = usize::try_from(splice.at).map_err(|_| None)?;
    let end = start.checked_add(there.len()).ok_or(None)?;
    if content.get(start..end) != Some(there) {
        return Err(None);
    }
    content.splice(start..end, instead.iter().copied());
    Ok(content)
}

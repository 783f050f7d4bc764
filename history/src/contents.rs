//! Computes the content of a version from the records.
//!
//! Every splice leads from one content to another, in both directions. So a content is found by the shortest way to it
//! from one that is whole: kept in a record, or in the file itself. If a record on the way is damaged, another way is
//! looked for. What is computed is compared with its SHA-256, so a wrong content is never given out.

use std::collections::{HashMap, HashSet, VecDeque};

use memdir_store::{Context, StoreError};

use super::error::HistoryError;
use super::journal::{Journal, OpenSegment, Stored};
use super::record::{ContentId, Digest, KeptSplice, Record};

/// How a content can be come by.
#[derive(Debug, Clone, Copy)]
enum Source {
    /// It is kept whole in this record.
    Whole { record: usize, content: ContentId },
    /// A splice of this record makes it of another one.
    Splice { record: usize, splice: KeptSplice, from: ContentId, is_undone: bool },
}

/// A splice to apply on the way to a content: its record, and whether it is undone.
type Way = (usize, KeptSplice, bool);

/// The ways to all contents.
#[derive(Debug, Default)]
pub(super) struct Contents {
    sources: HashMap<Digest, Vec<Source>>,
}

impl Contents {
    /// Adds what the records hold from this number on.
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

    /// The content. `live` reads it from a file that has it, if there is one.
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
                // Each record is whole, but they do not go together: a bug, or a forgery.
                return Err(HistoryError::Damaged);
            }
        }
        Err(failed.map_or(HistoryError::Damaged, HistoryError::Store))
    }

    /// The shortest way to a content, past records that are broken: where it starts, and the splices to apply.
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

/// Reads record after record.
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

/// `None` for a damaged record: that there is no way past it is the error.
fn unless_damaged(error: StoreError) -> Option<StoreError> {
    (!error.is_damage()).then_some(error)
}

/// A record's whole content; the error is `None` if the record is damaged.
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

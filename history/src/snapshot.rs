//! [`Snapshot`]: the history at one moment, with the files that it is about.

use std::collections::HashSet;
use std::sync::Mutex;

use memdir_store::HistoryId;
use memdir_store::path::{Folding, MemoryPath};

use super::contents::Contents;
use super::journal::Stored;
use super::record::Digest;
use super::settle::PathState;
use super::timeline::Timeline;

pub(super) struct Snapshot {
    /// The records in the order of the journal, without the withdrawn ones.
    pub(super) records: Vec<Stored>,
    pub(super) timeline: Timeline,
    pub(super) folding: Folding,
    pub(super) contents: Contents,
    /// [`Loaded::end`](super::journal::Loaded::end) when the snapshot was made.
    pub(super) loaded_end: u64,
    /// The damaged parts, described in a few words each.
    pub(super) damaged: Vec<String>,
    /// The content that was computed last. A caller that reads one version often reads its neighbour next.
    pub(super) last: Mutex<Option<(Digest, Vec<u8>)>>,
    /// Whether every record's change was certainly made.
    is_settled: bool,
}

/// How far a journal was loaded.
pub(super) type Extent = (u64, usize, usize, usize);

/// The part of a journal that a snapshot covers.
#[derive(Debug, Clone, Copy)]
pub(super) struct LoadedUntil {
    pub(super) extent: Extent,
    /// [`Loaded::end`](super::journal::Loaded::end).
    pub(super) loaded_end: u64,
    /// The number of loaded records, and the last of them.
    pub(super) end: (usize, Option<HistoryId>),
}

impl Snapshot {
    pub(super) fn new(folding: Folding) -> Self {
        Self {
            records: Vec::new(),
            timeline: Timeline::default(),
            folding,
            contents: Contents::default(),
            loaded_end: 0,
            damaged: Vec::new(),
            last: Mutex::default(),
            is_settled: true,
        }
    }

    /// Whether later records cannot change anything in this snapshot. If a record is in doubt, a later record may decide whether its change
    /// was made.
    pub(super) fn can_go_on(&self) -> bool {
        self.is_settled
    }

    /// Adds the next records. `live` returns the present state of a path.
    pub(super) fn extend(
        &mut self,
        records: Vec<Stored>,
        in_doubt: &HashSet<HistoryId>,
        live: &mut dyn FnMut(&MemoryPath) -> PathState,
    ) {
        self.is_settled &= !records.iter().any(|stored| in_doubt.contains(&stored.header.id));
        let from = self.records.len();
        self.records.extend(records);
        self.timeline.extend(&self.records, from, in_doubt, self.folding, live);
        self.contents.extend(&self.records, from);
    }
}

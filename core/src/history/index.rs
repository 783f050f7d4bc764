//! [`Index`]: what one process knows of a journal.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::SystemTime;

use super::id::HistoryId;
use super::journal::{Appended, Journal, Loaded, Stored};
use super::record::{Digest, Header};
use super::retention::Retention;
use super::snapshot::{Extent, Snapshot};
use crate::store::StoreError;

#[derive(Default)]
pub(super) struct Index {
    pub(super) loaded: Loaded,
    /// The contents that the journal can give back.
    known: HashSet<Digest>,
    /// How many of the loaded records are among the known, and of which generation.
    counted: (usize, u64),
    /// What was last computed of all this, and of how much.
    pub(super) snapshot: Option<(Extent, Arc<Snapshot>)>,
    /// Changes that were made, which the next record will say.
    unconfirmed: Vec<HistoryId>,
}

impl Index {
    /// Looks at what is new in the journal.
    pub(super) fn refresh(&mut self, journal: &dyn Journal) -> Result<(), StoreError> {
        journal.load(&mut self.loaded)?;
        self.count();
        Ok(())
    }

    /// As [`refresh`](Self::refresh), from the beginning: others rewrote the journal meanwhile.
    pub(super) fn reload(&mut self, journal: &dyn Journal) -> Result<(), StoreError> {
        self.loaded.start_anew();
        self.refresh(journal)
    }

    fn count(&mut self) {
        let (mut from, generation) = self.counted;
        if generation != self.loaded.generation || from > self.loaded.records.len() {
            self.known.clear();
            from = 0;
        }
        for stored in &self.loaded.records[from..] {
            self.known.extend(contents_of(&stored.header));
        }
        self.counted = (self.loaded.records.len(), self.loaded.generation);
    }

    /// How far the journal was loaded.
    pub(super) fn extent(&self) -> Extent {
        let loaded = &self.loaded;
        let (withdrawn, confirmed) = (loaded.withdrawn.len(), loaded.confirmed.len());
        (loaded.generation, loaded.records.len(), withdrawn, confirmed)
    }

    /// Whether the journal can give back this content.
    pub(super) fn knows(&self, content: Digest) -> bool {
        self.known.contains(&content)
    }

    /// What a new record can say of earlier ones of this process.
    pub(super) fn take_unconfirmed(&mut self) -> Vec<HistoryId> {
        std::mem::take(&mut self.unconfirmed)
    }

    /// A record that this process appended.
    pub(super) fn appended(&mut self, header: Header, appended: Appended) {
        self.known.extend(contents_of(&header));
        let follows = match appended.at {
            None => true,
            Some(at) => at == self.loaded.end && !self.loaded.beginning.is_empty(),
        };
        if follows {
            let at = appended.at.unwrap_or(0);
            self.loaded.add(header, at, appended.len);
            self.loaded.end = at + appended.len;
            self.counted.0 = self.loaded.records.len();
        }
    }

    /// The change of a record of this process was made.
    pub(super) fn confirmed(&mut self, id: HistoryId, is_noted: bool) {
        self.loaded.confirmed.insert(id);
        if !is_noted {
            self.unconfirmed.push(id);
        }
    }

    /// The change of a record of this process was not made.
    pub(super) fn withdrawn(&mut self, id: HistoryId) {
        self.loaded.withdrawn.insert(id);
    }

    /// Whether something may be kept no longer, as far as is known here.
    pub(super) fn may_be_trimmed(&self, retention: Retention) -> bool {
        let records = &self.loaded.records;
        let oldest = retention.max_age.and_then(|age| SystemTime::now().checked_sub(age));
        let is_old = oldest.is_some_and(|oldest| {
            records.first().is_some_and(|first| first.header.id.time() < oldest)
        });
        let is_much = retention
            .max_bytes
            .is_some_and(|most| records.iter().map(|stored| stored.len).sum::<u64>() > most);
        is_old || is_much || retention.max_versions.is_some_and(|most| records.len() > most)
    }

    /// The records whose change may have been made, in the order of the journal.
    pub(super) fn records(&self) -> impl Iterator<Item = &Stored> {
        let withdrawn = &self.loaded.withdrawn;
        self.loaded.records.iter().filter(|stored| !withdrawn.contains(&stored.header.id))
    }
}

/// The contents that can be computed if this record and its neighbours are there.
fn contents_of(header: &Header) -> impl Iterator<Item = Digest> {
    let kept = header.wholes.iter().map(|kept| kept.content.sha256);
    let spliced = header.rows.iter().filter(|row| row.splice.is_some());
    let spliced = spliced.flat_map(|row| [row.before, row.after]).flatten();
    kept.chain(spliced.map(|content| content.sha256))
}

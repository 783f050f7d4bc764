//! [`Index`]: the part of a journal that one process has loaded.

use std::collections::HashSet;

use memdir_store::clock;
use memdir_store::path::{Folding, MemoryPath};
use memdir_store::{Context, HistoryId, StoreError};

use super::age_clock::AgeClock;
use super::journal::{Journal, Loaded, Pen, Stored};
use super::place::Place;
use super::record::{Digest, Header};
use super::retention::Retention;
use super::snapshot::{Extent, LoadedUntil};

#[derive(Default)]
pub(super) struct Index {
    pub(super) loaded: Loaded,
    /// The contents that the journal can return.
    known: HashSet<Digest>,
    /// The contents of records whose outcome is unknown.
    unsure: Vec<(HistoryId, Vec<Digest>)>,
    /// The number of loaded records that are included in `known`, and their generation.
    counted: (usize, u64),
    /// Changes that were made. The next record will confirm them.
    unconfirmed: Vec<HistoryId>,
    /// Set when the journal is first loaded.
    ages: Option<AgeClock>,
}

impl Index {
    /// Loads the new records of the journal.
    pub(super) fn refresh(
        &mut self,
        context: &Context,
        journal: &dyn Journal,
    ) -> Result<(), StoreError> {
        journal.load(context, &mut self.loaded)?;
        self.ages.get_or_insert_with(|| AgeClock::new(&self.loaded.records));
        self.count();
        Ok(())
    }

    /// As [`refresh`](Self::refresh), from the beginning, because another process rewrote the journal meanwhile.
    pub(super) fn reload(
        &mut self,
        context: &Context,
        journal: &dyn Journal,
    ) -> Result<(), StoreError> {
        self.loaded.start_anew();
        self.refresh(context, journal)
    }

    /// The journal was erased: the next call loads what is there then, and the next record says nothing of earlier ones.
    pub(super) fn erased(&mut self) {
        self.unconfirmed.clear();
        self.loaded.start_anew();
        self.count();
    }

    /// Loads the log again if another process rewrote it since it was loaded, because contents may have been removed.
    pub(super) fn follow_rewrites(
        &mut self,
        context: &Context,
        journal: &dyn Journal,
        pen: &Pen,
    ) -> Result<(), StoreError> {
        let loaded = self.loaded.log.segments.last();
        match (&pen.log, loaded) {
            (Some(log), Some(loaded)) if *loaded != log.id => self.refresh(context, journal),
            _ => Ok(()),
        }
    }

    fn count(&mut self) {
        let (mut from, generation) = self.counted;
        if generation != self.loaded.generation || from > self.loaded.records.len() {
            self.known.clear();
            self.unsure.clear();
            from = 0;
        }
        for stored in &self.loaded.records[from..] {
            self.unsure.push((stored.header.id, contents_of(&stored.header)));
        }
        let (known, confirmed) = (&mut self.known, &self.loaded.confirmed);
        let withdrawn = &self.loaded.withdrawn;
        self.unsure.retain(|(id, contents)| {
            if confirmed.contains(id) {
                known.extend(contents);
            }
            !confirmed.contains(id) && !withdrawn.contains(id)
        });
        self.counted = (self.loaded.records.len(), self.loaded.generation);
    }

    /// The number of loaded records, and the last of them.
    pub(super) fn end(&self) -> (usize, Option<HistoryId>) {
        let records = &self.loaded.records;
        (records.len(), records.last().map(|stored| stored.header.id))
    }

    /// Whether the records loaded then are still the first ones, so only new records follow.
    pub(super) fn goes_on_after(&self, then: LoadedUntil) -> bool {
        let (count, last) = then.end;
        let before = &self.loaded.records.get(..count);
        let is_same = |records: &&[Stored]| records.last().map(|stored| stored.header.id) == last;
        then.extent.0 == self.loaded.generation && before.as_ref().is_some_and(is_same)
    }

    /// The records with an unknown outcome.
    pub(super) fn in_doubt(&self) -> HashSet<HistoryId> {
        self.unsure.iter().map(|(id, _)| *id).collect()
    }

    /// The paths of changes with an unknown outcome, as far as the journal was loaded.
    pub(super) fn paths_in_doubt(&self, folding: Folding) -> HashSet<MemoryPath> {
        let Loaded { confirmed, .. } = &self.loaded;
        let doubtful = self.records().filter(|stored| !confirmed.contains(&stored.header.id));
        let paths = doubtful.flat_map(|stored| &stored.header.rows);
        paths.map(|row| folding.key(&row.path).into_owned()).collect()
    }

    /// How far the journal was loaded.
    pub(super) fn extent(&self) -> Extent {
        let loaded = &self.loaded;
        let (withdrawn, confirmed) = (loaded.withdrawn.len(), loaded.confirmed.len());
        (loaded.generation, loaded.records.len(), withdrawn, confirmed)
    }

    /// Whether the change of a record was certainly made.
    pub(super) fn is_confirmed(&self, id: HistoryId) -> bool {
        self.loaded.confirmed.contains(&id)
    }

    /// Whether the journal can return this content.
    pub(super) fn knows(&self, content: Digest) -> bool {
        self.known.contains(&content)
    }

    /// The earlier changes of this process that a new record can confirm.
    pub(super) fn take_unconfirmed(&mut self) -> Vec<HistoryId> {
        std::mem::take(&mut self.unconfirmed)
    }

    /// Adds a record that this process appended. If it directly follows the loaded ones, `next` is its place and length.
    pub(super) fn appended(&mut self, header: Header, next: Option<(Place, u64)>) {
        if let Some((place, len)) = next {
            self.loaded.add(header, place, len);
            self.count();
        } else {
            self.unsure.push((header.id, contents_of(&header)));
        }
    }

    /// The change of a record of this process was made.
    pub(super) fn confirmed(&mut self, id: HistoryId, is_noted: bool) {
        self.loaded.confirmed.insert(id);
        if !is_noted {
            self.unconfirmed.push(id);
        }
        self.count();
    }

    /// As [`appended`](Self::appended), for records of files that are written together.
    pub(super) fn appended_together(&mut self, headers: &[Header]) {
        let new = headers.iter().map(|header| (header.id, contents_of(header)));
        self.unsure.extend(new);
    }

    /// The end of such records: some changes were made, some were not, and the outcome of the others is unknown. If no note says so, the
    /// next record confirms those that were made, and other processes have to determine the outcome of the rest.
    pub(super) fn ended_together(
        &mut self,
        made: Vec<HistoryId>,
        not_made: &[HistoryId],
        is_noted: bool,
    ) {
        self.loaded.confirmed.extend(&made);
        if is_noted {
            self.loaded.withdrawn.extend(not_made);
        } else {
            self.unconfirmed.extend(made);
        }
        self.count();
    }

    /// The change of a record of this process was not made. The next record repeats the confirmations in `said`.
    pub(super) fn withdrawn(&mut self, id: HistoryId, said: Vec<HistoryId>) {
        self.loaded.withdrawn.insert(id);
        self.unconfirmed.extend(said);
        self.count();
    }

    /// A record of this process was not appended, or was appended although the store failed. The next record repeats the confirmations
    /// in `said`.
    pub(super) fn maybe_appended(&mut self, said: Vec<HistoryId>) {
        self.unconfirmed.extend(said);
    }

    /// The change was not made, but its record could not be withdrawn. Other processes will have to determine the outcome.
    pub(super) fn was_left(&mut self, id: HistoryId) {
        self.loaded.withdrawn.remove(&id);
        // Count the uncertain records again.
        self.counted = (usize::MAX, self.loaded.generation);
        self.count();
    }

    /// The clock that decides which records are too old.
    pub(super) fn ages(&mut self) -> &mut AgeClock {
        self.ages.get_or_insert_with(|| AgeClock::new(&self.loaded.records))
    }

    /// Whether some records may exceed the limits, as far as the journal was loaded.
    pub(super) fn may_be_trimmed(&self, retention: Retention) -> bool {
        let records = &self.loaded.records;
        let oldest = retention.max_age.and_then(|age| clock::now().checked_sub(age));
        let is_old = oldest
            .is_some_and(|oldest| records.iter().any(|stored| stored.header.id.time() < oldest));
        let is_much = retention
            .max_bytes
            .is_some_and(|most| records.iter().map(|stored| stored.len).sum::<u64>() > most);
        is_old || is_much || retention.max_versions.is_some_and(|most| records.len() > most)
    }

    /// The records whose changes may have been made, in the order of the journal.
    pub(super) fn records(&self) -> impl Iterator<Item = &Stored> {
        self.records_from(0)
    }

    /// The same, from the loaded record with this number on.
    pub(super) fn records_from(&self, from: usize) -> impl Iterator<Item = &Stored> {
        let Loaded { records, withdrawn, .. } = &self.loaded;
        records.iter().skip(from).filter(|stored| !withdrawn.contains(&stored.header.id))
    }
}

/// The contents that can be computed from this record and its neighbours.
fn contents_of(header: &Header) -> Vec<Digest> {
    let kept = header.wholes.iter().map(|kept| kept.content.sha256);
    let spliced = header.rows.iter().filter(|row| row.splice.is_some());
    let spliced = spliced.flat_map(|row| [row.before, row.after]).flatten();
    kept.chain(spliced.map(|content| content.sha256)).collect()
}

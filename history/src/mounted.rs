//! [`MountedJournals`]: the history of a tree of mounts, combined from the histories of its stores.
//!
//! Every mounted store records its own changes where it keeps its history. So each history is with its files, encrypted like
//! them, and the same for every process that opens that store. This module reads them as one, with the paths of the tree.
//! It appends nothing except notes about redactions.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use memdir_store::HistoryId;
use memdir_store::path::{Folding, MemoryPath};
use memdir_store::{Context, MountTable, ReadOnly, Store, StoreError};

use super::journal::{Appended, Journal, Loaded, Locked, OpenSegment, Pen, Rewrite, Stored};
use super::kept_files;
use super::place::Place;
use super::record::{Digest, Header, Record, Row};
use super::recorder::{Part, Recorder, writable};
use super::redaction_plan::{NewNames, RedactionPlan, Wholes};
use super::retention::Retention;
use super::snapshot::Extent;

/// The history of the tree that `store` mounts. `one` makes the history of a single store.
pub(super) fn recorder(
    store: &dyn Store,
    mounts: &dyn MountTable,
    retention: Retention,
    one: impl Fn(Arc<dyn Store>) -> Recorder,
) -> Recorder {
    let info = store.info();
    let mut recorders = Vec::new();
    let recording = mounts.with_each(&mut |store| {
        let store = ReadOnly::where_asked(Arc::clone(store), info.is_read_only);
        let recorder = Arc::new(one(store));
        recorders.push(Arc::clone(&recorder));
        recorder.into_store()
    });
    let parts = mounts.numbered().into_iter();
    let parts = parts.map(|(at, number)| Part { at, recorder: Arc::clone(&recorders[number]) });
    let parts: Arc<[Part]> = parts.collect();
    let journals = MountedJournals::new(Arc::clone(&parts), Folding::new(info.folds_case));
    Recorder::of_parts(recording, Arc::new(journals), parts, retention)
}

/// The path in the tree for a path of a part; `None` if the tree has no such path, or if another store is mounted above it.
pub(super) fn outside(
    parts: &[Part],
    folding: Folding,
    part: usize,
    path: &MemoryPath,
) -> Option<MemoryPath> {
    let at = &parts[part].at;
    let path = path.moved(&MemoryPath::root(), at).ok()?;
    let key = folding.key(&path);
    let hides = |other: &Part| {
        let other_at = folding.key(&other.at);
        let is_deeper = folding.key(at).is_above(&other_at);
        is_deeper && other_at.is_above(&key)
    };
    (!parts.iter().any(hides)).then_some(path)
}

pub(super) struct MountedJournals {
    parts: Arc<[Part]>,
    folding: Folding,
    state: Mutex<MergedRecords>,
}

#[derive(Default)]
struct MergedRecords {
    /// How far each journal was loaded.
    extents: Vec<Extent>,
    /// For each record of the tree, its part and the record in that part.
    records: HashMap<HistoryId, (usize, Stored)>,
}

impl MountedJournals {
    fn new(parts: Arc<[Part]>, folding: Folding) -> Self {
        Self { parts, folding, state: Mutex::default() }
    }

    fn state(&self) -> MutexGuard<'_, MergedRecords> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn outside(&self, part: usize, path: &MemoryPath) -> Option<MemoryPath> {
        outside(&self.parts, self.folding, part, path)
    }

    /// A row with the paths of the tree. A row that the tree does not show keeps its position, because versions are numbered by
    /// position, but gets a path that has no versions.
    fn row(&self, part: usize, row: &Row) -> Row {
        let path = self.outside(part, &row.path);
        let old_path = row.old_path.as_ref().map(|path| self.outside(part, path));
        match (path, old_path) {
            (Some(path), None) => Row { path, old_path: None, ..row.clone() },
            (Some(path), Some(Some(old))) => Row { path, old_path: Some(old), ..row.clone() },
            _ => Row { path: kept_files::directory(), old_path: None, ..row.clone() },
        }
    }

    /// Adds the records of a part, in the order of its journal, to the state. Their notes go to `all`.
    fn take(
        &self,
        part: usize,
        own: &Loaded,
        state: &mut MergedRecords,
        all: &mut Loaded,
    ) -> Vec<Stored> {
        let mut taken = Vec::new();
        for stored in &own.records {
            let header = &*stored.header;
            // A tree may contain a store and a copy of it, which have the same history.
            let is_free = |id: &HistoryId| !state.records.contains_key(id);
            let number =
                [0, part + 1].into_iter().find(|number| is_free(&header.id.beside(*number)));
            let Some(number) = number else { continue };
            let header = Header {
                id: header.id.beside(number),
                change: header.change.beside(number),
                redacts: header.redacts.iter().map(|id| id.beside(number)).collect(),
                rows: header.rows.iter().map(|row| self.row(part, row)).collect(),
                ..header.clone()
            };
            if own.withdrawn.contains(&stored.header.id) {
                all.withdrawn.insert(header.id);
            }
            if own.confirmed.contains(&stored.header.id) {
                all.confirmed.insert(header.id);
            }
            state.records.insert(header.id, (part, stored.clone()));
            let (header, place) = (Arc::new(header), Place::default());
            taken.push(Stored { header, place, len: stored.len });
        }
        taken
    }
}

impl MountedJournals {
    /// The redactions in each writable part, in an order in which a second call completes a failed one.
    ///
    /// The caller names versions of some parts. A copy of their contents in another part has no version of its own there by which
    /// it could be found again, so the copies are redacted first. Then each part loses the contents of its own versions.
    fn own_plans(&self, plan: &RedactionPlan) -> Result<Vec<(usize, RedactionPlan)>, StoreError> {
        let state = self.state();
        let (mut copies, mut own) = (Vec::new(), Vec::new());
        for (number, part) in writable(&self.parts) {
            // The part's own id of a version of the tree, if the version belongs to this part.
            let own_id = |id: HistoryId| {
                let (part, stored) = state.records.get(&id.record())?;
                let is_own = Arc::ptr_eq(&self.parts[*part].recorder, &self.parts[number].recorder);
                is_own.then(|| stored.header.id.numbered(id.number()))
            };
            let of_versions: BTreeSet<Digest> = plan
                .versions
                .iter()
                .filter_map(|(id, content)| own_id(*id).map(|_| *content))
                .collect();
            let names: Vec<NewNames> = plan.names.get(number).cloned().into_iter().collect();
            let note = |redacts: Vec<HistoryId>| {
                let note = plan.note.clone().map(|note| {
                    // Ids of records must be unique in the whole tree.
                    let id = HistoryId::new()?;
                    // A note makes other processes load the history again, no matter what it contains.
                    let redacts = if redacts.is_empty() { vec![id] } else { redacts };
                    Ok::<_, StoreError>(Header { id, redacts, ..note })
                });
                note.transpose()
            };
            let contents = |of_versions_too: bool| {
                let contents = plan.contents.iter();
                contents
                    .filter(|(content, _)| of_versions.contains(content) == of_versions_too)
                    .map(|(content, redaction)| (*content, redaction.clone()))
                    .collect()
            };
            let only_copies =
                RedactionPlan { contents: contents(false), ..RedactionPlan::default() };
            let concerned = |plan: &RedactionPlan| {
                let index = part.recorder.reader.index();
                index.loaded.records.iter().any(|stored| plan.concerns(&stored.header))
            };
            let redacts: Vec<HistoryId> = plan
                .note
                .iter()
                .flat_map(|note| &note.redacts)
                .filter_map(|id| own_id(*id))
                .collect();
            let of_its_own =
                RedactionPlan { contents: contents(true), names, ..RedactionPlan::default() };
            let has_own = !redacts.is_empty() || concerned(&of_its_own);
            // Without a match, a log would still remove its withdrawn records, so skip parts that have nothing of the plan.
            if concerned(&only_copies) {
                copies.push((number, RedactionPlan { note: note(Vec::new())?, ..only_copies }));
            } else if !has_own {
                copies.push((number, only_copies));
            }
            if has_own {
                own.push((number, RedactionPlan { note: note(redacts)?, ..of_its_own }));
            }
        }
        copies.extend(own);
        Ok(copies)
    }

    /// Fails if a read-only part contains something that the plan removes.
    fn refuse_in_read_only(&self, plan: &RedactionPlan) -> Result<(), StoreError> {
        for (number, part) in self.parts.iter().enumerate() {
            let names = plan.names.get(number).cloned().into_iter().collect();
            let own = RedactionPlan { names, ..plan.clone() };
            let index = part.recorder.reader.index();
            if part.recorder.store.info().is_read_only
                && index.records().any(|stored| own.concerns(&stored.header))
            {
                return Err(StoreError::ReadOnly);
            }
        }
        Ok(())
    }
}

/// The records of all parts, ordered by id, with each part's records in their own order.
fn merged(parts: Vec<Vec<Stored>>) -> Vec<Stored> {
    let mut parts: Vec<_> = parts.into_iter().map(|part| part.into_iter().peekable()).collect();
    let mut all = Vec::new();
    loop {
        let first = |part: &mut std::iter::Peekable<std::vec::IntoIter<Stored>>| {
            part.peek().map(|stored| stored.header.id)
        };
        let heads = parts.iter_mut().enumerate();
        let next = heads.filter_map(|(number, part)| Some((first(part)?, number))).min();
        let Some(stored) = next.and_then(|(_, number)| parts[number].next()) else { return all };
        all.push(stored);
    }
}

fn only_by_the_parts() -> StoreError {
    StoreError::failed("writing the history", "each mounted store writes its own").unchanged()
}

impl Journal for MountedJournals {
    fn append(&self, _: &Context, _: Pen, _: &Record) -> Result<Appended, StoreError> {
        Err(only_by_the_parts())
    }

    fn confirm(&self, _: HistoryId, _: Appended) -> bool {
        false
    }

    fn withdraw(&self, _: &Context, _: HistoryId, _: Appended) -> Result<Pen, StoreError> {
        Err(only_by_the_parts())
    }

    fn load(&self, context: &Context, loaded: &mut Loaded) -> Result<(), StoreError> {
        let mut extents = Vec::new();
        for part in &*self.parts {
            let mut index = part.recorder.reader.index_in(context)?;
            index.refresh(context, &*part.recorder.journal)?;
            extents.push(index.extent());
        }
        let mut state = self.state();
        let is_loaded = loaded.end > 0;
        if is_loaded && state.extents == extents {
            return Ok(());
        }
        let (mut new, mut all, mut parts) =
            (MergedRecords::default(), Loaded::default(), Vec::new());
        for (number, part) in self.parts.iter().enumerate() {
            let index = part.recorder.reader.index_in(context)?;
            new.extents.push(index.extent());
            all.damaged.extend(index.loaded.damaged.iter().cloned());
            parts.push(self.take(number, &index.loaded, &mut new, &mut all));
        }
        let generations =
            |extents: &[Extent]| extents.iter().map(|extent| extent.0).collect::<Vec<_>>();
        let is_new = is_loaded && generations(&state.extents) != generations(&new.extents);
        all.generation = loaded.generation + u64::from(is_new);
        all.records = merged(parts);
        // Shows that it was loaded.
        all.end = 1;
        (*state, *loaded) = (new, all);
        Ok(())
    }

    fn read_next(
        &self,
        context: &Context,
        stored: &Stored,
        open: &mut OpenSegment,
    ) -> Result<Record, StoreError> {
        let found = self.state().records.get(&stored.header.id).cloned();
        let (part, own) = found.ok_or(StoreError::NotFound)?;
        let record = self.parts[part].recorder.journal.read_next(context, &own, open)?;
        Ok(Record { header: (*stored.header).clone(), ..record })
    }

    /// The parts rewrite their own records, each in its own way.
    fn rewrite(
        &self,
        _: &Locked,
        _: &mut Rewrite<'_>,
        _: Option<&Record>,
    ) -> Result<bool, StoreError> {
        Err(only_by_the_parts())
    }

    /// Changes the records of each store, including those that the tree does not show. Nothing is changed if a read-only store
    /// would have to be changed. The note in each store names its own versions.
    fn redact(
        &self,
        _: &Locked,
        plan: &RedactionPlan,
        wholes: &Wholes,
    ) -> Result<bool, StoreError> {
        self.refuse_in_read_only(plan)?;
        for (number, own) in self.own_plans(plan)? {
            let recorder = &self.parts[number].recorder;
            let journal = &recorder.journal;
            let locked = journal.lock()?;
            let loaded_end = Some(recorder.reader.index().loaded.end);
            let own = RedactionPlan { loaded_end, ..own };
            let is_done = journal.redact(&locked, &own, wholes)?;
            recorder.reader.index().reload(&Context::new(), &**journal)?;
            if !is_done {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn finish_redactions(&self) -> Result<(), StoreError> {
        writable(&self.parts).try_for_each(|(_, part)| part.recorder.journal.finish_redactions())
    }

    fn erase(
        &self,
        _: &Context,
        _: &mut dyn FnMut() -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        Err(only_by_the_parts())
    }

    fn scrub(&self) -> Result<(), StoreError> {
        writable(&self.parts).try_for_each(|(_, part)| part.recorder.journal.scrub())
    }

    fn is_apart(&self) -> bool {
        false
    }

    fn is_cheap_to_follow(&self) -> bool {
        false
    }
}

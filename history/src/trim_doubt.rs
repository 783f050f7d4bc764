//! [`Decided`]: before a trim removes records, it writes down decisions that depended on them.
//!
//! A crash leaves a record that nothing confirms, and [`settle`](super::settle) decides from neighbouring records whether its change
//! was made. After those are removed, the decision would be made again, and might differ: a deletion that was never made would become
//! a version. So the decisions are written down before the records are removed.

use std::collections::{BTreeSet, HashMap, HashSet};

use memdir_store::path::MemoryPath;
use memdir_store::{HistoryId, Operation};

use super::journal::Stored;
use super::kept_files;
use super::record::Row;
use super::snapshot::Snapshot;

#[derive(Default)]
pub(super) struct Decided {
    /// Remaining records whose changes were made. The note of the trim confirms them.
    pub(super) made: Vec<HistoryId>,
    /// Records whose changes were not made. They are removed as well.
    pub(super) not_made: BTreeSet<HistoryId>,
    /// The rows to remove from remaining records: rows that were not made, in records that were made in part.
    pub(super) gone_rows: HashSet<(HistoryId, usize)>,
}

impl Decided {
    /// The decisions that depend on the records in `goes`. `is_confirmed` says whether a record confirms a change. `is_alone` says that no
    /// change is in progress. Otherwise a change that was not made may still be made, unless a later one was.
    pub(super) fn new(
        snapshot: &Snapshot,
        goes: &BTreeSet<HistoryId>,
        is_confirmed: impl Fn(HistoryId) -> bool,
        is_alone: bool,
    ) -> Self {
        let is_going =
            |stored: &Stored| goes.contains(&stored.header.id) || stored.header.trims.is_some();
        let moments = snapshot.timeline.moments.iter();
        let made = moments.filter(|moment| {
            !matches!(moment.operation, Operation::External | Operation::Redacted)
        });
        let made: HashSet<(HistoryId, usize)> =
            made.map(|moment| (moment.header.id, moment.row)).collect();
        // The last record that changed something at each path.
        let mut last: HashMap<MemoryPath, usize> = HashMap::new();
        for (number, stored) in snapshot.records.iter().enumerate() {
            for (row, kept) in stored.header.rows.iter().enumerate() {
                if made.contains(&(stored.header.id, row)) {
                    last.extend(paths(snapshot, kept).map(|path| (path, number)));
                }
            }
        }
        let mut decided = Self::default();
        for (number, stored) in snapshot.records.iter().enumerate() {
            let header = &stored.header;
            if is_going(stored) || header.rows.is_empty() {
                continue;
            }
            if is_confirmed(header.id) {
                continue;
            }
            let not_made: Vec<usize> = (0..header.rows.len())
                .filter(|row| {
                    !made.contains(&(header.id, *row)) && !header.rows[*row].is_reserved()
                })
                .collect();
            let is_past = |row: &Row| {
                is_alone || paths(snapshot, row).any(|path| last.get(&path) > Some(&number))
            };
            // A splice stays with its record or is removed with it.
            let is_alike = |row: &Row| header.rows.len() == 1 || row.splice.is_none();
            let can_go = |row: &usize| is_past(&header.rows[*row]) && is_alike(&header.rows[*row]);
            let is_open = !not_made.iter().all(can_go);
            if not_made.len() == header.rows.len() && !is_open {
                decided.not_made.insert(header.id);
                continue;
            }
            if !is_open {
                decided.made.push(header.id);
            }
            let rows = not_made.iter().filter(|row| can_go(row));
            decided.gone_rows.extend(rows.map(|row| (header.id, *row)));
        }
        // Confirmations that only removed records contain.
        let (going, staying): (Vec<&Stored>, Vec<&Stored>) = snapshot
            .records
            .iter()
            .partition(|stored| is_going(stored) || decided.not_made.contains(&stored.header.id));
        let said: HashSet<&HistoryId> =
            going.iter().flat_map(|stored| &stored.header.confirms).collect();
        let is_said = |id: &HistoryId| is_confirmed(*id) && said.contains(id);
        decided.made.extend(staying.iter().map(|stored| stored.header.id).filter(is_said));
        decided
    }

    /// Whether this changes a record.
    pub(super) fn concerns(&self, id: HistoryId) -> bool {
        self.not_made.contains(&id) || self.gone_rows.iter().any(|(of, _)| *of == id)
    }

    /// Clears the removed rows. They keep their positions, because versions are numbered by position.
    pub(super) fn apply(&self, id: HistoryId, rows: &mut [Row]) {
        for (number, row) in rows.iter_mut().enumerate() {
            if self.gone_rows.contains(&(id, number)) {
                let path = kept_files::directory();
                *row = Row { path, old_path: None, before: None, after: None, ..row.clone() };
            }
        }
    }
}

fn paths(snapshot: &Snapshot, row: &Row) -> impl Iterator<Item = MemoryPath> {
    let paths = std::iter::once(&row.path).chain(&row.old_path);
    paths.map(|path| snapshot.folding.key(path).into_owned()).collect::<Vec<_>>().into_iter()
}

//! [`LateRows`]: changes that were recorded after a later change.
//!
//! A journal has the records in the order in which they were written, not the changes in the order in which they were made.
//! If the order matters, the contents usually show it: a later change found the content that the earlier one left. This fails for a
//! change that leaves the content as it found it, such as a file that is overwritten with the same content. If another process
//! deletes or moves the file at the same time, both find the same content, and the overwrite may have been made first although its
//! record comes second. Then there is nothing at the path afterwards.

use std::collections::{HashMap, HashSet};

use memdir_store::path::{Folding, MemoryPath};

use super::journal::Stored;
use super::record::{ContentId, Row};
use super::settle::{self, PathState};

/// The number of a record, and the number of a row in it.
pub(super) type RowNumber = (usize, usize);

#[derive(Debug, Default)]
pub(super) struct LateRows {
    /// For each row, the rows that were made before it but recorded after it.
    before: HashMap<RowNumber, Vec<RowNumber>>,
    late: HashSet<RowNumber>,
}

impl LateRows {
    /// Finds these rows among the rows for which `was_made` is true. `live` returns the present state of a path.
    pub(super) fn among(
        records: &[Stored],
        was_made: impl Fn(RowNumber) -> bool,
        folding: Folding,
        live: &mut dyn FnMut(&MemoryPath) -> PathState,
    ) -> Self {
        let rows = records.iter().enumerate().flat_map(|(record, stored)| {
            stored.header.rows.iter().enumerate().map(move |(row, kept)| ((record, row), kept))
        });
        let rows: Vec<(RowNumber, &Row)> = rows.filter(|(number, _)| was_made(*number)).collect();
        let mut late = Self::default();
        if !rows.iter().any(|(_, row)| changes_nothing(row)) {
            return late;
        }
        let key = |path: &MemoryPath| folding.key(path).into_owned();
        // For each path of a removed file: the row that removed it, and the content that this row found.
        let mut taken: HashMap<MemoryPath, (RowNumber, ContentId)> = HashMap::new();
        for (at, (number, row)) in rows.iter().enumerate() {
            let path = key(&row.path);
            if changes_nothing(row) {
                let Some((taker, found)) = taken.remove(&path) else { continue };
                let mut later = rows[at + 1..].iter().filter(|(_, row)| !changes_nothing(row));
                let next = later.find_map(|(_, row)| found_at(row, &path, folding));
                let next = next.unwrap_or_else(|| live(&row.path));
                if row.before == Some(found) && next == PathState::Nothing {
                    late.before.entry(taker).or_default().push(*number);
                    late.late.insert(*number);
                    taken.insert(path, (taker, found));
                }
                continue;
            }
            taken.remove(&path);
            let leaves = match (&row.old_path, settle::ends(row).1) {
                (Some(old_path), _) => Some(key(old_path)),
                (None, PathState::Nothing) => Some(path),
                (None, _) => None,
            };
            if let (Some(path), Some(found)) = (leaves, row.before) {
                taken.insert(path, (*number, found));
            }
        }
        late
    }

    /// The rows to process in place of this one, in the order in which they were made.
    pub(super) fn at(&self, number: RowNumber) -> impl Iterator<Item = RowNumber> {
        let before = self.before.get(&number).into_iter().flatten().copied();
        before.chain((!self.late.contains(&number)).then_some(number))
    }
}

/// Whether a change left the content as it found it.
fn changes_nothing(row: &Row) -> bool {
    row.old_path.is_none() && row.before.is_some() && row.before == row.after
}

/// The state that a change found at a path; `None` if it is not about this path.
fn found_at(row: &Row, path: &MemoryPath, folding: Folding) -> Option<PathState> {
    if *folding.key(&row.path) == *path {
        return Some(settle::ends(row).0);
    }
    let is_from = row.old_path.as_ref().is_some_and(|old| *folding.key(old) == *path);
    is_from.then(|| row.before.map_or(PathState::Unknown, |it| PathState::File(it.sha256)))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use memdir_store::{HistoryId, Operation};

    use super::*;
    use crate::place::Place;
    use crate::record::{Digest, Record};

    fn at(name: &str) -> MemoryPath {
        MemoryPath::root().join(name).unwrap()
    }

    /// Rows of one record each: `.>a` creates a file `f` with the content `a`, `a>.` deletes it, and `a>f` moves it to `f`.
    fn order(rows: &[&str], now: PathState) -> Vec<usize> {
        let content = |name: &str| (name != ".").then(|| ContentId::of(name.as_bytes()));
        let records: Vec<Stored> = rows
            .iter()
            .map(|row| {
                let (before, after) = row.split_once('>').unwrap();
                let mut kept = Row {
                    operation: Operation::Modified,
                    path: at("f"),
                    old_path: None,
                    before: content(before),
                    after: content(after),
                    splice: None,
                    is_trimmed: false,
                };
                if after.len() > 1 {
                    (kept.path, kept.old_path, kept.after) =
                        (at(after), Some(at("f")), kept.before);
                }
                let id = HistoryId::new().unwrap();
                let mut record = Record::new(id, id, None);
                record.header.rows.push(kept);
                Stored { header: Arc::new(record.header), place: Place::default(), len: 0 }
            })
            .collect();
        let late = LateRows::among(&records, |_| true, Folding::new(false), &mut |_| now);
        (0..rows.len()).flat_map(|record| late.at((record, 0))).map(|(record, _)| record).collect()
    }

    #[test]
    fn what_changes_nothing_comes_before_what_took_the_file_away() {
        let there = PathState::File(Digest::of(b"a"));
        for (rows, now, expected) in [
            (&[".>a", "a>.", "a>a"][..], PathState::Nothing, &[0, 2, 1][..]),
            (&[".>a", "a>other", "a>a"], PathState::Nothing, &[0, 2, 1]),
            (&[".>a", "a>.", "a>a", "a>a"], PathState::Nothing, &[0, 2, 3, 1]),
            // The next change found nothing.
            (&[".>a", "a>.", "a>a", ".>b"], there, &[0, 2, 1, 3]),
            // Another program has written the same content again.
            (&[".>a", "a>.", "a>a"], there, &[0, 1, 2]),
            (&[".>a", "a>.", "a>a", "a>b"], PathState::Nothing, &[0, 1, 2, 3]),
            (&[".>a", "a>.", "b>b"], PathState::Nothing, &[0, 1, 2]),
            (&[".>a", "a>a", "a>."], PathState::Nothing, &[0, 1, 2]),
            (&[".>a", "a>.", ".>a", "a>a"], there, &[0, 1, 2, 3]),
        ] {
            assert_eq!(order(rows, now), expected, "{rows:?}");
        }
    }
}

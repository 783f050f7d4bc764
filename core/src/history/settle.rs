//! Which records of a journal stand for a change that was made.
//!
//! A record is written before its change. Its writer notes whether the change was made; a kill in between leaves a
//! record without a note. Then what came after tells: the next change of that file names the content that it found, and
//! if there is none, the file itself does.

use std::collections::{HashMap, HashSet};

use super::id::HistoryId;
use super::journal::Stored;
use super::record::{Digest, Row};
use crate::path::{Folding, MemoryPath};

/// What is at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Found {
    Nothing,
    File(Digest),
    /// Nobody looked.
    Unknown,
}

impl Found {
    fn agrees(self, other: Self) -> bool {
        match (self, other) {
            (Self::Unknown, Self::Nothing) | (Self::Nothing, Self::Unknown) => false,
            (Self::Unknown, _) | (_, Self::Unknown) => true,
            (one, other) => one == other,
        }
    }
}

/// One change at one path.
struct Step {
    record: usize,
    row: usize,
    from: Found,
    to: Found,
}

/// What a row found at its path, and left there. For a rename there is an old path as well.
pub(super) fn ends(row: &Row) -> (Found, Found) {
    let before = row.before.map_or(Found::Unknown, |content| Found::File(content.sha256));
    let after = row.after.map_or(Found::Unknown, |content| Found::File(content.sha256));
    match (&row.old_path, row.splice, row.after) {
        (Some(_), ..) => (Found::Nothing, after),
        (None, Some(_), _) => (before, after),
        (None, None, Some(_)) if row.before.is_none() => (Found::Nothing, after),
        (None, None, Some(_)) => (before, after),
        (None, None, None) => (before, Found::Nothing),
    }
}

/// The rows, as numbers of records and rows, whose change was not made. `live` says what is at a path now.
pub(super) fn not_made(
    records: &[&Stored],
    confirmed: &HashSet<HistoryId>,
    folding: Folding,
    live: &mut dyn FnMut(&MemoryPath) -> Found,
) -> HashSet<(usize, usize)> {
    let doubtful = |stored: &Stored| !confirmed.contains(&stored.header.id);
    if !records.iter().any(|stored| doubtful(stored)) {
        return HashSet::new();
    }
    let mut steps: HashMap<MemoryPath, Vec<Step>> = HashMap::new();
    for (record, stored) in records.iter().enumerate() {
        for (row, kept) in stored.header.rows.iter().enumerate() {
            let (from, to) = ends(kept);
            let at = folding.key(&kept.path).into_owned();
            steps.entry(at).or_default().push(Step { record, row, from, to });
            if let Some(old_path) = &kept.old_path {
                let at = folding.key(old_path).into_owned();
                let before =
                    kept.before.map_or(Found::Unknown, |content| Found::File(content.sha256));
                let step = Step { record, row, from: before, to: Found::Nothing };
                steps.entry(at).or_default().push(step);
            }
        }
    }
    let mut not_made = HashSet::new();
    for (path, steps) in &steps {
        for (number, step) in steps.iter().enumerate() {
            // A rename is decided at its new path.
            let is_departure = records[step.record].header.rows[step.row]
                .old_path
                .as_ref()
                .is_some_and(|old| folding.key(old).as_ref() == path);
            if doubtful(records[step.record])
                && !is_departure
                && !was_made(steps, number, path, live)
            {
                not_made.insert((step.record, step.row));
            }
        }
    }
    not_made
}

fn was_made(
    steps: &[Step],
    number: usize,
    path: &MemoryPath,
    live: &mut dyn FnMut(&MemoryPath) -> Found,
) -> bool {
    let step = &steps[number];
    if step.from == step.to {
        return true;
    }
    // Others that found the same: at most one of them was made before the next one that found something else.
    let is_rival = |other: &Step| other.from == step.from && other.from != step.to;
    let before = steps[..number].iter().rev().take_while(|other| is_rival(other));
    let rivals_before: Vec<&Step> = before.collect();
    let after = steps[number + 1..].iter().take_while(|other| is_rival(other));
    let rivals_after: Vec<&Step> = after.collect();
    let found = match steps.get(number + 1 + rivals_after.len()) {
        Some(next) => next.from,
        None => live(path),
    };
    if step.to.agrees(found) {
        return true;
    }
    let mut rivals = rivals_before.iter().chain(&rivals_after);
    if step.from.agrees(found) || rivals.any(|rival| rival.to.agrees(found)) {
        return false;
    }
    // Somebody else wrote in between. The first one was made; the others found what was no longer there.
    rivals_before.is_empty()
}

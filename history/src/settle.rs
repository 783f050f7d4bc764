//! Decides for each record of a journal whether its change was made.
//!
//! A record is written before its change. Its writer then notes whether the change was made. A crash in between leaves a
//! record without a note. Then the later records decide: the next change of that file names the content that it found. If
//! there is no later change, the file itself decides.

use std::collections::{HashMap, HashSet};

use memdir_store::HistoryId;
use memdir_store::path::{Folding, MemoryPath};

use super::journal::Stored;
use super::record::{Digest, Row};

/// The state of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PathState {
    Nothing,
    File(Digest),
    /// The path was not read.
    Unknown,
}

impl PathState {
    fn agrees(self, other: Self) -> bool {
        match (self, other) {
            (Self::Unknown, Self::Nothing) | (Self::Nothing, Self::Unknown) => false,
            (Self::Unknown, _) | (_, Self::Unknown) => true,
            (one, other) => one == other,
        }
    }
}

/// One write at one path: one change, or several that were joined.
struct Step {
    /// The numbers of the records and of their rows.
    rows: Vec<(usize, usize)>,
    from: PathState,
    to: PathState,
    /// Whether the first of them was joined to a change whose record was withdrawn since.
    is_orphan: bool,
}

/// The states that a row found and left at its path. A rename also has an old path.
pub(super) fn ends(row: &Row) -> (PathState, PathState) {
    let before = row.before.map_or(PathState::Unknown, |content| PathState::File(content.sha256));
    let after = row.after.map_or(PathState::Unknown, |content| PathState::File(content.sha256));
    match (&row.old_path, row.splice, row.after) {
        (Some(_), ..) => (PathState::Nothing, after),
        (None, Some(_), _) => (before, after),
        (None, None, Some(_)) if row.before.is_none() => (PathState::Nothing, after),
        (None, None, Some(_)) => (before, after),
        (None, None, None) => (before, PathState::Nothing),
    }
}

/// The rows whose changes were not made, among the records `in_doubt`, as numbers of records and rows. `live` returns the present
/// state of a path.
pub(super) fn not_made(
    records: &[Stored],
    in_doubt: &HashSet<HistoryId>,
    folding: Folding,
    live: &mut dyn FnMut(&MemoryPath) -> PathState,
) -> HashSet<(usize, usize)> {
    let doubtful = |stored: &Stored| in_doubt.contains(&stored.header.id);
    if in_doubt.is_empty() || !records.iter().any(doubtful) {
        return HashSet::new();
    }
    let mut steps: HashMap<MemoryPath, Vec<Step>> = HashMap::new();
    for (record, stored) in records.iter().enumerate() {
        for (row, kept) in stored.header.rows.iter().enumerate() {
            let (from, to) = ends(kept);
            let at = folding.key(&kept.path).into_owned();
            add(steps.entry(at).or_default(), (record, row), from, to, stored.header.is_joined);
            if let Some(old_path) = &kept.old_path {
                let at = folding.key(old_path).into_owned();
                let before = kept
                    .before
                    .map_or(PathState::Unknown, |content| PathState::File(content.sha256));
                let rows = vec![(record, row)];
                let step = Step { rows, from: before, to: PathState::Nothing, is_orphan: false };
                steps.entry(at).or_default().push(step);
            }
        }
    }
    // A rename is decided at its new path, and before other changes, because it shows the earlier state of its old path.
    let (mut made, mut not_made) = (HashSet::new(), HashSet::new());
    for of_renames in [true, false] {
        let mut decided = Vec::new();
        for (path, steps) in &steps {
            for (number, step) in steps.iter().enumerate() {
                let (record, row) = step.rows[0];
                let kept = &records[record].header.rows[row];
                let is_departure =
                    kept.old_path.as_ref().is_some_and(|old| folding.key(old).as_ref() == path);
                let mut in_doubt =
                    step.rows.iter().filter(|(record, _)| doubtful(&records[*record])).peekable();
                if in_doubt.peek().is_none()
                    || is_departure
                    || kept.old_path.is_some() != of_renames
                {
                    continue;
                }
                let is_certain = |step: &Step| {
                    let mut rows = step.rows.iter();
                    rows.any(|row| !doubtful(&records[row.0]) || made.contains(row))
                };
                let was_made = is_certain(step) || was_made(steps, number, &is_certain, path, live);
                decided.extend(in_doubt.map(|row| (*row, was_made)));
            }
        }
        for (row, was_made) in decided {
            if was_made {
                made.insert(row)
            } else {
                not_made.insert(row)
            };
        }
    }
    not_made
}

/// Adds a change to the steps of its path. A joined change belongs to the write of the change that left what it found.
fn add(
    steps: &mut Vec<Step>,
    row: (usize, usize),
    from: PathState,
    to: PathState,
    is_joined: bool,
) {
    let joined = steps.iter_mut().rev().find(|step| is_joined && step.to == from);
    match joined {
        Some(step) => {
            step.rows.push(row);
            step.to = to;
        }
        None => steps.push(Step { rows: vec![row], from, to, is_orphan: is_joined }),
    }
}

/// Whether the change of a step was made, if no note says so.
fn was_made(
    steps: &[Step],
    number: usize,
    is_certain: &dyn Fn(&Step) -> bool,
    path: &MemoryPath,
    live: &mut dyn FnMut(&MemoryPath) -> PathState,
) -> bool {
    let (earlier, step, later) = (&steps[..number], &steps[number], &steps[number + 1..]);
    if step.from == step.to {
        return true;
    }
    let next = later.iter().position(is_certain);
    let until_next = &later[..next.map_or(later.len(), |next| next + 1)];
    // A later record found the same content and makes the same change, so this change was not made.
    let mut until_back = until_next.iter().take_while(|other| other.to != step.from);
    if until_back.any(|other| (other.from, other.to) == (step.from, step.to)) {
        return false;
    }
    // A later record found the same content, and its result was found afterwards, so its change was made instead of this one.
    let mut until_back = until_next.iter().take_while(|other| other.to != step.from).enumerate();
    if until_back.any(|(at, other)| {
        let was_found = || until_next[at + 1..].iter().any(|found| found.from == other.to);
        other.from == step.from
            && !matches!(other.to, PathState::Unknown)
            && other.to != step.to
            && was_found()
    }) {
        return false;
    }
    // A later record names what it found here: the file that this change left, or nothing.
    if step.to == PathState::Unknown
        && let Some(other) = until_next.iter().find(|other| other.from != PathState::Unknown)
    {
        return other.from != PathState::Nothing;
    }
    if until_next.iter().any(|other| other.from == step.to) {
        return true;
    }
    let found = match next {
        Some(next) => later[next].from,
        None => live(path),
    };
    if step.to.agrees(found) {
        return true;
    }
    // The earlier state is still present, or the result of a rival change, recorded before or after this one, is present or was
    // found by a later change.
    let before = earlier.iter().rev().find(|other| is_certain(other)).map(|other| other.to);
    let is_rival = |other: &&Step| other.from == step.from && other.from != step.to;
    // A change before the last certain one that left this step's content is not a rival.
    let found_again = earlier.iter().rposition(|other| is_certain(other) && other.to == step.from);
    let mut rivals = steps[..number + 1 + until_next.len()]
        .iter()
        .enumerate()
        .skip(found_again.map_or(0, |at| at + 1))
        .filter(|(at, rival)| *at != number && is_rival(rival));
    let was_found = |at: usize, to: PathState| {
        to != PathState::Unknown && steps[at + 1..].iter().any(|other| other.from == to)
    };
    if step.from.agrees(found)
        || before.is_some_and(|before| before.agrees(found))
        || rivals.any(|(at, rival)| rival.to.agrees(found) || was_found(at, rival.to))
    {
        return false;
    }
    // The write with both changes was refused, and the process was killed before it withdrew the second record.
    if step.is_orphan {
        return false;
    }
    // Another program wrote in between, so no record decides. The change counts if it found the state of that time, and no rival
    // was recorded directly before it.
    let since_certain = earlier.iter().rev().take_while(|other| !is_certain(other));
    let was_there = before.is_none_or(|before| before.agrees(step.from))
        || since_certain.into_iter().any(|other| other.to == step.from);
    let is_late = !was_there;
    !is_late && !earlier.iter().rev().take_while(|other| is_rival(other)).any(|_| true)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Steps between contents that are named by letters; `.` is nothing. A step with `>` is certain, a step with `?` is not.
    /// A step that begins with `+` is joined.
    fn made(steps: &[&str], now: &str) -> Vec<bool> {
        let found = |name: &str| match name {
            "." => PathState::Nothing,
            name => PathState::File(Digest::of(name.to_lowercase().as_bytes())),
        };
        let certain: Vec<bool> = steps.iter().map(|step| step.contains('>')).collect();
        let mut kept = Vec::new();
        for (record, step) in steps.iter().enumerate() {
            let (from, to) = step.split_once(['>', '?']).unwrap();
            let (is_joined, from) = (from.starts_with('+'), from.trim_start_matches('+'));
            add(&mut kept, (record, 0), found(from), found(to), is_joined);
        }
        let root = MemoryPath::root();
        let is_certain = |step: &Step| step.rows.iter().any(|(record, _)| certain[*record]);
        let mut made = vec![false; steps.len()];
        for number in 0..kept.len() {
            let was_made = is_certain(&kept[number])
                || was_made(&kept, number, &is_certain, &root, &mut |_| found(now));
            kept[number].rows.iter().for_each(|(record, _)| made[*record] = was_made);
        }
        made
    }

    /// The state of a process that edits a file.
    #[derive(Debug, Clone, Copy)]
    enum Doing {
        Nothing,
        /// It has read this content.
        Read(usize),
        /// It has written the record with this number.
        Recorded(usize),
        /// Another process was faster, and the record must be withdrawn.
        TooLate(usize),
    }

    /// A record of an edit: the contents that it found and left.
    struct EditRecord {
        from: usize,
        to: usize,
        /// The earlier edit of the same process that this record confirms.
        confirms: Option<usize>,
        is_certain: bool,
        was_made: bool,
        is_withdrawn: bool,
    }

    /// The next event.
    #[derive(Debug, Clone, Copy, PartialEq)]
    enum Event {
        /// The process makes its next step.
        Step,
        /// The process makes a change of another file, whose record confirms its last edit.
        Elsewhere,
        Killed,
        /// The process is killed after it sent its edit to a server. The edit arrives there later.
        KilledAfterSending,
        /// An edit of a killed process arrives.
        Arrival,
    }

    /// Processes that edit one file. Each of them may be killed between any two steps. No other program writes, so the records must
    /// decide everything: every change that was made, and none that was not.
    fn settled_after(schedule: &[(usize, Event)]) -> (Vec<bool>, Vec<bool>) {
        const PROCESSES: usize = 3;
        let (mut now, mut edits, mut sent) = (0, Vec::<EditRecord>::new(), Vec::new());
        let mut processes = [(Doing::Nothing, None::<usize>); PROCESSES];
        for (number, event) in schedule {
            let (doing, unconfirmed) = &mut processes[number % PROCESSES];
            match (event, *doing) {
                (Event::Killed | Event::KilledAfterSending, _) => {
                    if let (Event::KilledAfterSending, Doing::Recorded(edit)) = (event, *doing) {
                        sent.push(edit);
                    }
                    (*doing, *unconfirmed) = (Doing::Nothing, None);
                }
                (Event::Arrival, _) if sent.is_empty() => {}
                (Event::Arrival, _) => {
                    let edit = sent.swap_remove(number % sent.len());
                    if edits[edit].from == now {
                        now = edits[edit].to;
                        edits[edit].was_made = true;
                    }
                }
                (Event::Elsewhere, Doing::Nothing) => {
                    if let Some(before) = unconfirmed.take() {
                        edits[before].is_certain = true;
                    }
                }
                (_, Doing::Nothing) => *doing = Doing::Read(now),
                (_, Doing::Read(from)) => {
                    edits.push(EditRecord {
                        from,
                        to: edits.len() + 1,
                        confirms: unconfirmed.take(),
                        is_certain: false,
                        was_made: false,
                        is_withdrawn: false,
                    });
                    *doing = Doing::Recorded(edits.len() - 1);
                }
                (_, Doing::Recorded(edit)) if edits[edit].from == now => {
                    now = edits[edit].to;
                    edits[edit].was_made = true;
                    *unconfirmed = Some(edit);
                    *doing = Doing::Nothing;
                }
                (_, Doing::Recorded(edit)) => *doing = Doing::TooLate(edit),
                (_, Doing::TooLate(edit)) => {
                    edits[edit].is_withdrawn = true;
                    *doing = Doing::Nothing;
                }
            }
        }
        // The confirmations of a withdrawn record are lost with it.
        for edit in 0..edits.len() {
            if let (Some(before), false) = (edits[edit].confirms, edits[edit].is_withdrawn) {
                edits[before].is_certain = true;
            }
        }
        edits.retain(|edit| !edit.is_withdrawn);
        let sign = |edit: &EditRecord| if edit.is_certain { '>' } else { '?' };
        let steps: Vec<String> =
            edits.iter().map(|edit| format!("{}{}{}", edit.from, sign(edit), edit.to)).collect();
        let steps: Vec<&str> = steps.iter().map(String::as_str).collect();
        (made(&steps, &now.to_string()), edits.iter().map(|edit| edit.was_made).collect())
    }

    proptest! {
        #![proptest_config(memdir_test_support::effort::cases(500))]
        #[test]
        fn kills_leave_no_doubt_where_nobody_else_writes(
            schedule in prop::collection::vec(
                (0..6_usize, prop_oneof![
                    14 => Just(Event::Step),
                    1 => Just(Event::Elsewhere),
                    2 => Just(Event::Killed),
                    1 => Just(Event::KilledAfterSending),
                    1 => Just(Event::Arrival),
                ]),
                0..60,
            ),
        ) {
            let (settled, was_made) = settled_after(&schedule);
            prop_assert_eq!(settled, was_made);
        }
    }

    #[test]
    fn what_came_after_tells_whether_a_change_was_made() {
        // `>` is certain, `?` is not.
        for (steps, now, expected) in [
            (&["a?b"][..], "b", &[true][..]),
            (&["a?b"], "a", &[false]),
            // Another program wrote since.
            (&["a?b"], "x", &[true]),
            (&["a>b", "b?c", "c?d"], "x", &[true, true, true]),
            (&["a>b", "b>a", "a?c"], "x", &[true, true, true]),
            (&[".?a"], ".", &[false]),
            (&[".?a"], "a", &[true]),
            (&["a?."], "a", &[false]),
            (&["a?."], ".", &[true]),
            // Two that found the same content.
            (&["a?b", "a?c"], "c", &[false, true]),
            (&["a?b", "a?c"], "b", &[true, false]),
            (&["a?b", "a>c"], "c", &[false, true]),
            (&["a>b", "a?c"], "b", &[true, false]),
            (&["a>b", "a?c", "b>d"], "d", &[true, false, true]),
            // One that was recorded late.
            (&["a>c", "c>d", "a?b", "d>e"], "e", &[true, true, false, true]),
            (&["a>c", "c>d", "a?b"], "d", &[true, true, false]),
            (&["a>c", "c>d", "a?b", "d?x"], "d", &[true, true, false, false]),
            // One after the other, and none of them certain.
            (&["a?b", "b?c", "c>d"], "d", &[true, true, true]),
            (&["a?b", "b?c"], "c", &[true, true]),
            (&["a?b", "b?c"], "b", &[true, false]),
            // One that was not made, and then several by others, none of them certain.
            (&["a?x", "a?b", "b?c"], "c", &[false, true, true]),
            (&["a>b", "a?x", "b?c", "c?d"], "d", &[true, false, true, true]),
            (&[".?x", ".?a", "a?b"], "b", &[false, true, true]),
            // One that was not made, although the file is in the state that it would have left: others led to the same state.
            (&["a?.", "a?b", "b?."], ".", &[false, true, true]),
            // Three in one write, which was not made, or was made, or was seen by the next change.
            (&["a?b", "+b?c", "+c?d"], "a", &[false, false, false]),
            (&["a?b", "+b?c", "+c?d"], "d", &[true, true, true]),
            (&["a?b", "+b?c", "c?d"], "c", &[true, true, false]),
            (&["a?b", "+b?c", "c>d"], "x", &[true, true, true]),
            (&["a?b", "+b?c", "a>d"], "x", &[false, false, true]),
            // One of them is certain.
            (&["a?b", "+b>c", "+c?d"], "x", &[true, true, true]),
            // Another process was faster, and the group was written again.
            (&["a?b", "+b?c", "a?x", "x?y", "+y?z"], "z", &[false, false, true, true, true]),
            // The record of the first was withdrawn, and the process was killed before it withdrew the second.
            (&["a>x", "+b?c"], "x", &[true, false]),
            (&["+b?c"], "x", &[false]),
            (&["+b?c"], "c", &[true]),
            // A change and its reversal.
            (&["a>b", "b?a"], "a", &[true, true]),
            (&["a>b", "b?a"], "b", &[true, false]),
        ] {
            assert_eq!(made(steps, now), expected, "{steps:?}, now {now}");
        }
    }
}

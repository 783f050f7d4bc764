//! `restore` and `restore_all`: bring files back to an earlier state. `undo` is in its own module.
//!
//! Each of them determines the wanted state of some files. From it comes a list of [`Step`]s, which is checked as a whole
//! before the first step is made. Each step is recorded like any other change, so it can be undone as well.

use std::collections::{BTreeMap, HashMap};
use std::time::SystemTime;

use memdir_store::Context;
use memdir_store::HistoryId;
use memdir_store::Operation;
use memdir_store::path::MemoryPath;

use super::conflict::Conflict;
use super::error::HistoryError;
use super::obstacles::{Availability, Obstacles};
use super::record::ContentId;
use super::recorder::Recorder;
use super::settle::PathState;
use super::snapshot::Snapshot;
use super::steps::{Restored, Step, without_detours};
use super::timeline::FileState;

/// The wanted state of a file.
#[derive(Debug, Clone)]
pub(super) enum Wanted {
    Gone,
    /// The file exists with this content, or with its present content if there is none here.
    There(MemoryPath, Option<ContentId>),
    /// The file exists with this text, which was merged from the content that was found.
    Merged {
        path: MemoryPath,
        found: PathState,
        text: String,
    },
}

impl Wanted {
    fn path(&self) -> Option<&MemoryPath> {
        match self {
            Self::Gone => None,
            Self::There(path, _) | Self::Merged { path, .. } => Some(path),
        }
    }
}

/// Drops deleted files if another wanted file was at the same path later and is deleted as well.
fn without_earlier_at_a_path(
    snapshot: &Snapshot,
    mut wanted: BTreeMap<usize, Wanted>,
) -> BTreeMap<usize, Wanted> {
    let Snapshot { timeline, folding, .. } = snapshot;
    let place = |file: usize, wanted: &Wanted| {
        let is_there = timeline.moments[timeline.latest[file]].state.is_there();
        let path = wanted.path().filter(|_| !is_there)?;
        Some(folding.key(path).into_owned())
    };
    let mut last: HashMap<MemoryPath, usize> = HashMap::new();
    for (file, wanted) in &wanted {
        if let Some(place) = place(*file, wanted) {
            let last = last.entry(place).or_insert(*file);
            *last = (*last).max(*file);
        }
    }
    wanted.retain(|file, wanted| {
        place(*file, wanted).is_none_or(|place| last.get(&place) == Some(file))
    });
    wanted
}

/// The steps to make, and the conflicts that prevent them, each with its file.
#[derive(Default)]
pub(super) struct Plan {
    pub(super) steps: Vec<Step>,
    pub(super) conflicts: Vec<(usize, Conflict)>,
}

impl Plan {
    /// The steps, if there is no conflict.
    fn steps(self) -> Result<Vec<Step>, HistoryError> {
        if self.conflicts.is_empty() {
            return Ok(self.steps);
        }
        Err(HistoryError::conflict(self.conflicts.into_iter().map(|(_, conflict)| conflict)))
    }
}

/// Options of a restore.
#[derive(Debug, Clone, Copy, Default)]
pub struct RestoreOptions {
    /// Overwrites files that were changed since.
    pub overwrite: bool,
    /// Only returns the planned result and changes nothing.
    pub dry_run: bool,
}

impl Recorder {
    /// Restores a version, or all versions of a change.
    ///
    /// # Errors
    /// As [`read_version`](crate::HistoryReader::read_version); [`HistoryError::Conflict`] if something is in the way, in which case
    /// nothing was changed; [`HistoryError::ReadOnly`]; [`HistoryError::Partly`] if the store failed partway.
    pub fn restore(
        &self,
        context: &Context,
        id: HistoryId,
        how: RestoreOptions,
    ) -> Result<Restored, HistoryError> {
        let snapshot = self.reader.snapshot(context)?;
        let timeline = &snapshot.timeline;
        let mut wanted = BTreeMap::new();
        for number in snapshot.numbers_of(id)? {
            let moment = &timeline.moments[number];
            if moment.operation == Operation::Redacted {
                // This version has no content of its own. It holds the reason why another one is gone.
                self.reader.content_of(context, &snapshot, number)?;
            }
            // For a deletion, restore the content before it.
            let (brought_back, content) = match (&moment.state, moment.earlier, moment.before) {
                (FileState::Gone, Some(earlier), _) => (earlier, snapshot.known_content(earlier)?),
                (FileState::Gone, None, Some(before)) => (number, Some(before)),
                _ => (number, snapshot.known_content(number)?),
            };
            let latest = &timeline.moments[timeline.latest[moment.file]];
            let path = if latest.state.is_there() {
                latest.path.clone()
            } else {
                timeline.moments[brought_back].path.clone()
            };
            wanted.insert(moment.file, Wanted::There(path, content));
        }
        let wanted = self.without_what_is_there(context, &snapshot, wanted)?;
        let plan = self.plan(context, &snapshot, wanted, how.overwrite, |file| {
            // Any other content than the restored one counts as changed since.
            timeline.moments[timeline.latest[file]].state.is_there()
        })?;
        let restored =
            plan.steps().and_then(|steps| self.apply(context, &snapshot, &steps, how.dry_run));
        restored.map_err(HistoryError::of_restoring)
    }

    /// Drops deleted files if another file, such as one that was restored before, is at the path with exactly this content.
    fn without_what_is_there(
        &self,
        context: &Context,
        snapshot: &Snapshot,
        wanted: BTreeMap<usize, Wanted>,
    ) -> Result<BTreeMap<usize, Wanted>, HistoryError> {
        let timeline = &snapshot.timeline;
        let mut others = BTreeMap::new();
        for (file, wanted) in without_earlier_at_a_path(snapshot, wanted) {
            if let Wanted::There(path, Some(content)) = &wanted
                && !timeline.moments[timeline.latest[file]].state.is_there()
                && self.reader.found(context, path)? == PathState::File(content.sha256)
            {
                continue;
            }
            others.insert(file, wanted);
        }
        Ok(others)
    }

    /// Brings all files back to their state at a time.
    ///
    /// # Errors
    /// As [`restore`](Self::restore), and [`HistoryError::Trimmed`] if the history does not reach back to that time.
    pub fn restore_all(
        &self,
        context: &Context,
        at: SystemTime,
        dry_run: bool,
    ) -> Result<Restored, HistoryError> {
        let snapshot = self.reader.snapshot(context)?;
        let mut wanted = BTreeMap::new();
        for (file, number) in snapshot.states_at(at)? {
            wanted.insert(file, snapshot.wanted_at(number)?);
        }
        let steps = self.plan(context, &snapshot, wanted, true, |_| false)?.steps();
        let restored = steps.and_then(|steps| self.apply(context, &snapshot, &steps, dry_run));
        restored.map_err(HistoryError::of_restoring)
    }

    /// The steps to the wanted state. A file is a conflict if another program changed it, if it is in the way, or, where
    /// `must_not_differ` says so, if it differs. An obstacle above a file is a conflict even with `overwrite`.
    pub(super) fn plan(
        &self,
        context: &Context,
        snapshot: &Snapshot,
        wanted: BTreeMap<usize, Wanted>,
        overwrite: bool,
        must_not_differ: impl Fn(usize) -> bool,
    ) -> Result<Plan, HistoryError> {
        let timeline = &snapshot.timeline;
        let (mut steps, mut conflicts) = (Vec::new(), Vec::new());
        let (mut places, mut files) = (Vec::new(), Vec::new());
        for (file, wanted) in without_earlier_at_a_path(snapshot, wanted) {
            let latest = &timeline.moments[timeline.latest[file]];
            let is_there = latest.state.is_there();
            let found = if is_there {
                self.reader.found(context, &latest.path)?
            } else {
                PathState::Nothing
            };
            let expected = match &wanted {
                Wanted::Merged { found, .. } => Some(*found),
                _ => latest.state.content().map(|content| PathState::File(content.sha256)),
            };
            // If another program deleted the file, restoring it loses nothing.
            let is_free = found == PathState::Nothing && must_not_differ(file);
            let is_changed = is_there && expected.is_some_and(|expected| expected != found);
            if is_changed && !overwrite && !is_free {
                conflicts.push((file, Conflict::changed(latest.path.clone())));
            }
            let is_there = found != PathState::Nothing;
            let (path, content, merged) = match wanted {
                Wanted::Gone => {
                    if is_there {
                        steps.push(Step::Delete { path: latest.path.clone(), found });
                    }
                    continue;
                }
                Wanted::There(path, content) => (path, content, None),
                Wanted::Merged { path, text, .. } => {
                    (path, Some(ContentId::of(text.as_bytes())), Some(text))
                }
            };
            if is_there && path != latest.path {
                places.push(path.clone());
                files.push(file);
                steps.push(Step::Rename { from: latest.path.clone(), to: path.clone() });
            }
            let differs = content.is_some_and(|content| PathState::File(content.sha256) != found);
            match content {
                Some(content) if is_there && differs => {
                    if must_not_differ(file) && !overwrite {
                        conflicts.push((file, Conflict::changed_by(path.clone(), latest)));
                    }
                    steps.push(Step::Edit { path, found, content, merged });
                }
                Some(content) if !is_there => {
                    places.push(path.clone());
                    files.push(file);
                    steps.push(Step::Create { path, content });
                }
                None if !is_there => return Err(HistoryError::Damaged),
                _ => {}
            }
        }
        let leaves = steps.iter().filter_map(|step| match step {
            Step::Delete { path, .. } => Some(path),
            Step::Rename { from, .. } => Some(from),
            _ => None,
        });
        let mut taken = Vec::new();
        let at = Obstacles::new(self, snapshot.folding, leaves).at(&places)?;
        for ((place, at), file) in at.into_iter().zip(files) {
            match at {
                Availability::Free => {}
                Availability::Taken => match self.reader.found(context, place)? {
                    found @ PathState::File(_) if overwrite => taken.push((place.clone(), found)),
                    _ => conflicts.push((file, snapshot.taken(place))),
                },
                Availability::Obstructed(obstacle) => {
                    conflicts.push((file, Conflict::in_the_way(obstacle)));
                }
            }
        }
        for (path, found) in taken {
            steps.push(Step::Delete { path, found });
        }
        let mut steps = without_detours(steps);
        steps.sort_by_key(Step::rank);
        Ok(Plan { steps, conflicts })
    }
}

impl Snapshot {
    /// The versions that an id names: one, or the versions of a change.
    pub(super) fn numbers_of(&self, id: HistoryId) -> Result<Vec<usize>, HistoryError> {
        let timeline = &self.timeline;
        if let Some(number) = timeline.find(id) {
            return Ok(vec![number]);
        }
        let is_meant = |number: &usize| {
            let moment = &timeline.moments[*number];
            moment.header.change == id && moment.operation != Operation::External
        };
        let numbers: Vec<usize> = (0..timeline.moments.len()).filter(is_meant).collect();
        if numbers.is_empty() { Err(HistoryError::Unknown(id.to_string())) } else { Ok(numbers) }
    }

    /// The versions with these ids, and those of the changes with these ids.
    pub(super) fn numbers_of_all(&self, ids: &[HistoryId]) -> Result<Vec<usize>, HistoryError> {
        let mut numbers = Vec::new();
        for id in ids {
            numbers.extend(self.numbers_of(*id)?);
        }
        Ok(numbers)
    }

    /// The version of each file at a time; `None` before its first version.
    pub(super) fn states_at(
        &self,
        at: SystemTime,
    ) -> Result<Vec<(usize, Option<usize>)>, HistoryError> {
        let timeline = &self.timeline;
        let files = 0..timeline.latest.len();
        let states = files
            .map(|file| {
                let mut first = None;
                let at_that_time = timeline.chain(file).find(|number| {
                    first = Some(*number);
                    timeline.moments[*number].id.time() <= at
                });
                if at_that_time.is_none()
                    && let Some(first) = first.map(|first| &timeline.moments[first])
                    && first.is_trimmed
                {
                    return Err(HistoryError::Trimmed { path: first.path.clone() });
                }
                // A file that existed before the history began existed then.
                let unrecorded = first.filter(|number| {
                    let first = &timeline.moments[*number];
                    first.operation == Operation::External && first.earlier.is_none()
                });
                Ok((file, at_that_time.or(unrecorded)))
            })
            .collect::<Result<_, HistoryError>>()?;
        // This also covers files of which no record is left.
        if timeline.trimmed.is_some_and(|trimmed| at < trimmed.time()) {
            return Err(HistoryError::Trimmed { path: MemoryPath::root() });
        }
        Ok(states)
    }

    /// A conflict because another file is at this place.
    fn taken(&self, place: &MemoryPath) -> Conflict {
        let other = self.file_at(place).map(|file| self.timeline.latest[file]);
        match other.map(|latest| &self.timeline.moments[latest]) {
            Some(latest) => Conflict::changed_by(place.clone(), latest),
            None => Conflict::changed(place.clone()),
        }
    }

    /// The wanted state of a file after a version.
    pub(super) fn wanted_at(&self, number: Option<usize>) -> Result<Wanted, HistoryError> {
        let Some(number) = number else { return Ok(Wanted::Gone) };
        let moment = &self.timeline.moments[number];
        match moment.state {
            FileState::Gone => Ok(Wanted::Gone),
            _ => Ok(Wanted::There(moment.path.clone(), self.known_content(number)?)),
        }
    }

    /// The content of a version; `None` if it is the file's present content and was never read.
    fn known_content(&self, number: usize) -> Result<Option<ContentId>, HistoryError> {
        let moment = &self.timeline.moments[number];
        match &moment.state {
            FileState::Content(content) => match self.timeline.redaction(*content) {
                Some(redaction) => Err(HistoryError::Redacted(redaction.reason.clone())),
                None => Ok(Some(*content)),
            },
            FileState::Unread => Ok(None),
            FileState::Gone => Err(HistoryError::NoContent(moment.id.to_string())),
        }
    }
}

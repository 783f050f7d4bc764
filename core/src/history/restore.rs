//! `restore`, `undo` and `restore_all`: how files get back what they were.
//!
//! Each says for some files what they should be. From that comes a list of [`Step`]s, which is checked as a whole
//! before the first is made. Each step is recorded like any other change, so it can be taken back as well.

use std::collections::{BTreeMap, BTreeSet};
use std::time::SystemTime;

use serde::Serialize;

use super::context::Context;
use super::error::HistoryError;
use super::id::HistoryId;
use super::record::{Content, Digest};
use super::recorder::Recorder;
use super::settle::Found;
use super::snapshot::Snapshot;
use super::timeline::State;
use super::version::Operation;
use crate::path::MemoryPath;
use crate::store::{OnExisting, Splice, Store, StoreError};

/// What was done to a file to bring back an earlier state, or would be done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct RestoredFile {
    /// What was done: [`Created`](Operation::Created), [`Modified`](Operation::Modified),
    /// [`Renamed`](Operation::Renamed) or [`Deleted`](Operation::Deleted).
    pub operation: Operation,
    /// Where.
    pub path: MemoryPath,
    /// Where it was before, if it was renamed.
    pub old_path: Option<MemoryPath>,
}

/// What [`Memory::restore`](crate::Memory::restore) and the like did.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Restored {
    /// The change that this made, which can be undone itself. `None` if there was nothing to do, or with `dry_run`.
    pub change: Option<HistoryId>,
    /// The files, in the order of their paths.
    pub files: Vec<RestoredFile>,
}

/// What a file should be.
#[derive(Debug, Clone)]
enum Wanted {
    Gone,
    /// There, with this content, or with the one that it has.
    There(MemoryPath, Option<Content>),
}

/// One step. `found` is the content that the file has before it.
#[derive(Debug)]
enum Step {
    Delete { path: MemoryPath, found: Found },
    Rename { from: MemoryPath, to: MemoryPath },
    Edit { path: MemoryPath, found: Found, content: Content },
    Create { path: MemoryPath, content: Content },
}

impl Step {
    fn shown(&self) -> RestoredFile {
        let (operation, path, old_path) = match self {
            Self::Delete { path, .. } => (Operation::Deleted, path, None),
            Self::Rename { from, to } => (Operation::Renamed, to, Some(from.clone())),
            Self::Edit { path, .. } => (Operation::Modified, path, None),
            Self::Create { path, .. } => (Operation::Created, path, None),
        };
        RestoredFile { operation, path: path.clone(), old_path }
    }

    /// Deletions make room, then files move, then contents are written.
    fn rank(&self) -> u8 {
        match self {
            Self::Delete { .. } => 0,
            Self::Rename { .. } => 1,
            Self::Edit { .. } => 2,
            Self::Create { .. } => 3,
        }
    }
}

/// How a state is brought back.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct How {
    /// Over what was changed since.
    pub(crate) overwrite: bool,
    /// Only says what would be done.
    pub(crate) dry_run: bool,
}

impl Recorder {
    /// Brings back a version, or all versions of a change.
    pub(crate) fn restore(
        &self,
        context: Context,
        id: HistoryId,
        how: How,
    ) -> Result<Restored, HistoryError> {
        let snapshot = self.snapshot()?;
        let timeline = &snapshot.timeline;
        let mut wanted = BTreeMap::new();
        for number in snapshot.numbers_of(id)? {
            let moment = &timeline.moments[number];
            // Of a deleted file what it was before.
            let (brought_back, content) = match (&moment.state, moment.earlier, moment.before) {
                (State::Gone, Some(earlier), _) => (earlier, snapshot.known_content(earlier)?),
                (State::Gone, None, Some(before)) => (number, Some(before)),
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
        let steps = self.steps(&snapshot, wanted, how.overwrite, |file| {
            // Literally what was changed since: another content than the one that is brought back.
            timeline.moments[timeline.latest[file]].state.is_there()
        })?;
        self.apply(context, &snapshot, &steps, how.dry_run)
    }

    /// Takes back what `is_meant` says, each change as a whole.
    fn take_back(
        &self,
        context: Context,
        snapshot: &Snapshot,
        is_meant: impl Fn(usize) -> bool,
        how: How,
    ) -> Result<Restored, HistoryError> {
        let timeline = &snapshot.timeline;
        let (mut wanted, mut conflicts) = (BTreeMap::new(), BTreeSet::new());
        for file in 0..timeline.latest.len() {
            let chain: Vec<usize> = timeline.chain(file).collect();
            let meant = |number: &usize| {
                timeline.moments[*number].operation != Operation::External && is_meant(*number)
            };
            let Some(first) = chain.iter().rposition(meant) else { continue };
            // What came later stands on it.
            if !how.overwrite && chain[..first].iter().any(|number| !meant(number)) {
                conflicts.insert(timeline.moments[chain[0]].path.clone());
            }
            let first = &timeline.moments[chain[first]];
            if first.is_trimmed {
                return Err(HistoryError::Trimmed { path: first.path.clone() });
            }
            wanted.insert(file, snapshot.wanted_at(first.earlier)?);
        }
        if !conflicts.is_empty() {
            return Err(HistoryError::Conflict { paths: conflicts.into_iter().collect() });
        }
        let steps = self.steps(snapshot, wanted, how.overwrite, |_| false)?;
        self.apply(context, snapshot, &steps, how.dry_run)
    }

    /// Takes back a change, or what the change of a version did to all of its files.
    pub(crate) fn undo(
        &self,
        context: Context,
        id: HistoryId,
        how: How,
    ) -> Result<Restored, HistoryError> {
        let snapshot = self.snapshot()?;
        let numbers = snapshot.numbers_of(id)?;
        let moments = &snapshot.timeline.moments;
        let changes: BTreeSet<HistoryId> =
            numbers.iter().map(|number| moments[*number].header.change).collect();
        let is_meant = |number: usize| changes.contains(&moments[number].header.change);
        self.take_back(context, &snapshot, is_meant, how)
    }

    /// Takes back all changes since a time, those of one actor or of all.
    pub(crate) fn undo_since(
        &self,
        context: Context,
        since: SystemTime,
        actor: Option<&str>,
        how: How,
    ) -> Result<Restored, HistoryError> {
        let snapshot = self.snapshot()?;
        let moments = &snapshot.timeline.moments;
        let is_meant = |number: usize| {
            moments[number].id.time() >= since
                && actor.is_none_or(|actor| moments[number].header.actor.as_deref() == Some(actor))
        };
        self.take_back(context, &snapshot, is_meant, how)
    }

    /// Makes all files what they were at a time.
    pub(crate) fn restore_all(
        &self,
        context: Context,
        at: SystemTime,
        dry_run: bool,
    ) -> Result<Restored, HistoryError> {
        let snapshot = self.snapshot()?;
        let mut wanted = BTreeMap::new();
        for (file, number) in snapshot.states_at(at)? {
            wanted.insert(file, snapshot.wanted_at(number)?);
        }
        let steps = self.steps(&snapshot, wanted, true, |_| false)?;
        self.apply(context, &snapshot, &steps, dry_run)
    }

    /// The steps to what is wanted. A conflict is a file that somebody else changed, and one that is in the way;
    /// and one that differs, where `must_not_differ`.
    fn steps(
        &self,
        snapshot: &Snapshot,
        wanted: BTreeMap<usize, Wanted>,
        overwrite: bool,
        must_not_differ: impl Fn(usize) -> bool,
    ) -> Result<Vec<Step>, HistoryError> {
        let timeline = &snapshot.timeline;
        let (mut steps, mut conflicts) = (Vec::new(), BTreeSet::new());
        let mut places = Vec::new();
        for (file, wanted) in wanted {
            let latest = &timeline.moments[timeline.latest[file]];
            let is_there = latest.state.is_there();
            let found = if is_there { self.found(&latest.path)? } else { Found::Nothing };
            let expected = latest.state.content().map(|content| Found::File(content.sha256));
            if is_there && expected.is_some_and(|expected| expected != found) && !overwrite {
                conflicts.insert(latest.path.clone());
            }
            let is_there = found != Found::Nothing;
            match wanted {
                Wanted::Gone if is_there => {
                    steps.push(Step::Delete { path: latest.path.clone(), found });
                }
                Wanted::Gone => {}
                Wanted::There(path, content) => {
                    if is_there && path != latest.path {
                        places.push(path.clone());
                        steps.push(Step::Rename { from: latest.path.clone(), to: path.clone() });
                    }
                    let differs =
                        content.is_some_and(|content| Found::File(content.sha256) != found);
                    match content {
                        Some(content) if is_there && differs => {
                            if must_not_differ(file) && !overwrite {
                                conflicts.insert(path.clone());
                            }
                            steps.push(Step::Edit { path, found, content });
                        }
                        Some(content) if !is_there => {
                            places.push(path.clone());
                            steps.push(Step::Create { path, content });
                        }
                        None if !is_there => return Err(HistoryError::Damaged),
                        _ => {}
                    }
                }
            }
        }
        // A place is free if nothing is there, or what is there goes away.
        let leaves: BTreeSet<&MemoryPath> = steps
            .iter()
            .filter_map(|step| match step {
                Step::Delete { path, .. } => Some(path),
                Step::Rename { from, .. } => Some(from),
                _ => None,
            })
            .collect();
        let mut taken = Vec::new();
        for place in places.iter().filter(|place| !leaves.contains(place)) {
            match self.found(place)? {
                Found::Nothing if self.store.open(place, 0).is_err() => {}
                found if overwrite && matches!(found, Found::File(_)) => {
                    taken.push((place.clone(), found));
                }
                _ => {
                    conflicts.insert(place.clone());
                }
            }
        }
        if !conflicts.is_empty() {
            return Err(HistoryError::Conflict { paths: conflicts.into_iter().collect() });
        }
        for (path, found) in taken {
            steps.push(Step::Delete { path, found });
        }
        let mut steps = without_detours(steps);
        steps.sort_by_key(Step::rank);
        Ok(steps)
    }

    fn apply(
        &self,
        context: Context,
        snapshot: &Snapshot,
        steps: &[Step],
        dry_run: bool,
    ) -> Result<Restored, HistoryError> {
        let mut files: Vec<RestoredFile> = steps.iter().map(Step::shown).collect();
        files.sort_by(|a, b| a.path.cmp(&b.path));
        if dry_run || steps.is_empty() {
            return Ok(Restored { change: None, files });
        }
        // All contents are there before the first step.
        let mut contents = Vec::new();
        for step in steps {
            contents.push(match step {
                Step::Edit { content, .. } | Step::Create { content, .. } => {
                    self.content(snapshot, *content)?
                }
                _ => Vec::new(),
            });
        }
        let context = Context { operation: Some(Operation::Restored), ..context };
        let (done, change) = context.within(|| {
            let mut renames = Vec::new();
            for (step, content) in steps.iter().zip(contents) {
                match step {
                    Step::Rename { from, to } => renames.push((from, to)),
                    step => {
                        self.rename_all(&mut renames)?;
                        self.take(step, &content)?;
                    }
                }
            }
            self.rename_all(&mut renames)
        });
        match (done, change) {
            (Ok(()), change) => Ok(Restored { change, files }),
            (Err(Stop::Changed(path)), None) => Err(HistoryError::Conflict { paths: vec![path] }),
            (Err(Stop::Store(error)), None) => Err(error.into()),
            (Err(stop), Some(change)) => {
                let source = match stop {
                    Stop::Store(error) => error,
                    Stop::Changed(path) => {
                        StoreError::failed(format!("restoring {path}"), "it was changed meanwhile")
                    }
                };
                Err(HistoryError::Partly { change, source })
            }
        }
    }

    /// Renames the files, each as soon as its new place is free.
    fn rename_all(&self, renames: &mut Vec<(&MemoryPath, &MemoryPath)>) -> Result<(), Stop> {
        while !renames.is_empty() {
            let waiting = renames.len();
            let mut blocked = None;
            let mut later = Vec::new();
            for (from, to) in renames.drain(..) {
                match Store::rename(self, from, to) {
                    Ok(()) => {}
                    Err(StoreError::AlreadyExists) => {
                        blocked = Some(to.clone());
                        later.push((from, to));
                    }
                    Err(error) => return Err(Stop::Store(error)),
                }
            }
            // Two that change places: one steps aside.
            if later.len() == waiting
                && let Some((from, to)) = later.pop()
            {
                let content = Store::read(self, from).map_err(Stop::Store)?;
                Store::delete(self, from).map_err(Stop::Store)?;
                *renames = later;
                self.rename_all(renames)?;
                return match Store::write(self, to, &content, OnExisting::Error) {
                    Err(StoreError::AlreadyExists) => {
                        Err(Stop::Changed(blocked.unwrap_or_else(|| to.clone())))
                    }
                    written => written.map_err(Stop::Store),
                };
            }
            *renames = later;
        }
        Ok(())
    }

    fn take(&self, step: &Step, content: &[u8]) -> Result<(), Stop> {
        match step {
            Step::Delete { path, found } => {
                if self.found(path).map_err(Stop::Store)? != *found {
                    return Err(Stop::Changed(path.clone()));
                }
                Store::delete(self, path).map_err(Stop::Store)
            }
            Step::Edit { path, found, .. } => {
                let mut is_changed = false;
                Store::update(self, path, &mut |old| {
                    is_changed = Found::File(Digest::of(old)) != *found;
                    (!is_changed).then(|| Splice { range: 0..old.len(), text: content.to_vec() })
                })
                .map_err(Stop::Store)?;
                if is_changed { Err(Stop::Changed(path.clone())) } else { Ok(()) }
            }
            Step::Create { path, .. } => {
                match Store::write(self, path, content, OnExisting::Error) {
                    Err(StoreError::AlreadyExists) => Err(Stop::Changed(path.clone())),
                    written => written.map_err(Stop::Store),
                }
            }
            // All at once, elsewhere.
            Step::Rename { .. } => Ok(()),
        }
    }
}

/// The same steps, where a file that is deleted and made again at the same path is edited, or stays if its content is the
/// same.
fn without_detours(steps: Vec<Step>) -> Vec<Step> {
    let mut deleted: BTreeMap<MemoryPath, Found> = BTreeMap::new();
    for step in &steps {
        if let Step::Delete { path, found } = step {
            deleted.insert(path.clone(), *found);
        }
    }
    let mut made = BTreeSet::new();
    let mut direct = Vec::new();
    for step in steps {
        match step {
            Step::Create { path, content } if deleted.contains_key(&path) => {
                let found = deleted.get(&path).copied().unwrap_or(Found::Nothing);
                made.insert(path.clone());
                if found != Found::File(content.sha256) {
                    direct.push(Step::Edit { path, found, content });
                }
            }
            step => direct.push(step),
        }
    }
    direct.retain(|step| !matches!(step, Step::Delete { path, .. } if made.contains(path)));
    direct
}

/// Why a step was not made.
enum Stop {
    /// The file is not what it was.
    Changed(MemoryPath),
    Store(StoreError),
}

impl Snapshot {
    /// The versions that an id names: one, or those of a change.
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

    /// For each file its version at a time; `None` before its first.
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
                // What was there before anybody recorded was there then.
                let unrecorded = first.filter(|number| {
                    let first = &timeline.moments[*number];
                    first.operation == Operation::External && first.earlier.is_none()
                });
                Ok((file, at_that_time.or(unrecorded)))
            })
            .collect::<Result<_, HistoryError>>()?;
        // Also of files of which nothing is left that could tell.
        if timeline.trimmed.is_some_and(|trimmed| at < trimmed.time()) {
            return Err(HistoryError::Trimmed { path: MemoryPath::root() });
        }
        Ok(states)
    }

    /// What a file is after a version.
    fn wanted_at(&self, number: Option<usize>) -> Result<Wanted, HistoryError> {
        let Some(number) = number else { return Ok(Wanted::Gone) };
        let moment = &self.timeline.moments[number];
        match moment.state {
            State::Gone => Ok(Wanted::Gone),
            _ => Ok(Wanted::There(moment.path.clone(), self.known_content(number)?)),
        }
    }

    /// The content of a version; `None` if it is the one that the file has, which nobody has read.
    fn known_content(&self, number: usize) -> Result<Option<Content>, HistoryError> {
        let moment = &self.timeline.moments[number];
        match &moment.state {
            State::Content(content) => match self.timeline.redaction(*content) {
                Some(redaction) => Err(HistoryError::Redacted(redaction.reason.clone())),
                None => Ok(Some(*content)),
            },
            State::Unread => Ok(None),
            State::Gone => Err(HistoryError::NoContent(moment.id.to_string())),
        }
    }
}

//! [`Carrying`]: makes the steps of a plan.
//!
//! Steps of one kind do not depend on each other. So those of a store in a service run at the same time.

use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;
use std::sync::{Mutex, PoisonError};

use memdir_store::batch::in_batches;
use memdir_store::path::MemoryPath;

use super::baseline::{Agreed, Baseline, Digest, digest};
use super::both::{Both, SyncSide};
use super::error::SyncError;
use super::link::Link;
use super::merging::merged;
use super::names::copy_of;
use super::parallel::for_each;
use super::plan::Step;
use super::report::{SyncAction, SyncChange, SyncConflict, SyncLeftOut, SyncReason};
use super::side::{NewFile, Outcome, Side};
use super::survey::{Found, Survey};
use super::{OnConflict, OnProgress, SyncOptions, SyncPhase, SyncProgress, left_out};

/// Where a content comes from that both memories now have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Origin {
    /// One of them had it.
    Taken,
    /// The sync has made it, or has chosen it: it includes the changes of both, and the choice is one more.
    Made,
}

/// A file that was renamed in one memory, as the other one had done.
#[derive(Debug)]
pub(super) struct RenamedFile {
    pub(super) side: SyncSide,
    pub(super) from: MemoryPath,
    pub(super) to: MemoryPath,
    pub(super) is_edited: bool,
}

/// The effects of a step.
#[derive(Debug, Default)]
pub(super) struct Effects {
    pub(super) changes: Vec<SyncChange>,
    pub(super) conflicts: Vec<SyncConflict>,
    pub(super) left_out: Vec<SyncLeftOut>,
    /// Files whose contents now agree.
    pub(super) agreed: Vec<(MemoryPath, Agreed, Origin)>,
    /// Files that are gone from both.
    pub(super) gone: Vec<MemoryPath>,
    /// Files that were renamed.
    pub(super) renamed: Vec<RenamedFile>,
    /// Files that are not as they were compared: the next round looks again.
    pub(super) disturbed: Vec<MemoryPath>,
}

impl Effects {
    fn add(&mut self, mut other: Self) {
        self.changes.append(&mut other.changes);
        self.conflicts.append(&mut other.conflicts);
        self.left_out.append(&mut other.left_out);
        self.agreed.append(&mut other.agreed);
        self.gone.append(&mut other.gone);
        self.renamed.append(&mut other.renamed);
        self.disturbed.append(&mut other.disturbed);
    }

    fn changed(&mut self, path: &MemoryPath, side: SyncSide, action: SyncAction) {
        self.changes.push(SyncChange { path: path.clone(), side, action, old_path: None });
    }

    /// Notes an outcome after which the file is not as it should be.
    fn not_done(&mut self, path: &MemoryPath, side: SyncSide, outcome: Outcome) {
        match outcome {
            Outcome::Done(..) => {}
            Outcome::Changed | Outcome::Exists => self.disturbed.push(path.clone()),
            Outcome::Refused(error) => {
                let sentence = error.to_string();
                let sentence = sentence.strip_prefix("Error: ").unwrap_or(&sentence);
                self.refused(path, side, sentence.to_owned());
            }
            Outcome::Directory { is_empty } => {
                let mut left = left_out(path.clone(), side, SyncReason::Directory);
                if !is_empty {
                    left.details =
                        "a directory is in the way, with files that are not synced".to_owned();
                }
                self.left_out.push(left);
            }
        }
    }

    fn refused(&mut self, path: &MemoryPath, side: SyncSide, details: String) {
        let (path, reason) = (path.clone(), SyncReason::Refused);
        self.left_out.push(SyncLeftOut { path, side, reason, details });
    }
}

/// The contents of both memories, and what each is after a merge.
type Compared = (Both<Vec<u8>>, Option<Both<String>>);

/// A plan that is carried out.
pub(super) struct Carrying<'c, 's> {
    pub(super) sides: &'c Both<Side<'s>>,
    pub(super) link: &'c Link<'c>,
    pub(super) baseline: &'c Baseline,
    pub(super) survey: &'c Survey,
    pub(super) options: &'c SyncOptions,
    /// The names of the memories, for conflict copies.
    pub(super) names: &'c Both<String>,
    /// The entry of a renamed file is still under its old path: from new paths to old ones.
    pub(super) old_paths: HashMap<MemoryPath, MemoryPath>,
}

impl Carrying<'_, '_> {
    /// Makes the steps, in their order.
    ///
    /// # Errors
    /// The first failure of a store. `effects` has what was done before it.
    pub(super) fn carry_out(
        &self,
        steps: &[Step],
        effects: &mut Effects,
        progress: &mut OnProgress<'_>,
    ) -> Result<(), SyncError> {
        let Both { a, b } = self.sides;
        let at_once = if a.is_own || b.is_own { 1 } else { a.at_once.max(b.at_once) };
        let (mut files, of_files) = (0, steps.len() as u64);
        let mut failed: HashSet<MemoryPath> = HashSet::new();
        let mut rest = steps;
        while let Some(first) = rest.first() {
            let kind = std::mem::discriminant(first);
            let count =
                rest.iter().take_while(|step| std::mem::discriminant(*step) == kind).count();
            let (same, later) = rest.split_at(count);
            rest = later;
            let same: Vec<&Step> =
                same.iter().filter(|step| !failed.contains(step.path())).collect();
            let is_creation = matches!(first, Step::Create { .. });
            let chunk = if is_creation {
                same.len().max(1)
            } else if at_once > 1 {
                4 * at_once
            } else {
                1
            };
            for steps in same.chunks(chunk) {
                self.sides.a.check()?;
                self.sides.b.check()?;
                let mut report = |path: &MemoryPath, files| {
                    let at = SyncProgress { phase: SyncPhase::Changing, path, files, of_files };
                    match progress(at) {
                        ControlFlow::Continue(()) => Ok(()),
                        ControlFlow::Break(()) => Err(SyncError::Stopped),
                    }
                };
                if is_creation {
                    self.create(steps, files, effects, &mut report)?;
                } else {
                    if let Some(step) = steps.first() {
                        report(step.path(), files)?;
                    }
                    let done = Mutex::new(Effects::default());
                    let result = for_each(at_once, steps.to_vec(), |step| {
                        let made = self.make(step)?;
                        done.lock().unwrap_or_else(PoisonError::into_inner).add(made);
                        Ok(())
                    });
                    effects.add(done.into_inner().unwrap_or_else(PoisonError::into_inner));
                    result?;
                }
                files += steps.len() as u64;
            }
            // The plan assumed that these renames succeed.
            let left = effects.left_out.iter().map(|left| &left.path);
            failed.extend(effects.disturbed.iter().chain(left).cloned());
            if matches!(first, Step::Rename { .. } | Step::MoveAside { .. } | Step::Delete { .. }) {
                self.remove_emptied(effects)?;
            }
        }
        self.remove_emptied(effects)
    }

    /// Finds what the steps would do, without doing it.
    pub(super) fn rehearse(&self, steps: &[Step], effects: &mut Effects) -> Result<(), SyncError> {
        for step in steps {
            match step {
                Step::Rename { side, from, to, .. } => {
                    effects.changes.push(renamed(from, to, *side));
                }
                Step::MoveAside { side, path } => self.would_move_aside(*side, path, effects)?,
                Step::Delete { side, path, .. } => {
                    effects.changed(path, *side, SyncAction::Deleted);
                }
                Step::Create { side, path } => effects.changed(path, *side, SyncAction::Created),
                Step::Replace { side, path, .. } => {
                    effects.changed(path, *side, SyncAction::Replaced);
                }
                Step::Merge { path, digests } => self.would_merge(path, digests, effects)?,
                Step::Agree { .. } | Step::Forget { .. } => {}
            }
        }
        Ok(())
    }

    fn would_move_aside(
        &self,
        side: SyncSide,
        path: &MemoryPath,
        effects: &mut Effects,
    ) -> Result<(), SyncError> {
        let Some(content) = self.sides[side].read(path)? else { return Ok(()) };
        let modified = self.found(side, path).and_then(|found| found.modified);
        let copy = copy_of(path, &self.names[side], modified, &digest(&content), 0);
        let Some(copy) = copy else { return Ok(()) };
        effects.changes.push(renamed(path, &copy, side));
        effects.changed(&copy, side.other(), SyncAction::Created);
        effects.conflicts.push(SyncConflict {
            path: path.clone(),
            copy_path: copy,
            side,
            modified,
        });
        Ok(())
    }

    fn would_merge(
        &self,
        path: &MemoryPath,
        digests: &Both<Digest>,
        effects: &mut Effects,
    ) -> Result<(), SyncError> {
        // A file that would be renamed before still has its old path.
        let at = |side: SyncSide| match self.found(side, path) {
            Some(_) => path,
            None => self.old_paths.get(path).unwrap_or(path),
        };
        let Some((contents, merged)) = self.compare(Both::new(at), path, digests)? else {
            return Ok(());
        };
        let is_written = |side: SyncSide| !(self.options.one_way && side == SyncSide::A);
        if let Some(texts) = merged {
            let changed =
                |side: &SyncSide| contents[*side] != texts[*side].as_bytes() && is_written(*side);
            for side in SyncSide::ALL.into_iter().filter(changed) {
                effects.changed(path, side, SyncAction::Merged);
            }
            return Ok(());
        }
        let loser = self.loser();
        if !is_written(loser) {
            effects.left_out.push(left_out(path.clone(), SyncSide::B, SyncReason::OneWay));
            return Ok(());
        }
        if self.options.on_conflict == OnConflict::KeepBoth {
            let modified = self.found(loser, at(loser)).and_then(|found| found.modified);
            let copy = copy_of(path, &self.names[loser], modified, &digests[loser], 0);
            let Some(copy) = copy else { return Ok(()) };
            for side in SyncSide::ALL.into_iter().filter(|side| is_written(*side)) {
                effects.changed(&copy, side, SyncAction::Created);
            }
            let path = path.clone();
            effects.conflicts.push(SyncConflict { path, copy_path: copy, side: loser, modified });
        }
        effects.changed(path, loser, SyncAction::Replaced);
        Ok(())
    }

    /// The memory whose content does not stay at its path after a conflict.
    fn loser(&self) -> SyncSide {
        match self.options.on_conflict {
            OnConflict::KeepBoth | OnConflict::A => SyncSide::B,
            OnConflict::B => SyncSide::A,
        }
    }

    fn make(&self, step: &Step) -> Result<Effects, SyncError> {
        let mut effects = Effects::default();
        match step {
            &Step::Rename { side, ref from, ref to, digest, is_edited } => {
                let size = self.survey.files[side].get(from).map_or(0, |found| found.size);
                let mut outcome = self.sides[side].rename(from, to, digest, size)?;
                if matches!(outcome, Outcome::Exists) {
                    outcome = match self.make_room(side, to)? {
                        None => self.sides[side].rename(from, to, digest, size)?,
                        Some(obstacle) => obstacle,
                    };
                }
                match outcome {
                    Outcome::Done(..) => {
                        effects.changes.push(renamed(from, to, side));
                        let (from, to) = (from.clone(), to.clone());
                        effects.renamed.push(RenamedFile { side, from, to, is_edited });
                    }
                    other => effects.not_done(to, side, other),
                }
            }
            Step::MoveAside { side, path } => self.move_aside(*side, path, &mut effects)?,
            &Step::Delete { side, ref path, digest } => {
                match self.sides[side].delete(path, digest)? {
                    Outcome::Done(..) => {
                        effects.changed(path, side, SyncAction::Deleted);
                        effects.gone.push(path.clone());
                    }
                    other => effects.not_done(path, side, other),
                }
            }
            // These are made together.
            Step::Create { .. } => {}
            &Step::Replace { side, ref path, old, new } => {
                match self.sides[side.other()].read(path)? {
                    Some(content) if digest(&content) == new => {
                        self.replace(side, path, old, &content, Origin::Taken, &mut effects)?;
                    }
                    _ => effects.disturbed.push(path.clone()),
                }
            }
            Step::Merge { path, digests } => self.merge(path, digests, &mut effects)?,
            Step::Agree { path, digests } => {
                let size = |side: SyncSide| self.found(side, path).map_or(0, |found| found.size);
                let agreed = Agreed::new(*digests, Both::new(size));
                effects.agreed.push((path.clone(), agreed, Origin::Taken));
            }
            Step::Forget { path } => effects.gone.push(path.clone()),
        }
        Ok(effects)
    }

    fn found(&self, side: SyncSide, path: &MemoryPath) -> Option<&Found> {
        self.survey.files[side].get(path)
    }

    /// Creates files in both memories, many together.
    fn create(
        &self,
        steps: &[&Step],
        done: u64,
        effects: &mut Effects,
        report: &mut dyn FnMut(&MemoryPath, u64) -> Result<(), SyncError>,
    ) -> Result<(), SyncError> {
        let mut made = done;
        for to in SyncSide::ALL {
            let from = to.other();
            let of_side = |step: &&&Step| matches!(step, Step::Create { side, .. } if *side == to);
            let files: Vec<(&MemoryPath, u64)> = steps
                .iter()
                .filter(of_side)
                .map(|step| step.path())
                .map(|path| (path, self.found(from, path).map_or(0, |found| found.size)))
                .collect();
            for batch in in_batches(&files, |(_, size)| *size) {
                if let Some((path, _)) = batch.first() {
                    report(path, made)?;
                }
                made += batch.len() as u64;
                let mut read = Vec::new();
                self.sides[from].read_each(batch, &mut |path, content| {
                    match content {
                        Ok(content) => read.push((path, content)),
                        Err(_) => effects.disturbed.push(path.clone()),
                    }
                    Ok(())
                })?;
                let new: Vec<NewFile<'_>> = read
                    .iter()
                    .map(|(path, content)| {
                        let modified = self.found(from, path).and_then(|found| found.modified);
                        NewFile { path, from: path, content, modified }
                    })
                    .collect();
                for (file, outcome) in new.iter().zip(self.create_in_room(to, &new)?) {
                    match outcome {
                        Outcome::Done(of_new, size) => {
                            effects.changed(file.path, to, SyncAction::Created);
                            let source = (digest(file.content), file.content.len() as u64);
                            let agreed = agreed(to, (of_new, size), source);
                            // A content that was not read before is a change that no clock counts yet.
                            let is_counted = self
                                .found(from, file.path)
                                .is_some_and(|found| found.digest.is_some());
                            let origin = if is_counted { Origin::Taken } else { Origin::Made };
                            effects.agreed.push((file.path.clone(), agreed, origin));
                        }
                        other => effects.not_done(file.path, to, other),
                    }
                }
            }
        }
        Ok(())
    }

    /// Replaces a file's content with that of the other memory.
    fn replace(
        &self,
        side: SyncSide,
        path: &MemoryPath,
        old: Digest,
        content: &[u8],
        origin: Origin,
        effects: &mut Effects,
    ) -> Result<(), SyncError> {
        match self.sides[side].replace(path, old, content, digest(content))? {
            Outcome::Done(new, size) => {
                effects.changed(path, side, SyncAction::Replaced);
                let source = (digest(content), content.len() as u64);
                effects.agreed.push((path.clone(), agreed(side, (new, size), source), origin));
            }
            other => effects.not_done(path, side, other),
        }
        Ok(())
    }

    fn merge(
        &self,
        path: &MemoryPath,
        digests: &Both<Digest>,
        effects: &mut Effects,
    ) -> Result<(), SyncError> {
        let Some((contents, merged)) = self.compare(Both::new(|_| path), path, digests)? else {
            effects.disturbed.push(path.clone());
            return Ok(());
        };
        let Some(texts) = merged else { return self.keep_both(path, digests, &contents, effects) };
        let mut results = Both::new(|side| (digests[side], contents[side].len() as u64));
        for side in SyncSide::ALL {
            let text = texts[side].as_bytes();
            let is_there = contents[side] == text;
            if is_there || self.options.one_way && side == SyncSide::A {
                continue;
            }
            let theirs = digests[side.other()];
            match self.sides[side].replace(path, digests[side], text, theirs)? {
                // The difference may be only what this memory redacts.
                Outcome::Done(new, _) if new == digests[side] => {}
                Outcome::Done(new, size) => {
                    effects.changed(path, side, SyncAction::Merged);
                    results[side] = (new, size);
                }
                other => {
                    effects.not_done(path, side, other);
                    return Ok(());
                }
            }
        }
        let agreed = agreed(SyncSide::A, results.a, results.b);
        effects.agreed.push((path.clone(), agreed, Origin::Made));
        Ok(())
    }

    /// The contents of both memories at these paths, and what they are merged. `None` if one of them is no longer what was compared.
    pub(super) fn compare(
        &self,
        at: Both<&MemoryPath>,
        path: &MemoryPath,
        digests: &Both<Digest>,
    ) -> Result<Option<Compared>, SyncError> {
        let contents = Both::try_new(|side| self.sides[side].read(at[side]))?;
        let (Some(a), Some(b)) = (contents.a, contents.b) else { return Ok(None) };
        let contents = Both { a, b };
        if SyncSide::ALL.into_iter().any(|side| digest(&contents[side]) != digests[side]) {
            return Ok(None);
        }
        let text = merged(self.link, self.baseline, self.base(path), &contents)?;
        Ok(Some((contents, text)))
    }

    fn base(&self, path: &MemoryPath) -> Option<&Agreed> {
        self.baseline.files.get(self.old_paths.get(path).unwrap_or(path))
    }

    /// Ends a conflict as the options say.
    fn keep_both(
        &self,
        path: &MemoryPath,
        digests: &Both<Digest>,
        contents: &Both<Vec<u8>>,
        effects: &mut Effects,
    ) -> Result<(), SyncError> {
        let loser = self.loser();
        let winner = loser.other();
        if self.options.one_way && loser == SyncSide::A {
            effects.left_out.push(left_out(path.clone(), SyncSide::B, SyncReason::OneWay));
            return Ok(());
        }
        if self.options.on_conflict == OnConflict::KeepBoth {
            let modified = self.found(loser, path).and_then(|found| found.modified);
            let Some(copy) = self.place_copy(path, loser, &contents[loser], modified, effects)?
            else {
                return Ok(());
            };
            let (path, side) = (path.clone(), loser);
            effects.conflicts.push(SyncConflict { path, copy_path: copy, side, modified });
        }
        self.replace(loser, path, digests[loser], &contents[winner], Origin::Made, effects)
    }

    /// Writes a copy of a content of `side` to both memories, and returns its path. `None` if that was not possible.
    fn place_copy(
        &self,
        path: &MemoryPath,
        side: SyncSide,
        content: &[u8],
        modified: Option<std::time::SystemTime>,
        effects: &mut Effects,
    ) -> Result<Option<MemoryPath>, SyncError> {
        let of_content = digest(content);
        'names: for number in 0..MOST_COPIES {
            let copy = copy_of(path, &self.names[side], modified, &of_content, number);
            let Some(copy) = copy else { break };
            if copy == *path {
                continue;
            }
            let mut results = Both::new(|_| None);
            let mut made = Vec::new();
            for to in SyncSide::ALL {
                if self.options.one_way && to == SyncSide::A {
                    continue;
                }
                let new = NewFile { path: &copy, from: path, content, modified };
                let outcome = self.sides[to].create(&[new])?.pop();
                match outcome.unwrap_or(Outcome::Changed) {
                    Outcome::Done(digest, size) => {
                        made.push((to, digest));
                        results[to] = Some((digest, size));
                    }
                    // A sync that was killed has made it, or it is another file.
                    Outcome::Changed | Outcome::Exists => match self.sides[to].read(&copy)? {
                        Some(there) if there == content => {
                            results[to] = Some((of_content, content.len() as u64));
                        }
                        _ => {
                            self.take_back(&copy, &made)?;
                            continue 'names;
                        }
                    },
                    other => {
                        // A copy in one memory alone would be followed by another one at each sync.
                        self.take_back(&copy, &made)?;
                        effects.not_done(path, to, other);
                        return Ok(None);
                    }
                }
            }
            for (to, _) in made {
                effects.changed(&copy, to, SyncAction::Created);
            }
            if let (Some(a), Some(b)) = (results.a, results.b) {
                let agreed = agreed(SyncSide::A, a, b);
                effects.agreed.push((copy.clone(), agreed, Origin::Made));
            }
            return Ok(Some(copy));
        }
        effects.disturbed.push(path.clone());
        Ok(None)
    }

    /// Removes a copy from the memories in which it was made a moment ago.
    fn take_back(&self, copy: &MemoryPath, made: &[(SyncSide, Digest)]) -> Result<(), SyncError> {
        made.iter().try_for_each(|(side, digest)| self.sides[*side].delete(copy, *digest).map(drop))
    }

    /// Renames a file that is in the way of a directory.
    fn move_aside(
        &self,
        side: SyncSide,
        path: &MemoryPath,
        effects: &mut Effects,
    ) -> Result<(), SyncError> {
        let Some(content) = self.sides[side].read(path)? else {
            effects.disturbed.push(path.clone());
            return Ok(());
        };
        let of_content = digest(&content);
        let modified = self.found(side, path).and_then(|found| found.modified);
        for number in 0..MOST_COPIES {
            let copy = copy_of(path, &self.names[side], modified, &of_content, number);
            let Some(copy) = copy else { break };
            let is_free = self.sides[side].read(&copy)?.is_none()
                && self.sides[side.other()].read(&copy)?.is_none_or(|there| there == content);
            if !is_free {
                continue;
            }
            match self.sides[side].rename(path, &copy, of_content, content.len() as u64)? {
                Outcome::Done(..) => {}
                Outcome::Changed | Outcome::Exists => break,
                other => {
                    effects.not_done(path, side, other);
                    return Ok(());
                }
            }
            effects.changes.push(renamed(path, &copy, side));
            effects.gone.push(path.clone());
            let (original, copied) = (path.clone(), copy.clone());
            effects.conflicts.push(SyncConflict {
                path: original,
                copy_path: copied,
                side,
                modified,
            });
            let to = side.other();
            let new = NewFile { path: &copy, from: path, content: &content, modified };
            if let Some(Outcome::Done(digest, size)) = self.sides[to].create(&[new])?.pop() {
                effects.changed(&copy, to, SyncAction::Created);
                let source = (of_content, content.len() as u64);
                let agreed = agreed(to, (digest, size), source);
                effects.agreed.push((copy, agreed, Origin::Made));
            }
            return Ok(());
        }
        effects.disturbed.push(path.clone());
        Ok(())
    }
}

/// The most copies of a file with the same origin and time.
const MOST_COPIES: usize = 100;

fn renamed(from: &MemoryPath, to: &MemoryPath, side: SyncSide) -> SyncChange {
    let (path, old_path) = (to.clone(), Some(from.clone()));
    SyncChange { path, side, action: SyncAction::Renamed, old_path }
}

/// The entry of a file, from the digest and size on `side` and those on the other one.
fn agreed(side: SyncSide, on_side: (Digest, u64), on_other: (Digest, u64)) -> Agreed {
    let of = |at: SyncSide| if at == side { on_side } else { on_other };
    Agreed::new(Both::new(|at| of(at).0), Both::new(|at| of(at).1))
}

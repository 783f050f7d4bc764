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
use super::change::{NewFile, Outcome};
use super::effects::{Effects, Origin, RenamedFile};
use super::error::SyncError;
use super::link::Link;
use super::on_conflict::OnConflict;
use super::options::{OnProgress, SyncOptions, SyncPhase, SyncProgress};
use super::parallel::for_each;
use super::plan::Step;
use super::report::{SyncAction, SyncChange};
use super::side::Side;
use super::survey::{Found, Survey};
use super::versions::Versions;

/// A plan that is carried out.
pub(super) struct Carrying<'c, 's> {
    pub(super) sides: &'c Both<Side<'s>>,
    pub(super) link: &'c Link<'c>,
    pub(super) baseline: &'c Baseline,
    pub(super) versions: &'c Both<Versions>,
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
        // Hooks are asked in the thread of the sync, about one change after another.
        let is_alone = |side: &Side<'_>| side.is_own || side.asks;
        let at_once = if is_alone(a) || is_alone(b) { 1 } else { a.at_once.max(b.at_once) };
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
                self.check()?;
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
                    self.merge_conflicts(effects)?;
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

    /// The memory whose content does not stay at its path after a conflict.
    pub(super) fn loser(&self) -> SyncSide {
        match self.options.on_conflict {
            OnConflict::KeepBoth | OnConflict::A | OnConflict::Merge(_) => SyncSide::B,
            OnConflict::B => SyncSide::A,
        }
    }

    /// Both memories, first the one whose hooks are asked: they may deny a change that the other one must not keep alone.
    pub(super) fn asking_first(&self) -> [SyncSide; 2] {
        if self.sides.b.asks && !self.sides.a.asks {
            [SyncSide::B, SyncSide::A]
        } else {
            SyncSide::ALL
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

    /// # Errors
    /// [`SyncError::Stopped`] after a cancellation.
    pub(super) fn check(&self) -> Result<(), SyncError> {
        self.sides.a.check()?;
        self.sides.b.check()
    }

    /// The file as it was found. One that the sync has renamed has its old name there.
    pub(super) fn found(&self, side: SyncSide, path: &MemoryPath) -> Option<&Found> {
        let files = &self.survey.files[side];
        files.get(path).or_else(|| files.get(self.old_paths.get(path)?))
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
                            // A content that the survey has not read is a change that no clock counts yet. So is an edit since then.
                            let is_counted = self
                                .found(from, file.path)
                                .is_some_and(|found| found.digest == Some(source.0));
                            let origin = if is_counted { Origin::Taken } else { Origin::Made };
                            let origin = origin.of(&agreed);
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
    pub(super) fn replace(
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
                let agreed = agreed(side, (new, size), source);
                effects.agreed.push((path.clone(), agreed.clone(), origin.of(&agreed)));
            }
            other => effects.not_done(path, side, other),
        }
        Ok(())
    }
}

pub(super) fn renamed(from: &MemoryPath, to: &MemoryPath, side: SyncSide) -> SyncChange {
    let (path, old_path) = (to.clone(), Some(from.clone()));
    SyncChange { path, side, action: SyncAction::Renamed, old_path }
}

/// The entry of a file, from the digest and size on `side` and those on the other one.
pub(super) fn agreed(side: SyncSide, on_side: (Digest, u64), on_other: (Digest, u64)) -> Agreed {
    let of = |at: SyncSide| if at == side { on_side } else { on_other };
    Agreed::new(Both::new(|at| of(at).0), Both::new(|at| of(at).1))
}

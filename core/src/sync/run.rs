//! [`Run`]: the rounds of one sync, each of which plans and carries out.

use memdir_store::path::MemoryPath;

use super::baseline::{Agreed, Baseline};
use super::both::{Both, SyncSide};
use super::carry_out::Carrying;
use super::effects::{Effects, maker};
use super::error::SyncError;
use super::link::Link;
use super::options::{OnProgress, SyncOptions};
use super::plan::{Plan, Step};
use super::redactions::{Redacting, redactions};
use super::report::{SyncLeftOut, Synced};
use super::rules::Rules;
use super::settle::{Touched, settle, take_fingerprints};
use super::side::Side;
use super::sources::Sources;
use super::survey::{Survey, travels};
use super::versions::{Version, Versions};
use crate::policy::PathPattern;

/// A sync: its memories, what they keep of each other, and its options.
pub(super) struct Run<'r, 's> {
    pub(super) sides: &'r Both<Side<'s>>,
    pub(super) link: &'r Link<'r>,
    pub(super) options: &'r SyncOptions,
    pub(super) names: &'r Both<String>,
}

impl Run<'_, '_> {
    pub(super) fn plan(
        &self,
        baseline: &Baseline,
        versions: &mut Both<Versions>,
        survey: &Survey,
    ) -> Result<Plan, SyncError> {
        let exclude = &self.options.exclude;
        let rules = Rules {
            one_way: self.options.one_way,
            maker: maker(self.options.one_way),
            foldings: Both::new(|side| self.sides[side].folding),
            max_file_bytes: self.options.max_file_bytes,
            exclude,
            has_baseline: self.link.has_baseline,
            trusts_clocks: !self.link.begins_anew,
            can_keep: &|side, path| self.sides[side].can_keep(path),
        };
        let plan = Plan::new(baseline, versions, survey, &rules);
        if !self.options.delete {
            plan.check_deletions(survey, self.options.recent_deletions)?;
        }
        Ok(plan)
    }

    fn carrying<'c>(
        &'c self,
        baseline: &'c Baseline,
        versions: &'c Both<Versions>,
        survey: &'c Survey,
        plan: &Plan,
    ) -> Carrying<'c, 'c> {
        let old_path = |step: &Step| match step {
            Step::Rename { from, to, .. } => Some((to.clone(), from.clone())),
            _ => None,
        };
        let moved = plan.moved.iter().map(|(to, from)| (to.clone(), from.clone()));
        Carrying {
            sides: self.sides,
            link: self.link,
            baseline,
            versions,
            survey,
            options: self.options,
            names: self.names,
            old_paths: plan.steps.iter().filter_map(old_path).chain(moved).collect(),
        }
    }

    /// Carries out a plan. The baseline and the versions have its effects, also after an error.
    pub(super) fn carry_out(
        &self,
        baseline: &mut Baseline,
        versions: &mut Both<Versions>,
        saved: &mut Both<Versions>,
        survey: &Survey,
        plan: &Plan,
        progress: &mut OnProgress<'_>,
    ) -> (Effects, Result<(), SyncError>) {
        let mut effects = Effects::default();
        effects.left_out.extend(plan.sentences());
        if plan.steps.is_empty() {
            take_fingerprints(versions, survey, &Touched::default());
            return (effects, Ok(()));
        }
        // The versions are saved before the other memory learns of a change. Otherwise a change after a kill could get the same number.
        if let Err(error) = self.introduce(plan).and_then(|()| self.save(versions, saved)) {
            return (effects, Err(error));
        }
        let carrying = self.carrying(baseline, versions, survey, plan);
        let made = carrying.carry_out(&plan.steps, &mut effects, progress);
        let touched = effects.apply_to(baseline, versions, self.options.one_way);
        take_fingerprints(versions, survey, &touched);
        let exclude = &self.options.exclude;
        let settled = settle(self.sides, self.link, baseline, versions, touched, exclude);
        (effects, made.and(settled))
    }

    /// Tells the history of each memory what the plan takes from the other one.
    fn introduce(&self, plan: &Plan) -> Result<(), SyncError> {
        for side in SyncSide::ALL.into_iter().filter(|side| self.sides[*side].has_history) {
            let other = side.other();
            // A file that the sync renames in the other memory has its old path in the history there.
            let wanted = plan.steps.iter().map(|step| match step {
                Step::Rename { side, from, to, .. } if *side == other => (from, to),
                step => (step.path(), step.path()),
            });
            let wanted = wanted.collect();
            let (name, history) = (self.names[other].clone(), self.sides[other].history()?);
            self.sides[side].writer.set_sources(Sources::new(name, history.as_ref(), wanted));
        }
        Ok(())
    }

    /// The versions that another sync has saved since these were loaded.
    pub(super) fn newer_versions(
        &self,
        loaded: &Both<Versions>,
    ) -> Result<Option<Both<Versions>>, SyncError> {
        let now = self.link.versions()?;
        Ok((now != *loaded).then_some(now))
    }

    /// Saves the versions that have changed. The memory that counts the changes of the sync comes first.
    pub(super) fn save(
        &self,
        versions: &Both<Versions>,
        saved: &mut Both<Versions>,
    ) -> Result<(), SyncError> {
        let first = maker(self.options.one_way);
        for side in [first, first.other()] {
            if versions[side] != saved[side] {
                self.link.save_versions(side, &versions[side], &saved[side])?;
                saved[side] = versions[side].clone();
            }
        }
        Ok(())
    }

    /// Compares the redactions of both histories. Reading them takes as long as they are, so a sync without changes does so only on request.
    pub(super) fn compare_redactions(
        &self,
        synced: &mut Synced,
        redacting: Redacting,
    ) -> Result<(), SyncError> {
        if redacting != Redacting::Name || !synced.changes.is_empty() {
            let one_way = self.options.one_way;
            synced.redactions = redactions(self.sides, one_way, &synced.changes, redacting)?;
        }
        Ok(())
    }

    /// The result that the plan would have, if its first comparison is the last one.
    pub(super) fn rehearse(
        &self,
        baseline: &Baseline,
        versions: &Both<Versions>,
        survey: &Survey,
        plan: &Plan,
        mut synced: Synced,
    ) -> Result<Synced, SyncError> {
        let mut effects = Effects::default();
        effects.left_out.extend(plan.sentences());
        self.carrying(baseline, versions, survey, plan).rehearse(&plan.steps, &mut effects)?;
        let Effects { changes, conflicts, left_out, .. } = effects;
        synced = Synced { changes, conflicts, left_out, equal: plan.equal, ..synced };
        let redactions = self.options.redactions;
        let redacting = if redactions { Redacting::Rehearse } else { Redacting::Name };
        self.compare_redactions(&mut synced, redacting)?;
        synced.sort();
        Ok(synced)
    }
}

impl Plan {
    fn sentences(&self) -> impl Iterator<Item = SyncLeftOut> {
        self.left_out
            .iter()
            .map(|(path, side, reason)| SyncLeftOut::new(path.clone(), *side, *reason))
    }
}

/// The number of files that both memories have with the same content.
pub(super) fn equal_files(
    baseline: &Baseline,
    versions: &Both<Versions>,
    exclude: &[PathPattern],
) -> u64 {
    let is_equal = |(path, agreed): &(&MemoryPath, &Agreed)| {
        let has_it = |side: SyncSide| {
            let version = versions[side].files.get(*path);
            version.and_then(Version::digest) == Some(agreed.digests[side])
        };
        agreed.is_equal() && SyncSide::ALL.into_iter().all(has_it) && travels(path, exclude)
    };
    baseline.files.iter().filter(is_equal).count() as u64
}

/// Whether the baseline is that of another memory, which was at the place of one that is only read: this one has less than half of the files.
pub(super) fn is_of_another(
    link: &Link<'_>,
    baseline: &Baseline,
    survey: &Survey,
    exclude: &[PathPattern],
) -> bool {
    let has_others = |side: SyncSide| {
        let (mut known, mut kept) = (0, 0);
        for path in baseline.files.keys().filter(|path| travels(path, exclude)) {
            known += 1;
            let is_there = survey.files[side].contains_key(path);
            kept += usize::from(is_there || survey.unknown[side].contains(path));
        }
        kept * 2 < known
    };
    link.has_baseline
        && SyncSide::ALL.into_iter().any(|side| link.is_known_by_place(side) && has_others(side))
}

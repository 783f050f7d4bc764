//! [`sync()`]: makes two memories equal, and loses nothing.
//!
//! A sync knows which changes the version of each file includes (`versions`), and what both memories last agreed on (`baseline`); `link` keeps
//! both. It lists the memories and reads what has changed (`survey`), plans what has to be done for each file (`plan`, `renames`), and does
//! it (`carry_out`, `merging`, `names`, `emptied`). Every change is conditional on the content that was compared (`side`). If an agent was
//! faster, the next round looks again. At the end the new contents are read back (`settle`), and the baseline is saved.
//!
//! The conflicts that a sync left can be listed and resolved (`conflicts`).
//!
//! A sync that is killed leaves whole files. The next one compares with the old baseline, and ends in the same place.

mod baseline;
mod both;
mod carry_out;
mod conflicts;
mod emptied;
mod error;
mod link;
mod merging;
mod names;
mod parallel;
mod partners;
mod place;
mod plan;
mod redactions;
mod renames;
mod report;
mod rules;
mod settle;
mod side;
mod sources;
mod survey;
mod versions;
mod walk;

use std::ops::ControlFlow;
use std::sync::Arc;

use memdir_store::path::MemoryPath;
use serde::Serialize;

use self::baseline::{Agreed, Baseline};
use self::both::Both;
pub use self::both::SyncSide;
use self::carry_out::{Carrying, Effects, Origin, RenamedFile};
pub use self::conflicts::{ConflictContents, ConflictCopy, Resolution, conflicts, resolve};
pub use self::error::{SyncError, SyncErrorKind};
use self::link::Link;
pub use self::names::original_of;
pub use self::partners::{SyncPartner, partners};
use self::plan::{Plan, Step, renamed_clock};
use self::redactions::{Redacting, redactions};
pub use self::report::{
    SyncAction, SyncChange, SyncConflict, SyncLeftOut, SyncReason, SyncRedaction, Synced,
};
use self::rules::Rules;
use self::settle::{Touched, settle, take_fingerprints};
use self::side::Side;
use self::sources::Sources;
use self::survey::{Survey, travels};
use self::versions::{Clock, Content, Version, Versions};
use crate::memory::Memory;
use crate::policy::PathPattern;
use crate::store::overlap;
use crate::{ConfigError, Error};

/// The options of a sync.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct SyncOptions {
    /// Which content wins if both memories changed a file in ways that cannot be merged. By default both are kept.
    pub on_conflict: OnConflict,
    /// Only the second memory is changed. By default both are.
    pub one_way: bool,
    /// Only plans: nothing is changed, and the result says what would be.
    pub dry_run: bool,
    /// Allows the sync to delete more than a quarter of a memory's files, or all of them.
    pub delete: bool,
    /// The number of files that earlier syncs have deleted in each memory and that count as if this sync deleted them, too. For a program that
    /// syncs after each change, where no single sync deletes many files.
    pub recent_deletions: [u64; 2],
    /// Also takes redactions over: the content of a version that was redacted in one history is redacted in the other one, if a sync brought
    /// it there. Both memories need a history.
    pub redactions: bool,
    /// Paths that are left as they are in both memories.
    pub exclude: Vec<PathPattern>,
    /// Files with more bytes are left as they are. By default there is no limit.
    pub max_file_bytes: Option<u64>,
    /// The names of the memories in those of conflict copies, such as `laptop`. By default it is the name of the directory, or
    /// `a` or `b`.
    pub names: [Option<String>; 2],
}

/// Which content wins a conflict.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize)]
#[non_exhaustive]
pub enum OnConflict {
    /// Both contents are kept: that of the first memory, and that of the second one in a copy whose name says where it is from.
    #[default]
    #[serde(rename = "keep-both")]
    KeepBoth,
    /// The content of the first memory replaces the other one.
    #[serde(rename = "a")]
    A,
    /// The content of the second memory replaces the other one.
    #[serde(rename = "b")]
    B,
}

impl std::str::FromStr for OnConflict {
    type Err = Error;

    /// Parses `"keep-both"`, `"a"` or `"b"`.
    fn from_str(word: &str) -> Result<Self, Error> {
        let words = [("keep-both", Self::KeepBoth), ("a", Self::A), ("b", Self::B)];
        ConfigError::parse_word("on_conflict", &words, word)
    }
}

/// The callback of a sync: gets the progress, and returns whether the sync continues.
pub type OnProgress<'p> = dyn FnMut(SyncProgress<'_>) -> ControlFlow<()> + 'p;

/// The progress of a sync.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct SyncProgress<'p> {
    /// The current phase.
    pub phase: SyncPhase,
    /// The next file.
    #[cfg_attr(feature = "schema", schemars(with = "MemoryPath"))]
    pub path: &'p MemoryPath,
    /// The number of files of this phase before this one.
    pub files: u64,
    /// The number of all files of this phase, as far as it is known.
    pub of_files: u64,
}

/// The phase of a sync.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum SyncPhase {
    /// Files are read and compared. Nothing is changed.
    Comparing,
    /// Files are changed.
    Changing,
}

impl SyncPhase {
    /// Returns its name in other languages: `comparing` or `changing`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Comparing => "comparing",
            Self::Changing => "changing",
        }
    }
}

/// The number of comparisons. Each one after the first is for files that were changed during the one before.
const MAX_ROUNDS: usize = 3;

/// Makes two memories equal.
///
/// Both are compared with what they last agreed on. If one memory has changed a file, the other follows. If both have, their changes are
/// merged line by line. If the same lines differ, both contents are kept. A file is deleted only if the other memory has deleted it and this one has not
/// changed it since. At the first sync, and if one of the memories was restored from a backup, nothing is deleted.
///
/// The options of each memory hold for what is written to it: limits, patterns, sensitive text. Its history shows the changes with the actor
/// `sync`, as one change. Hidden files travel, too. Empty directories and the history do not. A directory that was emptied by the sync is
/// removed, unless the store cannot exclude that it loses a file that is created in it at that moment.
///
/// ```
/// use memdir::{Memory, MemoryOptions, SyncOptions};
/// use std::ops::ControlFlow;
///
/// let laptop = Memory::open("memory:", MemoryOptions::default())?;
/// let server = Memory::open("memory:", MemoryOptions::default())?;
/// let mut go_on = |_: memdir::sync::SyncProgress<'_>| ControlFlow::Continue(());
/// laptop.create("/memories/tea.md", "green\nherbal\nblack\n")?;
/// memdir::sync(&laptop, &server, &SyncOptions::default(), &mut go_on)?;
///
/// laptop.str_replace("/memories/tea.md", "green", "jasmine")?;
/// server.str_replace("/memories/tea.md", "black", "oolong")?;
/// memdir::sync(&laptop, &server, &SyncOptions::default(), &mut go_on)?;
/// assert_eq!(laptop.read("/memories/tea.md")?, "jasmine\nherbal\noolong\n");
/// assert_eq!(server.read("/memories/tea.md")?, "jasmine\nherbal\noolong\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`SyncError`]. The changes that were made before the error stay, and the next sync makes the others. The
/// [cancellation](Memory::cancelled_by) of either memory stops the sync.
pub fn sync(
    a: &Memory,
    b: &Memory,
    options: &SyncOptions,
    progress: &mut OnProgress<'_>,
) -> Result<Synced, SyncError> {
    check_overlap(a, b)?;
    // The cancellation of either memory stops the whole sync.
    let (a, b) = (&a.cancelled_by(b.cancellation()), &b.cancelled_by(a.cancellation()));
    let sides = Both { a: Side::new(SyncSide::A, a), b: Side::new(SyncSide::B, b) };
    sides.a.check()?;
    let may_write = Both { a: !sides.a.is_read_only && !options.one_way, b: !sides.b.is_read_only };
    for side in SyncSide::ALL {
        let is_only_read = options.one_way && side == SyncSide::A;
        if !may_write[side] && !is_only_read {
            return Err(SyncError::ReadOnly { side });
        }
    }
    let (mut link, mut baseline) = Link::open(&sides, may_write, !options.dry_run)?;
    let mut saved = link.versions()?;
    let mut versions = saved.clone();
    let exclude = &options.exclude;
    let mut survey = Survey::new(&sides, &baseline, &mut versions, exclude, progress)?;
    if is_of_another(&link, &baseline, &survey, exclude) {
        link.forget_baseline();
        (baseline, saved) = (Baseline::default(), link.versions()?);
        versions = saved.clone();
        survey = Survey::new(&sides, &baseline, &mut versions, exclude, progress)?;
    }
    let names = Both { a: name(a, options, 0), b: name(b, options, 1) };
    let mut synced = Synced { has_baseline: link.has_baseline, ..Synced::default() };
    let before = link.has_baseline.then(|| baseline.clone());
    let sync = Run { sides: &sides, link: &link, options, names: &names };
    if options.dry_run {
        let plan = sync.plan(&baseline, &mut versions, &survey)?;
        return sync.rehearse(&baseline, &survey, &plan, synced);
    }
    let (mut result, mut equal) = (Ok(()), None);
    for round in 1..=MAX_ROUNDS {
        if round > 1 {
            match Survey::new(&sides, &baseline, &mut versions, exclude, progress) {
                Ok(again) => survey = again,
                Err(error) => {
                    result = Err(error);
                    break;
                }
            }
        }
        let plan = match sync.plan(&baseline, &mut versions, &survey) {
            Ok(plan) => plan,
            // Nothing was changed, so nothing is saved.
            Err(error) if round == 1 => return Err(error),
            Err(error) => {
                result = Err(error);
                break;
            }
        };
        equal = plan.steps.is_empty().then_some(plan.equal);
        let (effects, ended) =
            sync.carry_out(&mut baseline, &mut versions, &mut saved, &survey, &plan, progress);
        result = ended;
        synced.changes.extend(effects.changes);
        synced.conflicts.extend(effects.conflicts);
        synced.left_out = effects.left_out;
        if result.is_err() || effects.disturbed.is_empty() {
            break;
        }
        if round == MAX_ROUNDS {
            let changing = effects.disturbed.into_iter();
            synced
                .left_out
                .extend(changing.map(|path| left_out(path, SyncSide::A, SyncReason::Changing)));
        }
    }
    let kept = sync.save(&versions, &mut saved).and_then(|()| match before {
        Some(before) if before == baseline => Ok(()),
        _ => link.save(&baseline),
    });
    result?;
    kept?;
    let redacting = if options.redactions { Redacting::Do } else { Redacting::Name };
    sync.compare_redactions(&mut synced, redacting)?;
    synced.equal = equal.unwrap_or_else(|| equal_files(&baseline, &versions, exclude));
    link.note_agreement(&names, &synced);
    synced.sort();
    Ok(synced)
}

/// The number of files that both memories have with the same content.
fn equal_files(baseline: &Baseline, versions: &Both<Versions>, exclude: &[PathPattern]) -> u64 {
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
fn is_of_another(
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

/// A sync: its memories, what they keep of each other, and its options.
struct Run<'r, 's> {
    sides: &'r Both<Side<'s>>,
    link: &'r Link<'r>,
    options: &'r SyncOptions,
    names: &'r Both<String>,
}

impl Run<'_, '_> {
    fn plan(
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
        survey: &'c Survey,
        plan: &Plan,
    ) -> Carrying<'c, 'c> {
        let old_path = |step: &Step| match step {
            Step::Rename { from, to, .. } => Some((to.clone(), from.clone())),
            _ => None,
        };
        Carrying {
            sides: self.sides,
            link: self.link,
            baseline,
            survey,
            options: self.options,
            names: self.names,
            old_paths: plan.steps.iter().filter_map(old_path).collect(),
        }
    }

    /// Carries out a plan. The baseline and the versions have its effects, also after an error.
    fn carry_out(
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
        let carrying = self.carrying(baseline, survey, plan);
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
            self.sides[side].set_sources(Sources::new(name, history.as_ref(), wanted));
        }
        Ok(())
    }

    /// Saves the versions that have changed. The memory that counts the changes of the sync comes first.
    fn save(&self, versions: &Both<Versions>, saved: &mut Both<Versions>) -> Result<(), SyncError> {
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
    fn compare_redactions(
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
    fn rehearse(
        &self,
        baseline: &Baseline,
        survey: &Survey,
        plan: &Plan,
        mut synced: Synced,
    ) -> Result<Synced, SyncError> {
        let mut effects = Effects::default();
        effects.left_out.extend(plan.sentences());
        self.carrying(baseline, survey, plan).rehearse(&plan.steps, &mut effects)?;
        let Effects { changes, conflicts, left_out, .. } = effects;
        synced = Synced { changes, conflicts, left_out, equal: plan.equal, ..synced };
        let redactions = self.options.redactions;
        let redacting = if redactions { Redacting::Rehearse } else { Redacting::Name };
        self.compare_redactions(&mut synced, redacting)?;
        synced.sort();
        Ok(synced)
    }
}

impl Effects {
    /// Enters what was done into the baseline and the versions. Returns the entries and files that it concerns.
    fn apply_to(
        &mut self,
        baseline: &mut Baseline,
        versions: &mut Both<Versions>,
        one_way: bool,
    ) -> Touched {
        let mut touched = Touched::default();
        for change in self.changes.iter().filter(|change| change.action != SyncAction::Deleted) {
            touched.written[change.side].insert(change.path.clone());
        }
        for RenamedFile { side, from, to, is_edited } in self.renamed.drain(..) {
            let clock = renamed_clock(versions, maker(one_way), side, (&from, &to), is_edited);
            let gone = joined_clock(versions, &from);
            let gone = Version { content: Content::Gone, fingerprint: None, clock: gone };
            if let Some(mut version) = versions[side].files_mut().remove(&from) {
                (version.clock, version.fingerprint) = (clock, None);
                versions[side].files_mut().insert(to.clone(), version);
            }
            versions[side].files_mut().insert(from.clone(), gone);
            if let Some(agreed) = baseline.files_mut().remove(&from) {
                baseline.files_mut().insert(to.clone(), agreed);
                touched.entries.insert(to);
            }
        }
        for path in self.gone.drain(..) {
            baseline.files_mut().remove(&path);
            let clock = joined_clock(versions, &path);
            for side in SyncSide::ALL {
                let (content, clock) = (Content::Gone, clock.clone());
                let version = Version { content, fingerprint: None, clock };
                versions[side].files_mut().insert(path.clone(), version);
            }
        }
        for (path, mut agreed, origin) in self.agreed.drain(..) {
            if let Some(before) = baseline.files.get(&path) {
                for side in SyncSide::ALL {
                    if before.digests[side] == agreed.digests[side] {
                        agreed.texts[side] = before.texts[side];
                    }
                }
            }
            let mut clock = joined_clock(versions, &path);
            if origin == Origin::Made || clock == Clock::default() {
                clock = clock.next(&versions[maker(one_way)].session, &path);
            }
            for side in SyncSide::ALL {
                // In one direction, the first memory does not get the changes of the second.
                if one_way && side == SyncSide::A && !agreed.is_equal() {
                    continue;
                }
                let content = Content::File(agreed.digests[side], agreed.sizes[side]);
                let fingerprint = versions[side]
                    .files_mut()
                    .remove(&path)
                    .and_then(|before| before.fingerprint.filter(|_| before.content == content));
                // A content from which a text was redacted must not replace the whole one in a third memory.
                let clock = match agreed.is_equal() {
                    true => clock.clone(),
                    false => clock.next(&versions[side].session, &path),
                };
                let version = Version { content, fingerprint, clock };
                versions[side].files_mut().insert(path.clone(), version);
            }
            baseline.files_mut().insert(path.clone(), agreed);
            touched.entries.insert(path);
        }
        touched
    }
}

/// The memory that counts the changes that a sync makes itself. Its versions are saved first, so no other memory knows a number that may be
/// given again after a kill.
fn maker(one_way: bool) -> SyncSide {
    if one_way { SyncSide::B } else { SyncSide::A }
}

/// The clock of a file that includes the changes of both memories.
fn joined_clock(versions: &Both<Versions>, path: &MemoryPath) -> Clock {
    let clock = |side: SyncSide| versions[side].files.get(path).map(|version| &version.clock);
    match (clock(SyncSide::A), clock(SyncSide::B)) {
        (Some(a), Some(b)) => a.joined(b),
        (Some(clock), None) | (None, Some(clock)) => clock.clone(),
        (None, None) => Clock::default(),
    }
}

impl Plan {
    fn sentences(&self) -> impl Iterator<Item = SyncLeftOut> {
        self.left_out.iter().map(|(path, side, reason)| left_out(path.clone(), *side, *reason))
    }
}

fn left_out(path: MemoryPath, side: SyncSide, reason: SyncReason) -> SyncLeftOut {
    let details = match reason {
        SyncReason::Unreadable => "there may be a file that cannot be read",
        SyncReason::Refused => "the memory refused the change",
        SyncReason::SameName => "the memory ignores case, and has another file of this name",
        SyncReason::BadName => "the memory cannot keep a file of this name",
        SyncReason::Changing => "the file was changed again and again during the sync",
        SyncReason::TooLarge => "the file is larger than the sync allows",
        SyncReason::OneWay => "the memory has a change of its own, and the sync goes one way",
        SyncReason::Directory => "an empty directory is in the way, and the store cannot remove it",
    };
    SyncLeftOut { path, side, reason, details: details.to_owned() }
}

impl Synced {
    fn sort(&mut self) {
        // A file that two rounds changed has both changes, in their order.
        self.changes.sort_by(|a, b| (&a.path, a.side).cmp(&(&b.path, b.side)));
        self.conflicts.sort_by(|a, b| a.path.cmp(&b.path));
        self.left_out.sort_by(|a, b| a.path.cmp(&b.path));
    }
}

fn check_overlap(a: &Memory, b: &Memory) -> Result<(), SyncError> {
    let (one, other) = (a.without_recorder(), b.without_recorder());
    let (at, also_at) = (one.info().locations, other.info().locations);
    match Arc::ptr_eq(one, other) || overlap(&at, &also_at) || overlap(&also_at, &at) {
        true => Err(SyncError::Overlapping),
        false => Ok(()),
    }
}

/// The name of a memory, for conflict copies.
fn name(memory: &Memory, options: &SyncOptions, number: usize) -> String {
    if let Some(name) = options.names.get(number).and_then(Option::as_deref) {
        return name.to_owned();
    }
    let directory = memory.without_recorder().info().directory;
    let names = directory.iter().flat_map(|directory| directory.ancestors());
    let mut names = names.filter_map(|path| path.file_name()?.to_str());
    // The files of `./agent` are in `./agent/memories`.
    let name = names.find(|name| *name != "memories");
    name.map_or_else(|| ["a", "b"][number.min(1)].to_owned(), str::to_owned)
}

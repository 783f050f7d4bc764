//! [`sync()`]: makes two memories equal, and loses nothing.
//!
//! A sync knows which changes the version of each file includes (`versions`), and what both memories last agreed on (`baseline`); `link` keeps
//! both. Each round of it (`run`) lists the memories and reads what has changed (`survey`), plans what has to be done for each file (`plan`,
//! `renames`), and does it (`carry_out`, `merging`, `copies`, `emptied`). Every change is conditional on the content that was compared
//! (`change`, `writer`), and hooks are asked before it is made (`asking`). If an agent was faster, the next round looks again. At the end the new contents are read back (`settle`), and the baseline is
//! saved.
//!
//! The conflicts that a sync left can be listed and resolved (`conflicts`).
//!
//! A sync that is killed leaves whole files. The next one compares with the old baseline, and ends in the same place.

mod asking;
mod baseline;
mod both;
mod carry_out;
mod change;
mod clock;
mod conflicts;
mod copies;
mod effects;
mod emptied;
mod error;
mod link;
mod merging;
mod names;
mod on_conflict;
mod options;
mod parallel;
mod partners;
mod place;
mod plan;
mod redactions;
mod rehearse;
mod renames;
mod report;
mod room;
mod rules;
mod run;
mod settle;
mod side;
mod sources;
mod survey;
mod versions;
mod walk;
mod writer;

use std::sync::Arc;

use self::baseline::Baseline;
use self::both::Both;
pub use self::both::SyncSide;
pub use self::conflicts::{ConflictContents, ConflictCopy, Resolution, conflicts, resolve};
pub use self::error::{SyncError, SyncErrorKind};
use self::link::Link;
pub use self::names::original_of;
pub use self::on_conflict::{MergeError, MergeFunction, OnConflict, SyncMerge};
pub use self::options::{OnProgress, SyncOptions, SyncPhase, SyncProgress};
pub use self::partners::{SyncPartner, partners};
use self::redactions::Redacting;
pub use self::report::{
    SyncAction, SyncChange, SyncConflict, SyncLeftOut, SyncReason, SyncRedaction, Synced,
};
use self::run::{Run, equal_files, is_of_another};
use self::side::Side;
use self::survey::Survey;
use crate::memory::Memory;
use crate::store::overlap;

/// The number of comparisons. Each one after the first is for files that were changed during the one before.
const MAX_ROUNDS: usize = 3;

/// Makes two memories equal.
///
/// Both are compared with what they last agreed on. If one memory has changed a file, the other follows. If both have, their changes are
/// merged line by line. If the same lines differ, both contents are kept. A file is deleted only if the other memory has deleted it and this one has not
/// changed it since. At the first sync, and if one of the memories was restored from a backup, nothing is deleted.
///
/// The options of each memory hold for what is written to it: limits, patterns, sensitive text. Its [hooks](crate::MemoryHooks) are asked about each
/// change. Its history shows the changes with the actor
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
        return sync.rehearse(&baseline, &versions, &survey, &plan, synced);
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
        let mut plan = match sync.plan(&baseline, &mut versions, &survey) {
            Ok(plan) => plan,
            // Nothing was changed, so nothing is saved.
            Err(error) if round == 1 => return Err(error),
            Err(error) => {
                result = Err(error);
                break;
            }
        };
        // Another sync that is at work may have renamed or written files that the survey has found.
        if round == 1
            && plan.merges()
            && let Some(newer) = sync.newer_versions(&saved)?
        {
            (versions, saved) = (newer.clone(), newer);
            survey = Survey::new(&sides, &baseline, &mut versions, exclude, progress)?;
            plan = sync.plan(&baseline, &mut versions, &survey)?;
        }
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
            synced.left_out.extend(
                changing.map(|path| SyncLeftOut::new(path, SyncSide::A, SyncReason::Changing)),
            );
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

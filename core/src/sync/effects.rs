//! [`Effects`]: what the steps of a plan have done, and how that is entered into the baseline and the versions.

use memdir_store::path::MemoryPath;

use super::baseline::{Agreed, Baseline, Digest};
use super::both::{Both, SyncSide};
use super::change::Outcome;
use super::clock::Clock;
use super::plan::renamed_clock;
use super::report::{SyncAction, SyncChange, SyncConflict, SyncLeftOut, SyncReason};
use super::settle::Touched;
use super::versions::{Content, Version, Versions};

/// Where a content comes from that both memories now have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Origin {
    /// One of them had it.
    Taken,
    /// The sync has made it, or has chosen it: it includes the changes of both, and the choice is one more.
    Made,
    /// As `Made`, but a policy or a hook of a memory has changed it, so this memory has not all of it.
    Partly,
}

impl Origin {
    /// The origin of contents of which each memory was to get the whole.
    pub(super) fn of(self, agreed: &Agreed) -> Self {
        if agreed.is_equal() { self } else { Self::Partly }
    }
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
    /// Conflicts that the function of the application has to merge.
    pub(super) to_merge: Vec<(MemoryPath, Both<Digest>)>,
    /// Files that are not as they were compared: the next round looks again.
    pub(super) disturbed: Vec<MemoryPath>,
}

impl Effects {
    pub(super) fn add(&mut self, mut other: Self) {
        self.changes.append(&mut other.changes);
        self.conflicts.append(&mut other.conflicts);
        self.left_out.append(&mut other.left_out);
        self.agreed.append(&mut other.agreed);
        self.gone.append(&mut other.gone);
        self.renamed.append(&mut other.renamed);
        self.to_merge.append(&mut other.to_merge);
        self.disturbed.append(&mut other.disturbed);
    }

    pub(super) fn changed(&mut self, path: &MemoryPath, side: SyncSide, action: SyncAction) {
        self.changes.push(SyncChange { path: path.clone(), side, action, old_path: None });
    }

    /// Notes an outcome after which the file is not as it should be.
    pub(super) fn not_done(&mut self, path: &MemoryPath, side: SyncSide, outcome: Outcome) {
        match outcome {
            Outcome::Done(..) => {}
            Outcome::Changed | Outcome::Exists => self.disturbed.push(path.clone()),
            Outcome::Refused(error) => {
                let sentence = error.to_string();
                let sentence = sentence.strip_prefix("Error: ").unwrap_or(&sentence);
                self.refused(path, side, sentence.to_owned());
            }
            Outcome::Directory { is_empty } => {
                let mut left = SyncLeftOut::new(path.clone(), side, SyncReason::Directory);
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

    /// Enters what was done into the baseline and the versions. Returns the entries and files that it concerns.
    pub(super) fn apply_to(
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
            if let Some(mut agreed) = baseline.files_mut().remove(&from) {
                let clock = |side: SyncSide| versions[side].files.get(&to).map(|it| &it.clock);
                if let (Some(a), Some(b)) = (clock(SyncSide::A), clock(SyncSide::B)) {
                    if a == b {
                        // The changes of the old name are in neither of both any longer.
                        agreed.known.clear();
                    }
                    agreed.known.extend(a.common(b));
                }
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
            let is_partly = one_way
                && !agreed.is_equal()
                && (origin == Origin::Partly || was_partly(versions, baseline, &path));
            let mut clock = joined_clock(versions, &path);
            if origin != Origin::Taken || clock == Clock::default() {
                clock = clock.made(&versions[maker(one_way)].session, &path);
            }
            for side in SyncSide::ALL {
                // In one direction, the first memory does not get the changes of the second.
                if one_way && side == SyncSide::A && !agreed.is_equal() {
                    continue;
                }
                let content = Content::File(agreed.digests[side], agreed.sizes[side]);
                let before = versions[side].files_mut().remove(&path);
                let own = before.as_ref().map(|before| before.clock.clone()).unwrap_or_default();
                let fingerprint =
                    before.and_then(|it| it.fingerprint.filter(|_| it.content == content));
                // A content from which a text was redacted must not replace the whole one in a third memory. In one direction the first memory
                // gets no change of its own, so the other one must not seem to include its changes.
                let session = &versions[side].session;
                let clock = match agreed.is_equal() {
                    true => clock.clone(),
                    false if is_partly => own.made(session, &path),
                    false => clock.made(session, &path),
                };
                let version = Version { content, fingerprint, clock };
                versions[side].files_mut().insert(path.clone(), version);
            }
            let clocks =
                SyncSide::ALL.into_iter().filter_map(|side| versions[side].files.get(&path));
            agreed.known = clocks.flat_map(|version| version.clock.ids()).copied().collect();
            agreed.known.sort_unstable();
            agreed.known.dedup();
            baseline.files_mut().insert(path.clone(), agreed);
            touched.entries.insert(path);
        }
        touched
    }
}

/// The memory that counts the changes that a sync makes itself. Its versions are saved first, so no other memory knows a number that may be
/// given again after a kill.
pub(super) fn maker(one_way: bool) -> SyncSide {
    if one_way { SyncSide::B } else { SyncSide::A }
}

/// Whether the second memory had not all of the first one's file when both last agreed.
fn was_partly(versions: &Both<Versions>, baseline: &Baseline, path: &MemoryPath) -> bool {
    let clocks = (versions.a.files.get(path), versions.b.files.get(path));
    let (Some(agreed), (Some(a), Some(b))) = (baseline.files.get(path), clocks) else {
        return false;
    };
    agreed.known.iter().any(|id| a.clock.includes(id) && !b.clock.includes(id))
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

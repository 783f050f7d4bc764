//! [`Plan`]: what a sync has to do, from the versions of both memories and a survey of them. Nothing here reads or changes a file.
//!
//! Each file is decided by itself. A rename comes first: it moves the baseline's entry and the other memory's file to the new name, and
//! then the file at the new name is decided like any other. A version that includes all changes of the other one replaces it.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::{BTreeMap, HashMap, HashSet};

use memdir_store::path::MemoryPath;

use super::baseline::{Agreed, Baseline, Digest, digest};
use super::both::{Both, SyncSide};
use super::clock::Clock;
use super::error::SyncError;
use super::names::original_of;
use super::renames::{Rename, renames};
use super::report::SyncReason;
use super::rules::Rules;
use super::survey::{Found, Survey, travels};
use super::versions::{Version, Versions};
use super::walk::Walk;

/// A step of a sync. `side` is the memory that is changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Step {
    /// The other memory has renamed the file, and perhaps edited it. `digest` is that of the file on this side.
    Rename { side: SyncSide, from: MemoryPath, to: MemoryPath, digest: Digest, is_edited: bool },
    /// The file is in the way of a directory of the other memory, and gets a name of its own in both.
    MoveAside { side: SyncSide, path: MemoryPath },
    /// The other memory has deleted the file.
    Delete { side: SyncSide, path: MemoryPath, digest: Digest },
    /// The other memory has a new file, or has changed one that was deleted here.
    Create { side: SyncSide, path: MemoryPath },
    /// The other memory has changed the file.
    Replace { side: SyncSide, path: MemoryPath, old: Digest, new: Digest },
    /// Both memories have changed the file.
    Merge { path: MemoryPath, digests: Both<Digest> },
    /// Both have the same content.
    Agree { path: MemoryPath, digests: Both<Digest> },
    /// The file is gone from both.
    Forget { path: MemoryPath },
}

/// The steps of a sync, in the order in which they are made, and the files that stay different.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Plan {
    pub(super) steps: Vec<Step>,
    pub(super) left_out: Vec<(MemoryPath, SyncSide, SyncReason)>,
    /// The number of files that are equal without a step.
    pub(super) equal: u64,
    /// Files that have the same new name in both memories: from it to the name under which the baseline has them.
    pub(super) moved: HashMap<MemoryPath, MemoryPath>,
}

/// All that is known of one path.
#[derive(Debug, Clone, Default)]
struct Row<'r> {
    base: Option<&'r Agreed>,
    /// Whether the baseline has the file under another name.
    is_moved: bool,
    files: Both<Option<&'r Found>>,
    /// Also of a file that is gone.
    clocks: Both<Option<Cow<'r, Clock>>>,
}

impl<'r> Row<'r> {
    /// Takes over the entry of the name that the file had before. A content that is not in it is newer than one that is.
    fn move_from(&mut self, base: Option<&'r Agreed>) {
        (self.base, self.is_moved) = (base, true);
        let (Some(a), Some(b)) = (&self.clocks.a, &self.clocks.b) else { return };
        let joined = a.joined(b);
        let is_unchanged = |side: SyncSide| {
            let digest = self.files[side].and_then(|found| found.digest);
            base.is_some_and(|base| digest == Some(base.digests[side]))
        };
        match (is_unchanged(SyncSide::A), is_unchanged(SyncSide::B)) {
            (true, false) => self.clocks.b = Some(Cow::Owned(joined)),
            (false, true) => self.clocks.a = Some(Cow::Owned(joined)),
            _ => {}
        }
    }
}

impl Plan {
    pub(super) fn new(
        baseline: &Baseline,
        versions: &Both<Versions>,
        survey: &Survey,
        rules: &Rules<'_>,
    ) -> Self {
        let mut rows = rows(baseline, versions, survey);
        let mut plan = Self::default();
        let renames = renames(baseline, versions, survey, rules);
        for &Rename { side, from, to, is_edited } in &renames {
            let row = rows.remove(from).unwrap_or_default();
            let Some(digest) = row.files[side].and_then(|found| found.digest) else { continue };
            let clock = renamed_clock(versions, rules.maker, side, (from, to), is_edited);
            let renamed = rows.entry(to).or_default();
            (renamed.base, renamed.files[side]) = (row.base, row.files[side]);
            let is_unchanged = row.base.is_some_and(|base| base.digests[side] == digest);
            if is_edited
                && is_unchanged
                && let Some(others) = &renamed.clocks[side.other()]
            {
                // The new content was made from the one that is here.
                renamed.clocks[side.other()] = Some(Cow::Owned(others.joined(&clock)));
            }
            renamed.clocks[side] = Some(Cow::Owned(clock));
            let (from, to) = (from.clone(), to.clone());
            plan.steps.push(Step::Rename { side, from, to, digest, is_edited });
        }
        for (from, to) in moved_together(&rows, versions, survey) {
            let base = rows.get(from).and_then(|row| row.base);
            if let Some(row) = rows.get_mut(to) {
                row.move_from(base);
                plan.moved.insert(to.clone(), from.clone());
            }
        }
        for (&path, row) in &rows {
            if !travels(path, rules.exclude) {
                continue;
            }
            let unknown =
                SyncSide::ALL.into_iter().find(|side| survey.unknown[*side].contains(path));
            match unknown {
                Some(side) => plan.left_out.push((path.clone(), side, SyncReason::Unreadable)),
                None => plan.decide(path, row, rules),
            }
        }
        plan.keep_names_apart(&rows, rules);
        plan.steps.sort_by_key(Step::order);
        plan
    }

    /// Whether both memories have changed a file.
    pub(super) fn merges(&self) -> bool {
        self.steps.iter().any(|step| matches!(step, Step::Merge { .. }))
    }

    /// Decides about one path.
    fn decide(&mut self, path: &MemoryPath, row: &Row<'_>, rules: &Rules<'_>) {
        use SyncSide::{A, B};
        let own = |plan: &mut Self| plan.left_out.push((path.clone(), B, SyncReason::OneWay));
        let order = match (&row.clocks.a, &row.clocks.b) {
            (Some(a), Some(b)) => a.compare(b),
            _ => None,
        };
        match (row.files.a, row.files.b) {
            (None, None) => {
                if row.base.is_some() {
                    self.steps.push(Step::Forget { path: path.clone() });
                }
            }
            (Some(found), None) | (None, Some(found)) => {
                let has = if row.files.a.is_some() { A } else { B };
                let lacks = has.other();
                let includes = if has == A { Ordering::Less } else { Ordering::Greater };
                // The deletion includes every change of the file.
                let is_deleted = rules.has_baseline && order == Some(includes);
                match found.digest.filter(|_| is_deleted) {
                    Some(_) if !self.fits(path, has, found.size, rules) => {}
                    // In one direction, each memory keeps the files that only it has.
                    Some(_) if rules.one_way && has == A => own(self),
                    None if rules.one_way && lacks == A => own(self),
                    Some(digest) => {
                        self.steps.push(Step::Delete { side: has, path: path.clone(), digest });
                    }
                    None if self.fits(path, lacks, found.size, rules) => {
                        self.steps.push(Step::Create { side: lacks, path: path.clone() });
                    }
                    None => {}
                }
            }
            (Some(a), Some(b)) => {
                let (Some(of_a), Some(of_b)) = (a.digest, b.digest) else { return };
                let digests = Both { a: of_a, b: of_b };
                let is_agreed = row.base.is_some_and(|base| base.digests == digests);
                let is_unchanged = |side: SyncSide| {
                    row.base.is_some_and(|base| base.digests[side] == digests[side])
                };
                if is_agreed && !row.is_moved && (of_a != of_b || order == Some(Ordering::Equal)) {
                    // A policy may have redacted one of them.
                    self.equal += u64::from(of_a == of_b);
                } else if is_agreed && row.is_moved {
                    self.equal += u64::from(of_a == of_b);
                    self.steps.push(Step::Agree { path: path.clone(), digests });
                } else if of_a == of_b {
                    self.equal += 1;
                    self.steps.push(Step::Agree { path: path.clone(), digests });
                } else if rules.one_way && is_unchanged(A) {
                    own(self);
                } else {
                    let is_redacted = row.base.is_some_and(|base| !base.is_equal());
                    let order = order.filter(|_| rules.trusts_clocks && !is_redacted);
                    let (side, source) = match order {
                        Some(Ordering::Greater) => (B, a),
                        Some(Ordering::Less) => (A, b),
                        Some(Ordering::Equal) | None => {
                            if self.fits(path, B, a.size.max(b.size), rules) {
                                self.steps.push(Step::Merge { path: path.clone(), digests });
                            }
                            return;
                        }
                    };
                    if rules.one_way && side == A {
                        own(self);
                    } else if self.fits(path, side, source.size, rules) {
                        let (old, new) = (digests[side], digests[side.other()]);
                        self.steps.push(Step::Replace { side, path: path.clone(), old, new });
                    }
                }
            }
        }
    }

    fn fits(&mut self, path: &MemoryPath, side: SyncSide, size: u64, rules: &Rules<'_>) -> bool {
        let is_too_large = rules.max_file_bytes.is_some_and(|most| size > most);
        if is_too_large {
            self.left_out.push((path.clone(), side, SyncReason::TooLarge));
        }
        !is_too_large
    }

    /// Turns the steps that create a file where there is no room for its name into others.
    fn keep_names_apart(&mut self, rows: &BTreeMap<&MemoryPath, Row<'_>>, rules: &Rules<'_>) {
        if !self.steps.iter().any(|step| matches!(step, Step::Create { .. })) {
            return;
        }
        let deleted: Both<HashSet<&MemoryPath>> = Both::new(|of| {
            let deleted = |step| match step {
                &Step::Delete { side, ref path, .. } if side == of => Some(path),
                _ => None,
            };
            self.steps.iter().filter_map(deleted).collect()
        });
        let mut taken: Both<HashMap<MemoryPath, &MemoryPath>> = Both::default();
        let mut directories: Both<HashSet<MemoryPath>> = Both::default();
        for side in SyncSide::ALL {
            let folding = rules.foldings[side];
            let stays = rows.iter().filter(|(_, row)| row.files[side].is_some());
            for path in stays.map(|(path, _)| *path).filter(|path| !deleted[side].contains(path)) {
                taken[side].insert(folding.key(path).into_owned(), path);
                let mut above = path.parent();
                while let Some(directory) = above.filter(|path| !path.is_root()) {
                    above = directory.parent();
                    if !directories[side].insert(folding.key(&directory).into_owned()) {
                        break;
                    }
                }
            }
        }
        let mut steps = Vec::with_capacity(self.steps.len());
        let (mut left_out, mut new) = (Vec::new(), Both::<HashSet<MemoryPath>>::default());
        for step in &self.steps {
            let &Step::Create { side, ref path } = step else {
                steps.push(step.clone());
                continue;
            };
            let key = rules.foldings[side].key(path).into_owned();
            if !(rules.can_keep)(side, path) {
                left_out.push((path.clone(), side, SyncReason::BadName));
            } else if directories[side].contains(&key) {
                if rules.one_way && side == SyncSide::B {
                    left_out.push((path.clone(), side, SyncReason::OneWay));
                } else {
                    steps.push(Step::MoveAside { side: side.other(), path: path.clone() });
                }
            } else if taken[side].contains_key(&key) || !new[side].insert(key) {
                left_out.push((path.clone(), side, SyncReason::SameName));
            } else {
                steps.push(step.clone());
            }
        }
        self.steps = steps;
        self.left_out.append(&mut left_out);
    }

    /// Refuses a plan that would delete too much, together with what was deleted before.
    pub(super) fn check_deletions(
        &self,
        survey: &Survey,
        recent: [u64; 2],
    ) -> Result<(), SyncError> {
        for (of, recent) in SyncSide::ALL.into_iter().zip(recent) {
            let deleted = self
                .steps
                .iter()
                // A conflict copy is deleted when a person has resolved the conflict.
                .filter(|step| matches!(step, Step::Delete { side, path, .. } if *side == of && original_of(path).is_none()));
            let now = deleted.count() as u64;
            let files = survey.files[of].len() as u64 + recent;
            let deletions = now + recent;
            let is_much = deletions > MANY && deletions * PART > files;
            let is_all = survey.files[of.other()].is_empty();
            if now > 0 && (is_much || is_all) {
                return Err(SyncError::TooManyDeletions { side: of, deletions, files });
            }
        }
        Ok(())
    }
}

/// The files that both memories have renamed to the same name since the baseline, each with its old path and its new one. So has a sync that
/// was killed before it had compared their contents.
///
/// Each memory must know that it is the same file: by the content that it had there before, or by its history.
fn moved_together<'r>(
    rows: &BTreeMap<&'r MemoryPath, Row<'r>>,
    versions: &Both<Versions>,
    survey: &Survey,
) -> Vec<(&'r MemoryPath, &'r MemoryPath)> {
    let is_unknown = |path: &MemoryPath| {
        SyncSide::ALL.into_iter().any(|side| survey.unknown[side].contains(path))
    };
    let empty = digest(&[]);
    let mut gone: HashSet<&MemoryPath> = HashSet::new();
    let mut by_content = HashMap::<(SyncSide, Digest), Vec<&MemoryPath>>::new();
    for (&path, row) in rows {
        let Some(agreed) = row.base else { continue };
        if row.files.a.is_some() || row.files.b.is_some() || is_unknown(path) {
            continue;
        }
        // Both have agreed on another content at the old path since, which may be that of another file.
        if let (Some(a), Some(b)) = (&row.clocks.a, &row.clocks.b)
            && a.common(b).any(|id| !agreed.known.contains(id))
        {
            continue;
        }
        gone.insert(path);
        for side in SyncSide::ALL {
            let last = versions[side].files.get(path).and_then(Version::digest);
            let digests =
                [Some(agreed.digests[side]), last.filter(|last| *last != agreed.digests[side])];
            // The content of an empty file says nothing about where it comes from.
            for digest in digests.into_iter().flatten().filter(|it| *it != empty) {
                by_content.entry((side, digest)).or_default().push(path);
            }
        }
    }
    let mut moved = Vec::new();
    if gone.is_empty() {
        return moved;
    }
    for (&to, row) in rows {
        let (None, Some(a), Some(b)) = (row.base, row.files.a, row.files.b) else { continue };
        let origins = |side: SyncSide, found: &Found| -> Vec<&MemoryPath> {
            let same = found.digest.and_then(|digest| by_content.get(&(side, digest)));
            let known = survey.moved[side].get(to).and_then(|from| gone.get(from));
            known.into_iter().chain(same.into_iter().flatten()).copied().collect()
        };
        let of_b: HashSet<&MemoryPath> = origins(SyncSide::B, b).into_iter().collect();
        let of_both: Vec<&MemoryPath> = origins(SyncSide::A, a)
            .into_iter()
            .filter(|from| of_b.contains(from) && gone.contains(from))
            .collect();
        // Of several files with this content, the one with the same name was moved.
        let same_name = of_both.iter().find(|from| from.name() == to.name());
        if let Some(&from) = same_name.or(of_both.first()) {
            gone.remove(from);
            moved.push((from, to));
        }
    }
    moved
}

/// The knowledge of each path, before renames.
fn rows<'r>(
    baseline: &'r Baseline,
    versions: &'r Both<Versions>,
    survey: &'r Survey,
) -> BTreeMap<&'r MemoryPath, Row<'r>> {
    let mut paths: Vec<&MemoryPath> = baseline.files.keys().collect();
    for side in SyncSide::ALL {
        let mut known = Walk::new(&baseline.files);
        paths.extend(survey.files[side].keys().filter(|path| !known.has(path)));
    }
    paths.sort();
    paths.dedup();
    let mut agreed = Walk::new(&baseline.files);
    let mut files = Both::new(|side| Walk::new(&survey.files[side]));
    let mut versions = Both::new(|side| Walk::new(&versions[side].files));
    let row = |path: &'r MemoryPath| {
        let base = agreed.at(path);
        let files = Both::new(|side| files[side].at(path));
        let clocks = Both::new(|side| {
            let version = versions[side].at(path)?;
            Some(Cow::Borrowed(&version.clock))
        });
        (path, Row { base, is_moved: false, files, clocks })
    };
    paths.into_iter().map(row).collect()
}

/// The clock of a file that the other memory has renamed, under its new name: that of the rename, and one change more if this memory has
/// changed the file. If the other memory has edited it as well, the clock here is still that of the old name.
pub(super) fn renamed_clock(
    versions: &Both<Versions>,
    maker: SyncSide,
    side: SyncSide,
    (from, to): (&MemoryPath, &MemoryPath),
    is_edited: bool,
) -> Clock {
    let (own, others) = (&versions[side], &versions[side.other()]);
    let renamed = others.files.get(to);
    let clock = renamed.map_or_else(Clock::default, |version| version.clock.clone());
    let content = own.files.get(from).map(|version| version.content);
    let is_same = content == renamed.map(|version| version.content);
    let clock = match own.files.get(from) {
        Some(version) if is_edited => version.clock.clone(),
        _ => clock,
    };
    let clock = own.files.get(to).map_or_else(|| clock.clone(), |old| clock.joined(&old.clock));
    if is_same || is_edited { clock } else { clock.made(&versions[maker].session, to) }
}

/// So many deletions are never too many, unless the other memory is empty.
const MANY: u64 = 8;
/// A larger part of the files than this is too much: a quarter.
const PART: u64 = 4;

impl Step {
    /// The file; for a rename, its new path.
    pub(super) fn path(&self) -> &MemoryPath {
        match self {
            Self::Rename { to: path, .. }
            | Self::MoveAside { path, .. }
            | Self::Delete { path, .. }
            | Self::Create { path, .. }
            | Self::Replace { path, .. }
            | Self::Merge { path, .. }
            | Self::Agree { path, .. }
            | Self::Forget { path } => path,
        }
    }

    /// The phase in which the step is made: names become free before others are taken.
    fn order(&self) -> u8 {
        match self {
            Self::Rename { .. } => 0,
            Self::MoveAside { .. } => 1,
            Self::Delete { .. } => 2,
            Self::Create { .. } => 3,
            Self::Replace { .. } => 4,
            Self::Merge { .. } => 5,
            Self::Agree { .. } => 6,
            Self::Forget { .. } => 7,
        }
    }
}

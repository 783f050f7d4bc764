//! Takes redactions over: what was removed from the history of one memory is removed from that of the other, where a sync had brought it.
//!
//! A redacted version no longer has a content or a SHA-256. So its counterpart is found by the ids that the records of syncs have
//! ([`Sources`](super::sources::Sources)), in either direction.

use std::collections::{BTreeMap, HashMap};

use memdir_store::path::MemoryPath;
use memdir_store::{HistoryId, Operation};

use super::both::{Both, SyncSide};
use super::error::SyncError;
use super::report::{SyncAction, SyncChange, SyncRedaction};
use super::side::Side;
use crate::history::{ListedVersion, Version};

/// The way in which a sync treats redactions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Redacting {
    /// It takes them over.
    Do,
    /// It says what it would do.
    Rehearse,
    /// It only names them.
    Name,
}

/// Takes the redactions of each memory over to the other one, and returns what differed. `changes` are those of the sync.
pub(super) fn redactions(
    sides: &Both<Side<'_>>,
    one_way: bool,
    changes: &[SyncChange],
    redacting: Redacting,
) -> Result<Vec<SyncRedaction>, SyncError> {
    /// A content that one memory has in several files may bring a redaction back to the other one, each time for other files.
    const MAX_ROUNDS: usize = 8;
    let mut told: Vec<SyncRedaction> = Vec::new();
    for _ in 0..MAX_ROUNDS {
        let done = |told: &[SyncRedaction]| told.iter().filter(|one| one.is_done).count();
        let before = done(&told);
        for side in SyncSide::ALL.into_iter().filter(|side| !one_way || *side == SyncSide::B) {
            let mut found = differences(sides, side)?;
            // Only a person can tell whether a merged content has the text, so this is not said at each sync.
            found.retain(|different| !different.is_merged || redacting != Redacting::Name);
            for now in ended(&sides[side], side, found, changes, redacting)? {
                match told.iter_mut().find(|before| before.version == now.version) {
                    Some(before) => *before = now,
                    None => told.push(now),
                }
            }
        }
        if redacting != Redacting::Do || done(&told) == before {
            break;
        }
    }
    Ok(told)
}

/// A version whose counterpart is redacted.
struct Difference {
    version: Version,
    reason: String,
    /// Whether the version was merged with the redacted content, or the other way around.
    is_merged: bool,
    /// A file that has this content now.
    current: Option<MemoryPath>,
}

/// Ends the differences of a memory as the sync has to.
fn ended(
    memory: &Side<'_>,
    side: SyncSide,
    found: Vec<Difference>,
    changes: &[SyncChange],
    redacting: Redacting,
) -> Result<Vec<SyncRedaction>, SyncError> {
    let changed = |path: &MemoryPath| {
        let of_side = || changes.iter().filter(|change| change.side == side);
        let renamed = of_side().find(|change| change.old_path.as_ref() == Some(path));
        let path = renamed.map_or(path, |change| &change.path);
        of_side().any(|change| {
            let is_written = matches!(
                change.action,
                SyncAction::Replaced | SyncAction::Merged | SyncAction::Deleted
            );
            change.path == *path && is_written
        })
    };
    let mut wanted: BTreeMap<&str, Vec<HistoryId>> = BTreeMap::new();
    for different in found.iter().filter(|it| !it.is_merged && redacting == Redacting::Do) {
        wanted.entry(&different.reason).or_default().push(different.version.id);
    }
    let mut refused: HashMap<HistoryId, String> = HashMap::new();
    for (reason, versions) in wanted {
        refused.extend(memory.writer.redact(&versions, reason)?);
    }
    let told = found.into_iter().map(|different| {
        let Difference { version, reason, is_merged, current } = different;
        let details = if is_merged {
            Some(MERGED.to_owned())
        } else {
            match redacting {
                Redacting::Name => Some("the sync does not take redactions over".to_owned()),
                Redacting::Do => refused.remove(&version.id),
                Redacting::Rehearse => current
                    .filter(|path| !changed(path))
                    .map(|path| format!("{path} has this content now")),
            }
        };
        let Version { id, path, .. } = version;
        let is_done = details.is_none();
        SyncRedaction { path, side, version: id, redacted: reason, is_done, details }
    });
    Ok(told.collect())
}

const MERGED: &str = "a sync merged it with the redacted content, so it may have the text too";

/// The versions of this memory whose counterparts in the other one are redacted, oldest first.
fn differences(sides: &Both<Side<'_>>, side: SyncSide) -> Result<Vec<Difference>, SyncError> {
    let (Some(own), Some(other)) = (sides[side].history()?, sides[side.other()].history()?) else {
        return Ok(Vec::new());
    };
    let root = MemoryPath::root();
    let theirs = Chains::new(other.listed(&root).collect());
    if !theirs.versions.iter().any(|listed| is_redacted(&listed.version)) {
        return Ok(Vec::new());
    }
    let own = Chains::new(own.listed(&root).collect());
    let current = own.versions.iter().map(|listed| &listed.version).filter(|it| it.is_current);
    let current: HashMap<&Option<String>, &MemoryPath> =
        current.map(|version| (&version.sha256, &version.path)).collect();
    let mut found: Vec<Difference> = Vec::new();
    let mut places: HashMap<HistoryId, usize> = HashMap::new();
    for redacted in theirs.versions.iter().filter(|listed| is_redacted(&listed.version)).rev() {
        let Some(reason) = &redacted.version.redacted else { continue };
        let counterparts = own.counterparts(&theirs, redacted);
        // The person who redacted it here has looked at this content already.
        let is_known = counterparts
            .iter()
            .any(|(number, is_merged)| !is_merged && is_redacted(&own.versions[*number].version));
        for (number, is_merged) in counterparts {
            if is_merged && is_known {
                continue;
            }
            let version = &own.versions[number].version;
            if version.sha256.is_none() {
                continue;
            }
            // Its own counterpart decides, and not one that was merged with it.
            if let Some(place) = places.get(&version.id) {
                found[*place].is_merged &= is_merged;
                continue;
            }
            places.insert(version.id, found.len());
            let current = current.get(&version.sha256).map(|path| (*path).clone());
            let (version, reason) = (version.clone(), reason.clone());
            found.push(Difference { version, reason, is_merged, current });
        }
    }
    Ok(found)
}

fn is_redacted(version: &Version) -> bool {
    version.redacted.is_some() && version.operation != Operation::Redacted
}

/// The versions of a memory, newest first, and those that are next to each other.
struct Chains {
    versions: Vec<ListedVersion>,
    by_id: HashMap<HistoryId, usize>,
    /// By the versions of the other memory that syncs took.
    by_source: HashMap<HistoryId, Vec<usize>>,
    /// The version of the same file before each one.
    before: Vec<Option<usize>>,
}

impl Chains {
    fn new(versions: Vec<ListedVersion>) -> Self {
        let (mut by_id, mut by_source) = (HashMap::new(), HashMap::<_, Vec<usize>>::new());
        let mut before = vec![None; versions.len()];
        let mut last: HashMap<usize, usize> = HashMap::new();
        for (number, listed) in versions.iter().enumerate() {
            if listed.version.operation == Operation::Redacted {
                continue;
            }
            by_id.insert(listed.version.id, number);
            if let Some(source) = listed.version.partner_version {
                by_source.entry(source).or_default().push(number);
            }
            if let Some(later) = last.insert(listed.file, number) {
                before[later] = Some(number);
            }
        }
        Self { versions, by_id, by_source, before }
    }

    /// The versions from which this one was made: the one before it, and if that is a rename, the one before that.
    fn made_from(&self, number: usize) -> Vec<HistoryId> {
        let mut ids = Vec::new();
        let mut before = self.before[number];
        while let Some(number) = before {
            let version = &self.versions[number].version;
            ids.push(version.id);
            before = self.before[number].filter(|_| version.operation == Operation::Renamed);
        }
        ids
    }

    /// The versions that have the content of one in the other memory, and those that may have it because it was merged.
    fn counterparts(&self, others: &Self, other: &ListedVersion) -> Vec<(usize, bool)> {
        let mut found = Vec::new();
        let taken = self.by_source.get(&other.version.id).into_iter().flatten();
        found.extend(taken.map(|number| (*number, self.versions[*number].is_merged)));
        let Some(source) = other.version.partner_version else { return found };
        let Some(at) = others.by_id.get(&other.version.id) else { return found };
        let earlier = others.made_from(*at);
        // The text of a merged content is usually from the version before it, if that is redacted, too.
        let is_from_before = earlier.iter().any(|earlier| {
            others.by_id.get(earlier).is_some_and(|at| is_redacted(&others.versions[*at].version))
        });
        if let Some(number) = self.by_id.get(&source)
            && !(other.is_merged && is_from_before)
        {
            found.push((*number, other.is_merged));
        }
        if other.is_merged {
            // Both memories merged each other's content, so both have the same result.
            let merged = earlier.iter().filter_map(|earlier| self.by_source.get(earlier)).flatten();
            let merged = merged.filter(|number| {
                self.versions[**number].is_merged && self.made_from(**number).contains(&source)
            });
            found.extend(merged.map(|number| (*number, false)));
        }
        found
    }
}

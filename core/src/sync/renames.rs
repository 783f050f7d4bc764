//! Finds renames: a file of the baseline that is gone from one memory, and a new file there with the same content, or one that the history
//! of that memory knows as the same file.

use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};
use std::ops::Bound;

use memdir_store::path::MemoryPath;

use super::baseline::{Agreed, Baseline, Digest};
use super::both::{Both, SyncSide};
use super::rules::Rules;
use super::survey::{Found, Survey};
use super::versions::Versions;
use super::walk::Walk;

/// A rename that the other memory has made.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Rename<'r> {
    /// The memory that still has the old name.
    pub(super) side: SyncSide,
    pub(super) from: &'r MemoryPath,
    pub(super) to: &'r MemoryPath,
    /// Whether the other memory has changed the content as well.
    pub(super) is_edited: bool,
}

/// The renames that each memory has made since the baseline.
pub(super) fn renames<'r>(
    baseline: &'r Baseline,
    versions: &Both<Versions>,
    survey: &'r Survey,
    rules: &Rules<'_>,
) -> Vec<Rename<'r>> {
    let fits = |file: &Found| rules.max_file_bytes.is_none_or(|most| file.size <= most);
    let mut found = Vec::new();
    for by in SyncSide::ALL {
        let side = by.other();
        if rules.one_way && side == SyncSide::A {
            continue;
        }
        let (files, others) = (&survey.files[by], &survey.files[side]);
        let (mut gone, mut by_content) =
            (HashSet::new(), HashMap::<Digest, Vec<&MemoryPath>>::new());
        let mut in_files = Walk::new(files);
        for (path, agreed) in &*baseline.files {
            let is_gone = !in_files.has(path) && !survey.unknown[by].contains(path);
            if is_gone
                && others.get(path).is_some_and(|file| file.digest.is_some() && fits(file))
                && may_be_renamed(versions, by, path, agreed)
            {
                gone.insert(path);
                // The content of an empty file says nothing about where it comes from.
                if agreed.sizes[by] > 0 {
                    by_content.entry(agreed.digests[by]).or_default().push(path);
                }
            }
        }
        if gone.is_empty() {
            continue;
        }
        // A directory at the new path makes room only as for any other file.
        let is_directory = |path: &MemoryPath| {
            let mut after =
                others.range::<MemoryPath, _>((Bound::Excluded(path), Bound::Unbounded));
            after.next().is_some_and(|(next, _)| path.is_above(next))
        };
        let new = files.iter().filter(|(to, _)| {
            !baseline.files.contains_key(*to) && !others.contains_key(*to) && !is_directory(to)
        });
        let mut edited = Vec::new();
        for (to, file) in new {
            let Some(digest) = file.digest else { continue };
            let Some(candidates) = by_content.get_mut(&digest).filter(|paths| !paths.is_empty())
            else {
                edited.extend(survey.moved[by].get(to).map(|from| (from, to)));
                continue;
            };
            // Of several files with this content, the one with the same name was moved.
            let same = candidates.iter().position(|from| from.name() == to.name());
            let at = same.unwrap_or(0);
            // A file and its own directory cannot change places in one step.
            if candidates[at].is_above(to) || to.is_above(candidates[at]) {
                continue;
            }
            let from = candidates.remove(at);
            gone.remove(from);
            found.push(Rename { side, from, to, is_edited: false });
        }
        for (from, to) in edited {
            // A file and its own directory cannot change places in one step.
            let is_apart = !from.is_above(to) && !to.is_above(from);
            if is_apart && let Some(from) = gone.take(from) {
                found.push(Rename { side, from, to, is_edited: true });
            }
        }
    }
    found
}

/// Whether the file that the other memory has at the old path may be the renamed one. It is another one if the memory that lacks it has known
/// its content, and has deleted it since, or if it was created after the rename. Nothing is known of it if both have agreed on another content
/// at the old path since the baseline, which may be that of another file.
fn may_be_renamed(
    versions: &Both<Versions>,
    by: SyncSide,
    path: &MemoryPath,
    agreed: &Agreed,
) -> bool {
    let (Some(gone), Some(there)) =
        (versions[by].files.get(path), versions[by.other()].files.get(path))
    else {
        return false;
    };
    if gone.clock.common(&there.clock).any(|id| !agreed.known.contains(id)) {
        return false;
    }
    match gone.clock.compare(&there.clock) {
        Some(Ordering::Greater) => there.digest() == Some(agreed.digests[by.other()]),
        Some(Ordering::Less | Ordering::Equal) => false,
        None => true,
    }
}

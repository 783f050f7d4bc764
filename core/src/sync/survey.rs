//! [`Survey`]: the files of both memories, and the contents that have to be known for a plan.
//!
//! A file is read only if its fingerprint is not that of the baseline, and only if its content decides something.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::ops::ControlFlow;
use std::time::SystemTime;

use memdir_store::Operation;
use memdir_store::path::MemoryPath;

use super::baseline::{Agreed, Baseline, Digest, digest};
use super::both::{Both, SyncSide};
use super::error::{SyncError, is_missing};
use super::side::Side;
use super::versions::{Content, Version, Versions};
use super::walk::Walk;
use super::{OnProgress, SyncPhase, SyncProgress};
use crate::policy::PathPattern;
use crate::store::{Entry, EntryKind, Fingerprint};
use crate::trust::Moment;

/// The files of one memory.
pub(super) type Files = BTreeMap<MemoryPath, Found>;

/// A file of a listing.
#[derive(Debug, Clone)]
pub(super) struct Found {
    pub(super) size: u64,
    pub(super) modified: Option<SystemTime>,
    /// `None` if the content decides nothing.
    pub(super) digest: Option<Digest>,
    /// The fingerprint of the listing, if it is proof of a content that is read after it.
    pub(super) fingerprint: Option<Fingerprint>,
}

/// The files of both memories.
#[derive(Debug, Default)]
pub(super) struct Survey {
    pub(super) files: Both<Files>,
    /// Files of the baseline that may be there, but cannot be read.
    pub(super) unknown: Both<BTreeSet<MemoryPath>>,
    /// New files that are files of the baseline under another name, as the history of the memory says: from new paths to old ones.
    pub(super) moved: Both<BTreeMap<MemoryPath, MemoryPath>>,
}

/// A listing, with the moments when it began and ended.
pub(super) struct Listing {
    entries: Vec<Entry>,
    moments: (Moment, Moment),
}

impl Survey {
    /// Lists both memories, reads what has changed, and enters it into their versions.
    pub(super) fn new(
        sides: &Both<Side<'_>>,
        baseline: &Baseline,
        versions: &mut Both<Versions>,
        exclude: &[PathPattern],
        progress: &mut OnProgress<'_>,
    ) -> Result<Self, SyncError> {
        let mut listings = Both::try_new(|side| list(&sides[side], exclude))?;
        let mut survey = Self::default();
        for side in SyncSide::ALL {
            let mut files = Vec::with_capacity(listings[side].entries.len());
            listings[side].entries.sort_by(|one, other| one.path.cmp(&other.path));
            let mut versions = Walk::new(&versions[side].files);
            for entry in &listings[side].entries {
                let EntryKind::File(size) = entry.kind else { continue };
                let known = versions.at(&entry.path).filter(|version| {
                    version.fingerprint.is_some() && version.fingerprint == entry.fingerprint
                });
                let digest = known.and_then(Version::digest);
                let trusted = || sides[side].seen(entry, listings[side].moments).trusted().cloned();
                let fingerprint =
                    if digest.is_some() { entry.fingerprint.clone() } else { trusted() };
                let found = Found { size, modified: entry.modified, digest, fingerprint };
                files.push((entry.path.clone(), found));
            }
            survey.files[side] = files.into_iter().collect();
        }
        drop(listings);
        let undecided = Both::new(|side| survey.undecided(side, versions));
        survey.read(sides, &undecided, progress)?;
        for side in SyncSide::ALL {
            survey.find_unknown(&sides[side], &versions[side], exclude)?;
        }
        let perhaps_renamed = Both::new(|side| survey.perhaps_renamed(side, baseline));
        survey.read(sides, &perhaps_renamed, progress)?;
        for side in SyncSide::ALL {
            survey.find_moved(&sides[side], baseline)?;
        }
        let moved = Both::new(|side| survey.unread(side, survey.moved[side].keys()));
        survey.read(sides, &moved, progress)?;
        for side in SyncSide::ALL {
            survey.observe(side, &mut versions[side], exclude);
        }
        Ok(survey)
    }

    /// The files whose contents decide whether anything has to be done.
    fn undecided(&self, side: SyncSide, versions: &Both<Versions>) -> Vec<MemoryPath> {
        let others = &self.files[side.other()];
        let decides = |path: &MemoryPath| {
            others.contains_key(path) || versions[side].files.contains_key(path)
        };
        let unknown = self.files[side].iter().filter(|(_, found)| found.digest.is_none());
        unknown.filter(|(path, _)| decides(path)).map(|(path, _)| path.clone()).collect()
    }

    /// New files that may be files of the baseline under another name: they have the size of one that is gone.
    fn perhaps_renamed(&self, side: SyncSide, baseline: &Baseline) -> Vec<MemoryPath> {
        let files = &self.files[side];
        let lost = self.lost(side, baseline);
        let sizes: HashSet<u64> = lost.map(|(_, agreed)| agreed.sizes[side]).collect();
        let is_new = |(path, found): &(&MemoryPath, &Found)| {
            found.digest.is_none()
                && sizes.contains(&found.size)
                && !baseline.files.contains_key(path)
        };
        files.iter().filter(is_new).map(|(path, _)| path.clone()).collect()
    }

    /// The files of the baseline that this memory lacks, and the other has.
    fn lost<'b>(
        &self,
        side: SyncSide,
        baseline: &'b Baseline,
    ) -> impl Iterator<Item = (&'b MemoryPath, &'b Agreed)> {
        let mut in_files = Walk::new(&self.files[side]);
        let mut in_others = Walk::new(&self.files[side.other()]);
        baseline.files.iter().filter(move |(path, _)| {
            !in_files.has(path) && in_others.has(path) && !self.unknown[side].contains(*path)
        })
    }

    fn unread<'p>(
        &self,
        side: SyncSide,
        paths: impl Iterator<Item = &'p MemoryPath>,
    ) -> Vec<MemoryPath> {
        let is_unread =
            |path: &&MemoryPath| self.files[side].get(*path).is_some_and(|it| it.digest.is_none());
        paths.filter(is_unread).cloned().collect()
    }

    /// Asks the history of a memory where its new files come from, if files are gone that no new one has the content of.
    fn find_moved(&mut self, side: &Side<'_>, baseline: &Baseline) -> Result<(), SyncError> {
        if !side.has_history {
            return Ok(());
        }
        // Also those that are gone from both memories, and new in both: both may have renamed them.
        let (mut in_files, unknown) = (Walk::new(&self.files[side.side]), &self.unknown[side.side]);
        let lost = baseline
            .files
            .iter()
            .filter(|(path, _)| !in_files.has(path) && !unknown.contains(*path));
        let mut gone: HashMap<&MemoryPath, Digest> =
            lost.map(|(path, agreed)| (path, agreed.digests[side.side])).collect();
        let mut known = Walk::new(&baseline.files);
        let new = self.files[side.side].iter().filter(|(path, _)| !known.has(path));
        let mut new: HashMap<&MemoryPath, Option<Digest>> =
            new.map(|(path, found)| (path, found.digest)).collect();
        let of_new: HashSet<Digest> = new.values().flatten().copied().collect();
        let of_gone: HashSet<Digest> = gone.values().copied().collect();
        gone.retain(|_, digest| !of_new.contains(digest));
        new.retain(|_, digest| !digest.is_some_and(|digest| of_gone.contains(&digest)));
        if gone.is_empty() || new.is_empty() {
            return Ok(());
        }
        let Some(history) = side.history()? else { return Ok(()) };
        // The file at each new path is the one of the newest version there.
        let mut moved: HashMap<usize, &MemoryPath> = HashMap::new();
        let mut found = BTreeMap::new();
        for listed in history.listed(&MemoryPath::root()) {
            let version = listed.version;
            if version.operation == Operation::Redacted {
                continue;
            }
            if let Some((path, _)) = new.remove_entry(&version.path)
                && version.is_current
            {
                moved.insert(listed.file, path);
            }
            if let Some(old_path) = &version.old_path
                && let Some(path) = moved.get(&listed.file)
                && let Some((from, _)) = gone.remove_entry(old_path)
            {
                found.insert((*path).clone(), from.clone());
                moved.remove(&listed.file);
            }
        }
        self.moved[side.side] = found;
        Ok(())
    }

    /// Enters the contents that were read, and the files that are gone. A file that neither memory seems to have may be one that cannot be read:
    /// it does not count as deleted until the sync has asked for it.
    fn observe(&self, side: SyncSide, versions: &mut Versions, exclude: &[PathPattern]) {
        let mut known = Walk::new(&versions.files);
        let found = self.files[side].iter().filter_map(|(path, found)| {
            let content = Content::File(found.digest?, found.size);
            let is_known = known.at(path).is_some_and(|version| version.content == content);
            (!is_known).then_some((path, content))
        });
        let found: Vec<(&MemoryPath, Content)> = found.collect();
        let gone = self.gone(side, versions, exclude);
        for (path, content) in found {
            versions.observe(path, content);
        }
        for path in gone {
            versions.observe(&path, Content::Gone);
        }
    }

    /// The known files that a memory seems to lack, but the other has.
    fn gone(
        &self,
        side: SyncSide,
        versions: &Versions,
        exclude: &[PathPattern],
    ) -> Vec<MemoryPath> {
        let mut files = Walk::new(&self.files[side]);
        let mut others = Walk::new(&self.files[side.other()]);
        let gone = versions.files.iter().filter(|(path, version)| {
            !files.has(path)
                && !version.is_gone()
                && others.has(path)
                && !self.unknown[side].contains(path)
                && travels(path, exclude)
        });
        gone.map(|(path, _)| path.clone()).collect()
    }

    fn read(
        &mut self,
        sides: &Both<Side<'_>>,
        paths: &Both<Vec<MemoryPath>>,
        progress: &mut OnProgress<'_>,
    ) -> Result<(), SyncError> {
        let of_files = (paths.a.len() + paths.b.len()) as u64;
        let mut files = 0;
        for side in SyncSide::ALL {
            let sized: Vec<(&MemoryPath, u64)> = paths[side]
                .iter()
                .map(|path| (path, self.files[side].get(path).map_or(0, |found| found.size)))
                .collect();
            let mut read = Vec::with_capacity(sized.len());
            sides[side].read_each(&sized, &mut |path, content| {
                let at = SyncProgress { phase: SyncPhase::Comparing, path, files, of_files };
                files += 1;
                read.push(content.map(|content| (content.len() as u64, digest(&content))));
                match progress(at) {
                    ControlFlow::Continue(()) => Ok(()),
                    ControlFlow::Break(()) => Err(SyncError::Stopped),
                }
            })?;
            for (path, read) in paths[side].iter().zip(read) {
                match read {
                    Ok((size, digest)) => {
                        let Some(found) = self.files[side].get_mut(path) else { continue };
                        found.size = size;
                        found.digest = Some(digest);
                    }
                    Err(error) => {
                        self.files[side].remove(path);
                        if !is_missing(&error) {
                            self.unknown[side].insert(path.clone());
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// Asks for each known file that a memory seems to lack, but the other has. A listing leaves out what cannot be read, and that must not
    /// be taken for a deletion.
    fn find_unknown(
        &mut self,
        side: &Side<'_>,
        versions: &Versions,
        exclude: &[PathPattern],
    ) -> Result<(), SyncError> {
        for path in side.unreadable(self.gone(side.side, versions, exclude))? {
            self.unknown[side.side].insert(path);
        }
        Ok(())
    }
}

/// Lists the files that a sync makes equal.
pub(super) fn list(side: &Side<'_>, exclude: &[PathPattern]) -> Result<Listing, SyncError> {
    let began = Moment::now();
    let mut entries = side.list()?;
    let moments = (began, Moment::now());
    entries.retain(|entry| travels(&entry.path, exclude));
    Ok(Listing { entries, moments })
}

impl Listing {
    /// The files with their sizes and the fingerprints that are proof of contents that are read after this.
    pub(super) fn files(
        self,
        side: &Side<'_>,
    ) -> impl Iterator<Item = (MemoryPath, u64, Option<Fingerprint>)> {
        self.entries.into_iter().filter_map(move |entry| {
            let EntryKind::File(size) = entry.kind else { return None };
            let fingerprint = side.seen(&entry, self.moments).trusted().cloned();
            Some((entry.path, size, fingerprint))
        })
    }
}

/// Names that belong to one machine or to another program that keeps its own state of the directory.
const OF_OTHERS: [&str; 4] = [".git", ".hg", ".svn", ".DS_Store"];

pub(super) fn travels(path: &MemoryPath, exclude: &[PathPattern]) -> bool {
    !path.is_reserved()
        && !path.names().any(|name| OF_OTHERS.contains(&name))
        && !exclude.iter().any(|pattern| pattern.matches(path))
}

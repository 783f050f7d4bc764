//! [`Comparison`]: finds the files that a copy has to write, and the conflicts.

use std::collections::{HashMap, HashSet};

use memdir_store::path::{Folding, MemoryPath};

use super::{CopyError, OnProgress, Phase, Progress, Refusal, There};
use crate::store::access::Times;
use crate::store::transfer::holds;
use crate::store::{
    Entry, EntryKind, OnExisting, Problem, Store, StoreError, micros, sort_by_path,
};

/// The result of a comparison.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) files: Vec<ToWrite>,
    pub(super) bytes: u64,
    pub(super) directories: Vec<MemoryPath>,
    /// Files with the same content, but other times.
    pub(super) times: Vec<(MemoryPath, Times)>,
    pub(super) equal: u64,
    pub(super) refused: Vec<Refusal>,
    pub(super) left_out: Vec<Problem>,
}

#[derive(Debug)]
pub(super) struct ToWrite {
    pub(super) path: MemoryPath,
    pub(super) size: u64,
    pub(super) existing: OnExisting,
}

/// Walks through both trees, side by side.
pub(super) struct Comparison<'c, 'w> {
    pub(super) from: &'c dyn Store,
    pub(super) to: &'c dyn Store,
    pub(super) existing: OnExisting,
    pub(super) plan: &'c mut Found,
    /// Files and bytes.
    pub(super) seen: (u64, u64),
    pub(super) progress: &'c mut OnProgress<'w>,
}

impl Comparison<'_, '_> {
    /// Compares a directory of the source. `there` is true if the destination has it.
    pub(super) fn directory(&mut self, path: &MemoryPath, there: bool) -> Result<(), CopyError> {
        let listed = self.from.list(path);
        let mut entries =
            listed.map_err(|error| CopyError::Source { path: path.clone(), error })?;
        entries.retain(|entry| !self.leaves_out(entry));
        if entries.is_empty() && !there {
            self.plan.directories.push(path.clone());
        }
        sort_by_path(&mut entries);
        let found = if there { self.destination(path)? } else { HashMap::new() };
        let (folding, mut taken) = (self.folding(), HashSet::new());
        for entry in entries {
            if !self.to.can_keep(&entry.path) {
                self.refuse(entry.path, There::BadName);
                continue;
            }
            let key = folding.key(&entry.path).into_owned();
            let there = found.get(&key);
            if !taken.insert(key) {
                self.refuse(entry.path, There::SameName);
                continue;
            }
            match (entry.kind, there.map(|there| there.kind)) {
                (EntryKind::Directory, None) => self.directory(&entry.path, false)?,
                (EntryKind::Directory, Some(EntryKind::Directory)) => {
                    self.directory(&entry.path, true)?;
                }
                (EntryKind::Directory, Some(EntryKind::File(_))) => {
                    self.refuse(entry.path, There::AFile);
                }
                (EntryKind::File(_), Some(EntryKind::Directory)) => {
                    self.refuse(entry.path, There::ADirectory);
                }
                (EntryKind::File(size), None) => {
                    self.tell(&entry.path, size)?;
                    self.write(entry.path, size, OnExisting::Error);
                }
                (EntryKind::File(size), Some(EntryKind::File(_))) => {
                    self.tell(&entry.path, size)?;
                    match self.same_content(&entry, there)? {
                        true => self.keep(entry, there)?,
                        false if self.existing == OnExisting::Overwrite => {
                            self.write(entry.path, size, OnExisting::Overwrite);
                        }
                        false => self.refuse(entry.path, There::AnotherContent),
                    }
                }
            }
        }
        Ok(())
    }

    /// Returns whether the entry is left out because of its name. If so, it is reported.
    fn leaves_out(&mut self, entry: &Entry) -> bool {
        let problem = Problem::of_reserved_name(entry);
        let leaves_out = problem.is_some();
        self.plan.left_out.extend(problem);
        leaves_out
    }

    /// Returns how the destination compares paths.
    fn folding(&self) -> Folding {
        Folding::new(self.to.info().folds_case)
    }

    /// Returns the entries of a directory of the destination, by their keys.
    fn destination(&self, path: &MemoryPath) -> Result<HashMap<MemoryPath, Entry>, CopyError> {
        match self.to.list(path) {
            Ok(entries) => {
                let folding = self.folding();
                let keyed = |entry: Entry| (folding.key(&entry.path).into_owned(), entry);
                Ok(entries.into_iter().map(keyed).collect())
            }
            // Another process removed it just now.
            Err(StoreError::NotFound) => Ok(HashMap::new()),
            Err(error) => Err(CopyError::Destination { path: path.clone(), error }),
        }
    }

    fn tell(&mut self, path: &MemoryPath, size: u64) -> Result<(), CopyError> {
        let (files, bytes) = self.seen;
        self.seen = (files + 1, bytes + size);
        let at = Progress {
            phase: Phase::Comparing,
            path,
            files,
            bytes,
            of_files: files + 1,
            of_bytes: bytes + size,
        };
        if (self.progress)(at).is_break() { Err(CopyError::Stopped) } else { Ok(()) }
    }

    fn same_content(&self, entry: &Entry, there: Option<&Entry>) -> Result<bool, CopyError> {
        if there.is_none_or(|there| there.kind != entry.kind) {
            return Ok(false);
        }
        let path = &entry.path;
        let content = self.from.read(path);
        let content = content.map_err(|error| CopyError::Source { path: path.clone(), error })?;
        match holds(self.to, path, &content) {
            Err(StoreError::NotFound) => Ok(false),
            held => held.map_err(|error| CopyError::Destination { path: path.clone(), error }),
        }
    }

    /// Keeps the file. Its times may still have to be set, if an earlier copy was interrupted before it set
    /// them.
    fn keep(&mut self, entry: Entry, there: Option<&Entry>) -> Result<(), CopyError> {
        self.plan.equal += 1;
        let kept = there.map(Times::from).unwrap_or_default();
        if self.differing((&entry).into(), kept).is_none() {
            return Ok(());
        }
        let path = entry.path;
        // A listing of object storage only has the time at which the object was stored.
        let times = Times::of(self.from, &path);
        let times = times.map_err(|error| CopyError::Source { path: path.clone(), error })?;
        let kept = Times::of(self.to, &path);
        let kept = kept.map_err(|error| CopyError::Destination { path: path.clone(), error })?;
        if let Some(times) = self.differing(times, kept) {
            self.plan.times.push((path, times));
        }
        Ok(())
    }

    /// Returns the times that must be set, or `None` if they are already right.
    fn differing(&self, times: Times, kept: Times) -> Option<Times> {
        let modified = match (times.modified, kept.modified) {
            (Some(time), Some(kept)) if micros::of(time) != micros::of(kept) => Some(time),
            _ => None,
        };
        // The copy may have been accessed since then, and the original too.
        let accessed = times.accessed.filter(|&time| {
            self.to.info().tracks_access
                && kept.accessed.is_none_or(|kept| micros::of(kept) < micros::of(time))
        });
        (modified.is_some() || accessed.is_some()).then_some(Times { modified, accessed })
    }

    fn write(&mut self, path: MemoryPath, size: u64, existing: OnExisting) {
        self.plan.bytes += size;
        self.plan.files.push(ToWrite { path, size, existing });
    }

    fn refuse(&mut self, path: MemoryPath, there: There) {
        self.plan.refused.push(Refusal { path, there });
    }
}

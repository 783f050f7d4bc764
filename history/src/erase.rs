//! `erase`: removes a memory for good, with its history.
//!
//! It works on the store and its journal, whether or not changes are recorded at the moment. It leaves no record of itself.

use memdir_store::path::MemoryPath;
use memdir_store::{Context, EntryKind, Mutation, ProblemKind, StoreError};
use serde::Serialize;

use super::recorder::{Recorder, writable};
use super::size::HistorySize;

/// How much `erase` removed for good, or would remove.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Erased {
    /// The number of files, hidden ones included.
    pub files: u64,
    /// The bytes of all files together.
    pub bytes: u64,
    /// The number of versions in the history, those of deleted files included. A history that cannot be read counts as none.
    pub versions: u64,
    /// The bytes of its records.
    pub history_bytes: u64,
}

impl std::ops::AddAssign for Erased {
    fn add_assign(&mut self, other: Self) {
        self.files += other.files;
        self.bytes += other.bytes;
        self.versions += other.versions;
        self.history_bytes += other.history_bytes;
    }
}

impl Recorder {
    /// Removes all files, directories and records, and what killed processes left of them. Of mounts, each store that may be
    /// changed. With `dry_run` it only counts. A second call does what an error or a kill left undone.
    ///
    /// # Errors
    /// [`StoreError::ReadOnly`]; failures of the store, or if something cannot be removed.
    pub fn erase(&self, context: &Context, dry_run: bool) -> Result<Erased, StoreError> {
        if self.parts.is_empty() {
            return self.erase_one(context, dry_run);
        }
        let mut writable = writable(&self.parts).peekable();
        if writable.peek().is_none() {
            return Err(StoreError::ReadOnly);
        }
        // Each is erased, even if another one fails.
        let (mut erased, mut failed) = (Erased::default(), None);
        for (_, part) in writable {
            match part.recorder.erase_one(context, dry_run) {
                Ok(one) => erased += one,
                Err(error) => failed = failed.or(Some(error)),
            }
        }
        failed.map_or(Ok(erased), Err)
    }

    fn erase_one(&self, context: &Context, dry_run: bool) -> Result<Erased, StoreError> {
        if self.store.info().is_read_only {
            return Err(StoreError::ReadOnly);
        }
        if dry_run {
            return self.held(context, self.reader.size(context)?);
        }
        context.check()?;
        let mut erased = None;
        let mut remove_files = || {
            // A history that cannot be read goes uncounted.
            let history = match self.reader.size(context) {
                Err(error) if error.is_cancelled() => return Err(error),
                size => size.unwrap_or_default(),
            };
            let held = self.held(context, history)?;
            // If it is done twice, the first time counts.
            erased.get_or_insert(held);
            self.remove_files(context)
        };
        self.journal.erase(context, &mut remove_files)?;
        // The next record says nothing of earlier ones.
        drop(self.reader.index().take_unconfirmed());
        let reloaded = self.reader.index().reload(context, &*self.journal);
        reloaded.and_then(|()| self.check_removal()).map_err(StoreError::after_changes)?;
        Ok(erased.unwrap_or_default())
    }

    /// What the memory holds, with a history of this size.
    fn held(&self, context: &Context, history: HistorySize) -> Result<Erased, StoreError> {
        let mut held = Erased {
            versions: history.versions,
            history_bytes: history.bytes,
            ..Erased::default()
        };
        self.store.files_in(context, &mut |file| {
            if let EntryKind::File(size) = file.kind
                && !self.reader.is_hidden(&file.path)
            {
                held.files += 1;
                held.bytes += size;
            }
        })?;
        Ok(held)
    }

    /// Removes all files. The journal goes with them if the store keeps it among them.
    fn remove_files(&self, context: &Context) -> Result<(), StoreError> {
        // Windows does not move a directory while the lock in it is held.
        if cfg!(windows) && self.reader.is_inside && self.store.info().directory.is_some() {
            return self.empty(context, &MemoryPath::root(), &mut false);
        }
        self.store.mutate(context, Mutation::Clear).map(drop)
    }

    /// A store may count as deleted what it could only move out of sight.
    fn check_removal(&self) -> Result<(), StoreError> {
        let mut left = None;
        self.store.inspect(&mut |problem| {
            if problem.kind == ProblemKind::LeftOver {
                left.get_or_insert(problem);
            }
        })?;
        match left {
            None => Ok(()),
            Some(problem) => Err(StoreError::failed(
                "erasing the memory",
                format!("something is left: {problem}"),
            )),
        }
    }
}

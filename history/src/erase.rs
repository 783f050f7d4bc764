//! `erase`: removes a memory and its history for good.
//!
//! It works on the store and its journal, whether or not changes are being recorded. It leaves no record of itself.

use memdir_store::path::MemoryPath;
use memdir_store::{Context, EntryKind, Mutation, ProblemKind, StoreError};
use serde::Serialize;

use super::index::Index;
use super::recorder::{Recorder, writable};
use super::size::HistorySize;

/// What `erase` removed for good, or would remove.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Erased {
    /// The number of files, including hidden ones.
    pub files: u64,
    /// The total size of all files in bytes.
    pub bytes: u64,
    /// The number of versions in the history, including those of deleted files. 0 if the history cannot be read.
    pub versions: u64,
    /// The total size of its records in bytes.
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
    /// Removes all files, directories and records, and everything that killed processes left behind. For mounts, it erases each writable
    /// store. With `dry_run` it only counts. After an error or a crash, call it again to remove the rest.
    ///
    /// # Errors
    /// [`StoreError::ReadOnly`]; failures of the store, or files that cannot be removed.
    pub fn erase(&self, context: &Context, dry_run: bool) -> Result<Erased, StoreError> {
        if self.parts.is_empty() {
            return self.erase_one(context, dry_run);
        }
        let mut writable = writable(&self.parts).peekable();
        if writable.peek().is_none() {
            return Err(StoreError::ReadOnly);
        }
        // Erase each one, even if another one fails.
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
            // A history that cannot be read is not counted.
            let history = match self.reader.size(context) {
                Err(error) if error.is_cancelled() => return Err(error),
                size => size.unwrap_or_default(),
            };
            let held = self.held(context, history)?;
            // If this runs twice, the first count is the right one.
            erased.get_or_insert(held);
            self.remove_files(context)
        };
        self.journal.erase(context, &mut remove_files)?;
        self.reader.note(Index::erased);
        self.check_removal().map_err(StoreError::after_changes)?;
        Ok(erased.unwrap_or_default())
    }

    /// The size of the memory, with a history of this size.
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
        // Windows does not move a directory that contains the held lock.
        if cfg!(windows) && self.reader.is_inside && self.store.info().directory.is_some() {
            return self.empty(context, &MemoryPath::root(), &mut false);
        }
        self.store.mutate(context, Mutation::Clear).map(drop)
    }

    /// A store may report files as deleted that it could only move out of sight.
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

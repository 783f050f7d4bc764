//! Writes many files with few flushes.
//!
//! The contents are first written into a staging directory, a temporary directory in the root. They are flushed together, then
//! renamed into place under the lock, a few at a time, and the directories are flushed together. So a loss of power leaves each
//! file whole or absent, as with single writes.
//!
//! On Linux one `syncfs` flushes all contents, and another one all directories ([`flushes`](super::flushes)). Elsewhere each
//! content is flushed once, and each directory once for the files that are placed together.

use std::fs::File;

use memdir_store::batch::write_each;
use memdir_store::settings::{Durability, OnExisting};
use memdir_store::{BatchError, Context, FileToWrite, Store, StoreError};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{Mode, OFlags, Stat, fchmod, fstat, openat, renameat};
use rustix::io::Errno;

use super::beneath::condition;
use super::descend::id;
use super::directory::{Parent, flush};
use super::flushes::{can_flush_together, flush_together};
use super::lock::{Locked, Root};
use super::moving::rename_new;
use super::remove::Doomed;
use super::staged::{FILE_MODE, StagedContent};
use super::writing::{may_be_written, mode_and_owner};
use super::{LocalDirectory, parent_of, times};

/// The number of files that are renamed into place while the lock is held. It limits the time that other writers wait.
const PLACED_TOGETHER: usize = 32;

impl LocalDirectory {
    /// [`Store::write_batch`].
    pub(super) fn write_together(
        &self,
        context: &Context,
        files: &[FileToWrite<'_>],
    ) -> Result<(), BatchError> {
        let Staged { number, placed, end } = self.write_staged(context, files)?;
        let staged = files.get(..number).unwrap_or_default();
        self.write_singly(context, staged, placed)?;
        end.map_err(|error| BatchError { written: number, error })
    }

    fn write_staged(
        &self,
        context: &Context,
        files: &[FileToWrite<'_>],
    ) -> Result<Staged, BatchError> {
        let none_written = |error: StoreError| BatchError { written: 0, error };
        // Before anything is opened, because a waiting thread must not hold anything.
        let mut turn = self.turn_to_stage(context).map_err(none_written)?;
        let root = self.enter_to_write().map_err(none_written)?;
        let batch = Batch::new(self, context, &root, files).map_err(none_written)?;
        let Some(mut batch) = batch else {
            return Ok(Staged { number: files.len(), placed: 0, end: Ok(()) });
        };
        let end = batch.stage_all();
        let number = batch.replaced.len();
        let placed = batch.place_all()?;
        drop(batch);
        turn.succeeded();
        drop(turn);
        Self::tidy(&root);
        Ok(Staged { number, placed, end })
    }

    /// Writes all files from the one with the number `written` on.
    fn write_singly(
        &self,
        context: &Context,
        files: &[FileToWrite<'_>],
        written: usize,
    ) -> Result<(), BatchError> {
        let rest = files.get(written..).unwrap_or_default();
        let tracks_access = || self.info().tracks_access;
        write_each(rest, tracks_access, &mut |change| self.mutate(context, change))
            .map_err(|failed| BatchError { written: written + failed.written, ..failed })
    }
}

/// The result of the steps that are taken for all files together.
struct Staged {
    /// The number of files whose contents could be staged.
    number: usize,
    /// The number of them that were placed. If anything is unusual about a file, it is left for a single write.
    placed: usize,
    /// The error of the first file that was not staged.
    end: Result<(), StoreError>,
}

/// Files that are being written together.
struct Batch<'b, 'f> {
    store: &'b LocalDirectory,
    context: &'b Context,
    root: &'b Root,
    files: &'b [FileToWrite<'f>],
    staging: Staging<'b>,
    /// For each staged file, the mode and the owner of the file that it replaces.
    replaced: Vec<Option<(Mode, u32, u32)>>,
    sets_access: bool,
    flushes_together: bool,
}

impl<'b, 'f> Batch<'b, 'f> {
    fn new(
        store: &'b LocalDirectory,
        context: &'b Context,
        root: &'b Root,
        files: &'b [FileToWrite<'f>],
    ) -> Result<Option<Self>, StoreError> {
        let Some(staging) = Staging::new(root.as_fd())? else { return Ok(None) };
        let sets_access = files.iter().any(|file| file.times.accessed.is_some());
        let is_full = store.durability == Durability::Full;
        Ok(Some(Self {
            store,
            context,
            root,
            files,
            staging,
            replaced: Vec::new(),
            sets_access: sets_access && store.info().tracks_access,
            flushes_together: is_full && can_flush_together(root.file(), files.len()),
        }))
    }

    /// Writes the contents, in order, until one fails.
    fn stage_all(&mut self) -> Result<(), StoreError> {
        for file in self.files {
            self.context.check()?;
            let there = match parent_of(self.root.as_fd(), file.path) {
                Ok((parent, name)) => may_be_written(&parent, name, file.existing)?,
                Err(StoreError::NotFound) => None,
                // The root.
                Err(StoreError::IsADirectory) if file.path.is_root() => {
                    return Err(StoreError::AlreadyExists);
                }
                Err(error) => return Err(error.unchanged()),
            };
            self.stage(file, there.as_ref())?;
            self.replaced.push(mode_and_owner(there.as_ref()));
        }
        Ok(())
    }

    fn stage(&self, file: &FileToWrite<'_>, replaces: Option<&Stat>) -> Result<(), StoreError> {
        let staged = self.staging.create(self.replaced.len())?;
        let pieces = [file.content];
        // Flushed below, because the times are set first.
        let content = StagedContent { pieces: &pieces, replaces, durability: Durability::Relaxed };
        content.write_to_file(&staged)?;
        let failed = |error| StoreError::failed("setting a file's time", error).unchanged();
        if let Some(time) = file.times.accessed.filter(|_| self.sets_access) {
            times::record_access(&staged, time)
                .map_err(|errno| condition("noting that a file was accessed", errno).unchanged())?;
        }
        if let Some(time) = file.times.modified {
            times::set_modified(&staged, time).map_err(failed)?;
        }
        if self.store.durability == Durability::Full && !self.flushes_together {
            let flushed = staged.sync_all();
            flushed.map_err(|error| StoreError::failed("writing a file", error).unchanged())?;
        }
        Ok(())
    }

    /// Moves the staged files into place, in order, and returns their number. It ends before a file that needs the care of a
    /// single write.
    fn place_all(&mut self) -> Result<usize, BatchError> {
        if self.flushes_together {
            flush_together(self.root.file())
                .map_err(|error| BatchError { written: 0, error: error.unchanged() })?;
        }
        let (mut placed, mut end) = (0, Ok(()));
        while placed < self.replaced.len() && end.is_ok() {
            let before = placed;
            end = self.place_some(&mut placed);
            if placed - before < PLACED_TOGETHER {
                break;
            }
        }
        if self.flushes_together {
            flush_together(self.root.file()).map_err(|error| BatchError { written: 0, error })?;
        }
        end.map_err(|error| BatchError { written: placed, error }).map(|()| placed)
    }

    /// Moves some files into place under the lock, and counts them.
    fn place_some(&self, placed: &mut usize) -> Result<(), StoreError> {
        let mut backoff = self.store.backoff(self.context);
        // `None`: another process has replaced the root.
        let Some(locked) = self.store.lock(self.root, &mut backoff)? else { return Ok(()) };
        let (mut changed, mut result) = (Vec::new(), Ok(true));
        for number in (*placed..self.replaced.len()).take(PLACED_TOGETHER) {
            result = self.place(&locked, number, &mut changed);
            match result {
                Ok(true) => *placed += 1,
                _ => break,
            }
        }
        drop(locked);
        // Each directory once.
        changed.sort_by_key(|(number, _)| *number);
        changed.dedup_by_key(|(number, _)| *number);
        changed.iter().try_for_each(|(_, directory)| flush(directory, self.store.durability))?;
        result.map(drop)
    }

    /// Moves one file into place. Adds the directories to flush to `changed`. Returns whether it did: if anything is unusual, the
    /// file needs a single write.
    fn place(
        &self,
        locked: &Locked<'_>,
        number: usize,
        changed: &mut Vec<((u64, u64), File)>,
    ) -> Result<bool, StoreError> {
        let FileToWrite { path, existing, .. } = self.files[number];
        let Some(name) = path.name() else { return Ok(false) };
        let parent = Parent::make(locked.as_fd(), path)?;
        let now = may_be_written(&parent.directory, name, existing)?;
        if mode_and_owner(now.as_ref()) != self.replaced[number] {
            return Ok(false);
        }
        let replace = existing == OnExisting::Overwrite && now.is_some();
        match self.staging.place(number, parent.directory.as_fd(), name, replace) {
            Ok(()) => {}
            // Another file system is mounted in the tree.
            Err(Errno::XDEV) => return Ok(false),
            Err(errno) => return Err(condition("writing a file", errno)),
        }
        let directories = parent.keep();
        if self.store.durability == Durability::Full && !self.flushes_together {
            for directory in directories.into_files() {
                let stat = fstat(&directory).map_err(|errno| condition("writing a file", errno))?;
                changed.push((id(&stat), directory));
            }
        }
        Ok(true)
    }
}

/// The temporary directory with the contents of a batch. Dropping it removes it. After a kill it counts as a deleted directory, and
/// the next process removes it.
struct Staging<'r> {
    doomed: Option<Doomed<'r>>,
    directory: OwnedFd,
}

impl<'r> Staging<'r> {
    /// `None` if other processes use all names.
    fn new(root: BorrowedFd<'r>) -> Result<Option<Self>, StoreError> {
        let failed = |errno| condition("writing a file", errno).unchanged();
        // Until it is locked it looks like a leftover, and another process may remove it.
        const ATTEMPTS: usize = 16;
        for _ in 0..ATTEMPTS {
            let (doomed, directory) = match Doomed::empty(root) {
                Ok(made) => made,
                Err(Errno::EXIST) => return Ok(None),
                Err(errno) => return Err(failed(errno)),
            };
            let is_held = doomed.is_held();
            let staging = Self { doomed: Some(doomed), directory };
            if !is_held {
                continue;
            }
            // New files then get the group of the directory, as in the root.
            let mode = Mode::from_raw_mode(fstat(root).map_err(failed)?.st_mode);
            if mode.contains(Mode::SGID) {
                fchmod(&staging.directory, Mode::RWXU | Mode::SGID).map_err(failed)?;
            }
            return Ok(Some(staging));
        }
        Ok(None)
    }

    fn create(&self, number: usize) -> Result<File, StoreError> {
        let flags =
            OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let created = openat(&self.directory, number.to_string(), flags, FILE_MODE);
        created.map(File::from).map_err(|errno| condition("writing a file", errno).unchanged())
    }

    fn place(
        &self,
        number: usize,
        parent: BorrowedFd<'_>,
        name: &str,
        replace: bool,
    ) -> Result<(), Errno> {
        let staged = number.to_string();
        if replace {
            renameat(&self.directory, staged, parent, name)
        } else {
            rename_new(self.directory.as_fd(), &staged, parent, name)
        }
    }
}

impl Drop for Staging<'_> {
    fn drop(&mut self) {
        if let Some(doomed) = self.doomed.take() {
            doomed.remove();
        }
    }
}

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
use super::directory::{Directory, Parent};
use super::flushes::{can_flush_together, flush_together};
use super::lock::Root;
use super::moving::rename_new;
use super::remove::{Doomed, sweep};
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
        if files.is_empty() {
            // A copy that was killed at its end left its staging directory, and the next copy has nothing to write.
            let root = self.enter_to_write().map_err(|error| BatchError { written: 0, error })?;
            sweep(root.as_fd());
            return Ok(());
        }
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
        // Writers that were killed beside this one left staging directories under other names, which no other command checks.
        sweep(root.as_fd());
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
        write_each(context, rest, tracks_access, &mut |change| self.mutate(context, change))
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
            flushes_together: is_full && can_flush_together(root, files.len()),
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
        let created =
            fstat(&staged).map_err(|errno| condition("writing a file", errno).unchanged())?;
        content.write_to_file(&staged, &created)?;
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
            flush_together(self.root)
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
            flush_together(self.root).map_err(|error| BatchError { written: 0, error })?;
        }
        end.map_err(|error| BatchError { written: placed, error }).map(|()| placed)
    }

    /// Moves some files into place under the lock, and counts them.
    fn place_some(&self, placed: &mut usize) -> Result<(), StoreError> {
        let mut backoff = self.store.backoff(self.context);
        // Another process has replaced the root.
        if !self.store.lock(self.root, &mut backoff)? {
            self.root.release();
            return Ok(());
        }
        let (mut changed, mut result, before) = (Vec::new(), Ok(true), *placed);
        for number in (*placed..self.replaced.len()).take(PLACED_TOGETHER) {
            result = self.place(number, &mut changed);
            match result {
                Ok(true) => *placed += 1,
                _ => break,
            }
        }
        self.root.release();
        // Each directory once.
        changed.sort_by_key(|(number, _)| *number);
        changed.dedup_by_key(|(number, _)| *number);
        let flushed =
            changed.iter().try_for_each(|(_, directory)| directory.flush(self.store.durability));
        flushed.inspect_err(|_| *placed = before)?;
        result.map(drop)
    }

    /// Moves one file into place. Adds the directories to flush to `changed`. Returns whether it did: if anything is unusual, the
    /// file needs a single write.
    fn place(
        &self,
        number: usize,
        changed: &mut Vec<((u64, u64), Directory<'b>)>,
    ) -> Result<bool, StoreError> {
        let FileToWrite { path, existing, .. } = self.files[number];
        let Some(name) = path.name() else { return Ok(false) };
        let parent = Parent::make(self.root.as_fd(), path)?;
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
            for directory in directories.into_directories() {
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

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

    use std::fs;
    use std::os::unix::fs::PermissionsExt;
    use std::path::Path;

    use super::*;
    use memdir_store::access::Times;
    use memdir_store::path::MemoryPath;

    fn opened(root: &Path) -> LocalDirectory {
        LocalDirectory::open_bare(root, Durability::Full).unwrap()
    }

    fn paths(count: usize) -> Vec<MemoryPath> {
        let path = |n| MemoryPath::parse(&format!("/memories/d{}/{n}", n % 3)).unwrap();
        (0..count).map(path).collect()
    }

    fn files(paths: &[MemoryPath], existing: OnExisting) -> Vec<FileToWrite<'_>> {
        let (content, times) = (&b"text"[..], Times::default());
        paths
            .iter()
            .map(|path| FileToWrite { path, content, times, existing, note: None })
            .collect()
    }

    /// Stages the files, calls `between`, and places them. Returns the number of placed files.
    fn written(root: &Path, count: usize, together: bool, between: impl FnOnce()) -> usize {
        let (store, paths, context) = (opened(root), paths(count), Context::new());
        let files = files(&paths, OnExisting::Overwrite);
        let entered = store.enter_to_write().unwrap();
        let mut batch = Batch::new(&store, &context, &entered, &files).unwrap().unwrap();
        batch.flushes_together = together;
        batch.stage_all().unwrap();
        between();
        let placed = batch.place_all().unwrap();
        drop(batch);
        for (number, path) in paths.iter().enumerate() {
            let content = fs::read(root.join(path.relative()));
            assert_eq!(content.ok().as_deref(), (number < placed).then_some(&b"text"[..]));
        }
        placed
    }

    #[test]
    fn every_file_is_placed_whatever_the_number_and_the_flushes() {
        for count in [0, 1, 31, 32, 33, 64, 65, 200] {
            for together in [false, true] {
                let place = tempfile::tempdir().unwrap();
                assert_eq!(written(place.path(), count, together, || ()), count);
                let entries = fs::read_dir(place.path()).unwrap().count();
                assert_eq!(entries, count.min(3), "no temporary directory is left");
            }
        }
    }

    #[test]
    fn leftovers_of_killed_writers_are_removed_whatever_their_names() {
        let place = tempfile::tempdir().unwrap();
        let store = opened(place.path());
        let paths = paths(3);
        for written in [&[][..], &files(&paths, OnExisting::Overwrite)] {
            for name in [1, 2, 63] {
                let left = place.path().join(format!(".memdir-deleted%2F{name}"));
                fs::create_dir(&left).unwrap();
                fs::write(left.join("0"), "text").unwrap();
            }
            fs::write(place.path().join(".memdir-staged%2F9"), "text").unwrap();
            store.write_batch(&Context::new(), written).unwrap();
            let entries = fs::read_dir(place.path()).unwrap();
            let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
            let left: Vec<String> = names.filter(|name| name.starts_with('.')).collect();
            assert!(left.is_empty(), "{left:?}");
        }
    }

    #[test]
    fn a_file_that_is_unusual_is_left_for_a_single_write() {
        let place = tempfile::tempdir().unwrap();
        let root = place.path().join("root");
        // Another process has made the file meanwhile, with a mode that must be kept.
        let made = || {
            fs::create_dir(root.join("d1")).unwrap();
            fs::write(root.join("d1/40"), "theirs").unwrap();
            fs::set_permissions(root.join("d1/40"), fs::Permissions::from_mode(0o640)).unwrap();
        };
        let store = opened(&root);
        let (all, context) = (paths(60), Context::new());
        let files = files(&all, OnExisting::Overwrite);
        let entered = store.enter_to_write().unwrap();
        let mut batch = Batch::new(&store, &context, &entered, &files).unwrap().unwrap();
        batch.stage_all().unwrap();
        made();
        assert_eq!(batch.place_all().unwrap(), 40);
        drop(batch);
        store.write_singly(&context, &files, 40).unwrap();
        assert_eq!(fs::read(root.join("d1/40")).unwrap(), b"text");
        let mode = fs::metadata(root.join("d1/40")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o640);
    }

    #[test]
    fn nothing_is_placed_in_a_root_that_was_replaced() {
        let place = tempfile::tempdir().unwrap();
        let (root, old) = (place.path().join("root"), place.path().join("old"));
        let replaced = || {
            fs::rename(&root, &old).unwrap();
            fs::create_dir(&root).unwrap();
        };
        assert_eq!(written(&root, 40, true, replaced), 0);
        let store = opened(&root);
        let all = paths(40);
        store.write_batch(&Context::new(), &files(&all, OnExisting::Error)).unwrap();
        assert_eq!(fs::read_dir(root.join("d2")).unwrap().count(), 13);
        assert_eq!(fs::read_dir(&old).unwrap().count(), 0);
    }

    #[test]
    fn the_leftover_of_a_killed_batch_is_removed() {
        let place = tempfile::tempdir().unwrap();
        let store = opened(place.path());
        let root = store.enter_to_write().unwrap();
        let staging = Staging::new(root.as_fd()).unwrap().unwrap();
        staging.create(0).unwrap();
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 1);
        // While it is locked, others leave it alone.
        opened(place.path());
        assert!(staging.doomed.as_ref().unwrap().is_held());
        // A kill releases the lock, and removes nothing.
        let mut killed = staging;
        drop(killed.doomed.take());
        drop(killed);
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 1);
        opened(place.path());
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 0);
    }

    #[test]
    fn new_files_get_the_group_of_a_root_that_hands_it_on() {
        let place = tempfile::tempdir().unwrap();
        fs::set_permissions(place.path(), fs::Permissions::from_mode(0o2700)).unwrap();
        let store = opened(place.path());
        let root = store.enter_to_write().unwrap();
        let staging = Staging::new(root.as_fd()).unwrap().unwrap();
        let mode = fstat(&staging.directory).unwrap().st_mode;
        assert!(Mode::from_raw_mode(mode).contains(Mode::SGID));
    }
}

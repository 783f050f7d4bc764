//! Creates and edits files: prepares the content without the lock, and renames it into place under the lock.

use std::fs::File;

use memdir_store::backoff::Backoff;
use memdir_store::path::MemoryPath;
use memdir_store::settings::OnExisting;
use memdir_store::{Context, Edit, StoreError};
use rustix::fd::{AsFd, BorrowedFd};
use rustix::fs::{AtFlags, FileType, Mode, Stat, statat};
use rustix::io::Errno;

use super::beneath::{EntryAt, kind, look};
use super::directory::{Directory, Parent};
use super::lock::Root;
use super::staged::{Misplaced, Staged, StagedContent};
use super::{LocalDirectory, descend, parent_of, peek, size};
use crate::read::{absent, read_whole};

/// How many times an edit is computed without the lock before it is computed under the lock.
pub(super) const TRIES: usize = 3;

impl LocalDirectory {
    pub(super) fn write_file(
        &self,
        context: &Context,
        path: &MemoryPath,
        content: &[u8],
        existing: OnExisting,
    ) -> Result<(), StoreError> {
        let Some(name) = path.name() else { return Err(StoreError::AlreadyExists) };
        // Before anything is opened, because a waiting thread must not hold anything.
        let mut staging = self.turn_to_stage(context)?;
        let mut backoff = self.backoff(context);
        for tried in 0.. {
            let root = self.enter_to_write()?;
            // Checked before anything is written.
            let there = match guess(root.as_fd(), path, existing) {
                Some(there) if tried == 0 => there,
                _ => match parent_of(root.as_fd(), path) {
                    Ok((parent, name)) => may_be_written(&parent, name, existing)?,
                    Err(StoreError::NotFound) => None,
                    Err(error) => return Err(error.unchanged()),
                },
            };
            let pieces = [content];
            let content = self.content(&pieces, there.as_ref());
            let staged = content.stage(root.as_fd(), &mut backoff)?;
            if !self.lock(&root, &mut backoff)? {
                continue;
            }
            let parent = Parent::make(root.as_fd(), path)?;
            let replace = there.is_some();
            if replace {
                let now = may_be_written(&parent.directory, name, existing)?;
                if mode_and_owner(now.as_ref()) != mode_and_owner(there.as_ref()) {
                    continue;
                }
            }
            let into = parent.directory.as_fd();
            match self.place(staged, &content, into, name, replace, &mut backoff) {
                Ok(()) => {}
                Err(StoreError::AlreadyExists) => {
                    // Says which kind of entry it is, or that it may be replaced.
                    may_be_written(&parent.directory, name, existing)?;
                    continue;
                }
                Err(error) => return Err(error),
            }
            let changed = parent.keep();
            Self::unlock(&root);
            staging.succeeded();
            drop(staging);
            return changed.flush(self.durability);
        }
        Ok(())
    }

    pub(crate) fn edit_file(
        &self,
        context: &Context,
        path: &MemoryPath,
        edit: &mut Edit<'_>,
    ) -> Result<(), StoreError> {
        let mut turn = self.turn_if_busy(context, path)?;
        let mut backoff = self.backoff(context);
        for tried in 0.. {
            // Before anything is opened, because a waiting thread must not hold anything.
            let mut staging = self.turn_to_stage(context)?;
            if staging.has_waited() {
                // The waiting time for this turn does not count towards the timeout.
                backoff = self.backoff(context);
            }
            let root = self.enter_to_write()?;
            let edited = if tried < TRIES {
                self.edit_ahead(&root, path, edit, &mut backoff)?
            } else {
                self.edit_locked(&root, path, edit, &mut backoff)?
            };
            let Some(edited) = edited else {
                drop(root);
                drop(staging);
                if turn.is_none() {
                    turn = Some(self.turn_at(context, path)?);
                    backoff = self.backoff(context);
                }
                continue;
            };
            if edited.is_some() {
                Self::unlock(&root);
            }
            staging.succeeded();
            drop(staging);
            if let Some(mut turn) = turn {
                turn.succeeded();
            }
            let Some(parent) = edited else { break };
            return parent.flush(self.durability);
        }
        Ok(())
    }

    /// Computes and stages the edit first, and takes the lock to put it in place. Returns `None` if the file was changed
    /// meanwhile, `Some(None)` if the edit changes nothing, and otherwise the directory of the file.
    fn edit_ahead<'r>(
        &self,
        root: &'r Root,
        path: &MemoryPath,
        edit: &mut Edit<'_>,
        backoff: &mut Backoff,
    ) -> Result<Option<Option<Directory<'r>>>, StoreError> {
        let found = self.find_file(root.as_fd(), path)?;
        let Some(splice) = edit(&found.content) else {
            return Ok(Some(None));
        };
        let pieces = splice.pieces(&found.content);
        let content = self.content(&pieces, Some(&found.stat));
        let staged = content.stage(root.as_fd(), backoff)?;
        if !self.lock(root, backoff)? {
            return Ok(None);
        }
        let Some((parent, name)) = found.is_still_at(root.as_fd(), path) else {
            return Ok(None);
        };
        self.place(staged, &content, parent.as_fd(), name, true, backoff)?;
        Ok(Some(Some(parent)))
    }

    /// As [`edit_ahead`](Self::edit_ahead), but computes the edit under the lock, so it cannot lose a race. The temporary
    /// file is reserved before the lock is taken.
    fn edit_locked<'r>(
        &self,
        root: &'r Root,
        path: &MemoryPath,
        edit: &mut Edit<'_>,
        backoff: &mut Backoff,
    ) -> Result<Option<Option<Directory<'r>>>, StoreError> {
        let staged = Staged::reserve(root.as_fd(), backoff)?;
        if !self.lock(root, backoff)? {
            return Ok(None);
        }
        let found = self.find_file(root.as_fd(), path)?;
        let Some(splice) = edit(&found.content) else {
            return Ok(Some(None));
        };
        let pieces = splice.pieces(&found.content);
        let content = self.content(&pieces, Some(&found.stat));
        content.write_to(&staged)?;
        let (parent, name) = parent_of(root.as_fd(), path)?;
        self.place(staged, &content, parent.as_fd(), name, true, backoff)?;
        Ok(Some(Some(parent)))
    }

    fn content<'c>(&self, pieces: &'c [&'c [u8]], replaces: Option<&'c Stat>) -> StagedContent<'c> {
        StagedContent { pieces, replaces, durability: self.durability }
    }

    /// Renames staged content into place. The caller has the lock.
    fn place(
        &self,
        staged: Staged<'_>,
        content: &StagedContent<'_>,
        parent: BorrowedFd<'_>,
        name: &str,
        replace: bool,
        backoff: &mut Backoff,
    ) -> Result<(), StoreError> {
        backoff.check()?;
        match staged.place(parent, name, replace) {
            Ok(()) => Ok(()),
            Err(Misplaced::Error(error)) => Err(error),
            // The parent is on another file system that is mounted in the tree. So the content must be staged there.
            Err(Misplaced::OtherFileSystem) => {
                match content.stage(parent, backoff)?.place(parent, name, replace) {
                    Ok(()) => Ok(()),
                    Err(Misplaced::Error(error)) => Err(error),
                    Err(Misplaced::OtherFileSystem) => Err(StoreError::PermissionDenied),
                }
            }
        }
    }

    pub(super) fn find_file(
        &self,
        root: BorrowedFd<'_>,
        path: &MemoryPath,
    ) -> Result<Text, StoreError> {
        match look(root, path.relative()).map_err(|error| absent(error).unchanged())? {
            EntryAt::File(file, stat) => {
                let file = File::from(file);
                let content = read_whole(&file, size(&stat), self.max_file_bytes)?;
                Ok(Text { _file: file, stat, content })
            }
            EntryAt::Directory(_) => Err(StoreError::IsADirectory),
        }
    }
}

/// A file to edit.
pub(super) struct Text {
    /// Kept open, so no other file can get its inode number.
    _file: File,
    stat: Stat,
    pub(super) content: Vec<u8>,
}

impl Text {
    /// The directory and the name of the file, if the file at this path is still the one that was read. The caller has the
    /// lock.
    pub(super) fn is_still_at<'r, 'p>(
        &self,
        root: BorrowedFd<'r>,
        path: &'p MemoryPath,
    ) -> Option<(Directory<'r>, &'p str)> {
        let (parent, name) = parent_of(root, path).ok()?;
        let there = peek(&parent, name).ok()??;
        // Writers of memdir always replace the file. Other programs may write into it.
        let same = descend::id(&there) == descend::id(&self.stat)
            && there.st_size == self.stat.st_size
            && (there.st_mtime, there.st_mtime_nsec)
                == (self.stat.st_mtime, self.stat.st_mtime_nsec);
        same.then_some((parent, name))
    }
}

/// The common results of [`may_be_written`], in one call. `None` for all others. If there is a link in the path, the result may
/// be wrong; the write itself follows no link.
fn guess(root: BorrowedFd<'_>, path: &MemoryPath, existing: OnExisting) -> Option<Option<Stat>> {
    match statat(root, path.relative(), AtFlags::SYMLINK_NOFOLLOW) {
        Err(Errno::NOENT) => Some(None),
        Ok(there) if existing == OnExisting::Overwrite && kind(&there) == FileType::RegularFile => {
            Some(Some(there))
        }
        _ => None,
    }
}

/// The existing file that would be replaced; `None` if the path is free.
pub(super) fn may_be_written(
    parent: &Directory<'_>,
    name: &str,
    existing: OnExisting,
) -> Result<Option<Stat>, StoreError> {
    let there = peek(parent, name).map_err(StoreError::unchanged)?;
    match (there.as_ref().map(kind), existing) {
        (None, _) | (Some(FileType::RegularFile), OnExisting::Overwrite) => Ok(there),
        (Some(FileType::Symlink), _) => Err(StoreError::Symlink),
        (Some(FileType::RegularFile | FileType::Directory), _) | (_, OnExisting::Error) => {
            Err(StoreError::AlreadyExists)
        }
        (Some(_), OnExisting::Overwrite) => Err(StoreError::SpecialFile),
    }
}

/// The properties that new content takes over from the file that it replaces.
pub(super) fn mode_and_owner(stat: Option<&Stat>) -> Option<(Mode, u32, u32)> {
    stat.map(|stat| (Mode::from_raw_mode(stat.st_mode), stat.st_uid, stat.st_gid))
}

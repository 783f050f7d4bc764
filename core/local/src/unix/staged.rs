//! [`Staged`]: content that is written to a temporary file and flushed without the lock, then renamed into place.

use std::fs::File;
use std::io::{self, Write};

use memdir_store::StoreError;
use memdir_store::backoff::Backoff;
use memdir_store::settings::Durability;
use rustix::fd::BorrowedFd;
use rustix::fs::{
    AtFlags, Gid, Mode, OFlags, Stat, Uid, fchmod, fchown, fstat, openat, renameat, unlinkat,
};
use rustix::io::Errno;

use super::beneath::condition;
use super::lockable::{LockableFile, NoFork};
use super::moving::rename_new;
use super::remove::sweep;
use super::temporary::{STAGED, is_at, names, take_over};

/// The mode of new files, whatever the umask.
pub(super) const FILE_MODE: Mode = Mode::RUSR.union(Mode::WUSR);

/// Content that is written and flushed, but not yet in place. Dropping it removes the temporary file, unless it was placed.
pub(super) struct Staged<'d> {
    directory: BorrowedFd<'d>,
    name: String,
    file: LockableFile,
    /// Its status when it was empty.
    stat: Stat,
    placed: bool,
}

/// Content to stage.
#[derive(Clone, Copy)]
pub(super) struct StagedContent<'c> {
    /// The pieces of the content, in order.
    pub(super) pieces: &'c [&'c [u8]],
    /// The file to replace, whose mode and owner are kept; `None` for a new file.
    pub(super) replaces: Option<&'c Stat>,
    pub(super) durability: Durability,
}

impl StagedContent<'_> {
    /// Writes the content to a temporary file below `directory`.
    pub(super) fn stage<'d>(
        &self,
        directory: BorrowedFd<'d>,
        backoff: &mut Backoff,
    ) -> Result<Staged<'d>, StoreError> {
        let staged = Staged::reserve(directory, backoff)?;
        self.write_to(&staged)?;
        Ok(staged)
    }

    /// Writes the content to a reserved temporary file.
    pub(super) fn write_to(&self, staged: &Staged<'_>) -> Result<(), StoreError> {
        self.write_to_file(staged.file.file(), &staged.stat)
    }

    /// Writes the content to an empty file, whose status is `created`.
    pub(super) fn write_to_file(&self, file: &File, created: &Stat) -> Result<(), StoreError> {
        self.write_through(file, created).map_err(|error| error.condition().unchanged())
    }

    fn write_through(&self, file: &File, created: &Stat) -> Result<(), StageError> {
        let (mut mode, mut is_owner) = (FILE_MODE, true);
        if let Some(old) = self.replaces {
            mode = permissions(old);
            is_owner = (old.st_uid, old.st_gid) == (created.st_uid, created.st_gid);
            if !is_owner {
                // Fails unless we are privileged; this error is ignored.
                let owner = (Uid::from_raw(old.st_uid), Gid::from_raw(old.st_gid));
                let _ = fchown(file, Some(owner.0), Some(owner.1));
            }
        }
        write_all(file, self.pieces)?;
        // The umask may have removed required bits.
        if !is_owner || permissions(created) != mode {
            fchmod(file, mode)?;
        }
        if self.durability == Durability::Full {
            file.sync_all()?;
        }
        Ok(())
    }
}

impl<'d> Staged<'d> {
    /// Reserves an empty temporary file. The number of names is limited, and the owner of a name waits for the lock. So a
    /// thread that waits for a name must not have the lock.
    pub(super) fn reserve(
        directory: BorrowedFd<'d>,
        backoff: &mut Backoff,
    ) -> Result<Self, StoreError> {
        loop {
            match Self::new(directory) {
                Ok(Some(staged)) => return Ok(staged),
                Ok(None) => backoff.wait()?,
                Err(errno) => return Err(StageError::Os(errno).condition().unchanged()),
            }
        }
    }

    /// `None` if other writers use all names.
    fn new(directory: BorrowedFd<'d>) -> Result<Option<Self>, Errno> {
        for name in names(STAGED) {
            let mut left_over = false;
            loop {
                let before = NoFork::now();
                let flags = OFlags::WRONLY
                    | OFlags::CREATE
                    | OFlags::EXCL
                    | OFlags::NOFOLLOW
                    | OFlags::CLOEXEC;
                match openat(directory, &name, flags, FILE_MODE) {
                    Err(Errno::EXIST) if left_over => break,
                    Err(Errno::EXIST) => {
                        // Another writer uses the file, unless it is an unlocked leftover.
                        left_over = take_over(directory, &name).is_some();
                        if !left_over {
                            break;
                        }
                        // If there is one leftover, there may be more.
                        sweep(directory);
                    }
                    Err(errno) => return Err(errno),
                    Ok(created) => {
                        // A fork happened in between. The file is now a leftover.
                        let Some(file) = LockableFile::new(created, before) else { continue };
                        let remove = |_: &Errno| {
                            let _ = unlinkat(directory, &name, AtFlags::empty());
                        };
                        // Until it is locked it looks like a leftover, and another process may lock or remove it. In that
                        // case the name may already belong to another file.
                        if file.lock_soon().inspect_err(remove)? {
                            let stat = fstat(&file).inspect_err(remove)?;
                            if stat.st_nlink > 0 {
                                return Ok(Some(Self {
                                    directory,
                                    name,
                                    file,
                                    stat,
                                    placed: false,
                                }));
                            }
                        }
                    }
                }
            }
        }
        Ok(None)
    }

    /// Renames the content into place, to a free name or over an existing file.
    ///
    /// # Errors
    /// [`Misplaced::OtherFileSystem`] if the destination is on another file system.
    pub(super) fn place(
        mut self,
        parent: BorrowedFd<'_>,
        name: &str,
        replace: bool,
    ) -> Result<(), Misplaced> {
        let placed = if replace {
            renameat(self.directory, &self.name, parent, name)
        } else {
            rename_new(self.directory, &self.name, parent, name)
        };
        match placed {
            Ok(()) => {
                self.placed = true;
                // A lock matters only at a temporary name.
                self.file.unlock_on_close();
                Ok(())
            }
            Err(Errno::XDEV) => Err(Misplaced::OtherFileSystem),
            Err(errno) => {
                let error = condition("writing a file", errno);
                // If the temporary file still exists, the content was not placed.
                let here = is_at(&self.file, self.directory, &self.name);
                self.placed = !here;
                Err(Misplaced::Error(if here { error.unchanged() } else { error }))
            }
        }
    }
}

fn permissions(stat: &Stat) -> Mode {
    Mode::from_raw_mode(stat.st_mode & 0o7777)
}

/// Why content could not be placed.
pub(super) enum Misplaced {
    OtherFileSystem,
    Error(StoreError),
}

impl Drop for Staged<'_> {
    fn drop(&mut self) {
        if !self.placed {
            let _ = unlinkat(self.directory, &self.name, AtFlags::empty());
        }
    }
}

#[derive(Debug, thiserror::Error)]
#[error(transparent)]
enum StageError {
    Os(#[from] Errno),
    Io(#[from] io::Error),
    Store(#[from] StoreError),
}

impl StageError {
    fn condition(self) -> StoreError {
        const OPERATION: &str = "writing a file";
        match self {
            Self::Store(error) => error,
            Self::Os(errno) => condition(OPERATION, errno),
            Self::Io(error) => match error.raw_os_error().map(Errno::from_raw_os_error) {
                Some(errno) => condition(OPERATION, errno),
                None => StoreError::failed(OPERATION, error),
            },
        }
    }
}

/// Writes small content with one system call, and large content with one call per piece.
fn write_all(mut file: &File, pieces: &[&[u8]]) -> io::Result<()> {
    const SMALL: usize = 64 * 1024;
    if pieces.iter().map(|piece| piece.len()).sum::<usize>() <= SMALL {
        return file.write_all(&pieces.concat());
    }
    pieces.iter().try_for_each(|piece| file.write_all(piece))
}

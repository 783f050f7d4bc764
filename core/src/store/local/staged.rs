//! Contents that come to be at once: written aside, flushed, then renamed into place.

use std::fs::File;
use std::io::{self, Write};

use rustix::fd::BorrowedFd;
use rustix::fs::{
    AtFlags, Gid, Mode, OFlags, Stat, Uid, fchmod, fchown, openat, renameat, unlinkat,
};
use rustix::io::Errno;

use super::beneath::condition;
use super::moving::rename_new;
use crate::options::Durability;
use crate::store::StoreError;

/// The name of a content that is being written. As it percent-decodes to a slash, no
/// [`MemoryPath`](crate::MemoryPath) can hold it: no command can reach it, no listing shows it.
/// There is one at a time, because there is one writer at a time.
pub(super) const STAGED: &str = ".memdir-staged%2F";

/// The mode of new files, whatever the umask.
const FILE_MODE: Mode = Mode::RUSR.union(Mode::WUSR);

/// Where a content goes.
pub(super) struct Target<'t> {
    /// The tree's root, on which this writer has the lock.
    pub(super) root: BorrowedFd<'t>,
    pub(super) parent: BorrowedFd<'t>,
    pub(super) name: &'t str,
    /// The file that is replaced, whose mode and owner stay; `None` for a new one.
    pub(super) replaces: Option<&'t Stat>,
    pub(super) durability: Durability,
}

impl Target<'_> {
    /// Writes the pieces, one after the other, as the whole content of the target.
    pub(super) fn write(&self, pieces: &[&[u8]]) -> Result<(), StoreError> {
        match self.write_through(self.root, pieces) {
            // The parent is on another file system, mounted into the tree.
            Err(Problem::Os(Errno::XDEV)) => self.write_through(self.parent, pieces),
            result => result,
        }
        .map_err(|problem| match problem {
            Problem::Os(errno) => condition("writing a file", errno),
            Problem::Io(error) => match error.raw_os_error().map(Errno::from_raw_os_error) {
                Some(errno) => condition("writing a file", errno),
                None => StoreError::failed("writing a file", error),
            },
        })
    }

    fn write_through(&self, aside: BorrowedFd<'_>, pieces: &[&[u8]]) -> Result<(), Problem> {
        let mut staged = Staged::new(aside)?;
        let mode = match self.replaces {
            None => FILE_MODE,
            Some(old) => {
                // Fails unless we are privileged or already own both, and then it does not matter.
                let owner = (Uid::from_raw(old.st_uid), Gid::from_raw(old.st_gid));
                let _ = fchown(&staged.file, Some(owner.0), Some(owner.1));
                Mode::from_raw_mode(old.st_mode & 0o7777)
            }
        };
        fchmod(&staged.file, mode)?;
        write_all(&mut staged.file, pieces)?;
        if self.durability == Durability::Full {
            staged.file.sync_all()?;
        }
        match self.replaces {
            None => rename_new(aside, STAGED, self.parent, self.name)?,
            Some(_) => renameat(aside, STAGED, self.parent, self.name)?,
        }
        staged.placed = true;
        Ok(())
    }
}

enum Problem {
    Os(Errno),
    Io(io::Error),
}

impl From<Errno> for Problem {
    fn from(errno: Errno) -> Self {
        Self::Os(errno)
    }
}

impl From<io::Error> for Problem {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// A content that is being written; removed again unless it was placed.
struct Staged<'d> {
    directory: BorrowedFd<'d>,
    file: File,
    placed: bool,
}

impl<'d> Staged<'d> {
    fn new(directory: BorrowedFd<'d>) -> Result<Self, Errno> {
        let create = || {
            let flags =
                OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            openat(directory, STAGED, flags, FILE_MODE)
        };
        let file = match create() {
            // Left by a process that was killed: nobody else is writing now.
            Err(Errno::EXIST) => {
                unlinkat(directory, STAGED, AtFlags::empty())?;
                create()?
            }
            result => result?,
        };
        Ok(Self { directory, file: file.into(), placed: false })
    }
}

impl Drop for Staged<'_> {
    fn drop(&mut self) {
        if !self.placed {
            let _ = unlinkat(self.directory, STAGED, AtFlags::empty());
        }
    }
}

/// One system call for a small content, one a piece for a large one.
fn write_all(file: &mut File, pieces: &[&[u8]]) -> io::Result<()> {
    const SMALL: usize = 64 * 1024;
    if pieces.iter().map(|piece| piece.len()).sum::<usize>() <= SMALL {
        return file.write_all(&pieces.concat());
    }
    pieces.iter().try_for_each(|piece| file.write_all(piece))
}

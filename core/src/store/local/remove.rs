//! Deleting, recursively, without ever following a link.

use std::fs::File;
use std::time::SystemTime;

use rustix::fd::{AsFd, BorrowedFd};
use rustix::fs::{Access, AtFlags, Mode, OFlags, accessat, fchmod, openat, renameat, unlinkat};
use rustix::io::Errno;
use rustix::path::Arg;

use super::beneath::{Found, condition, look};
use super::directory::flush;
use super::listing::entries;
use super::moving::rename_new;
use super::{parent_of, times};
use crate::options::Durability;
use crate::path::MemoryPath;
use crate::store::StoreError;
use crate::store::access::is_unused;

/// The name of a directory that is being deleted; like that of a staged file, no command can reach
/// it and no listing shows it.
pub(super) const DOOMED: &str = ".memdir-deleted%2F";

/// Deletes the directory `name` of `parent`: first it is moved out of sight in one step, so that
/// nobody ever sees a part of it, then what it holds is removed.
pub(super) fn directory(
    root: BorrowedFd<'_>,
    parent: &File,
    name: &str,
    durability: Durability,
) -> Result<(), StoreError> {
    let failed = |errno| condition("deleting a directory", errno);
    if entry(root, DOOMED).is_err() || renameat(parent, name, root, DOOMED).is_err() {
        // It cannot be moved (a mount point, another file system): then where it is.
        return entry(parent.as_fd(), name).map_err(failed);
    }
    flush(parent, durability)?;
    entry(root, DOOMED).map_err(|errno| {
        // What could not be deleted goes back to where it can be seen.
        let _ = rename_new(root, DOOMED, parent.as_fd(), name);
        failed(errno)
    })
}

/// Removes whatever is under `name`, if anything is.
pub(super) fn entry<P: Arg + Copy>(parent: BorrowedFd<'_>, name: P) -> Result<(), Errno> {
    remove(parent, name).or_else(|errno| if errno == Errno::NOENT { Ok(()) } else { Err(errno) })
}

fn remove<P: Arg + Copy>(parent: BorrowedFd<'_>, name: P) -> Result<(), Errno> {
    match unlinkat(parent, name, AtFlags::empty()) {
        // What unlinking a directory is called differs between systems.
        Err(Errno::ISDIR | Errno::PERM) => {}
        result => return result,
    }
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let directory = match openat(parent, name, flags, Mode::empty()) {
        // So it was a file, and the system means what it said.
        Err(Errno::NOTDIR) => return Err(Errno::PERM),
        opened => opened?,
    };
    for (below, _) in entries(directory.as_fd())? {
        match remove(directory.as_fd(), below.as_c_str()) {
            Err(Errno::ACCESS) => {
                // The directory's own mode forbids it: it is ours to change if it is ours.
                fchmod(&directory, Mode::RWXU)?;
                remove(directory.as_fd(), below.as_c_str())?;
            }
            Err(Errno::NOENT) => {}
            result => result?,
        }
    }
    unlinkat(parent, name, AtFlags::REMOVEDIR)
}

/// Deletes the file at `path` if it was not used since then; the caller has the lock.
///
/// It is not flushed: a file that comes back after a loss of power is as unused as before, and goes the
/// next time. Nor is it deleted where no access could have been noted, because we may not write to it.
pub(super) fn unused(
    root: &File,
    path: &MemoryPath,
    since: SystemTime,
) -> Result<bool, StoreError> {
    let (parent, name) = parent_of(root.as_fd(), path)?;
    let Found::File(file, stat) = look(parent.as_fd(), name)? else {
        return Err(StoreError::IsADirectory);
    };
    if !is_unused(times::modified(&stat), times::accessed(&file), since)
        || accessat(&parent, name, Access::WRITE_OK, AtFlags::empty()).is_err()
    {
        return Ok(false);
    }
    unlinkat(&parent, name, AtFlags::empty())
        .map_err(|errno| condition("deleting a file", errno))?;
    Ok(true)
}

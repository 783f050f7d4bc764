//! Deletes files and directories, and never follows a link.
//!
//! A directory is first renamed to a hidden name in one step; at that point the command has succeeded. Its contents are
//! removed afterwards. Anything that cannot be removed stays hidden and never reappears. Predictable obstacles are checked
//! first, so the deletion is refused before anything changes.

use std::ffi::{CStr, CString};
use std::thread;
use std::time::SystemTime;

use memdir_store::StoreError;
use memdir_store::access::is_unused;
use memdir_store::path::MemoryPath;
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{
    Access, AtFlags, FileType, Mode, OFlags, Stat, accessat, fchmod, openat, statat, unlinkat,
};
use rustix::io::Errno;
use rustix::path::Arg;
use rustix::process::{Uid, geteuid};

use super::beneath::{EntryAt, condition, kind, look, open_child};
use super::descend::{FLAGS, Visitor, id, walk};
use super::directory;
use super::listing::entries;
use super::lockable::{LockableFile, NoFork};
use super::moving::rename_new;
use super::temporary::{self, DOOMED, STAGED};
use super::{parent_of, times};

/// Checks that the directory `name` of `parent` can be deleted with its contents, as far as that can be predicted.
pub(super) fn check<P: Arg + Copy>(parent: BorrowedFd<'_>, name: P) -> Result<(), StoreError> {
    let failed = |errno| condition("looking at a directory to be deleted", errno).unchanged();
    let top = openat(parent, name, FLAGS, Mode::empty()).map_err(failed)?;
    walk(top, &mut Check { user: geteuid(), device: None }).map_err(failed)
}

/// Checks with the effective user. An app on Android has only one user, and its C library does not support this flag.
#[cfg(not(target_os = "android"))]
const EFFECTIVE_USER: AtFlags = AtFlags::EACCESS;
#[cfg(target_os = "android")]
const EFFECTIVE_USER: AtFlags = AtFlags::empty();

struct Check {
    user: Uid,
    device: Option<u64>,
}

impl Visitor for Check {
    fn enter(&mut self, directory: BorrowedFd<'_>, stat: &Stat) -> Result<Vec<CString>, Errno> {
        if *self.device.get_or_insert(id(stat).0) != id(stat).0 {
            // Another file system is mounted here, which a deletion must not remove.
            return Err(Errno::BUSY);
        }
        let entries = entries(directory)?;
        // The owner can change the mode.
        let ours = self.user.is_root() || Uid::from_raw(stat.st_uid) == self.user;
        if !entries.is_empty() && !ours {
            accessat(directory, c".", Access::WRITE_OK | Access::EXEC_OK, EFFECTIVE_USER)?;
            if Mode::from_raw_mode(stat.st_mode).contains(Mode::SVTX) {
                for (name, _) in &entries {
                    let entry = statat(directory, name.as_c_str(), AtFlags::SYMLINK_NOFOLLOW)?;
                    if Uid::from_raw(entry.st_uid) != self.user {
                        return Err(Errno::PERM);
                    }
                }
            }
        }
        let below = entries.into_iter().filter(|(_, kind)| may_be_directory(*kind));
        Ok(below.map(|(name, _)| name).collect())
    }

    fn leave(&mut self, _: BorrowedFd<'_>, _: &CStr) -> Result<(), Errno> {
        Ok(())
    }

    fn closed(&mut self, _: BorrowedFd<'_>, _: &CStr, errno: Errno) -> Result<(), Errno> {
        match errno {
            // Not a directory after all.
            Errno::NOTDIR | Errno::LOOP | Errno::MLINK => Ok(()),
            errno => Err(errno),
        }
    }
}

fn may_be_directory(kind: FileType) -> bool {
    matches!(kind, FileType::Directory | FileType::Unknown)
}

/// A deleted directory under a hidden name.
pub(super) struct Doomed<'d> {
    /// The directory that contains it now.
    pub(super) aside: BorrowedFd<'d>,
    name: String,
    /// The lock that marks it as in use, until it is dropped.
    held: Option<LockableFile>,
}

impl<'d> Doomed<'d> {
    /// Creates an empty directory below `aside` for everything to be deleted with it, and opens it.
    pub(super) fn empty(aside: BorrowedFd<'d>) -> Result<(Self, OwnedFd), Errno> {
        for name in temporary::names(DOOMED) {
            match directory::make(aside, &name) {
                Err(Errno::EXIST) => {}
                Err(errno) => return Err(errno),
                Ok(made) => {
                    let held = hold(aside, &name);
                    return Ok((Doomed { aside, name, held }, made));
                }
            }
        }
        Err(Errno::EXIST)
    }

    /// Whether it still exists and is locked, so no other process treats it as a leftover.
    pub(super) fn is_held(&self) -> bool {
        let held = self.held.as_ref();
        held.is_some_and(|held| temporary::is_at(held, self.aside, &self.name))
    }

    /// Removes the contents as far as possible. The directory already counts as deleted.
    pub(super) fn remove(self) {
        let _ = entry(self.aside, &self.name);
    }

    /// As [`remove`](Self::remove), but also removes leftovers of killed processes beside it. Other commands check only the
    /// first name for deleted directories, so leftovers under another name are removed here.
    pub(super) fn remove_with_leftovers(self) {
        let aside = self.aside;
        self.remove();
        sweep(aside);
    }
}

/// Removes the leftovers of killed processes in a directory, as far as possible. Those with the first names come last: most commands check only
/// these, so a process that is killed here leaves a name that is checked.
pub(super) fn sweep(directory: BorrowedFd<'_>) {
    for name in temporary::names(STAGED).chain(temporary::names(DOOMED)).rev() {
        // Most names do not exist, and this check is cheaper than an attempt to open.
        if temporary::is_there(directory, &name)
            && let Some(_left) = temporary::take_over(directory, &name)
        {
            let _ = entry(directory, &name);
        }
    }
}

/// Moves the directory `name` of `parent` to a hidden name below `aside`.
///
/// # Errors
/// `EXIST` if all hidden names are taken by directories that cannot be removed; `XDEV` if it cannot be moved there.
pub(super) fn set_aside<'d>(
    parent: BorrowedFd<'_>,
    name: &str,
    aside: BorrowedFd<'d>,
) -> Result<Doomed<'d>, Errno> {
    let held = hold(parent, name);
    for doomed in temporary::names(DOOMED) {
        match rename_new(parent, name, aside, &doomed) {
            Err(Errno::EXIST | Errno::NOTEMPTY) => {}
            result => return result.map(|()| Doomed { aside, name: doomed, held }),
        }
    }
    Err(Errno::EXIST)
}

/// Locks a directory that is about to be deleted, so no other process treats it as a leftover. If it cannot be locked,
/// another process may remove it as well, which does no harm.
fn hold(parent: BorrowedFd<'_>, name: &str) -> Option<LockableFile> {
    let before = NoFork::now();
    let opened = open_child(parent, name, OFlags::RDONLY | OFlags::DIRECTORY).ok()?;
    let held = LockableFile::new(opened, before)?;
    (held.try_lock() == Ok(true)).then_some(held)
}

/// Removes the entry `name`, if it exists, with everything below it, as far as possible.
///
/// # Errors
/// The first error that occurred.
pub(super) fn entry<P: Arg + Copy>(parent: BorrowedFd<'_>, name: P) -> Result<(), Errno> {
    match unlinkat(parent, name, AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => return Ok(()),
        // Systems return different errors for `unlink` of a directory.
        Err(Errno::ISDIR | Errno::PERM) => {}
        Err(errno) => return Err(errno),
    }
    let top: OwnedFd = match openat(parent, name, FLAGS, Mode::empty()) {
        // The entry is a file, and the first error was about permissions.
        Err(Errno::NOTDIR) => return Err(Errno::PERM),
        Err(Errno::NOENT) => return Ok(()),
        opened => opened?,
    };
    let mut removal = Removal::default();
    walk(top, &mut removal)?;
    match removal.first_problem {
        None => gone(unlinkat(parent, name, AtFlags::REMOVEDIR)),
        Some(errno) => Err(errno),
    }
}

/// Removes as much as possible, and keeps the first error.
#[derive(Default)]
struct Removal {
    first_problem: Option<Errno>,
}

impl Removal {
    fn note(&mut self, result: Result<(), Errno>) {
        if let Err(errno) = gone(result) {
            self.first_problem.get_or_insert(errno);
        }
    }
}

/// How many files each thread removes at least, and how many threads there are at most. File systems free the blocks of several
/// files at the same time.
const FILES_PER_THREAD: usize = 128;
const THREADS: usize = 4;

/// Removes files of a directory. Returns those that could not be removed.
fn unlink_all(
    directory: BorrowedFd<'_>,
    files: &[(CString, FileType)],
) -> Vec<(CString, FileType, Errno)> {
    let unlink = |files: &[(CString, FileType)]| -> Vec<(CString, FileType, Errno)> {
        let failed = files.iter().filter_map(|(name, kind)| {
            let removed = unlinkat(directory, name.as_c_str(), AtFlags::empty());
            removed.err().map(|errno| (name.clone(), *kind, errno))
        });
        failed.collect()
    };
    let mut parts = files.chunks(files.len().div_ceil(THREADS).max(FILES_PER_THREAD));
    let own = parts.next().unwrap_or_default();
    thread::scope(|scope| {
        let unlink = &unlink;
        let threads: Vec<_> = parts
            .map(|part| {
                // If the system refuses a thread, this thread removes the files.
                thread::Builder::new().spawn_scoped(scope, move || unlink(part)).map_err(|_| part)
            })
            .collect();
        let mut failed = unlink(own);
        for thread in threads {
            failed.extend(match thread {
                Ok(thread) => thread.join().unwrap_or_default(),
                Err(part) => unlink(part),
            });
        }
        failed
    })
}

/// Treats "not found" as success.
fn gone(result: Result<(), Errno>) -> Result<(), Errno> {
    if result == Err(Errno::NOENT) { Ok(()) } else { result }
}

impl Visitor for Removal {
    fn enter(&mut self, directory: BorrowedFd<'_>, stat: &Stat) -> Result<Vec<CString>, Errno> {
        if !Mode::from_raw_mode(stat.st_mode).contains(Mode::RWXU) {
            // Its own mode may forbid the removal. The owner can change the mode.
            let _ = fchmod(directory, Mode::RWXU);
        }
        let mut below = Vec::new();
        let entries = match entries(directory) {
            Ok(entries) => entries,
            Err(errno) => {
                self.note(Err(errno));
                return Ok(below);
            }
        };
        let mut files = Vec::new();
        for (name, kind) in entries {
            match kind {
                FileType::Directory => below.push(name),
                kind => files.push((name, kind)),
            }
        }
        for (name, kind, errno) in unlink_all(directory, &files) {
            match errno {
                Errno::ISDIR | Errno::PERM if may_be_directory(kind) => below.push(name),
                errno => self.note(Err(errno)),
            }
        }
        Ok(below)
    }

    fn leave(&mut self, parent: BorrowedFd<'_>, name: &CStr) -> Result<(), Errno> {
        self.note(unlinkat(parent, name, AtFlags::REMOVEDIR));
        Ok(())
    }

    fn closed(&mut self, parent: BorrowedFd<'_>, name: &CStr, errno: Errno) -> Result<(), Errno> {
        // An empty directory can be removed without opening it.
        let removed = unlinkat(parent, name, AtFlags::REMOVEDIR);
        self.note(removed.map_err(|_| errno));
        Ok(())
    }
}

/// Removes the file `name`. If that fails, checks whether the file was removed nevertheless.
pub(super) fn file(parent: BorrowedFd<'_>, name: &str) -> Result<(), StoreError> {
    unlinkat(parent, name, AtFlags::empty()).map_err(|errno| {
        let error = condition("deleting a file", errno);
        match statat(parent, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(there) if kind(&there) != FileType::Unknown => error.unchanged(),
            _ => error,
        }
    })
}

/// Deletes the file at `path` if it was not used since then. The caller has the lock.
///
/// The deletion is not flushed: a file that reappears after a loss of power is still unused, and is removed the next time.
/// A file without write permission is not deleted, because no access to it can be recorded.
pub(super) fn unused(
    root: BorrowedFd<'_>,
    path: &MemoryPath,
    since: SystemTime,
) -> Result<bool, StoreError> {
    let (parent, name) = parent_of(root, path)?;
    let EntryAt::File(open, stat) = look(parent.as_fd(), name)? else {
        return Err(StoreError::IsADirectory);
    };
    if !is_unused(times::modified(&stat), times::accessed(&open), since)
        || accessat(&parent, name, Access::WRITE_OK, AtFlags::empty()).is_err()
    {
        return Ok(false);
    }
    file(parent.as_fd(), name)?;
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_directory_of_any_size_is_removed_whole() {
        for files in
            [0, 1, FILES_PER_THREAD, FILES_PER_THREAD + 1, THREADS * FILES_PER_THREAD + 1, 3000]
        {
            let place = tempfile::tempdir().unwrap();
            fs::create_dir_all(place.path().join("d/below")).unwrap();
            for file in 0..files {
                fs::write(place.path().join(format!("d/{file}")), "x").unwrap();
            }
            fs::write(place.path().join("d/below/file"), "x").unwrap();
            let parent = fs::File::open(place.path()).unwrap();
            assert_eq!(entry(parent.as_fd(), "d"), Ok(()), "{files}");
            assert!(!place.path().join("d").exists(), "{files}");
        }
    }

    #[test]
    fn what_cannot_be_unlinked_is_returned_by_every_thread() {
        let place = tempfile::tempdir().unwrap();
        let names: Vec<(CString, FileType)> = (0..THREADS * FILES_PER_THREAD + 1)
            .map(|number| (CString::new(number.to_string()).unwrap(), FileType::Unknown))
            .collect();
        for (number, (name, _)) in names.iter().enumerate() {
            let path = place.path().join(name.to_str().unwrap());
            if number % 2 == 0 { fs::create_dir(path) } else { fs::write(path, "x") }.unwrap();
        }
        let directory = fs::File::open(place.path()).unwrap();
        let left = unlink_all(directory.as_fd(), &names);
        let even: Vec<_> = names.iter().step_by(2).map(|(name, _)| name).collect();
        assert_eq!(left.iter().map(|(name, ..)| name).collect::<Vec<_>>(), even);
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), even.len());
    }
}

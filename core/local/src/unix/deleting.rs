//! Deletes and moves files and directories: one step under the lock, whatever the number of files below the path.

use std::ffi::CString;

use memdir_store::Context;
use memdir_store::StoreError;
use memdir_store::path::{Folding, MemoryPath};
use rustix::fd::{AsFd, BorrowedFd};
use rustix::fs::{AtFlags, FileType, Stat, renameat, unlinkat};
use rustix::io::Errno;

use super::beneath::{condition, kind};
use super::descend::id;
use super::directory::{Changed, Directory, Parent};
use super::listing::entries;
use super::moving::{self, rename_new};
use super::remove::{self, Doomed};
use super::temporary;
use super::{LocalDirectory, parent_of, peek};
use crate::read::absent;

impl LocalDirectory {
    pub(super) fn delete_entry(
        &self,
        context: &Context,
        path: &MemoryPath,
    ) -> Result<(), StoreError> {
        let mut backoff = self.backoff(context);
        let mut is_directory = false;
        loop {
            let root = self.enter_to_write()?;
            // Without the lock, because the check may take long.
            let checked = is_directory && {
                let (parent, name, stat) = existing_entry(root.as_fd(), path)?;
                check_directory(&parent, name, &stat)?
            };
            if !self.lock(&root, &mut backoff)? {
                continue;
            }
            let (parent, name) =
                parent_of(root.as_fd(), path).map_err(|error| absent(error).unchanged())?;
            let is_directory_now = || -> Result<bool, StoreError> {
                let there = peek(&parent, name).map_err(StoreError::unchanged)?;
                Ok(there.as_ref().map(kind) == Some(FileType::Directory))
            };
            if !checked || !is_directory_now()? {
                // A file, or an entry that another program created: a link is removed and not followed.
                let removed = remove::file(parent.as_fd(), name);
                if removed.is_ok() {
                    Self::unlock(&root);
                    return parent.flush(self.durability);
                }
                if !matches!(is_directory_now(), Ok(true)) {
                    return removed;
                }
                if !is_directory {
                    is_directory = true;
                    continue;
                }
                check_directory(&parent, name, &peek(&parent, name)?.ok_or(StoreError::NotFound)?)?;
            }
            let doomed = set_aside(root.as_fd(), &parent, name)?;
            root.release();
            let Some(doomed) = doomed else { return parent.flush(self.durability) };
            // If a loss of power undoes the rename, the directory is back and must be complete.
            let mut flushed = parent.flush(self.durability);
            if matches!(parent, Directory::Below(_)) {
                flushed = flushed.and_then(|()| root.flush(self.durability));
            }
            // Remove it even if the flush failed: it is hidden and stays hidden, and the next writer would remove it as a
            // leftover anyway.
            doomed.remove_with_leftovers();
            Self::tidy(&root);
            return flushed;
        }
    }

    pub(super) fn move_entry(
        &self,
        context: &Context,
        from: &MemoryPath,
        to: &MemoryPath,
    ) -> Result<(), StoreError> {
        if self.read_only {
            return Err(StoreError::Source(Box::new(StoreError::ReadOnly)));
        }
        let root = self.enter_locked(context)?;
        let moved = move_in(context, root.as_fd(), from, to)?;
        Self::unlock(&root);
        moved.flush(self.durability)
    }

    /// Moves everything into one directory, then deletes that directory.
    pub(super) fn delete_all(&self, context: &Context) -> Result<(), StoreError> {
        let mut backoff = self.backoff(context);
        loop {
            let root = self.enter_to_write()?;
            // Without the lock, because the check may take long.
            check_all(root.as_fd())?;
            if !self.lock(&root, &mut backoff)? {
                continue;
            }
            let doomed = set_all_aside(root.as_fd())?;
            root.release();
            let flushed = root.flush(self.durability);
            // As in a deletion, even if the flush failed.
            doomed.remove_with_leftovers();
            Self::tidy(&root);
            return flushed;
        }
    }
}

/// Checks that everything can be deleted, as far as that can be predicted.
fn check_all(root: BorrowedFd<'_>) -> Result<(), StoreError> {
    for (name, _) in visible(root)? {
        match remove::check(root, name.as_c_str()) {
            // Entries that are not directories.
            Err(StoreError::NotADirectory | StoreError::Symlink | StoreError::NotFound)
            | Ok(()) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Moves everything into a hidden directory. The caller has the lock.
fn set_all_aside(root: BorrowedFd<'_>) -> Result<Doomed<'_>, StoreError> {
    let failed = |errno| condition("clearing the memory directory", errno);
    let entries = visible(root)?;
    let (doomed, directory) = Doomed::empty(root).map_err(|errno| failed(errno).unchanged())?;
    let mut moved = Vec::new();
    let mut removed = false;
    for (name, _) in &entries {
        let name = name.as_c_str();
        let problem = match renameat(root, name, &directory, name) {
            Ok(()) => {
                moved.push(name);
                continue;
            }
            // The entry cannot be moved, such as a directory on an overlay: it is removed where it is.
            Err(Errno::XDEV) => {
                removed = true;
                match remove::entry(root, name) {
                    Ok(()) => continue,
                    Err(errno) => errno,
                }
            }
            Err(errno) => errno,
        };
        // Try to put each entry back, even if another one fails.
        moved.retain(|name| renameat(&directory, *name, root, *name).is_err());
        if moved.is_empty() {
            doomed.remove();
        }
        if moved.is_empty() && !removed {
            return Err(failed(problem).unchanged());
        }
        // A part of the tree is gone, so no condition of the tree describes the state.
        let problem = std::io::Error::from(problem);
        return Err(StoreError::failed("clearing the memory directory", problem));
    }
    Ok(doomed)
}

/// Renames a file or directory. The caller has the lock, and must flush the returned directories.
pub(super) fn move_in<'r>(
    context: &Context,
    root: BorrowedFd<'r>,
    from: &MemoryPath,
    to: &MemoryPath,
) -> Result<Changed<'r>, StoreError> {
    let of_source = |error| match error {
        StoreError::NotFound | StoreError::NotADirectory => StoreError::NotFound,
        other => StoreError::Source(Box::new(other)),
    };
    let (old_parent, old) = parent_of(root, from).map_err(of_source)?;
    let source = peek(&old_parent, old).map_err(of_source)?.ok_or(StoreError::NotFound)?;
    let Some(new) = to.name() else { return Err(StoreError::AlreadyExists) };
    let is_directory = kind(&source) == FileType::Directory;
    let within_parent = from.parent() == to.parent();
    let destination = match within_parent {
        true => Ok(None),
        false => parent_of(root, to).map(|(parent, _)| Some(parent)),
    };
    // On Linux the rename of a file finds what exists at the new path, and there is no other error that would come first.
    let must_look = is_directory || cfg!(not(any(target_os = "linux", target_os = "android")));
    if let (true, Ok(parent)) = (must_look, &destination)
        && peek(parent.as_ref().unwrap_or(&old_parent), new)?.is_some()
    {
        return Err(StoreError::AlreadyExists);
    }
    if is_directory && (from.is_above(to) || is_above_folded(root, from, &source, to)) {
        return Err(StoreError::IntoItself);
    }
    let destination = match destination {
        Ok(parent) => parent.map(Parent::existing),
        Err(StoreError::NotFound) => None,
        Err(error) => return Err(error),
    };
    // Everything below has a valid path now. Only a longer or deeper path can make one invalid.
    if is_directory && moving::grows(from, to) {
        moving::check_paths_below(old_parent.as_fd(), old, from, to)
            .map_err(|_| StoreError::NameTooLong)?;
    }
    let new_parent = match destination {
        None if !within_parent => Some(Parent::make(root, to)?),
        existing => existing,
    };
    context.check()?;
    let into = new_parent.as_ref().map_or(&old_parent, |parent| &parent.directory);
    rename_new(old_parent.as_fd(), old, into.as_fd(), new).map_err(|errno| {
        let error = match errno {
            // Either another file system is mounted in the tree, or this is an overlay, which moves files but no
            // directories of its lower layer.
            Errno::XDEV if is_directory => StoreError::Source(Box::new(StoreError::Unmovable)),
            errno => condition("moving a file", errno),
        };
        // If it is still at the old path, nothing was moved.
        if matches!(peek(&old_parent, old), Ok(Some(_))) { error.unchanged() } else { error }
    })?;
    let mut changed = new_parent.map(Parent::keep).unwrap_or_default();
    changed.and(old_parent);
    Ok(changed)
}

/// Whether `to` is below the directory `from` by another spelling of its path that the file system treats as equal.
fn is_above_folded(
    root: BorrowedFd<'_>,
    from: &MemoryPath,
    source: &Stat,
    to: &MemoryPath,
) -> bool {
    let folding = Folding::new(true);
    if !folding.key(from).is_above(&folding.key(to)) {
        return false;
    }
    let mut above = to.clone();
    while above.names().count() > from.names().count()
        && let Some(parent) = above.parent()
    {
        above = parent;
    }
    let found = parent_of(root, &above).and_then(|(parent, name)| peek(&parent, name));
    matches!(found, Ok(Some(found)) if id(&found) == id(source))
}

fn existing_entry<'r, 'p>(
    root: BorrowedFd<'r>,
    path: &'p MemoryPath,
) -> Result<(Directory<'r>, &'p str, Stat), StoreError> {
    let found = parent_of(root, path).map_err(absent).and_then(|(parent, name)| {
        let stat = peek(&parent, name)?.ok_or(StoreError::NotFound)?;
        Ok((parent, name, stat))
    });
    found.map_err(StoreError::unchanged)
}

/// Whether the entry is a directory. If so, also checks that it can be deleted, as far as that can be predicted.
fn check_directory(parent: &Directory<'_>, name: &str, stat: &Stat) -> Result<bool, StoreError> {
    if kind(stat) != FileType::Directory {
        return Ok(false);
    }
    remove::check(parent.as_fd(), name)?;
    Ok(true)
}

/// Moves a directory to a hidden name. The caller has the lock. `None` if it is already removed.
fn set_aside<'d>(
    root: BorrowedFd<'d>,
    parent: &'d Directory<'_>,
    name: &str,
) -> Result<Option<Doomed<'d>>, StoreError> {
    let failed = |errno| condition("deleting a directory", errno);
    let still_there = || matches!(peek(parent, name), Ok(Some(_)));
    match unlinkat(parent, name, AtFlags::REMOVEDIR) {
        // The directory was empty.
        Ok(()) => return Ok(None),
        Err(Errno::NOTEMPTY | Errno::EXIST) => {}
        Err(errno) if still_there() => return Err(failed(errno).unchanged()),
        Err(errno) => return Err(failed(errno)),
    }
    let in_root = remove::set_aside(parent.as_fd(), name, root);
    let moved = match in_root {
        // The directory is on another file system that is mounted in the tree. Or it belongs to another user, and may be
        // moved only within its parent.
        Err(Errno::XDEV | Errno::ACCESS | Errno::PERM) => {
            remove::set_aside(parent.as_fd(), name, parent.as_fd())
        }
        moved => moved,
    };
    match moved {
        Ok(doomed) => Ok(Some(doomed)),
        // The file system cannot move directories, such as an overlay with a read-only lower layer. So remove the
        // directory where it is, while the lock excludes other writers.
        Err(Errno::XDEV) => match remove::entry(parent.as_fd(), name) {
            Ok(()) => Ok(None),
            // A part of the directory may be gone.
            Err(errno) => {
                Err(StoreError::failed("deleting a directory", std::io::Error::from(errno)))
            }
        },
        Err(Errno::EXIST) => Err(StoreError::failed(
            "deleting a directory",
            "too many deleted directories that cannot be removed are left in the memory directory",
        )
        .unchanged()),
        Err(errno) if still_there() => Err(failed(errno).unchanged()),
        Err(errno) => Err(failed(errno)),
    }
}

/// The entries of the root, without temporary ones.
fn visible(root: BorrowedFd<'_>) -> Result<Vec<(CString, FileType)>, StoreError> {
    let failed = |errno| condition("reading the memory directory", errno).unchanged();
    let mut entries = entries(root).map_err(failed)?;
    entries.retain(|(name, _)| !temporary::is_temporary(name.to_bytes()));
    Ok(entries)
}

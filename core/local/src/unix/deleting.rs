//! Deletes and moves files and directories: one step under the lock, however much is below the path.

use std::ffi::CString;
use std::fs::File;

use memdir_store::Context;
use memdir_store::StoreError;
use memdir_store::path::{Folding, MemoryPath};
use rustix::fd::{AsFd, BorrowedFd};
use rustix::fs::{AtFlags, FileType, Stat, renameat, unlinkat};
use rustix::io::Errno;

use super::beneath::{condition, kind};
use super::descend::id;
use super::directory::{self, Parent, flush};
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
        loop {
            let root = self.enter_to_write()?;
            // Without the lock, because it may take long.
            let checked = {
                let (parent, name, stat) = existing_entry(root.as_fd(), path)?;
                check_directory(&parent, name, &stat)?
            };
            let Some(locked) = self.lock(&root, &mut backoff)? else { continue };
            let (parent, name, stat) = existing_entry(locked.as_fd(), path)?;
            if kind(&stat) != FileType::Directory {
                // A file, or what somebody else put there: a link is removed and not followed.
                remove::file(&parent, name)?;
                drop(locked);
                Self::tidy(&root);
                return flush(&parent, self.durability);
            }
            if !checked {
                check_directory(&parent, name, &stat)?;
            }
            let doomed = set_aside(root.as_fd(), &parent, name)?;
            drop(locked);
            let Some(doomed) = doomed else { return flush(&parent, self.durability) };
            // If a loss of power undoes the rename, the directory is back, and must be whole.
            let flushed =
                flush(&parent, self.durability).and_then(|()| flush(root.file(), self.durability));
            // It is removed also if the flush failed: it is out of sight and stays so, and the next writer would remove it
            // as a leftover anyway.
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
        let (old_parent, changed) =
            self.locked(context, |root| move_in(context, root, from, to))?;
        changed.flush(self.durability)?;
        flush(&old_parent, self.durability)
    }

    /// Everything goes into one directory, which is deleted.
    pub(super) fn delete_all(&self, context: &Context) -> Result<(), StoreError> {
        let mut backoff = self.backoff(context);
        loop {
            let root = self.enter_to_write()?;
            // Without the lock, because it may take long.
            check_all(root.as_fd())?;
            let Some(locked) = self.lock(&root, &mut backoff)? else { continue };
            let doomed = set_all_aside(root.as_fd())?;
            drop(locked);
            let flushed = flush(root.file(), self.durability);
            // As in a deletion, also if the flush failed.
            doomed.remove_with_leftovers();
            Self::tidy(&root);
            return flushed;
        }
    }
}

/// Whether all can be deleted, as far as that can be known.
fn check_all(root: BorrowedFd<'_>) -> Result<(), StoreError> {
    for (name, _) in visible(root)? {
        match remove::check(root, name.as_c_str()) {
            // What is no directory.
            Err(StoreError::NotADirectory | StoreError::Symlink | StoreError::NotFound)
            | Ok(()) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Moves everything out of sight; the caller has the lock.
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
            // Nothing that can be moved: it is removed where it is.
            Err(Errno::XDEV) => {
                removed = true;
                match remove::entry(root, name) {
                    Ok(()) => continue,
                    Err(errno) => errno,
                }
            }
            Err(errno) => errno,
        };
        // Try to put each of them back, even if another one fails.
        moved.retain(|name| renameat(&directory, *name, root, *name).is_err());
        if moved.is_empty() {
            doomed.remove();
        }
        if moved.is_empty() && !removed {
            return Err(failed(problem).unchanged());
        }
        // A part of it is gone, so no condition of the tree describes the state.
        let problem = std::io::Error::from(problem);
        return Err(StoreError::failed("clearing the memory directory", problem));
    }
    Ok(doomed)
}

/// Does a rename; the caller has the lock. The caller must flush the returned directories.
pub(super) fn move_in(
    context: &Context,
    root: BorrowedFd<'_>,
    from: &MemoryPath,
    to: &MemoryPath,
) -> Result<(File, directory::Changed), StoreError> {
    let of_source = |error| match error {
        StoreError::NotFound | StoreError::NotADirectory => StoreError::NotFound,
        other => StoreError::Source(Box::new(other)),
    };
    let (old_parent, old) = parent_of(root, from).map_err(of_source)?;
    let source = peek(&old_parent, old).map_err(of_source)?.ok_or(StoreError::NotFound)?;
    let Some(new) = to.name() else { return Err(StoreError::AlreadyExists) };
    let destination = parent_of(root, to);
    if let Ok((parent, name)) = &destination
        && peek(parent, name)?.is_some()
    {
        return Err(StoreError::AlreadyExists);
    }
    let is_directory = kind(&source) == FileType::Directory;
    if is_directory && (from.is_above(to) || is_above_folded(root, from, &source, to)) {
        return Err(StoreError::IntoItself);
    }
    match destination {
        Ok(_) | Err(StoreError::NotFound) => {}
        Err(error) => return Err(error),
    }
    // Everything below has a valid path now, and can lose it only if paths become longer.
    if is_directory && moving::grows(from, to) {
        moving::check_paths_below(old_parent.as_fd(), old, from, to)
            .map_err(|_| StoreError::NameTooLong)?;
    }
    let parent = Parent::make(root, to)?;
    context.check()?;
    rename_new(old_parent.as_fd(), old, parent.directory.as_fd(), new).map_err(|errno| {
        let error = match errno {
            // Another file system, mounted into the tree; or an overlay, which moves files and no directories
            // of what it lies over.
            Errno::XDEV if is_directory => StoreError::Source(Box::new(StoreError::Unmovable)),
            errno => condition("moving a file", errno),
        };
        // If it is still at the old place, nothing was moved.
        if matches!(peek(&old_parent, old), Ok(Some(_))) { error.unchanged() } else { error }
    })?;
    Ok((old_parent, parent.keep()))
}

/// Whether `to` is below the directory `from` by another spelling of its path, which a file system may take for the same.
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

fn existing_entry<'p>(
    root: BorrowedFd<'_>,
    path: &'p MemoryPath,
) -> Result<(File, &'p str, Stat), StoreError> {
    let found = parent_of(root, path).map_err(absent).and_then(|(parent, name)| {
        let stat = peek(&parent, name)?.ok_or(StoreError::NotFound)?;
        Ok((parent, name, stat))
    });
    found.map_err(StoreError::unchanged)
}

/// Whether it is a directory. If so, it can be deleted, as far as that can be known.
fn check_directory(parent: &File, name: &str, stat: &Stat) -> Result<bool, StoreError> {
    if kind(stat) != FileType::Directory {
        return Ok(false);
    }
    remove::check(parent.as_fd(), name)?;
    Ok(true)
}

/// Moves a directory out of sight; the caller has the lock. `None` if it is removed already.
fn set_aside<'d>(
    root: BorrowedFd<'d>,
    parent: &'d File,
    name: &str,
) -> Result<Option<Doomed<'d>>, StoreError> {
    let failed = |errno| condition("deleting a directory", errno);
    let still_there = || matches!(peek(parent, name), Ok(Some(_)));
    match unlinkat(parent, name, AtFlags::REMOVEDIR) {
        // It was empty.
        Ok(()) => return Ok(None),
        Err(Errno::NOTEMPTY | Errno::EXIST) => {}
        Err(errno) if still_there() => return Err(failed(errno).unchanged()),
        Err(errno) => return Err(failed(errno)),
    }
    let in_root = remove::set_aside(parent.as_fd(), name, root);
    let moved = match in_root {
        // It is on another file system, mounted into the tree, or somebody else's, which may be moved
        // only within its parent.
        Err(Errno::XDEV | Errno::ACCESS | Errno::PERM) => {
            remove::set_aside(parent.as_fd(), name, parent.as_fd())
        }
        moved => moved,
    };
    match moved {
        Ok(doomed) => Ok(Some(doomed)),
        // A file system that moves no directories, such as an overlay over one that may not be changed:
        // then it is removed where it is, while nobody else is at work.
        Err(Errno::XDEV) => match remove::entry(parent.as_fd(), name) {
            Ok(()) => Ok(None),
            // Part of it may be gone.
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

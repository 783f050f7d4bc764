//! Moves that never overwrite.

use memdir_store::path::{MemoryPath, PathError};
use rustix::fd::{AsFd, BorrowedFd};
use rustix::fs::{AtFlags, FileType, OFlags, linkat, renameat, statat, unlinkat};
use rustix::io::Errno;

use super::beneath::{kind, open_child};
use super::listing::entries;

/// Renames to a name that must be free, in one step if the system supports it.
pub(super) fn rename_new(
    from: BorrowedFd<'_>,
    old: &str,
    to: BorrowedFd<'_>,
    new: &str,
) -> Result<(), Errno> {
    #[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
    {
        use rustix::fs::{RenameFlags, renameat_with};
        match renameat_with(from, old, to, new, RenameFlags::NOREPLACE) {
            // Not every file system supports it.
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {}
            result => return result,
        }
    }
    rename_new_by_steps(from, old, to, new)
}

/// For a file, creates a second link and removes the first, so the rename never overwrites. A directory
/// cannot have two links. For a directory, the lock excludes other writers of this tree.
fn rename_new_by_steps(
    from: BorrowedFd<'_>,
    old: &str,
    to: BorrowedFd<'_>,
    new: &str,
) -> Result<(), Errno> {
    let stat = statat(from, old, AtFlags::SYMLINK_NOFOLLOW)?;
    if kind(&stat) != FileType::Directory {
        match linkat(from, old, to, new, AtFlags::empty()) {
            Ok(()) => {
                return unlinkat(from, old, AtFlags::empty()).inspect_err(|_| {
                    // All or nothing: remove the second link.
                    let _ = unlinkat(to, new, AtFlags::empty());
                });
            }
            // Not every file system supports links.
            Err(Errno::PERM | Errno::NOTSUP | Errno::NOSYS | Errno::INVAL) => {}
            Err(errno) => return Err(errno),
        }
    }
    match statat(to, new, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(_) => Err(Errno::EXIST),
        Err(Errno::NOENT) => renameat(from, old, to, new),
        Err(errno) => Err(errno),
    }
}

/// Whether paths below a directory become longer or deeper when it is moved.
pub(super) fn grows(from: &MemoryPath, to: &MemoryPath) -> bool {
    to.as_str().len() > from.as_str().len() || to.names().count() > from.names().count()
}

/// Checks that all entries below the directory `name` still have valid paths after a move from `old` to
/// `new`. Entries that are already too deep for a valid path are ignored.
pub(super) fn check_paths_below(
    directory: BorrowedFd<'_>,
    name: &str,
    old: &MemoryPath,
    new: &MemoryPath,
) -> Result<(), PathError> {
    let Ok(opened) = open_child(directory, name, OFlags::RDONLY | OFlags::DIRECTORY) else {
        return Ok(());
    };
    for (entry, file_type) in entries(opened.as_fd()).unwrap_or_default() {
        let Some(entry) = entry.to_str().ok() else { continue };
        let Ok(old) = old.join(entry) else { continue };
        let new = new.join(entry)?;
        if file_type == FileType::Directory {
            check_paths_below(opened.as_fd(), entry, &old, &new)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    type Renamer = fn(BorrowedFd<'_>, &str, BorrowedFd<'_>, &str) -> Result<(), Errno>;

    #[test]
    fn neither_way_overwrites() {
        for rename in [rename_new as Renamer, rename_new_by_steps] {
            let place = tempfile::tempdir().unwrap();
            let path = |name: &str| place.path().join(name);
            fs::write(path("a"), "a").unwrap();
            fs::write(path("b"), "b").unwrap();
            fs::create_dir(path("d")).unwrap();
            fs::create_dir(path("empty")).unwrap();
            let dir = fs::File::open(place.path()).unwrap();
            let rename = |old, new| rename(dir.as_fd(), old, dir.as_fd(), new);

            assert_eq!(rename("a", "b"), Err(Errno::EXIST));
            assert_eq!(rename("a", "empty"), Err(Errno::EXIST));
            assert_eq!(rename("d", "empty"), Err(Errno::EXIST));
            assert_eq!(rename("none", "c"), Err(Errno::NOENT));
            assert_eq!(rename("a", "c"), Ok(()));
            assert_eq!(rename("d", "e"), Ok(()));
            assert_eq!(fs::read_to_string(path("b")).unwrap(), "b");
            assert_eq!(fs::read_to_string(path("c")).unwrap(), "a");
            assert!(!path("a").exists() && path("e").is_dir());
        }
    }
}

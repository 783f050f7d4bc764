//! Reads directories, without names that could forge a line of a listing.

use std::ffi::CString;
use std::time::SystemTime;

use memdir_store::path::MemoryPath;
use memdir_store::{Entry, Scope, StoreError};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{AtFlags, Dir, FileType, OFlags, statat};
use rustix::io::Errno;

use super::beneath::{condition, kind, open_child};
use super::times;

/// Collects the entries of an open directory whose path is `path`.
///
/// Links, special files and names that no [`MemoryPath`] can hold are left out, and so is what is
/// below a directory that cannot be opened.
pub(super) fn collect(
    directory: &OwnedFd,
    path: &MemoryPath,
    scope: Scope,
    found: &mut Vec<Entry>,
) -> Result<(), StoreError> {
    let failed = |errno| condition("reading a directory", errno);
    for (name, file_type) in entries(directory.as_fd()).map_err(failed)? {
        let Ok(name) = name.to_str() else { continue };
        if !scope.shows(name) {
            continue;
        }
        let Ok(path) = path.join(name) else { continue };
        match resolve(directory.as_fd(), name, file_type).map_err(failed)? {
            Some(Kind::File(size, modified)) => {
                found.push(Entry::file(path, size).modified_at(modified));
            }
            Some(Kind::Directory) => {
                found.push(Entry::directory(path.clone()));
                let Some(scope) = scope.below() else { continue };
                let flags = OFlags::RDONLY | OFlags::DIRECTORY;
                match open_child(directory.as_fd(), name, flags) {
                    Ok(below) => collect(&below, &path, scope, found)?,
                    // Closed to us, gone, or another thing meanwhile.
                    Err(
                        Errno::ACCESS | Errno::PERM | Errno::NOENT | Errno::NOTDIR | Errno::LOOP,
                    ) => {}
                    Err(errno) => return Err(failed(errno)),
                }
            }
            None => {}
        }
    }
    Ok(())
}

/// The names in a directory, without `.` and `..`, with what the directory says they are.
pub(super) fn entries(directory: BorrowedFd<'_>) -> Result<Vec<(CString, FileType)>, Errno> {
    let mut entries = Vec::new();
    for entry in Dir::read_from(directory)? {
        let entry = entry?;
        if !matches!(entry.file_name().to_bytes(), b"." | b"..") {
            entries.push((entry.file_name().to_owned(), entry.file_type()));
        }
    }
    Ok(entries)
}

enum Kind {
    /// Its size, and when it was written.
    File(u64, Option<SystemTime>),
    Directory,
}

/// `None` for what is neither file nor directory, closed to us, or gone meanwhile.
fn resolve(
    directory: BorrowedFd<'_>,
    name: &str,
    file_type: FileType,
) -> Result<Option<Kind>, Errno> {
    Ok(match file_type {
        FileType::Directory => Some(Kind::Directory),
        FileType::RegularFile | FileType::Unknown => {
            let stat = match statat(directory, name, AtFlags::SYMLINK_NOFOLLOW) {
                Err(Errno::ACCESS | Errno::PERM | Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => {
                    return Ok(None);
                }
                stat => stat?,
            };
            match kind(&stat) {
                FileType::RegularFile => {
                    let size = u64::try_from(stat.st_size).unwrap_or(0);
                    Some(Kind::File(size, times::modified(&stat)))
                }
                FileType::Directory => Some(Kind::Directory),
                _ => None,
            }
        }
        _ => None,
    })
}

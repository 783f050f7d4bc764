//! Lists directories, without names that could forge a line of a listing.

use std::ffi::CString;

use memdir_store::path::MemoryPath;
use memdir_store::{Entry, Fingerprint, Scope, StoreError};
use rustix::fd::{BorrowedFd, OwnedFd};
use rustix::fs::{AtFlags, Dir, FileType, OFlags, Stat, statat};
use rustix::io::Errno;

use super::beneath::{condition, kind, open_child};
use super::descend::id;
use super::{size, times};

/// Collects the entries of a directory whose path is `path`, and that was just opened. Returns the open directory.
///
/// Links, special files and names that no [`MemoryPath`] can contain are left out, and so is everything below a directory that
/// cannot be opened.
pub(super) fn collect(
    directory: OwnedFd,
    path: &MemoryPath,
    scope: Scope,
    found: &mut Vec<Entry>,
) -> Result<Dir, StoreError> {
    let failed = |errno| condition("reading a directory", errno);
    let mut opened = Dir::new(directory).map_err(failed)?;
    let names = names(&mut opened).map_err(failed)?;
    let directory = opened.fd().map_err(failed)?;
    for (name, file_type) in names {
        let Ok(name) = name.to_str() else { continue };
        if !scope.shows(name) {
            continue;
        }
        let Ok(path) = path.join(name) else { continue };
        match resolve(directory, name, file_type).map_err(failed)? {
            Some(Kind::File(stat)) => {
                let file = Entry::file(path, size(&stat)).modified_at(times::modified(&stat));
                let file = file.changed_at(times::changed(&stat));
                found.push(file.with_fingerprint(Some(fingerprint(&stat))));
            }
            Some(Kind::Directory) => {
                found.push(Entry::directory(path.clone()));
                let Some(scope) = scope.below() else { continue };
                let flags = OFlags::RDONLY | OFlags::DIRECTORY;
                match open_child(directory, name, flags) {
                    Ok(below) => drop(collect(below, &path, scope, found)?),
                    // Not accessible, deleted, or replaced meanwhile.
                    Err(
                        Errno::ACCESS | Errno::PERM | Errno::NOENT | Errno::NOTDIR | Errno::LOOP,
                    ) => {}
                    Err(errno) => return Err(failed(errno)),
                }
            }
            None => {}
        }
    }
    Ok(opened)
}

/// The names in a directory with their types, without `.` and `..`.
pub(super) fn entries(directory: BorrowedFd<'_>) -> Result<Vec<(CString, FileType)>, Errno> {
    names(&mut Dir::read_from(directory)?)
}

/// As [`entries`], of a directory that was just opened.
fn names(directory: &mut Dir) -> Result<Vec<(CString, FileType)>, Errno> {
    let mut entries = Vec::new();
    while let Some(entry) = directory.read() {
        let entry = entry?;
        if !matches!(entry.file_name().to_bytes(), b"." | b"..") {
            entries.push((entry.file_name().to_owned(), entry.file_type()));
        }
    }
    Ok(entries)
}

enum Kind {
    File(Stat),
    Directory,
}

/// `None` if it is neither a file nor a directory, is not accessible, or was deleted meanwhile.
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
                FileType::RegularFile => Some(Kind::File(stat)),
                FileType::Directory => Some(Kind::Directory),
                _ => None,
            }
        }
        _ => None,
    })
}

/// Identifies the content of a file. Every writer of memdir creates a new file. Another program may write into an existing one,
/// which changes the ctime: programs cannot set it. Two contents can still have one fingerprint: a new file can get the inode
/// number of an old one, and clocks tick only every few milliseconds. The device number is left out, because it may change when
/// the system starts.
fn fingerprint(stat: &Stat) -> Fingerprint {
    let (_, inode) = id(stat);
    let (modified, changed) = (times::modified(stat), times::changed(stat));
    Fingerprint::of_numbers(&[inode, size(stat), times::number(modified), times::number(changed)])
}

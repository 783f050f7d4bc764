//! Reads the tree beneath the root: files, directories, listings.

use std::fs::File;
use std::os::windows::fs::MetadataExt;
use std::time::SystemTime;

use memdir_store::path::{MemoryPath, fold};
use memdir_store::{Entry, Problem, ProblemKind, Scope, StoreError};
use windows_sys::Win32::Foundation::STATUS_OBJECT_NAME_NOT_FOUND;
use windows_sys::Win32::Storage::FileSystem::{
    FILE_ATTRIBUTE_DIRECTORY, FILE_ATTRIBUTE_REPARSE_POINT,
};

use super::error::condition;
use super::handle::{self, Existing, Purpose, Status};
use super::names::{decoded, encoded};
use super::temporary::{self, Kind};
use super::times::{Accesses, time};

/// The kind of entry at a path.
pub(super) enum EntryAt {
    /// The file and its size.
    File(File, u64),
    Directory(File),
}

/// The path relative to the root, in the kernel's format.
pub(super) fn relative(path: &MemoryPath) -> Vec<u16> {
    let mut whole = Vec::new();
    for name in path.names() {
        if !whole.is_empty() {
            whole.push(u16::from(b'\\'));
        }
        whole.extend(encoded(name));
    }
    whole
}

/// Whether this name is the short form (`LONGNA~1.MD`) of an entry with another name.
pub(super) fn is_short_form(directory: &File, name: &str) -> bool {
    // Windows generates no short form without `~`.
    if !name.contains('~') {
        return false;
    }
    let found = handle::entry(directory, &encoded(name)).ok().flatten();
    let own = |entry: handle::DirectoryEntry| String::from_utf16_lossy(&entry.name);
    found.map(own).is_some_and(|own| fold(&own) != fold(&String::from_utf16_lossy(&encoded(name))))
}

/// Whether a name in the path is a short form. Such a path would be a second spelling of a path, and bypass the
/// rules for that path.
fn has_short_form(root: &File, path: &MemoryPath) -> Result<bool, Status> {
    if !path.as_str().contains('~') {
        return Ok(false);
    }
    let mut directory = handle::open(root, &[], Purpose::Directory, Existing::Open)?;
    for name in path.names() {
        if is_short_form(&directory, name) {
            return Ok(true);
        }
        match handle::open(&directory, &encoded(name), Purpose::Directory, Existing::Open) {
            Ok(below) => directory = below,
            // A file, or no entry.
            Err(_) => break,
        }
    }
    Ok(false)
}

/// Opens the path, if it is a file or a directory.
pub(super) fn look(
    root: &File,
    path: &MemoryPath,
    purpose: Purpose,
) -> Result<EntryAt, StoreError> {
    let failed = |status| condition("opening a file", status);
    if has_short_form(root, path).map_err(failed)? {
        return Err(StoreError::NotFound);
    }
    let file = if path.is_root() {
        root.try_clone().map_err(|error| StoreError::failed("opening a directory", error))?
    } else {
        handle::open(root, &relative(path), purpose, Existing::Open).map_err(failed)?
    };
    kind(file)
}

/// The kind of an open handle.
pub(super) fn kind(file: File) -> Result<EntryAt, StoreError> {
    let metadata =
        file.metadata().map_err(|error| StoreError::failed("looking at a file", error))?;
    let attributes = metadata.file_attributes();
    if attributes & FILE_ATTRIBUTE_REPARSE_POINT != 0 {
        return Err(StoreError::Symlink);
    }
    Ok(match attributes & FILE_ATTRIBUTE_DIRECTORY {
        0 => EntryAt::File(file, metadata.file_size()),
        _ => EntryAt::Directory(file),
    })
}

/// Opens a directory of a path.
pub(super) fn open_directory(root: &File, path: &MemoryPath) -> Result<File, Status> {
    if has_short_form(root, path)? {
        return Err(Status(STATUS_OBJECT_NAME_NOT_FOUND));
    }
    let relative = relative(path);
    if relative.is_empty() {
        // The kernel refers to the directory itself by the empty name only.
        return handle::open(root, &[], Purpose::Directory, Existing::Open);
    }
    handle::open(root, &relative, Purpose::Directory, Existing::Open)
}

/// Collects the entries of an open directory whose path is `path`. Reparse points and names that no path can
/// contain are left out, and so is everything below a directory that cannot be opened.
pub(super) fn collect(
    directory: &File,
    path: &MemoryPath,
    scope: Scope,
    found: &mut Vec<Entry>,
) -> Result<(), StoreError> {
    let failed = |status| condition("reading a directory", status);
    for entry in handle::entries(directory).map_err(failed)? {
        let Some(name) = decoded(&entry.name) else { continue };
        let Ok(below) = path.join(&name) else { continue };
        if entry.is_link() || temporary::kind(&entry.name).is_some() || !scope.shows(&name) {
            continue;
        }
        if !entry.is_directory() {
            let file = Entry::file(below, entry.size).modified_at(time(entry.written));
            let changed = Some(entry.changed).filter(|changed| *changed > 0);
            let file = file.changed_at(changed.and_then(time));
            found.push(file.with_fingerprint(Some(entry.fingerprint())));
            continue;
        }
        found.push(Entry::directory(below.clone()));
        let Some(scope) = scope.below() else { continue };
        match handle::open(directory, &entry.name, Purpose::Directory, Existing::Open) {
            Ok(opened) => match collect(&opened, &below, scope, found) {
                // Deleted or replaced meanwhile.
                Err(StoreError::NotFound | StoreError::PermissionDenied) => {}
                collected => collected?,
            },
            // Not accessible, deleted, or replaced meanwhile.
            Err(status) => match failed(status) {
                error if error.is_failure() => return Err(error),
                _ => {}
            },
        }
    }
    Ok(())
}

/// Reports entries of the directory that are not part of the memory.
pub(super) fn inspect(
    directory: &File,
    path: &MemoryPath,
    report: &mut dyn FnMut(Problem),
) -> Result<(), StoreError> {
    let failed = |status| condition("reading a directory", status);
    let mut entries = handle::entries(directory).map_err(failed)?;
    entries.sort_by(|a, b| a.name.cmp(&b.name));
    for entry in entries {
        let shown = String::from_utf16_lossy(&entry.name);
        match temporary::kind(&entry.name) {
            // The lock may be in use, and so may a temporary file.
            Some(Kind::Own) => continue,
            Some(Kind::Staged) if !is_abandoned(directory, &entry.name) => continue,
            Some(_) => {
                report(Problem::with_entry(ProblemKind::LeftOver, path, shown.as_bytes()));
                continue;
            }
            None => {}
        }
        let Some(below) = decoded(&entry.name).and_then(|name| path.join(&name).ok()) else {
            report(Problem::with_entry(ProblemKind::BadName, path, shown.as_bytes()));
            continue;
        };
        if entry.is_link() {
            report(Problem::new(ProblemKind::Link, &below, ""));
        } else if entry.is_directory()
            && let Ok(opened) =
                handle::open(directory, &entry.name, Purpose::Directory, Existing::Open)
        {
            inspect(&opened, &below, report)?;
        }
    }
    Ok(())
}

/// Whether no process has the temporary file open.
fn is_abandoned(directory: &File, name: &[u16]) -> bool {
    handle::open(directory, name, Purpose::TakeOver, Existing::Open).is_ok()
}

/// The last write and the last access of an open file.
pub(super) fn times(
    root: &File,
    file: &File,
) -> Result<(Option<SystemTime>, Option<SystemTime>), StoreError> {
    let failed = |error| StoreError::failed("looking at a file", error);
    let metadata = file.metadata().map_err(failed)?;
    let (_, id) = handle::id(file).map_err(failed)?;
    Ok((time(metadata.last_write_time()), Accesses::open(root).of(id)))
}

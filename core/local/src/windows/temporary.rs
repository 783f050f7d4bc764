//! Names for the lock, for content that is being written, for entries that are being deleted, and for access times.
//!
//! They percent-decode to a slash, so no [`MemoryPath`](memdir_store::MemoryPath) can represent them: no command can reach
//! them and no listing shows them.
//!
//! A process has the file open while it writes the content. So a file that no process has open is a leftover of a killed
//! process, and the next process that finds it removes it.

use std::fs::File;

use super::handle::{self, Existing, Purpose, Status};

pub(super) const LOCK: &str = ".memdir-lock%2F";
/// Content that is being written.
const STAGED: &str = ".memdir-staged%2F";
/// A directory that is being deleted.
const DELETED: &str = ".memdir-deleted%2F";
/// The directory into which a clear moves all entries. When all are moved, it is deleted; otherwise they are moved back.
/// Only the owner of the lock uses it.
pub(super) const CLEARING: &str = ".memdir-clearing%2F";
/// The directory of access times.
pub(super) const ACCESSED: &str = ".memdir-accessed%2F";

/// The number of names of each kind. It limits the number of concurrent writers, and the number of leftover directories
/// that cannot be removed.
const EACH: u32 = 64;

pub(super) fn utf16(name: &str) -> Vec<u16> {
    name.encode_utf16().collect()
}

/// Names in the root for content that is being written.
pub(super) fn staged() -> impl Iterator<Item = Vec<u16>> {
    (0..EACH).map(|number| utf16(&format!("{STAGED}{number}")))
}

/// Names in the root for entries that are being deleted.
pub(super) fn deleted() -> impl Iterator<Item = Vec<u16>> {
    (0..EACH).map(|number| utf16(&format!("{DELETED}{number}")))
}

/// The kind of a temporary name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// The lock and the access times, which are no leftovers.
    Own,
    Staged,
    Deleted,
    Clearing,
}

/// The kind of a name; `None` if it is not a temporary name.
pub(super) fn kind(name: &[u16]) -> Option<Kind> {
    let name = String::from_utf16_lossy(name);
    let kinds = [
        (LOCK, Kind::Own),
        (ACCESSED, Kind::Own),
        (STAGED, Kind::Staged),
        (DELETED, Kind::Deleted),
        (CLEARING, Kind::Clearing),
    ];
    let is_of = |prefix: &str| {
        name.strip_prefix(prefix).is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_digit()))
    };
    kinds.into_iter().find(|(prefix, _)| is_of(prefix)).map(|(_, kind)| kind)
}

/// Whether a deleted directory exists. Checks only the first name.
pub(super) fn is_deleted_there(root: &File) -> bool {
    deleted().take(1).any(|name| handle::entry(root, &name).is_ok_and(|found| found.is_some()))
}

/// Removes deleted entries and leftovers of killed processes, as far as possible. Needs no lock.
pub(super) fn sweep(root: &File) {
    // Uses a new handle, because one that has already listed the directory may return the old entries.
    let fresh = handle::open(root, &[], Purpose::Directory, Existing::Open);
    let Ok(mut entries) = fresh.and_then(|root| handle::entries(&root)) else { return };
    // Most commands check only the first name, so it comes last: a process that is killed here leaves a name that is checked.
    entries.sort_by(|one, other| other.name.cmp(&one.name));
    for entry in entries {
        match kind(&entry.name) {
            Some(Kind::Staged) => {
                take_over(root, &entry.name);
            }
            Some(Kind::Deleted) => {
                let _ = remove(root, &entry.name, entry.is_directory() && !entry.is_link());
            }
            _ => {}
        }
    }
}

/// Removes an unused temporary file, and returns whether it did.
pub(super) fn take_over(root: &File, name: &[u16]) -> bool {
    let left = handle::open(root, name, Purpose::TakeOver, Existing::Open);
    left.and_then(|left| handle::delete(&left)).is_ok()
}

/// Removes the entry `name` with everything below it.
pub(super) fn remove(parent: &File, name: &[u16], is_a_directory: bool) -> Result<(), Status> {
    if is_a_directory {
        let directory = handle::open(parent, name, Purpose::Directory, Existing::Open)?;
        for entry in handle::entries(&directory)? {
            // Another process may be removing it as well.
            let _ = remove(&directory, &entry.name, entry.is_directory() && !entry.is_link());
        }
        drop(directory);
    }
    handle::delete(&handle::open(parent, name, Purpose::Move, Existing::Open)?)
}

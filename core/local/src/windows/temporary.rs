//! Names for the lock, for contents that are being written, for what is being deleted, and for times of access.
//!
//! They percent-decode to a slash, so no [`MemoryPath`](memdir_store::MemoryPath) can hold them: no command can reach them
//! and no listing shows them.
//!
//! A content that is being written is open in the process that writes it. So one that nobody has open was left by a
//! process that was killed, and whoever finds it removes it.

use std::fs::File;

use super::handle::{self, Existing, Purpose, Status};

pub(super) const LOCK: &str = ".memdir-lock%2F";
/// A content that is being written.
const STAGED: &str = ".memdir-staged%2F";
/// A directory that is deleted.
const DELETED: &str = ".memdir-deleted%2F";
/// What is moved here is deleted when all of it is here, and comes back otherwise. Only who has the lock has one.
pub(super) const CLEARING: &str = ".memdir-clearing%2F";
/// The directory of times of access.
pub(super) const ACCESSED: &str = ".memdir-accessed%2F";

/// The most names of a kind. This limits how many writers work at the same time, and how many deleted directories that
/// cannot be removed can be left over.
const EACH: u32 = 64;

pub(super) fn utf16(name: &str) -> Vec<u16> {
    name.encode_utf16().collect()
}

/// Names in the root for contents that are being written.
pub(super) fn staged() -> impl Iterator<Item = Vec<u16>> {
    (0..EACH).map(|number| utf16(&format!("{STAGED}{number}")))
}

/// Names in the root for what is being deleted.
pub(super) fn deleted() -> impl Iterator<Item = Vec<u16>> {
    (0..EACH).map(|number| utf16(&format!("{DELETED}{number}")))
}

/// A kind of these names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// The lock, and the times of access: no leftovers.
    Own,
    Staged,
    Deleted,
    Clearing,
}

/// The kind of a name, if it is one of these.
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

/// Whether there is a deleted directory.
pub(super) fn is_deleted_there(root: &File) -> bool {
    deleted().take(1).any(|name| handle::entry(root, &name).is_ok_and(|found| found.is_some()))
}

/// Removes what is deleted and what killed processes left, as far as it can be removed. Needs no lock.
pub(super) fn sweep(root: &File) {
    // By a handle of its own: one that has listed the directory before may tell what was there then.
    let fresh = handle::open(root, &[], Purpose::Directory, Existing::Open);
    let Ok(entries) = fresh.and_then(|root| handle::entries(&root)) else { return };
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

/// Removes a content that nobody is writing; whether it did.
pub(super) fn take_over(root: &File, name: &[u16]) -> bool {
    let left = handle::open(root, name, Purpose::TakeOver, Existing::Open);
    left.and_then(|left| handle::delete(&left)).is_ok()
}

/// Removes what is under the name, with everything below it.
pub(super) fn remove(parent: &File, name: &[u16], is_a_directory: bool) -> Result<(), Status> {
    if is_a_directory {
        let directory = handle::open(parent, name, Purpose::Directory, Existing::Open)?;
        for entry in handle::entries(&directory)? {
            // Another process may be at it as well.
            let _ = remove(&directory, &entry.name, entry.is_directory() && !entry.is_link());
        }
        drop(directory);
    }
    handle::delete(&handle::open(parent, name, Purpose::Move, Existing::Open)?)
}

//! Names for the lock, for contents that are being written, and for directories that are being deleted.
//!
//! They percent-decode to a slash, so no [`MemoryPath`](crate::MemoryPath) can hold them: no command can reach them
//! and no listing shows them. Only a writer that has the lock makes, uses and removes them, so what another
//! writer finds was left by a process that was killed.

use std::fs::File;

use super::handle::{self, Existing, Purpose, Status};

pub(super) const LOCK: &str = ".memdir-lock%2F";
pub(super) const STAGED: &str = ".memdir-staged%2F";
const DELETED: &str = ".memdir-deleted%2F";

pub(super) fn utf16(name: &str) -> Vec<u16> {
    name.encode_utf16().collect()
}

/// A name in the root for what is being deleted.
pub(super) fn deleted(number: u32) -> Vec<u16> {
    utf16(&format!("{DELETED}{number}"))
}

pub(super) fn is_lock(name: &[u16]) -> bool {
    String::from_utf16_lossy(name) == LOCK
}

/// Whether this is the name of one of these.
pub(super) fn is_temporary(name: &[u16]) -> bool {
    let name = String::from_utf16_lossy(name);
    [LOCK, STAGED, DELETED].iter().any(|kind| {
        name.strip_prefix(kind).is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_digit()))
    })
}

/// Removes what killed processes left in a directory, as far as it can be removed. The caller has the lock.
pub(super) fn sweep(directory: &File) {
    let Ok(entries) = handle::entries(directory) else { return };
    for entry in entries {
        if is_temporary(&entry.name) && !is_lock(&entry.name) {
            let _ = remove(directory, &entry.name, entry.is_directory() && !entry.is_link());
        }
    }
}

/// Removes what is under the name, with everything below it.
pub(super) fn remove(parent: &File, name: &[u16], is_a_directory: bool) -> Result<(), Status> {
    if is_a_directory {
        let directory = handle::open(parent, name, Purpose::Directory, Existing::Open)?;
        for entry in handle::entries(&directory)? {
            remove(&directory, &entry.name, entry.is_directory() && !entry.is_link())?;
        }
    }
    handle::delete(&handle::open(parent, name, Purpose::Move, Existing::Open)?)
}

//! [`Staged`]: content that is written to a temporary file and flushed without the lock, then renamed into place.

use std::fs::{File, FileTimes};
use std::io::{self, ErrorKind, Write};
use std::os::windows::fs::{FileTimesExt, MetadataExt};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::SystemTime;

use memdir_store::StoreError;
use memdir_store::backoff::Backoff;
use memdir_store::settings::Durability;
use windows_sys::Win32::Foundation::STATUS_ACCESS_DENIED;
use windows_sys::Win32::Storage::FileSystem::{
    FILE_ATTRIBUTE_ARCHIVE, FILE_ATTRIBUTE_HIDDEN, FILE_ATTRIBUTE_NORMAL,
    FILE_ATTRIBUTE_NOT_CONTENT_INDEXED, FILE_ATTRIBUTE_READONLY, FILE_ATTRIBUTE_SYSTEM,
};

use super::error::condition;
use super::handle::{self, Existing, Purpose, Rights, Status};
use super::retried;
use super::temporary;

const OPERATION: &str = "writing a file";

/// The attributes that an edit preserves.
const KEPT: u32 = FILE_ATTRIBUTE_ARCHIVE
    | FILE_ATTRIBUTE_HIDDEN
    | FILE_ATTRIBUTE_NOT_CONTENT_INDEXED
    | FILE_ATTRIBUTE_READONLY
    | FILE_ATTRIBUTE_SYSTEM;

/// The properties that new content takes over from the file that it replaces.
pub(super) struct Kept {
    attributes: u32,
    created: Option<SystemTime>,
    rights: Option<Rights>,
}

impl Kept {
    pub(super) fn of(old: &File) -> Result<Self, StoreError> {
        let metadata = old.metadata().map_err(|error| failed(error).unchanged())?;
        let attributes = metadata.file_attributes() & KEPT;
        Ok(Self { attributes, created: metadata.created().ok(), rights: Rights::of(old) })
    }

    /// Whether both values have the same effect on a new file.
    pub(super) fn is_as(&self, other: &Self) -> bool {
        self.attributes == other.attributes && self.rights == other.rights
    }
}

/// Content that is written and flushed, but not yet in place. Dropping it removes the temporary file, unless it was placed.
pub(super) struct Staged {
    file: File,
    placed: bool,
}

impl Staged {
    /// As [`now`](Self::now), but waits for a free name. The owner of a name waits for the lock. So a thread that waits for
    /// a name must not have the lock.
    pub(super) fn new(
        root: &File,
        pieces: &[&[u8]],
        replaces: Option<&Kept>,
        durability: Durability,
        backoff: &mut Backoff,
    ) -> Result<Self, StoreError> {
        loop {
            match Self::now(root, pieces, replaces, durability)? {
                Some(staged) => return Ok(staged),
                None => backoff.wait()?,
            }
        }
    }

    /// Writes content, given in pieces, to a temporary file below the root. If it replaces a file, it gets that file's
    /// attributes, access rights and creation time. `None` if other writers use all names.
    pub(super) fn now(
        root: &File,
        pieces: &[&[u8]],
        replaces: Option<&Kept>,
        durability: Durability,
    ) -> Result<Option<Self>, StoreError> {
        let broken = |error| failed(error).unchanged();
        let attributes = match replaces {
            None | Some(Kept { attributes: 0, .. }) => FILE_ATTRIBUTE_NORMAL,
            Some(old) => old.attributes,
        };
        let rights = replaces.and_then(|old| old.rights.as_ref());
        let Some(file) = make(root, attributes, rights.is_some())? else { return Ok(None) };
        let mut staged = Self { file, placed: false };
        if let Some(rights) = rights {
            rights.give(&staged.file);
        }
        let written = pieces.iter().try_for_each(|piece| staged.file.write_all(piece));
        written.map_err(broken)?;
        if let Some(created) = replaces.and_then(|old| old.created) {
            // Not every file system stores it.
            let _ = staged.file.set_times(FileTimes::new().set_created(created));
        }
        flush(&staged.file, durability).map_err(broken)?;
        Ok(Some(staged))
    }

    /// Renames the content into place, to a free name or over an existing file. `replaces` is set if the system refused to
    /// replace a file because another process has it open. Returns the file; the caller must flush it, because its name
    /// changed.
    pub(super) fn place(
        mut self,
        parent: &File,
        name: &[u16],
        replaces: Option<&AtomicBool>,
        backoff: &mut Backoff,
    ) -> Result<File, StoreError> {
        backoff.check()?;
        let rename = || {
            let renamed = handle::rename(&self.file, parent, name, replaces.is_some());
            if let (Err(Status(STATUS_ACCESS_DENIED)), Some(refused)) = (renamed, replaces) {
                refused.store(true, Relaxed);
            }
            renamed
        };
        retried(backoff, rename, |status| condition(OPERATION, status))
            .map_err(StoreError::unchanged)?;
        self.placed = true;
        self.file.try_clone().map_err(failed)
    }
}

impl Drop for Staged {
    fn drop(&mut self) {
        if !self.placed {
            let _ = handle::delete(&self.file);
        }
    }
}

/// Creates a temporary file; `None` if other writers use all names.
fn make(root: &File, attributes: u32, with_rights: bool) -> Result<Option<File>, StoreError> {
    let failed = |status| condition(OPERATION, status);
    for name in temporary::staged() {
        let create = || {
            let create =
                |purpose| handle::open_with(root, &name, purpose, Existing::Create, attributes);
            match create(if with_rights { Purpose::StageWithRights } else { Purpose::Stage }) {
                // A network share that does not allow a change of the rights.
                Err(status) if with_rights && is_denied(status) => create(Purpose::Stage),
                created => created,
            }
        };
        match create().map_err(failed) {
            Err(StoreError::AlreadyExists) => {}
            created => return created.map(Some).map_err(StoreError::unchanged),
        }
        // Another writer uses the file, unless it is a leftover of a killed process.
        if temporary::take_over(root, &name) {
            // If there is one leftover, there may be more.
            temporary::sweep(root);
            match create().map_err(failed) {
                Err(StoreError::AlreadyExists) => {}
                created => return created.map(Some).map_err(StoreError::unchanged),
            }
        }
    }
    Ok(None)
}

fn is_denied(status: Status) -> bool {
    matches!(condition(OPERATION, status), StoreError::PermissionDenied)
}

pub(super) fn flush(file: &File, durability: Durability) -> io::Result<()> {
    match durability {
        Durability::Full => file.sync_all(),
        Durability::Relaxed => Ok(()),
    }
}

pub(super) fn failed(error: io::Error) -> StoreError {
    match error.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => StoreError::Full,
        _ => StoreError::failed(OPERATION, error),
    }
}

//! Access times. Each is the time of an empty file in a directory of the root that no path can reach. The file is named
//! after the file number of the file that was accessed.
//!
//! The file number stays the same when the file or a directory above it is renamed. An edit replaces the file, which gets
//! a new number, because an edit is newer than any access. The file system's own access time is not usable: a setting of
//! Windows disables it, and searches and backups set it, too. An alternate data stream would not exist on every file
//! system, and writing to it changes the time of the last write.
//!
//! File systems without stable file numbers (FAT, exFAT) lose the access time when the file is moved, so the file may
//! seem unused.

use std::fs::{File, FileTimes};
use std::os::windows::fs::MetadataExt;
use std::time::{Duration, SystemTime};

use memdir_store::{StoreError, micros};

use super::error::condition;
use super::handle::{self, Existing, Purpose, Status};
use super::temporary::{ACCESSED, utf16};

/// The access times of one tree.
pub(super) struct Accesses(Option<File>);

impl Accesses {
    /// Opens the directory of access times, if it exists.
    pub(super) fn open(root: &File) -> Self {
        Self(handle::open(root, &utf16(ACCESSED), Purpose::Directory, Existing::Open).ok())
    }

    /// The last access of the file with this number; `None` if no access was recorded.
    pub(super) fn of(&self, id: u64) -> Option<SystemTime> {
        let note = handle::open(self.0.as_ref()?, &name(id), Purpose::Read, Existing::Open).ok()?;
        let noted = time(note.metadata().ok()?.last_write_time())?;
        micros::time(micros::of(noted))
    }

    /// Removes the access time of the file with this number, which no longer exists.
    pub(super) fn forget(&self, id: u64) {
        let Some(directory) = &self.0 else { return };
        let note = handle::open(directory, &name(id), Purpose::Move, Existing::Open);
        let _ = note.and_then(|note| handle::delete(&note));
    }
}

/// Records an access.
pub(super) fn record(root: &File, id: u64, time: SystemTime) -> Result<(), StoreError> {
    const OPERATION: &str = "noting that a file was accessed";
    let failed = |status: Status| condition(OPERATION, status);
    let accessed = utf16(ACCESSED);
    let directory = handle::open(root, &accessed, Purpose::Directory, Existing::OpenOrCreate)
        .map_err(failed)?;
    let note = handle::open(&directory, &name(id), Purpose::Note, Existing::OpenOrCreate);
    let time = micros::time(micros::of(time)).unwrap_or(time);
    let noted = note.map_err(failed)?.set_times(FileTimes::new().set_modified(time));
    noted.map_err(|error| StoreError::failed(OPERATION, error))
}

fn name(id: u64) -> Vec<u16> {
    utf16(&format!("{id:016x}"))
}

/// `None` if the time is out of range.
pub(super) fn time(intervals: u64) -> Option<SystemTime> {
    /// The seconds from 1601 to 1970.
    const EPOCH: u64 = 11_644_473_600;
    let since =
        Duration::new(intervals / 10_000_000, u32::try_from(intervals % 10_000_000).ok()? * 100);
    match since.checked_sub(Duration::from_secs(EPOCH)) {
        Some(after) => SystemTime::UNIX_EPOCH.checked_add(after),
        None => SystemTime::UNIX_EPOCH.checked_sub(Duration::from_secs(EPOCH).checked_sub(since)?),
    }
}

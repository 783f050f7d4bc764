//! What a memory holds: sensitive text, and how much it is; and how everything of it is removed.

use std::time::SystemTime;

use memdir::MemoryPath;

use crate::border::MemdirText;
use crate::error::MemdirError;
use crate::expiry::number;
use crate::files::{count, path_or_root};
use crate::memory::Memory;

/// A place where `find_sensitive` found something. It does not have the text itself.
#[derive(uniffi::Record, Debug, Clone, PartialEq, Eq)]
pub struct SensitiveMatch {
    /// The path of the file, or of the directory whose name it is.
    pub path: String,
    /// The number of the line, counted from 1; null if it is in the name.
    pub line: Option<i64>,
    /// The id of the rule.
    pub rule: String,
}

/// How much a memory holds. Hidden files count, as they do for the limits; the files of the history do not.
#[derive(uniffi::Record, Debug, Clone, PartialEq, Eq)]
pub struct Stats {
    /// The number of files.
    pub files: i64,
    /// The number of directories below `/memories`. A hidden one counts if there is a file in it.
    pub directories: i64,
    /// The bytes of all files together.
    pub bytes: i64,
    /// The largest file; null if there are no files.
    pub largest: Option<SizedPath>,
    /// The file whose last change is the longest ago; null if the store does not keep times.
    pub oldest: Option<TimedPath>,
    /// The file that was changed last.
    pub newest: Option<TimedPath>,
    /// The file that was not used for the longest time, and when it was used last. Null if the store does not keep
    /// accesses, or is read-only. Without `record_access`, only changes count as uses.
    pub least_recently_used: Option<TimedPath>,
    /// How much the history holds; null if the memory has none.
    pub history: Option<HistorySize>,
}

/// A file and its size.
#[derive(uniffi::Record, Debug, Clone, PartialEq, Eq)]
pub struct SizedPath {
    /// The path of the file.
    pub path: String,
    /// Its size in bytes.
    pub bytes: i64,
}

/// A file and a time of it.
#[derive(uniffi::Record, Debug, Clone, PartialEq, Eq)]
pub struct TimedPath {
    /// The path of the file.
    pub path: String,
    /// The time.
    pub time: SystemTime,
}

/// How much the history of a memory holds.
#[derive(uniffi::Record, Debug, Clone, Copy, PartialEq, Eq)]
pub struct HistorySize {
    /// The number of versions of all files, those of deleted files included.
    pub versions: i64,
    /// The bytes of its records, as `history_max_bytes` counts them.
    pub bytes: i64,
}

/// How much `Memory.erase` removed for good, or would.
#[derive(uniffi::Record, Debug, Clone, Copy, PartialEq, Eq)]
pub struct Erased {
    /// The number of files, hidden ones included.
    pub files: i64,
    /// The bytes of all files together.
    pub bytes: i64,
    /// The number of versions in the history, those of deleted files included.
    pub versions: i64,
    /// The bytes of its records.
    pub history_bytes: i64,
}

impl From<memdir::history::Erased> for Erased {
    fn from(erased: memdir::history::Erased) -> Self {
        Self {
            files: number(erased.files),
            bytes: number(erased.bytes),
            versions: number(erased.versions),
            history_bytes: number(erased.history_bytes),
        }
    }
}

#[uniffi::export]
impl Memory {
    /// The first `limit` places at `path` and below it where the rules for sensitive text find something, in names and
    /// lines: the built-in ones, and those of `sensitive_rules`. The text itself is not returned. Whether commands may write
    /// such text does not matter here. Null as the path is `/memories`.
    ///
    /// Throws `Refused` if nothing is there, `Config` for a wrong limit, `Store` if the store is broken.
    #[uniffi::method(default(path = None, limit = 100))]
    pub fn find_sensitive(
        &self,
        path: Option<MemdirText>,
        limit: i64,
    ) -> Result<Vec<SensitiveMatch>, MemdirError> {
        let path = path_or_root(path)?;
        let limit = count("limit", limit)?;
        let found = self.core.find_sensitive(&path, limit)?;
        Ok(found.into_iter().map(SensitiveMatch::from).collect())
    }

    /// How much the memory holds: files, bytes, the largest file, the oldest one.
    ///
    /// Throws `Store` if the store is broken.
    pub fn stats(&self) -> Result<Stats, MemdirError> {
        Ok(self.core.stats()?.into())
    }

    /// Removes everything for good: files, directories, the whole history, and what killed processes left. The model
    /// cannot call this. It works whether or not the memory has the option `history`, is not recorded, and cannot be
    /// undone. With `dryRun` it only counts. Mounted stores that are read-only stay as they are.
    ///
    /// Afterwards the memory goes on as an empty one, also for other processes. If it fails or is killed, a second call
    /// does the rest. What memdir cannot reach stays: backups, and what a disk or a server keeps of deleted data.
    ///
    /// Throws `Refused` if the memory is read-only, `Store` if the store is broken.
    #[uniffi::method(default(dry_run = false))]
    pub fn erase(&self, dry_run: bool) -> Result<Erased, MemdirError> {
        Ok(self.core.erase(dry_run)?.into())
    }
}

impl From<memdir::SensitiveMatch> for SensitiveMatch {
    fn from(found: memdir::SensitiveMatch) -> Self {
        Self { path: found.path.to_string(), line: found.line.map(number), rule: found.rule }
    }
}

impl From<memdir::Stats> for Stats {
    fn from(stats: memdir::Stats) -> Self {
        let largest = stats.largest;
        let timed =
            |(path, time): (MemoryPath, SystemTime)| TimedPath { path: path.to_string(), time };
        Self {
            files: number(stats.files),
            directories: number(stats.directories),
            bytes: number(stats.bytes),
            largest: largest
                .map(|(path, bytes)| SizedPath { path: path.to_string(), bytes: number(bytes) }),
            oldest: stats.oldest.map(timed),
            newest: stats.newest.map(timed),
            least_recently_used: stats.least_recently_used.map(timed),
            history: stats.history.map(|size| HistorySize {
                versions: number(size.versions),
                bytes: number(size.bytes),
            }),
        }
    }
}

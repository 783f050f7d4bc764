//! What a memory holds: sensitive text, and how much it is; and how everything of it is removed.

use crate::border::MemdirText;
use crate::error::MemdirError;
use crate::files::{count, path_or_root};
use crate::memory::Memory;
use crate::results::{Erased, SensitiveMatch, Stats};

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

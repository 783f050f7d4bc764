//! Statistics, sensitive text and erasure of a memory.

use crate::border::MemdirText;
use crate::error::MemdirError;
use crate::files::{count, path_or_root};
use crate::memory::Memory;
use crate::results::{Erased, SensitiveMatch, Stats};

#[uniffi::export]
impl Memory {
    /// The first `limit` places at `path` and below it where the rules for sensitive text find something, in names and
    /// lines: the built-in rules, and those of `sensitive_rules`. The text itself is not returned. The option
    /// `sensitive_text` does not affect the result. A null path is `/memories`.
    ///
    /// Throws `Refused` if the path does not exist, `Config` for a wrong limit, `Store` if the store is broken.
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

    /// Statistics about the memory: number of files, bytes, the largest file, the oldest one.
    ///
    /// Throws `Store` if the store is broken.
    pub fn stats(&self) -> Result<Stats, MemdirError> {
        Ok(self.core.stats()?.into())
    }

    /// Removes everything permanently: files, directories, the whole history, and temporary files of killed processes. The
    /// model cannot call this. It works with and without the option `history`, is not recorded, and cannot be undone. With
    /// `dryRun` it only counts. Read-only mounts are left unchanged.
    ///
    /// Afterwards the memory is empty and stays usable, also for other processes. If the call fails or is killed, a second
    /// call does the rest. memdir cannot remove backups, or the copies of deleted data that a disk or a server keeps.
    ///
    /// Throws `Refused` if the memory is read-only, `Store` if the store is broken.
    #[uniffi::method(default(dry_run = false))]
    pub fn erase(&self, dry_run: bool) -> Result<Erased, MemdirError> {
        Ok(self.core.erase(dry_run)?.into())
    }
}

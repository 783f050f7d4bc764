//! Settings of stores, [`Durability`] and [`OnExisting`], and the default figures.

use std::time::Duration;

use crate::error::{ConfigError, Error};

/// The default time that writers wait for each other.
pub const LOCK_TIMEOUT: Duration = Duration::from_secs(10);

/// The default of `MemoryOptions::max_file_bytes`, in bytes: 16 MiB.
pub const MAX_FILE_BYTES: u64 = 16 * 1024 * 1024;

/// An upper bound of the bytes that encryption adds to a file. The underlying store counts them as part of
/// the size.
const SEAL_BYTES: u64 = 1024;

/// The limit for reading a file into memory to edit it, in bytes, from the limit of a file's size. It is
/// never below the default limit, so a file over a lower limit can still be made smaller.
pub fn max_edited_bytes(limit: Option<u64>) -> Option<u64> {
    limit.map(|limit| limit.max(MAX_FILE_BYTES).saturating_add(SEAL_BYTES))
}

/// The behaviour of `create` if the file already exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnExisting {
    /// Refuses with the documented error.
    #[default]
    Error,
    /// Replaces the whole content atomically.
    Overwrite,
}

/// The events that an acknowledged command survives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Durability {
    /// A loss of power: data and directory are flushed before the command is acknowledged.
    #[default]
    Full,
    /// A crash of the process. The operating system decides when to write to disk.
    Relaxed,
}

impl std::str::FromStr for OnExisting {
    type Err = Error;

    /// `"error"` or `"overwrite"`.
    fn from_str(word: &str) -> Result<Self, Error> {
        ConfigError::parse_word(
            "on_existing",
            &[("error", Self::Error), ("overwrite", Self::Overwrite)],
            word,
        )
    }
}

impl std::str::FromStr for Durability {
    type Err = Error;

    /// `"full"` or `"relaxed"`.
    fn from_str(word: &str) -> Result<Self, Error> {
        ConfigError::parse_word(
            "durability",
            &[("full", Self::Full), ("relaxed", Self::Relaxed)],
            word,
        )
    }
}

//! What every store is told, however it is opened: how durable a change is, and what becomes of a file that
//! is already there; and the figures that hold where nobody gives others.

use std::time::Duration;

use crate::error::{ConfigError, Error};

/// How long writers wait for each other.
pub(crate) const LOCK_TIMEOUT: Duration = Duration::from_secs(10);

/// The most bytes that a file may come to hold.
pub(crate) const MAX_FILE_BYTES: u64 = 16 * 1024 * 1024;

/// No less than encryption adds to a file, which the store beneath counts.
const SEAL_BYTES: u64 = 1024;

/// The most bytes of a file that are read into memory to edit it, where a file may come to hold `limit`. Not
/// less than the default limit of a file, so that one which is over a lower limit can be made smaller.
pub(crate) fn max_edited_bytes(limit: Option<u64>) -> Option<u64> {
    limit.map(|limit| limit.max(MAX_FILE_BYTES).saturating_add(SEAL_BYTES))
}

/// What `create` does about a file that is already there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnExisting {
    /// Refuse, with the documented error (the reference behaviour).
    #[default]
    Error,
    /// Replace the whole content, atomically.
    Overwrite,
}

/// What an acknowledged command survives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Durability {
    /// Loss of power: data and directory are flushed before the command is acknowledged.
    #[default]
    Full,
    /// A crash of the process; the operating system writes to disk when it sees fit.
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

//! [`Retention`]: how much of a history is kept.

use std::time::Duration;

/// How many of the latest versions of a file that is there always stay.
pub(crate) const ALWAYS_KEPT: usize = 10;

/// How much of the history is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retention {
    /// Older versions are removed.
    pub max_age: Option<Duration>,
    /// The most versions of a file.
    pub max_versions: Option<usize>,
    /// The most bytes of all records.
    pub max_bytes: Option<u64>,
}

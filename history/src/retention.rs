//! [`Retention`]: how much of a history is kept.

use std::time::Duration;

/// How many of the latest versions of a file that is there always stay.
pub(crate) const ALWAYS_KEPT: usize = 10;

/// How much of the history is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retention {
    pub(crate) max_age: Option<Duration>,
    pub(crate) max_versions: Option<usize>,
    pub(crate) max_bytes: Option<u64>,
}

//! [`Retention`]: how much of a history is kept.

use std::time::Duration;

/// How many of the latest versions of a file that is there always stay.
pub(crate) const ALWAYS_KEPT: usize = 10;

/// How much of the history is kept. The default is all of it.
///
/// The last ten versions of a file that is there always stay.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Retention {
    /// Older versions are removed. `None` sets no limit, as for the others.
    pub max_age: Option<Duration>,
    /// The most versions of a file.
    pub max_versions: Option<usize>,
    /// About the most bytes of all records.
    pub max_bytes: Option<u64>,
}

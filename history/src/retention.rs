//! [`Retention`]: the limits of a history.

use std::time::Duration;

/// The number of latest versions of an existing file that are always kept.
pub(crate) const ALWAYS_KEPT: usize = 10;

/// The limits of a history. By default there are none.
///
/// The last ten versions of a file that exists are always kept.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Retention {
    /// Versions older than this are removed. `None` sets no limit, here and in the other fields.
    pub max_age: Option<Duration>,
    /// The maximum number of versions of a file.
    pub max_versions: Option<usize>,
    /// The approximate maximum of all records together, in bytes.
    pub max_bytes: Option<u64>,
}

//! [`Place`]: the position of a record in its journal.

use super::log_segment::SegmentId;

/// The position of a record.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Place {
    /// The segment, in a log that has segments.
    pub(super) segment: Option<SegmentId>,
    /// The position in the file, or the number.
    pub(super) at: u64,
}

impl Place {
    pub(super) fn numbered(at: u64) -> Self {
        Self { segment: None, at }
    }
}

//! [`Rules`]: the facts and options that a plan depends on.

use memdir_store::path::{Folding, MemoryPath};

use super::both::{Both, SyncSide};
use crate::policy::PathPattern;

/// The facts and options that a plan depends on, beside the files.
pub(super) struct Rules<'r> {
    /// Only B is changed.
    pub(super) one_way: bool,
    /// The memory that counts the changes that the sync makes itself.
    pub(super) maker: SyncSide,
    pub(super) foldings: Both<Folding>,
    pub(super) max_file_bytes: Option<u64>,
    pub(super) exclude: &'r [PathPattern],
    /// Whether the memories have met. If not, nothing is deleted.
    pub(super) has_baseline: bool,
    /// Whether the clocks of both memories can be compared. If not, contents that differ are a conflict.
    pub(super) trusts_clocks: bool,
    /// Whether a memory can keep such a name.
    pub(super) can_keep: &'r dyn Fn(SyncSide, &MemoryPath) -> bool,
}

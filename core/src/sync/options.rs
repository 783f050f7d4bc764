//! [`SyncOptions`], and the progress of a sync.

use std::ops::ControlFlow;

use memdir_store::path::MemoryPath;
use serde::Serialize;

use super::on_conflict::OnConflict;
use crate::policy::PathPattern;

/// The options of a sync.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct SyncOptions {
    /// How a conflict ends: both memories changed a file in ways that cannot be merged. By default both contents are kept.
    pub on_conflict: OnConflict,
    /// Only the second memory is changed. By default both are.
    pub one_way: bool,
    /// Only plans: nothing is changed, and the result says what would be.
    pub dry_run: bool,
    /// Allows the sync to delete more than a quarter of a memory's files, or all of them.
    pub delete: bool,
    /// The number of files that earlier syncs have deleted in each memory and that count as if this sync deleted them, too. For a program that
    /// syncs after each change, where no single sync deletes many files.
    pub recent_deletions: [u64; 2],
    /// Also takes redactions over: the content of a version that was redacted in one history is redacted in the other one, if a sync brought
    /// it there. Both memories need a history.
    pub redactions: bool,
    /// Paths that are left as they are in both memories.
    pub exclude: Vec<PathPattern>,
    /// Files with more bytes are left as they are. By default there is no limit.
    pub max_file_bytes: Option<u64>,
    /// The names of the memories in those of conflict copies, such as `laptop`. By default it is the name of the directory, or
    /// `a` or `b`.
    pub names: [Option<String>; 2],
}

/// The callback of a sync: gets the progress, and returns whether the sync continues.
pub type OnProgress<'p> = dyn FnMut(SyncProgress<'_>) -> ControlFlow<()> + 'p;

/// The progress of a sync.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct SyncProgress<'p> {
    /// The current phase.
    pub phase: SyncPhase,
    /// The next file.
    #[cfg_attr(feature = "schema", schemars(with = "MemoryPath"))]
    pub path: &'p MemoryPath,
    /// The number of files of this phase before this one.
    pub files: u64,
    /// The number of all files of this phase, as far as it is known.
    pub of_files: u64,
}

/// The phase of a sync.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum SyncPhase {
    /// Files are read and compared. Nothing is changed.
    Comparing,
    /// Files are changed.
    Changing,
}

impl SyncPhase {
    /// Returns its name in other languages: `comparing` or `changing`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Comparing => "comparing",
            Self::Changing => "changing",
        }
    }
}

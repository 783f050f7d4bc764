//! [`Synced`]: what a sync did, file by file.

use std::time::SystemTime;

use memdir_store::HistoryId;
use memdir_store::path::MemoryPath;
use serde::Serialize;

use super::both::SyncSide;

/// The result of a sync.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Synced {
    /// The changes, sorted by path. With a dry run, those that would be made.
    pub changes: Vec<SyncChange>,
    /// The files that both memories had changed in ways that cannot be merged, sorted by path. Both contents are kept.
    pub conflicts: Vec<SyncConflict>,
    /// The files that stay different, with reasons, sorted by path.
    pub left_out: Vec<SyncLeftOut>,
    /// The versions in one history whose content was redacted in the other, in their order. Looked for if the sync takes redactions over or
    /// changes a file.
    pub redactions: Vec<SyncRedaction>,
    /// The number of files that both memories have with the same content, at the end.
    pub equal: u64,
    /// Whether the memories knew each other from an earlier sync. If not, nothing was deleted.
    pub has_baseline: bool,
}

/// A change that a sync made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct SyncChange {
    /// The file.
    pub path: MemoryPath,
    /// The memory that was changed.
    pub side: SyncSide,
    /// The kind of change.
    pub action: SyncAction,
    /// The old path of a renamed file; otherwise `None`.
    pub old_path: Option<MemoryPath>,
}

/// The kind of a [`SyncChange`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub enum SyncAction {
    /// The file was created.
    Created,
    /// The content was replaced with that of the other memory.
    Replaced,
    /// The changes of both memories were merged, line by line.
    Merged,
    /// The file was renamed or moved.
    Renamed,
    /// The file was deleted.
    Deleted,
}

impl SyncAction {
    /// Returns its name in every language: `created`, `replaced`, …
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Replaced => "replaced",
            Self::Merged => "merged",
            Self::Renamed => "renamed",
            Self::Deleted => "deleted",
        }
    }
}

/// A file with two contents that cannot be merged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct SyncConflict {
    /// The file. It has the content of the memory that is not `side`.
    pub path: MemoryPath,
    /// The file with the other content.
    pub copy_path: MemoryPath,
    /// The memory from which the content of the copy is.
    pub side: SyncSide,
    /// When that content was last written there, if its store keeps times.
    #[serde(serialize_with = "memdir_store::time::serialize_optional")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<memdir_store::schema::Time>"))]
    pub modified: Option<SystemTime>,
}

/// A file that a sync did not make equal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct SyncLeftOut {
    /// The file.
    pub path: MemoryPath,
    /// The memory that could not be changed or read. With the reason `OneWay`, it is the one that has a change of its own.
    pub side: SyncSide,
    /// Why.
    pub reason: SyncReason,
    /// A sentence about the reason.
    pub details: String,
}

/// A version whose content was redacted in the other history.
///
/// An earlier sync brought it from the other memory, or took it there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct SyncRedaction {
    /// The path of the file after this version.
    pub path: MemoryPath,
    /// The memory in whose history the version is.
    pub side: SyncSide,
    /// The version.
    pub version: HistoryId,
    /// The reason of the redaction, which the other history has as `redacted`.
    pub redacted: String,
    /// Whether the version was redacted here too. With a dry run, whether it would be.
    pub is_done: bool,
    /// Why it was not redacted; `None` if it was.
    pub details: Option<String>,
}

/// Why a file was left out of a sync.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub enum SyncReason {
    /// The memory has something at the path, or above it, that cannot be read.
    Unreadable,
    /// An option of the memory, or its store, refused the change.
    Refused,
    /// The memory cannot tell the name from that of another file, because it ignores case.
    SameName,
    /// The memory cannot keep such a name.
    BadName,
    /// The file was changed again and again while the sync compared it. The next sync takes it.
    Changing,
    /// The file is larger than the option of the sync allows.
    TooLarge,
    /// The sync goes one way, and the memory that it writes to has a change of its own.
    OneWay,
    /// A directory is in the way, and cannot be removed: the store has no way to remove an empty directory safely, or the directory has
    /// files that are not synced.
    Directory,
}

impl SyncReason {
    /// Returns its name in every language: `unreadable`, `refused`, …
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Unreadable => "unreadable",
            Self::Refused => "refused",
            Self::SameName => "same_name",
            Self::BadName => "bad_name",
            Self::Changing => "changing",
            Self::TooLarge => "too_large",
            Self::OneWay => "one_way",
            Self::Directory => "directory",
        }
    }
}

impl Synced {
    pub(super) fn sort(&mut self) {
        // A file that two rounds changed has both changes, in their order.
        self.changes.sort_by(|a, b| (&a.path, a.side).cmp(&(&b.path, b.side)));
        self.conflicts.sort_by(|a, b| a.path.cmp(&b.path));
        self.left_out.sort_by(|a, b| a.path.cmp(&b.path));
    }
}

impl SyncLeftOut {
    pub(super) fn new(path: MemoryPath, side: SyncSide, reason: SyncReason) -> Self {
        let details = match reason {
            SyncReason::Unreadable => "there may be a file that cannot be read",
            SyncReason::Refused => "the memory refused the change",
            SyncReason::SameName => "the memory ignores case, and has another file of this name",
            SyncReason::BadName => "the memory cannot keep a file of this name",
            SyncReason::Changing => "the file was changed again and again during the sync",
            SyncReason::TooLarge => "the file is larger than the sync allows",
            SyncReason::OneWay => "the memory has a change of its own, and the sync goes one way",
            SyncReason::Directory => {
                "an empty directory is in the way, and the store cannot remove it"
            }
        };
        Self { path, side, reason, details: details.to_owned() }
    }
}

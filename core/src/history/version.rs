//! [`Version`]: what the history tells about one file and one change.

use std::fmt;
use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use super::id::HistoryId;
use crate::path::MemoryPath;
use crate::text::rfc3339;

/// What a change did to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Operation {
    /// A new file.
    Created,
    /// An edit: `str_replace`, `insert`, or an edit of your own code.
    Modified,
    /// The whole content was replaced.
    Overwritten,
    /// The file, or a directory above it, was renamed or moved. The content is the same.
    Renamed,
    /// The file, or a directory above it, was deleted.
    Deleted,
    /// Nobody had used it for so long that it expired.
    Expired,
    /// It was deleted with everything else ([`Memory::clear`](crate::Memory::clear)).
    Cleared,
    /// An earlier state was brought back.
    Restored,
    /// It came from a file outside of the memory (`memdir import`).
    Imported,
    /// The content of an earlier version was removed from the history.
    Redacted,
    /// Somebody else changed the file, not through a memory with history. It is noticed by the next change of that
    /// file, and is what that change found.
    External,
}

impl Operation {
    /// All of them.
    pub const ALL: [Self; 11] = [
        Self::Created,
        Self::Modified,
        Self::Overwritten,
        Self::Renamed,
        Self::Deleted,
        Self::Expired,
        Self::Cleared,
        Self::Restored,
        Self::Imported,
        Self::Redacted,
        Self::External,
    ];

    /// Its name in every language: `"created"`, `"modified"`, …
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Modified => "modified",
            Self::Overwritten => "overwritten",
            Self::Renamed => "renamed",
            Self::Deleted => "deleted",
            Self::Expired => "expired",
            Self::Cleared => "cleared",
            Self::Restored => "restored",
            Self::Imported => "imported",
            Self::Redacted => "redacted",
            Self::External => "external",
        }
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// One version of one file: what a change made of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Version {
    /// Names this version, for [`Memory::read_version`](crate::Memory::read_version) and the like. It sorts by time.
    pub id: HistoryId,
    /// The change that made it. One change can make versions of several files, such as the deletion of a directory.
    pub change: HistoryId,
    /// What was done.
    pub operation: Operation,
    /// Where the file is since then; where it was, if it was deleted.
    pub path: MemoryPath,
    /// Where it was before, if it was renamed.
    pub old_path: Option<MemoryPath>,
    /// When, by the clock of the machine that made the change.
    #[serde(serialize_with = "as_text")]
    pub time: SystemTime,
    /// Who, as the memory that made the change was told.
    pub actor: Option<String>,
    /// The size of the content in bytes. `None` if the file was deleted, its content is redacted, or nobody has read
    /// it since it was moved.
    pub size: Option<u64>,
    /// The SHA-256 of the content, in hexadecimal digits. `None` as for `size`.
    pub sha256: Option<String>,
    /// Whether the file is there, and this is what it holds, as far as the history knows.
    pub is_current: bool,
    /// Why the content was removed from the history, if it was.
    pub redacted: Option<String>,
}

fn as_text<S: serde::Serializer>(time: &SystemTime, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(&rfc3339(*time))
}

//! [`Operation`]: the operation of a change, by its name.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The operation that changed a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
    /// The file expired because it was not used for a long time.
    Expired,
    /// The file was deleted with all others (`Memory::clear`).
    Cleared,
    /// An earlier state was restored.
    Restored,
    /// The file was imported from outside the memory (`memdir import`).
    Imported,
    /// The content of an earlier version was removed from the history.
    Redacted,
    /// Another program, or a memory without history, changed the file. The next change of the file detects this and records the
    /// content that it found.
    External,
}

impl Operation {
    /// All operations.
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

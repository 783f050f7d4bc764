//! [`HistoryErrorKind`]: why a call about the history failed, as one of a closed set of words.

use serde::Serialize;

/// The reason why a call about the history failed. Nothing was changed, unless it is `partly`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub enum HistoryErrorKind {
    /// The memory was opened without the option `history`.
    Off,
    /// The memory is read-only.
    ReadOnly,
    /// The text is not an id.
    NoId,
    /// The text is not a path below `/memories`.
    Path,
    /// There is no such version or change: it belongs to another memory, or was removed because of a limit.
    Unknown,
    /// Several versions or changes match this part of an id.
    Ambiguous,
    /// The version is the deletion of a file, so it has no content.
    NoContent,
    /// There is no file at the path.
    NoFile,
    /// The file is not UTF-8, so it has no lines.
    NotText,
    /// The content was removed from the history.
    Redacted,
    /// The content cannot be reconstructed, because records of the history are damaged or missing.
    Damaged,
    /// Later changes depend on the undone change, files were changed since, or another entry is in the way.
    Conflict,
    /// The previous content of the file was removed from the history because of a limit.
    Trimmed,
    /// A file has this content now. Edit or delete it first.
    IsCurrent,
    /// The store failed after some of the files were written. The written files are recorded as a change of their own.
    Partly,
}

impl HistoryErrorKind {
    /// All kinds.
    pub const ALL: [Self; 15] = [
        Self::Off,
        Self::ReadOnly,
        Self::NoId,
        Self::Path,
        Self::Unknown,
        Self::Ambiguous,
        Self::NoContent,
        Self::NoFile,
        Self::NotText,
        Self::Redacted,
        Self::Damaged,
        Self::Conflict,
        Self::Trimmed,
        Self::IsCurrent,
        Self::Partly,
    ];

    /// The word for it, which is the same in every language and in JSON, such as `"no_id"`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::ReadOnly => "read_only",
            Self::NoId => "no_id",
            Self::Path => "path",
            Self::Unknown => "unknown",
            Self::Ambiguous => "ambiguous",
            Self::NoContent => "no_content",
            Self::NoFile => "no_file",
            Self::NotText => "not_text",
            Self::Redacted => "redacted",
            Self::Damaged => "damaged",
            Self::Conflict => "conflict",
            Self::Trimmed => "trimmed",
            Self::IsCurrent => "is_current",
            Self::Partly => "partly",
        }
    }
}

//! [`ErrorKind`]: the kind of an error as one of a closed set of words, and [`Refused`]: a refusal with its kind.
//!
//! A model reads sentences; a program needs a stable word. Each kind has one word, which is the same in every language.

use std::fmt;

use serde::Serialize;

use crate::StoreError;

/// The kind of error that a call ended with. A model reads sentences; a program should use this.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub enum ErrorKind {
    /// The path does not exist.
    NotFound,
    /// The path already exists.
    Exists,
    /// The path is a directory, but a file is needed.
    IsADirectory,
    /// The path is a file, but a directory is needed.
    NotADirectory,
    /// The input, a parameter or a path is invalid, independently of the memory's content. A symbolic link on the path counts,
    /// too.
    Invalid,
    /// The text to replace is not in the file.
    NoMatch,
    /// The text to replace is in the file more than once.
    SeveralMatches,
    /// The file is not of a kind that can be shown or edited: it is not UTF-8, an incomplete image, or a device.
    NotText,
    /// The memory, the store or the path is read-only.
    ReadOnly,
    /// The operating system or the server does not allow it.
    PermissionDenied,
    /// The path cannot be deleted or moved: `/memories` itself, a mount point, or a directory that its store cannot move as a
    /// whole.
    Fixed,
    /// A file exceeds the size limit, or would exceed it.
    TooLarge,
    /// The memory would exceed its total limit, or the store is full.
    Full,
    /// The text or the path contains sensitive text.
    Sensitive,
    /// The model has not seen the current content of the file (the option `stale_guard`).
    Stale,
    /// The content of the file is not the expected one.
    Changed,
    /// The hook `before` denied the command.
    Denied,
    /// Other writers kept the store locked for too long. Nothing was changed.
    Busy,
    /// The caller cancelled the call before it began to write. Nothing was changed.
    Cancelled,
    /// The store failed, and nothing was changed.
    Unavailable,
    /// The store failed, and the change may or may not have been made.
    OutcomeUnknown,
    /// The hook `before` failed. Nothing was changed.
    HookFailed,
    /// An option or the store's address is wrong.
    Config,
}

impl ErrorKind {
    /// All kinds, refusals before failures.
    pub const ALL: [Self; 23] = [
        Self::NotFound,
        Self::Exists,
        Self::IsADirectory,
        Self::NotADirectory,
        Self::Invalid,
        Self::NoMatch,
        Self::SeveralMatches,
        Self::NotText,
        Self::ReadOnly,
        Self::PermissionDenied,
        Self::Fixed,
        Self::TooLarge,
        Self::Full,
        Self::Sensitive,
        Self::Stale,
        Self::Changed,
        Self::Denied,
        Self::Busy,
        Self::Cancelled,
        Self::Unavailable,
        Self::OutcomeUnknown,
        Self::HookFailed,
        Self::Config,
    ];

    /// The word of the kind, which is the same in every language and in JSON, such as `"not_found"`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NotFound => "not_found",
            Self::Exists => "exists",
            Self::IsADirectory => "is_a_directory",
            Self::NotADirectory => "not_a_directory",
            Self::Invalid => "invalid",
            Self::NoMatch => "no_match",
            Self::SeveralMatches => "several_matches",
            Self::NotText => "not_text",
            Self::ReadOnly => "read_only",
            Self::PermissionDenied => "permission_denied",
            Self::Fixed => "fixed",
            Self::TooLarge => "too_large",
            Self::Full => "full",
            Self::Sensitive => "sensitive",
            Self::Stale => "stale",
            Self::Changed => "changed",
            Self::Denied => "denied",
            Self::Busy => "busy",
            Self::Cancelled => "cancelled",
            Self::Unavailable => "unavailable",
            Self::OutcomeUnknown => "outcome_unknown",
            Self::HookFailed => "hook_failed",
            Self::Config => "config",
        }
    }

    /// The HTTP status for a server's response to a request that ended with this kind of error.
    ///
    /// ```
    /// use memdir::ErrorKind;
    ///
    /// assert_eq!(ErrorKind::NotFound.http_status(), 404);
    /// assert_eq!(ErrorKind::Changed.http_status(), 409);
    /// ```
    #[must_use]
    pub fn http_status(self) -> u16 {
        match self {
            Self::Invalid | Self::NoMatch | Self::SeveralMatches => 400,
            Self::ReadOnly
            | Self::PermissionDenied
            | Self::Fixed
            | Self::Sensitive
            | Self::Denied => 403,
            Self::NotFound => 404,
            Self::Exists
            | Self::IsADirectory
            | Self::NotADirectory
            | Self::Stale
            | Self::Changed => 409,
            Self::TooLarge => 413,
            Self::NotText => 415,
            Self::Config | Self::OutcomeUnknown | Self::HookFailed => 500,
            Self::Busy | Self::Cancelled | Self::Unavailable => 503,
            Self::Full => 507,
        }
    }
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl StoreError {
    /// The kind of error that a command reports for this error.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::NotFound => ErrorKind::NotFound,
            Self::AlreadyExists => ErrorKind::Exists,
            Self::IsADirectory => ErrorKind::IsADirectory,
            Self::NotADirectory => ErrorKind::NotADirectory,
            Self::SpecialFile => ErrorKind::NotText,
            Self::Symlink | Self::IntoItself | Self::NameTooLong => ErrorKind::Invalid,
            Self::PermissionDenied => ErrorKind::PermissionDenied,
            Self::ReadOnly => ErrorKind::ReadOnly,
            Self::MountPoint | Self::Unmovable => ErrorKind::Fixed,
            Self::Full | Self::OverLimit { .. } => ErrorKind::Full,
            Self::TooLarge { .. } => ErrorKind::TooLarge,
            Self::Source(error) => error.kind(),
            Self::Busy => ErrorKind::Busy,
            Self::Cancelled => ErrorKind::Cancelled,
            Self::Failed { effect: crate::Effect::Unknown, .. } => ErrorKind::OutcomeUnknown,
            Self::Failed { .. } => ErrorKind::Unavailable,
        }
    }
}

/// A command was refused, and nothing was changed. Contains the sentence for the model, and the kind for a program.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{sentence}")]
pub struct Refused {
    sentence: String,
    kind: ErrorKind,
}

impl Refused {
    /// A refusal with this sentence.
    pub fn new(kind: ErrorKind, sentence: impl Into<String>) -> Self {
        Self { sentence: sentence.into(), kind }
    }

    /// The kind of the refusal.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// The exact reply for the model; send it back with `is_error: true`.
    #[must_use]
    pub fn sentence(&self) -> &str {
        &self.sentence
    }

    /// Converts the refusal into its sentence.
    #[must_use]
    pub fn into_sentence(self) -> String {
        self.sentence
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn each_kind_has_a_word_of_its_own() {
        let words: HashSet<&str> = ErrorKind::ALL.into_iter().map(ErrorKind::as_str).collect();
        assert_eq!(words.len(), ErrorKind::ALL.len());
        // The last item is the last variant of the enum, so no variant is missing.
        assert_eq!(ErrorKind::Config as usize + 1, ErrorKind::ALL.len());
    }
}

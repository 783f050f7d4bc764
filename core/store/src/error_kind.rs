//! [`ErrorKind`]: what kind of error a call ended with, as one of a closed set of words, and [`Refused`]: a refusal with its kind.
//!
//! A model reads sentences, and a program should not have to. Each kind has one word, which is the same in every language.

use std::fmt;

use serde::Serialize;

use crate::StoreError;

/// What kind of error a call ended with. A model reads sentences; a program should look at this.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub enum ErrorKind {
    /// Nothing is at the path.
    NotFound,
    /// Something is at the path already.
    Exists,
    /// A directory is where a file is needed.
    IsADirectory,
    /// A file is where a directory is needed.
    NotADirectory,
    /// The input, a parameter or a path is wrong, whatever the memory holds. A symbolic link on the path is such a case, too.
    Invalid,
    /// The text to replace is not in the file.
    NoMatch,
    /// The text to replace is in the file more than once.
    SeveralMatches,
    /// The file cannot be shown or edited as what it is: it is not UTF-8, no whole image, or no file at all but a device.
    NotText,
    /// The memory, the store or the path is read-only.
    ReadOnly,
    /// The operating system or the server does not allow it.
    PermissionDenied,
    /// This cannot be deleted or moved: `/memories` itself, a mount, a directory that its store cannot move as a whole.
    Fixed,
    /// A file is, or would be, larger than one may be.
    TooLarge,
    /// The memory would hold more than it may, or the store is full.
    Full,
    /// The text or the path holds sensitive text.
    Sensitive,
    /// The model has not seen what the file holds now (the option `stale_guard`).
    Stale,
    /// The file does not hold what it was expected to hold.
    Changed,
    /// The hook `before` denied it.
    Denied,
    /// Other writers have kept the store locked for too long. Nothing was changed.
    Busy,
    /// The caller cancelled it before it began to write. Nothing was changed.
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

    /// The word for it, which is the same in every language and in JSON, such as `"not_found"`.
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

    /// The status of HTTP with which a server answers a request that ended with such an error.
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
    /// The kind of an error that a store has, as a command tells it.
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

/// A command was refused, and nothing was changed: the sentence for the model, and its kind for a program.
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

    /// What kind of refusal it is.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// The exact reply for the model; send it back with `is_error: true`.
    #[must_use]
    pub fn sentence(&self) -> &str {
        &self.sentence
    }

    /// The sentence, by value.
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
        // The last one is the last of the enum, so none is missing.
        assert_eq!(ErrorKind::Config as usize + 1, ErrorKind::ALL.len());
    }
}

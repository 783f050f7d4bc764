//! What a call throws.

use memdir::history::HistoryError;
use memdir::{ConfigError, NameCase, StoreError};

use crate::reply::{Reply, sentence};
use crate::results::Conflict;
use crate::results::ErrorKind;

/// Why a call did not do what it was asked to do.
#[derive(uniffi::Error, thiserror::Error, Debug)]
#[uniffi::export(Display)]
pub enum MemdirError {
    /// The command was wrong, and nothing was changed.
    #[error("{reason}")]
    Refused {
        /// The exact answer for the model, to be sent back with `is_error: true`.
        reason: String,
        /// What kind of refusal it is.
        kind: ErrorKind,
    },
    /// The store is broken or out of reach, or was locked by others for too long, or the call was given
    /// up.
    #[error("{reason}")]
    Store {
        /// The details, for the developer and never for the model.
        reason: String,
        /// What the model reads, and what that means for its command.
        answer: String,
        /// What kind of failure it is: busy, cancelled, unavailable, or with an unknown outcome.
        kind: ErrorKind,
    },
    /// The hook `before` failed, and nothing was changed.
    #[error("{reason}")]
    Hook {
        /// The details, for the developer and never for the model.
        reason: String,
    },
    /// The store's address or an option is wrong.
    #[error("{reason}")]
    Config {
        /// What is wrong with it.
        reason: String,
        /// The option or argument; null if it is the address.
        option: Option<String>,
    },
    /// A copy was refused or stopped.
    #[error("{reason}")]
    Copy {
        /// Why.
        reason: String,
        /// Where the destination holds something else; empty if the copy was stopped.
        paths: Vec<String>,
    },
    /// The history could not be read, or something not be taken back. Nothing was changed, unless
    /// `kind` says that the change was made in part.
    #[error("{reason}")]
    History {
        /// Why.
        reason: String,
        /// The case.
        kind: HistoryErrorKind,
        /// Of a conflict, the files that were changed since and what is in the way; the file whose history was
        /// removed, or that has the content now. Otherwise empty.
        paths: Vec<String>,
        /// Of a conflict, for each path the later change, its actor and its time. Otherwise empty.
        conflicts: Vec<Conflict>,
    },
}

/// Why a call about the history failed.
#[derive(uniffi::Enum, Debug, Clone, Copy, PartialEq, Eq)]
pub enum HistoryErrorKind {
    /// The memory was opened without the option `history`.
    Off,
    /// The memory is read-only.
    ReadOnly,
    /// The text is not an id.
    NoId,
    /// The text is not a path below `/memories`.
    Path,
    /// There is no such version or change: it is another memory's, or was removed because of a limit.
    Unknown,
    /// Several versions or changes have this part of an id.
    Ambiguous,
    /// The version is the deletion of a file, so it has no content.
    NoContent,
    /// No file is there.
    NoFile,
    /// The file is not UTF-8, so it has no lines.
    NotText,
    /// The content was removed from the history.
    Redacted,
    /// The content cannot be computed any more: records of the history are damaged or missing.
    Damaged,
    /// Later changes stand on what would be taken back, files were changed since, or something is in the way.
    Conflict,
    /// What the file was before was removed from the history for its age.
    Trimmed,
    /// A file has this content now. Edit or delete it first.
    IsCurrent,
    /// The store failed after some of the files were written. What was written is a change of its own.
    Partly,
}

impl From<ConfigError> for MemdirError {
    fn from(error: ConfigError) -> Self {
        let option = error.option_in_case(NameCase::Camel);
        Self::Config { reason: error.in_case(NameCase::Camel), option }
    }
}

impl From<memdir::Error> for MemdirError {
    fn from(error: memdir::Error) -> Self {
        let reason = sentence(&error);
        match error {
            memdir::Error::Refused(refused) => {
                Self::Refused { reason, kind: refused.kind().into() }
            }
            memdir::Error::Store(error) => Self::from(error),
            memdir::Error::Hook(_) => Self::Hook { reason },
            memdir::Error::Config(error) => Self::from(error),
        }
    }
}

impl From<StoreError> for MemdirError {
    fn from(error: StoreError) -> Self {
        let (reason, error) = (error.to_string(), memdir::Error::Store(error));
        let kind = error.kind().into();
        Self::Store { reason, answer: memdir::Reply::from(Err(error)).content.into_text(), kind }
    }
}

impl From<HistoryError> for MemdirError {
    fn from(error: HistoryError) -> Self {
        let reason = error.to_string();
        let paths = error.paths().iter().map(ToString::to_string).collect();
        let conflicts = error.conflicts().iter().cloned().map(Conflict::from).collect();
        let kind = match error {
            HistoryError::Store(error) => return error.into(),
            HistoryError::Off => HistoryErrorKind::Off,
            HistoryError::ReadOnly => HistoryErrorKind::ReadOnly,
            HistoryError::NoId(_) => HistoryErrorKind::NoId,
            HistoryError::Path(_) => HistoryErrorKind::Path,
            HistoryError::Unknown(_) => HistoryErrorKind::Unknown,
            HistoryError::Ambiguous { .. } => HistoryErrorKind::Ambiguous,
            HistoryError::NoContent(_) => HistoryErrorKind::NoContent,
            HistoryError::NoFile { .. } => HistoryErrorKind::NoFile,
            HistoryError::NotText { .. } => HistoryErrorKind::NotText,
            HistoryError::Redacted(_) => HistoryErrorKind::Redacted,
            HistoryError::Conflict { .. } => HistoryErrorKind::Conflict,
            HistoryError::Trimmed { .. } => HistoryErrorKind::Trimmed,
            HistoryError::IsCurrent { .. } | HistoryError::AreCurrent { .. } => {
                HistoryErrorKind::IsCurrent
            }
            HistoryError::Partly { .. } => HistoryErrorKind::Partly,
            _ => HistoryErrorKind::Damaged,
        };
        Self::History { reason, kind, paths, conflicts }
    }
}

/// What a memory throws that was closed.
#[uniffi::export]
#[must_use]
pub fn closed_reply() -> Reply {
    let error = StoreError::failed("a call", "the memory was closed").unchanged();
    memdir::Reply::from(Err(memdir::Error::Store(error))).into()
}

/// The reply to a call that was cancelled before it began to write.
#[uniffi::export]
#[must_use]
pub fn cancelled_reply() -> Reply {
    memdir::Reply::from(Err(memdir::Error::Store(StoreError::Cancelled))).into()
}

/// What a memory throws that gets no thread to work on; `cause` is what the system said.
#[uniffi::export]
#[must_use]
pub fn no_thread_reply(cause: String) -> Reply {
    let error = StoreError::failed("starting a thread", cause).unchanged();
    memdir::Reply::from(Err(memdir::Error::Store(error))).into()
}

#[uniffi::export]
impl MemdirError {
    /// What goes back to the model: the exact answer, or, where the store or a hook is broken, a
    /// sentence that says no more than that.
    #[must_use]
    pub fn reply(&self) -> Reply {
        let (error, cause) = match self {
            Self::Refused { reason, kind } => {
                let (content, kind) = (reason.clone(), Some(*kind));
                return Reply { content, is_error: true, kind, cause: None, image: None };
            }
            Self::Store { reason, answer, kind } => {
                let (content, cause) = (answer.clone(), Some(reason.clone()));
                return Reply { content, is_error: true, kind: Some(*kind), cause, image: None };
            }
            Self::Hook { reason } => {
                (memdir::Error::Hook(reason.as_str().into()), Some(reason.clone()))
            }
            Self::Config { reason, .. }
            | Self::Copy { reason, .. }
            | Self::History { reason, .. } => (memdir::Error::Config(reason.clone().into()), None),
        };
        Reply { cause, ..memdir::Reply::from(Err(error)).into() }
    }
}

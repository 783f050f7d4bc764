//! The errors that calls throw.

use memdir::history::HistoryError;
use memdir::{ConfigError, NameCase, StoreError};

use crate::reply::{Reply, sentence};
use crate::results::Conflict;
use crate::results::{ErrorKind, HistoryErrorKind, SyncErrorKind};

/// The reason why a call failed.
#[derive(uniffi::Error, thiserror::Error, Debug)]
#[uniffi::export(Display)]
pub enum MemdirError {
    /// The command was wrong, and nothing was changed.
    #[error("{reason}")]
    Refused {
        /// The exact reply for the model. Send it back with `is_error: true`.
        reason: String,
        /// The kind of refusal.
        kind: ErrorKind,
    },
    /// The store is broken or out of reach, other writers kept it locked for too long, or the call was
    /// cancelled.
    #[error("{reason}")]
    Store {
        /// The details, for the developer and never for the model.
        reason: String,
        /// The reply for the model. It says what the failure means for the command.
        answer: String,
        /// The kind of failure: busy, cancelled, unavailable, or with an unknown outcome.
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
        /// The error message.
        reason: String,
        /// The option or argument; null if it is the address.
        option: Option<String>,
    },
    /// A copy was refused or stopped.
    #[error("{reason}")]
    Copy {
        /// The error message.
        reason: String,
        /// The paths in the destination that have different content; empty if the copy was stopped.
        paths: Vec<String>,
    },
    /// The history could not be read, or a change could not be undone. Nothing was changed, unless `kind`
    /// says that the change was made in part.
    #[error("{reason}")]
    History {
        /// The error message.
        reason: String,
        /// The case.
        kind: HistoryErrorKind,
        /// For a conflict, the files that were changed since and the paths that are in the way. Otherwise the
        /// file whose history was removed, or that has the content now; empty if there is none.
        paths: Vec<String>,
        /// For a conflict, the later change of each path, with its actor and its time. Otherwise empty.
        conflicts: Vec<Conflict>,
    },
    /// A sync did not run to its end. Nothing was changed, unless `kind` says that it was stopped.
    #[error("{reason}")]
    Sync {
        /// The error message.
        reason: String,
        /// The case.
        kind: SyncErrorKind,
    },
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
        if let HistoryError::Store(error) = error {
            return error.into();
        }
        let reason = error.to_string();
        let kind = error.kind().map_or(HistoryErrorKind::Damaged, HistoryErrorKind::from);
        let paths = error.paths().iter().map(ToString::to_string).collect();
        let conflicts = error.conflicts().iter().cloned().map(Conflict::from).collect();
        Self::History { reason, kind, paths, conflicts }
    }
}

/// The error of a call on a closed memory.
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

/// The error of a call for which no thread could be started; `cause` is the system's message.
#[uniffi::export]
#[must_use]
pub fn no_thread_reply(cause: String) -> Reply {
    let error = StoreError::failed("starting a thread", cause).unchanged();
    memdir::Reply::from(Err(memdir::Error::Store(error))).into()
}

#[uniffi::export]
impl MemdirError {
    /// The reply for the model: the exact reply of a refusal. If the store or a hook failed, it says only
    /// that.
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
            | Self::History { reason, .. }
            | Self::Sync { reason, .. } => (memdir::Error::Config(reason.clone().into()), None),
        };
        Reply { cause, ..memdir::Reply::from(Err(error)).into() }
    }
}

//! [`Failure`]: the reason why a function failed, as JSON.

use std::error::Error as StdError;

use memdir::copy::CopyError;
use memdir::history::{Conflict, HistoryError, HistoryErrorKind};
use memdir::sync::{SyncError, SyncErrorKind};
use memdir::{ConfigError, Error, ErrorKind, StoreError};
use serde_json::json;

use crate::own_error::OwnError;

/// The reason why a function failed.
#[derive(Debug)]
pub(crate) struct Failure {
    kind: &'static str,
    message: String,
    /// The kind of the reply to a model.
    reply_kind: Option<ErrorKind>,
    /// The wrong option.
    option: Option<String>,
    /// The affected files.
    paths: Option<Vec<String>>,
    /// The caller's number for the error, if it is an error of the caller's own store.
    own: Option<u64>,
    /// True if a store of the application had not answered when the call was cancelled.
    given_up: bool,
    /// More about an error of the history.
    history: Option<Box<HistoryFailure>>,
    /// The case of an error of a sync.
    sync: Option<SyncErrorKind>,
}

/// The case of an error of the history, and the later changes.
#[derive(Debug)]
struct HistoryFailure {
    kind: Option<HistoryErrorKind>,
    conflicts: Vec<Conflict>,
}

impl Failure {
    /// A mistake of the caller that no model can make.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::of("usage", message.into())
    }

    /// A fault of memdir.
    pub(crate) fn internal(words: &str) -> Self {
        Self::of("internal", format!("memdir has a fault: {words}"))
    }

    fn of(kind: &'static str, message: String) -> Self {
        Self {
            kind,
            message,
            reply_kind: None,
            option: None,
            paths: None,
            own: None,
            given_up: false,
            history: None,
            sync: None,
        }
    }

    /// The JSON for the developer, not for the model.
    pub(crate) fn json(&self) -> String {
        let mut shown = json!({ "kind": self.kind, "message": self.message });
        if let Some(kind) = self.reply_kind {
            shown["reply_kind"] = json!(kind.as_str());
        }
        if let Some(option) = &self.option {
            shown["option"] = json!(option);
        }
        if let Some(paths) = &self.paths {
            shown["paths"] = json!(paths);
        }
        if let Some(own) = self.own {
            shown["own"] = json!(own);
        }
        if self.given_up {
            shown["given_up"] = json!(true);
        }
        if let Some(history) = &self.history {
            let HistoryFailure { kind, conflicts } = &**history;
            shown["history_kind"] = json!(kind);
            shown["conflicts"] = json!(conflicts);
        }
        if let Some(sync) = self.sync {
            shown["sync_kind"] = json!(sync);
        }
        shown.to_string()
    }

    /// The error of a call whose memory cannot be used. A fault may have occurred in the middle of a change.
    pub(crate) fn as_cause(&self) -> Error {
        let error = StoreError::failed("calling memdir", self.message.clone());
        Error::Store(if self.kind == "usage" { error.unchanged() } else { error })
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let reply_kind = Some(error.kind());
        let own = own_number(&error);
        let given_up = matches!(&error, Error::Store(error) if error.is_unanswered());
        let (kind, option) = match &error {
            Error::Refused(_) => ("refused", None),
            Error::Config(error) => ("config", ConfigError::option(error).map(str::to_owned)),
            Error::Hook(_) => ("hook", None),
            Error::Store(StoreError::Cancelled) => ("cancelled", None),
            _ => ("store", None),
        };
        let message = match error {
            // The text already says that the store failed.
            Error::Store(error) => error.to_string(),
            Error::Hook(error) => error.to_string(),
            other => other.to_string(),
        };
        Self { reply_kind, option, own, given_up, ..Self::of(kind, message) }
    }
}

/// Finds the number by which a store of the application knows an error.
fn own_number(error: &(dyn StdError + 'static)) -> Option<u64> {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(own) = error.downcast_ref::<OwnError>() {
            return own.number;
        }
        next = error.source();
    }
    None
}

impl From<CopyError> for Failure {
    fn from(error: CopyError) -> Self {
        let message = error.to_string();
        let paths = Some(error.paths().map(ToString::to_string).collect());
        match error {
            CopyError::Source { error, .. } | CopyError::Destination { error, .. } => {
                Self { message, ..error.into() }
            }
            _ => Self { paths, ..Self::of("copy", message) },
        }
    }
}

impl From<HistoryError> for Failure {
    fn from(error: HistoryError) -> Self {
        if let HistoryError::Store(error) = error {
            return error.into();
        }
        let paths = Some(error.paths().iter().map(ToString::to_string).collect());
        let conflicts = error.conflicts().to_vec();
        let history = Some(Box::new(HistoryFailure { kind: error.kind(), conflicts }));
        Self { paths, history, ..Self::of("history", error.to_string()) }
    }
}

impl From<SyncError> for Failure {
    fn from(error: SyncError) -> Self {
        let (message, sync) = (error.to_string(), error.kind());
        match error {
            SyncError::Store { error, .. } => Self { message, ..error.into() },
            error => {
                let own = own_number(&error);
                Self { sync, own, ..Self::of("sync", message) }
            }
        }
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        Error::Store(error).into()
    }
}

//! [`Failure`]: why a function did not do what it was asked to do, as JSON.

use std::error::Error as StdError;

use memdir::copy::CopyError;
use memdir::history::{Conflict, HistoryError};
use memdir::{ConfigError, Error, ErrorKind, StoreError};
use serde_json::json;

use crate::own_error::{GivenUp, OwnError};

/// Why a function failed.
#[derive(Debug)]
pub(crate) struct Failure {
    kind: &'static str,
    message: String,
    /// The kind that a reply to a model has.
    reply_kind: Option<ErrorKind>,
    /// The option that is wrong.
    option: Option<String>,
    /// The files in question.
    paths: Option<Vec<String>>,
    /// How the caller knows the error, if it is one of its own store.
    own: Option<u64>,
    /// Whether a store of the caller's own had not answered when the call was cancelled.
    given_up: bool,
    /// More about an error of the history.
    history: Option<Box<HistoryFailure>>,
}

/// The case of an error about the history, and what was changed since.
#[derive(Debug)]
struct HistoryFailure {
    kind: &'static str,
    conflicts: Vec<Conflict>,
}

impl Failure {
    /// The caller made a mistake that no model can make.
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
        }
    }

    /// For the developer and not for the model.
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
        shown.to_string()
    }

    /// The error that a call has whose memory cannot be used. A fault may have struck in the middle of a change.
    pub(crate) fn as_cause(&self) -> Error {
        let error = StoreError::failed("calling memdir", self.message.clone());
        Error::Store(if self.kind == "usage" { error.unchanged() } else { error })
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let reply_kind = Some(error.kind());
        let (own, given_up) = of_own_store(&error);
        let (kind, option) = match &error {
            Error::Refused(_) => ("refused", None),
            Error::Config(error) => ("config", ConfigError::option(error).map(str::to_owned)),
            Error::Hook(_) => ("hook", None),
            Error::Store(StoreError::Cancelled) => ("cancelled", None),
            _ => ("store", None),
        };
        let message = match error {
            // It says itself that it is the store's.
            Error::Store(error) => error.to_string(),
            Error::Hook(error) => error.to_string(),
            other => other.to_string(),
        };
        Self { reply_kind, option, own, given_up, ..Self::of(kind, message) }
    }
}

/// What a store of the caller's own said of an error: its number, and whether its answer was not waited for.
fn of_own_store(error: &(dyn StdError + 'static)) -> (Option<u64>, bool) {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(own) = error.downcast_ref::<OwnError>() {
            return (own.number, false);
        }
        if error.is::<GivenUp>() {
            return (None, true);
        }
        next = error.source();
    }
    (None, false)
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

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        Error::Store(error).into()
    }
}

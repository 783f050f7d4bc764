//! The errors that a call throws, as JSON: the same as in the native addon (`bindings-node/src/errors.rs`).

use memdir::copy::CopyError;
use memdir::history::HistoryError;
use memdir::sync::SyncError;
use memdir::{ConfigError, Error as CoreError, ErrorKind, MemoryPath, NameCase, StoreError};
use serde_json::{Value as Json, json};

use crate::results::shown;
use crate::thrown::Thrown;

/// The reason why a call failed.
#[derive(Debug)]
pub(crate) enum Failure {
    /// An error of the core.
    Core(CoreError),
    /// A copy failed, or was refused.
    Copy(CopyError),
    /// A sync failed, or was refused.
    Sync(SyncError),
    /// A call about the history failed.
    History(HistoryError),
    /// An error without a class of its own.
    Plain(String),
    /// A function of JavaScript threw. JavaScript keeps the exception.
    Thrown,
}

impl Failure {
    /// A fault of memdir.
    pub(crate) fn internal(words: &str) -> Self {
        Self::Plain(format!("memdir itself is at fault: {words}"))
    }

    /// The name, the message and the additional property of the error that JavaScript throws.
    pub(crate) fn into_json(self) -> Json {
        match self {
            Self::Core(CoreError::Config(error)) => {
                let option = error.option_in_case(NameCase::Camel);
                named("ConfigError", &error.in_case(NameCase::Camel), "option", option)
            }
            Self::Core(CoreError::Store(error)) => of_store(&error, &error.to_string()),
            Self::Core(CoreError::Refused(refused)) => of_kind(
                named("ToolError", refused.sentence(), "content", refused.sentence()),
                refused.kind(),
            ),
            Self::Core(other) => json!({ "message": other.to_string() }),
            Self::Copy(error) => of_copy(&error),
            Self::Sync(error) => of_sync(&error),
            Self::History(HistoryError::Store(error)) => of_store(&error, &error.to_string()),
            Self::History(error) => {
                let paths: Vec<&str> = error.paths().into_iter().map(MemoryPath::as_str).collect();
                let mut failed =
                    named("HistoryError", &error.to_string(), "kind", json!(error.kind()));
                failed["paths"] = json!(paths);
                failed["conflicts"] = shown(error.conflicts());
                failed
            }
            Self::Plain(message) => json!({ "message": message }),
            Self::Thrown => json!({ "thrown": true }),
        }
    }
}

impl From<CoreError> for Failure {
    fn from(error: CoreError) -> Self {
        Self::Core(error)
    }
}

impl From<ConfigError> for Failure {
    fn from(error: ConfigError) -> Self {
        Self::Core(error.into())
    }
}

impl From<HistoryError> for Failure {
    fn from(error: HistoryError) -> Self {
        Self::History(error)
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        Self::Core(CoreError::Store(error))
    }
}

/// The error for an unknown operation.
pub(crate) fn unknown(operation: &str) -> Failure {
    Failure::internal(&format!("there is no operation {operation:?}"))
}

pub(crate) fn code(error: &StoreError) -> &'static str {
    error.errno_name().unwrap_or("EIO")
}

fn of_store(error: &StoreError, words: &str) -> Json {
    let code = code(error);
    let mut shown = named("StoreError", &format!("{code}: {words}"), "code", code);
    if let Some(thrown) = Thrown::beneath(error) {
        shown["cause"] = thrown.into();
    }
    of_kind(shown, error.kind())
}

fn of_copy(error: &CopyError) -> Json {
    let reason = error.to_string();
    match error {
        CopyError::Source { error, .. } | CopyError::Destination { error, .. } => {
            of_store(error, &reason)
        }
        refused => {
            let paths: Vec<&str> = refused.paths().map(MemoryPath::as_str).collect();
            named("CopyError", &reason, "paths", paths)
        }
    }
}

fn of_sync(error: &SyncError) -> Json {
    let reason = error.to_string();
    match error {
        SyncError::Store { error, .. } => of_store(error, &reason),
        other => named("SyncError", &reason, "kind", json!(other.kind())),
    }
}

fn of_kind(mut error: Json, kind: ErrorKind) -> Json {
    error["kind"] = kind.as_str().into();
    error
}

fn named(name: &str, message: &str, property: &str, value: impl Into<Json>) -> Json {
    json!({ "name": name, "message": message, "property": property, "value": value.into() })
}

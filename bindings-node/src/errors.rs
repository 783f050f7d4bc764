//! The errors that calls throw. A store's errors have the codes of Node's own file system functions.

use memdir::copy::CopyError;
use memdir::history::{HistoryError, HistoryErrorKind};
use memdir::sync::SyncErrorKind;
use memdir::{ConfigError, Error as CoreError, MemoryPath, NameCase, StoreError, SyncError};
use napi::bindgen_prelude::{JsObjectValue, JsValue, Object, ToNapiValue};
use napi::{Env, Error, Result};

use crate::results::Shown;
use crate::thrown::Thrown;

/// The reason why a call failed, until it is thrown in JavaScript.
#[derive(Debug)]
pub(crate) enum Failure {
    /// An error of the core.
    Core(CoreError),
    /// An error that JavaScript threw.
    Thrown(Error),
}

impl Failure {
    /// The error to throw. `ts/errors.ts` converts it to an instance of the class with its `name`.
    pub(crate) fn into_js(self, env: &Env) -> Error {
        match self {
            Self::Core(CoreError::Config(error)) => {
                let reason = error.in_case(NameCase::Camel);
                let option = error.option_in_case(NameCase::Camel);
                named(env, "ConfigError", &reason, "option", option)
            }
            Self::Core(CoreError::Store(error)) => to_js(env, &error),
            Self::Core(CoreError::Refused(refused)) => {
                with_properties(env, "ToolError", refused.sentence(), |thrown| {
                    thrown.set_named_property("content", refused.sentence())?;
                    thrown.set_named_property("kind", refused.kind().as_str())
                })
            }
            Self::Core(other) => Error::from_reason(other.to_string()),
            Self::Thrown(error) => error,
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

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        Self::Core(CoreError::Store(error))
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Thrown(error)
    }
}

pub(crate) fn code(error: &StoreError) -> &'static str {
    error.errno_name().unwrap_or("EIO")
}

/// The error of a native store's method, with a `code`.
pub(crate) fn to_js(env: &Env, error: &StoreError) -> Error {
    of_store(env, error, &error.to_string())
}

/// An error of a store with this message and its `code`. Its `cause` is the value that a store in JavaScript
/// threw.
fn of_store(env: &Env, error: &StoreError, words: &str) -> Error {
    let code = code(error);
    with_properties(env, "StoreError", &format!("{code}: {words}"), |thrown| {
        if let Some(cause) = Thrown::beneath(error) {
            thrown.set_named_property("cause", cause)?;
        }
        thrown.set_named_property("code", code)?;
        thrown.set_named_property("kind", error.kind().as_str())
    })
}

/// The error of a copy: an error of a store, or one with the conflicting `paths`.
pub(crate) fn copy_to_js(env: &Env, error: &CopyError) -> Error {
    let reason = error.to_string();
    match error {
        CopyError::Source { error, .. } | CopyError::Destination { error, .. } => {
            of_store(env, error, &reason)
        }
        refused => {
            let paths: Vec<&str> = refused.paths().map(MemoryPath::as_str).collect();
            named(env, "CopyError", &reason, "paths", paths)
        }
    }
}

/// The error of a sync: an error of a store, or one with its `kind`.
pub(crate) fn sync_to_js(env: &Env, error: &SyncError) -> Error {
    let reason = error.to_string();
    match error {
        SyncError::Store { error, .. } => of_store(env, error, &reason),
        other => named(env, "SyncError", &reason, "kind", other.kind().map(SyncErrorKind::as_str)),
    }
}

/// The error of a call about the history: an error of the store, or one with its `kind`, `paths` and
/// `conflicts`.
pub(crate) fn history_to_js(env: &Env, error: HistoryError) -> Error {
    if let HistoryError::Store(error) = error {
        return to_js(env, &error);
    }
    let paths: Vec<&str> = error.paths().into_iter().map(MemoryPath::as_str).collect();
    let conflicts = Shown::of(error.conflicts());
    let reason = error.to_string();
    with_properties(env, "HistoryError", &reason, |thrown| {
        thrown.set_named_property("kind", error.kind().map(HistoryErrorKind::as_str))?;
        thrown.set_named_property("paths", paths)?;
        thrown.set_named_property("conflicts", conflicts)
    })
}

/// An error with this name and one more property.
fn named(env: &Env, name: &str, reason: &str, property: &str, value: impl ToNapiValue) -> Error {
    with_properties(env, name, reason, |thrown| thrown.set_named_property(property, value))
}

/// An error with this name and the properties that `set` adds.
fn with_properties(
    env: &Env,
    name: &str,
    reason: &str,
    set: impl FnOnce(&mut Object<'_>) -> Result<()>,
) -> Error {
    let thrown = env.create_error(Error::from_reason(reason)).and_then(|mut thrown| {
        thrown.set_named_property("name", name)?;
        set(&mut thrown)?;
        // The value is passed on without coercion, because its cause may be of any type.
        Ok(Error::from_unknown_without_coercion(thrown.to_unknown()))
    });
    thrown.unwrap_or_else(|_| Error::from_reason(reason))
}

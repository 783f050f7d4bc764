//! What a call throws. A store's conditions have the names that Node's own file system functions have for them.

use memdir::copy::CopyError;
use memdir::{ConfigError, Error as CoreError, MemoryPath, NameCase, StoreError};
use napi::bindgen_prelude::{JsObjectValue, JsValue, ToNapiValue};
use napi::{Env, Error};

/// Why a call did not do what it was asked to do. It becomes JavaScript's where JavaScript can be reached.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The core says so.
    Core(CoreError),
    /// JavaScript itself threw this.
    Thrown(Error),
}

impl Failure {
    /// A wrong option is an error with a property `option`, a failure of the store one with a `code`.
    pub(crate) fn into_js(self, env: &Env) -> Error {
        match self {
            Self::Core(CoreError::Config(error)) => {
                let option = error.option_in_case(NameCase::Camel);
                with_property(env, &error.in_case(NameCase::Camel), "option", option)
            }
            Self::Core(CoreError::Store(error)) => to_js(env, &error),
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

/// The condition that `code` names, if it is one.
pub(crate) fn from_code(code: &str) -> Option<StoreError> {
    Some(match code {
        "ENOENT" => StoreError::NotFound,
        "EEXIST" => StoreError::AlreadyExists,
        "EISDIR" => StoreError::IsADirectory,
        "ENOTDIR" => StoreError::NotADirectory,
        "ELOOP" => StoreError::Symlink,
        "ENXIO" => StoreError::SpecialFile,
        "EINVAL" => StoreError::IntoItself,
        "ENAMETOOLONG" => StoreError::NameTooLong,
        "EACCES" | "EPERM" => StoreError::PermissionDenied,
        "EROFS" => StoreError::ReadOnly,
        "EBUSY" => StoreError::MountPoint,
        "ENOSPC" | "EDQUOT" => StoreError::Full,
        "EAGAIN" => StoreError::Busy,
        "ECANCELED" => StoreError::Cancelled,
        _ => return None,
    })
}

fn code(error: &StoreError) -> &'static str {
    match error {
        StoreError::NotFound => "ENOENT",
        StoreError::AlreadyExists => "EEXIST",
        StoreError::IsADirectory => "EISDIR",
        StoreError::NotADirectory => "ENOTDIR",
        StoreError::Symlink => "ELOOP",
        StoreError::SpecialFile => "ENXIO",
        StoreError::IntoItself => "EINVAL",
        StoreError::NameTooLong => "ENAMETOOLONG",
        StoreError::PermissionDenied => "EACCES",
        StoreError::ReadOnly => "EROFS",
        StoreError::MountPoint => "EBUSY",
        StoreError::Full => "ENOSPC",
        StoreError::OverLimit { .. } => "EDQUOT",
        StoreError::TooLarge { .. } => "EFBIG",
        StoreError::Busy => "EAGAIN",
        StoreError::Cancelled => "ECANCELED",
        StoreError::Source(error) => code(error),
        _ => "EIO",
    }
}

/// What a native store's promise is rejected with: an error with a `code`.
pub(crate) fn to_js(env: &Env, error: &StoreError) -> Error {
    with_property(env, &format!("{}: {error}", code(error)), "code", code(error))
}

/// What a copy's promise is rejected with: an error with a `code`, or with the `paths` that are in
/// the way.
pub(crate) fn copy_to_js(env: &Env, error: &CopyError) -> Error {
    let reason = error.to_string();
    match error {
        CopyError::Source { error, .. } | CopyError::Destination { error, .. } => {
            with_property(env, &format!("{}: {reason}", code(error)), "code", code(error))
        }
        refused => {
            let paths: Vec<&str> = refused.paths().map(MemoryPath::as_str).collect();
            with_property(env, &reason, "paths", paths)
        }
    }
}

fn with_property(env: &Env, reason: &str, name: &str, value: impl ToNapiValue) -> Error {
    let thrown = env.create_error(Error::from_reason(reason)).and_then(|mut thrown| {
        thrown.set_named_property(name, value)?;
        Ok(Error::from(thrown.to_unknown()))
    });
    thrown.unwrap_or_else(|_| Error::from_reason(reason))
}

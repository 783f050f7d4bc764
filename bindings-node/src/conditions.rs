//! A store's conditions under the names that Node's own file system functions have for them.

use memdir::StoreError;
use napi::bindgen_prelude::{JsObjectValue, JsValue};
use napi::{Env, Error};

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
        StoreError::Source(error) => code(error),
        _ => "EIO",
    }
}

/// What a native store's promise is rejected with: an error with a `code`.
pub(crate) fn to_js(env: &Env, error: &StoreError) -> Error {
    let reason = format!("{}: {error}", code(error));
    let thrown = env.create_error(Error::from_reason(&reason)).and_then(|mut thrown| {
        thrown.set_named_property("code", code(error))?;
        Ok(Error::from(thrown.to_unknown()))
    });
    thrown.unwrap_or_else(|_| Error::from_reason(reason))
}

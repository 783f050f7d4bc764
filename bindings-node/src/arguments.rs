//! Reads arguments of methods in the same way as options.

use memdir::Error;
use memdir::value::Value;
use napi::Env;
use napi::bindgen_prelude::Unknown;

use crate::errors::Failure;
use crate::input::value;

/// Reads an argument in the same way as an option.
pub(crate) fn given<T>(
    env: &Env,
    name: &str,
    argument: Unknown<'_>,
    read: impl FnOnce(&str, &Value<'_>) -> Result<T, Error>,
) -> napi::Result<T> {
    read(name, &value(&argument)?).map_err(|error| Failure::from(error).into_js(env))
}

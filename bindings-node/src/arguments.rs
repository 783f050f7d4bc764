//! Arguments of methods, which are read as options are.

use memdir::Error;
use memdir::value::Value;
use napi::Env;
use napi::bindgen_prelude::Unknown;

use crate::errors::Failure;
use crate::input::value;

/// An argument, which is read as an option is.
pub(crate) fn given<T>(
    env: &Env,
    name: &str,
    argument: Unknown<'_>,
    read: impl FnOnce(&str, &Value<'_>) -> Result<T, Error>,
) -> napi::Result<T> {
    read(name, &value(&argument)?).map_err(|error| Failure::from(error).into_js(env))
}

//! Reads arguments of methods in the same way as options.

use memdir::Error;
use memdir::value::Value;
use napi::bindgen_prelude::Unknown;
use napi::{Env, ValueType};

use crate::errors::Failure;
use crate::input::value;

/// An argument for an error, which names `undefined`.
pub(crate) fn named<'a>(argument: &Unknown<'a>) -> napi::Result<Value<'a>> {
    match argument.get_type()? {
        ValueType::Undefined => Ok(Value::Other("undefined".into())),
        _ => value(argument),
    }
}

/// Reads an argument in the same way as an option.
pub(crate) fn given<T>(
    env: &Env,
    name: &str,
    argument: Unknown<'_>,
    read: impl Fn(&str, &Value<'_>) -> Result<T, Error>,
) -> napi::Result<T> {
    let is_undefined = argument.get_type()? == ValueType::Undefined;
    read(name, &value(&argument)?)
        // `undefined` counts as null, but a message names it.
        .or_else(|error| match is_undefined {
            true => read(name, &Value::Other("undefined".into())),
            false => Err(error),
        })
        .map_err(|error| Failure::from(error).into_js(env))
}

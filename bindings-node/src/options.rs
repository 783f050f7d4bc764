//! A memory's options, under their JavaScript names.

use memdir::value::Value;
use memdir::{ConfigError, EncryptionKey, MemoryOptions};
pub(crate) use memdir_bindings_shared::arguments::{
    count, flag, optional_count, optional_string, string, strings,
};
use napi::bindgen_prelude::{FromNapiValue, JsObjectValue, JsValue, Object, Uint8Array, Unknown};
use napi::{Env, ValueType};
use napi_derive::napi;

use crate::arguments;
use crate::errors::Failure;
use crate::input::value;
use crate::option_values::{self, Given};
pub(crate) use crate::option_values::{optional_span, span, word};

type Result<T> = std::result::Result<T, Failure>;

/// Reads the options object. Only own properties count, and `undefined` counts as absent.
///
/// # Errors An error message about an unknown option or a wrong value.
pub(crate) fn read(given: Option<Unknown<'_>>) -> Result<MemoryOptions> {
    let mut options = MemoryOptions::default();
    // Images are on by default, because the SDK has an image block.
    options.max_image_bytes = Some(MemoryOptions::CLAUDE_IMAGE_BYTES);
    let Some(given) = given else { return Ok(options) };
    if given.get_type()? != ValueType::Object {
        return Err(ConfigError::of_option("options")
            .and(" must be an object")
            .got(value(&given)?)
            .into());
    }
    let given = given.coerce_to_object()?;
    for name in Object::keys(&given)? {
        if !given.has_own_property(&name)? {
            continue;
        }
        let set: Unknown<'_> = given.get_named_property_unchecked(&name)?;
        if set.get_type()? == ValueType::Undefined {
            continue;
        }
        options.set(&name, given_value(&set)?)?;
    }
    Ok(options)
}

/// The error message for an unknown option of a call. `known` are the valid names.
#[napi]
#[cfg_attr(test, allow(dead_code, reason = "only JavaScript calls it"))]
pub(crate) fn unknown_option(name: String, known: Vec<String>) -> String {
    let known: Vec<&str> = known.iter().map(String::as_str).collect();
    ConfigError::unknown_option(&name, &known).to_string()
}

/// Throws a `ConfigError` if the argument is not a number of milliseconds, 0 or more.
#[napi(ts_args_type = "name: string, given: number")]
#[cfg_attr(test, allow(dead_code, reason = "only JavaScript calls it"))]
pub(crate) fn check_span(env: &Env, name: String, given: Unknown<'_>) -> napi::Result<()> {
    arguments::given(env, &name, given, span).map(drop)
}

/// An option's value, with its entries if it is an object.
fn given_value(js: &Unknown<'_>) -> Result<Given<'static>> {
    if js.get_type()? != ValueType::Object || js.is_array()? {
        return Ok(Given::Value(value(js)?));
    }
    if js.is_typedarray()? || js.is_buffer()? {
        return Ok(match Uint8Array::from_unknown(*js) {
            Ok(bytes) => Given::Bytes(bytes.to_vec()),
            Err(_) => Given::Value(Value::Object),
        });
    }
    let object = js.coerce_to_object()?;
    let entries = Object::keys(&object)?.into_iter().map(|name| {
        // Reading a name with an unpaired surrogate yields a different name.
        if !object.has_own_property(&name)? {
            let words = "a value under a name that is not valid Unicode";
            return Ok((name, Value::Other(words.into())));
        }
        let set: Unknown<'_> = object.get_named_property_unchecked(&name)?;
        Ok((name, value(&set)?))
    });
    entries.collect::<Result<_>>().map(Given::Object)
}

/// The key of an encrypted store. No error message contains it.
pub(crate) fn key(name: &str, given: Unknown<'_>) -> Result<EncryptionKey> {
    Ok(option_values::key(name, given_value(&given)?)?)
}

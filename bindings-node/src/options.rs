//! A memory's options, under their JavaScript names.

use memdir::policy::sensitive::{SensitiveRule, custom_rules};
use memdir::value::Value;
use memdir::{ConfigError, EncryptionKey, MemoryOptions};
use memdir_bindings_shared::arguments::wrong;
pub(crate) use memdir_bindings_shared::arguments::{count, flag, string, strings};
use napi::ValueType;
use napi::bindgen_prelude::{FromNapiValue, JsObjectValue, JsValue, Object, Uint8Array, Unknown};
use napi_derive::napi;

use crate::errors::Failure;
use crate::input::value;
use crate::option_values as values;
use crate::option_values::refused;
pub(crate) use crate::option_values::{span, word};

type Result<T> = std::result::Result<T, Failure>;

/// Reads the options object. Only own properties count, and `undefined` counts as absent.
///
/// # Errors
/// A sentence about an option that is not known or whose value is wrong.
pub(crate) fn read(given: Option<Unknown<'_>>) -> Result<MemoryOptions> {
    let mut options = MemoryOptions::default();
    // The SDK has a block for them.
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
        if name == "sensitiveRules" {
            options.sensitive_rules = rules(&name, &set)?;
            continue;
        }
        if name == "encryptionKey" {
            let given = set.get_type()? != ValueType::Null;
            options.encryption_key = given.then(|| key(&name, set)).transpose()?;
            continue;
        }
        let set = value(&set)?;
        values::set(&mut options, &name, &set)?;
    }
    Ok(options)
}

/// The sentence about an option of a call that does not exist. `known` are those that do.
#[napi]
#[cfg_attr(test, allow(dead_code, reason = "only JavaScript calls it"))]
pub(crate) fn unknown_option(name: String, known: Vec<String>) -> String {
    let known: Vec<&str> = known.iter().map(String::as_str).collect();
    ConfigError::unknown_option(&name, &known).to_string()
}

/// Patterns by the ids of their rules.
fn rules(name: &str, set: &Unknown<'_>) -> Result<Vec<SensitiveRule>> {
    let given = value(set)?;
    if given != Value::Object {
        return Err(wrong(name, " must be an object", given).into());
    }
    let set = set.coerce_to_object()?;
    let mut patterns = Vec::new();
    for id in Object::keys(&set)? {
        let given: Unknown<'_> = set.get_named_property_unchecked(&id)?;
        match value(&given)? {
            Value::Text(pattern) => patterns.push((id, pattern.into_owned())),
            other => return Err(wrong(name, format!(".{id} must be a string"), other).into()),
        }
    }
    custom_rules(patterns).map_err(|error| refused(name, error).into())
}

/// The key of an encrypted store: bytes, or a text of which the core says what it means. No sentence
/// shows it.
pub(crate) fn key(name: &str, given: Unknown<'_>) -> Result<EncryptionKey> {
    let key = match given.get_type()? {
        // Not as UTF-8, which would put something else in the place of half a pair.
        ValueType::String => match given.coerce_to_string()?.into_utf16()?.as_str() {
            Ok(key) => key.parse(),
            Err(_) => {
                return Err(ConfigError::of_option(name).and(" must be valid Unicode").into());
            }
        },
        ValueType::Object if given.is_typedarray()? || given.is_buffer()? => {
            match Uint8Array::from_unknown(given) {
                Ok(bytes) => EncryptionKey::from_slice(&bytes),
                Err(_) => return Err(no_key(name)),
            }
        }
        _ => return Err(no_key(name)),
    };
    key.map_err(|error| refused(name, error).into())
}

/// Says nothing of what was given, which could be a key.
fn no_key(name: &str) -> Failure {
    ConfigError::of_option(name).and(" must be a Uint8Array or a string").into()
}

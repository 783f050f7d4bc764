//! A memory's options, under their JavaScript names.

use std::str::FromStr;

use memdir::value::Value;
use memdir::{Error as CoreError, Options};
use napi::bindgen_prelude::{JsObjectValue, JsValue, Object, Unknown};
use napi::{Error, Result, Status, ValueType};

use crate::input::value;

/// Reads the options object: own properties only, `undefined` is as if it were not there.
///
/// # Errors
/// A sentence about an option that is not known or whose value is wrong.
pub(crate) fn read(given: Option<Unknown<'_>>) -> Result<Options> {
    let mut options = Options::default();
    let Some(given) = given else { return Ok(options) };
    if given.get_type()? != ValueType::Object {
        return Err(wrong(format!("options must be an object, got {}", value(&given)?)));
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
        let set = value(&set)?;
        match name.as_str() {
            "maxViewChars" => options.max_view_chars = limit(&name, &set)?,
            "maxFileBytes" => options.max_file_bytes = limit(&name, &set)?,
            "onExisting" => options.on_existing = word(&name, &set)?,
            "durability" => options.durability = word(&name, &set)?,
            "readOnly" => options.read_only = flag(&name, &set)?,
            _ => return Err(wrong(format!("there is no option {name}"))),
        }
    }
    Ok(options)
}

/// A limit; null lifts it.
fn limit<N: TryFrom<i64>>(name: &str, set: &Value<'_>) -> Result<Option<N>> {
    let number = match set {
        Value::Null => return Ok(None),
        Value::Integer(number) => N::try_from(*number).ok(),
        _ => None,
    };
    let unfit = || wrong(format!("{name} must be a whole number from 0 on, or null, got {set}"));
    number.map(Some).ok_or_else(unfit)
}

fn flag(name: &str, set: &Value<'_>) -> Result<bool> {
    match set {
        Value::Bool(flag) => Ok(*flag),
        _ => Err(wrong(format!("{name} must be true or false, got {set}"))),
    }
}

/// One of the words that the core knows. Its sentence begins with the option's name in Rust's case.
fn word<W: FromStr<Err = CoreError>>(name: &str, set: &Value<'_>) -> Result<W> {
    let renamed = |error: CoreError| {
        let sentence = error.to_string();
        sentence
            .split_once(' ')
            .map_or_else(|| sentence.clone(), |(_, said)| format!("{name} {said}"))
    };
    match set {
        Value::Text(word) => word.parse().map_err(|error| wrong(renamed(error))),
        _ => Err(wrong(format!("{name} must be a string, got {set}"))),
    }
}

fn wrong(sentence: String) -> Error {
    Error::new(Status::InvalidArg, sentence)
}

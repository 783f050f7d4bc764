//! A memory's options, under their JavaScript names.

use std::str::FromStr;
use std::time::Duration;

use memdir::policy::PathPattern;
use memdir::policy::sensitive::SensitiveRule;
use memdir::value::Value;
use memdir::{EncryptionKey, Error as CoreError, NameCase, Options};
use napi::bindgen_prelude::{FromNapiValue, JsObjectValue, JsValue, Object, Uint8Array, Unknown};
use napi::{Error, Result, Status, ValueType};

use crate::input::value;

/// Reads the options object. Only own properties count, and `undefined` counts as absent.
///
/// # Errors
/// A sentence about an option that is not known or whose value is wrong.
pub(crate) fn read(given: Option<Unknown<'_>>) -> Result<Options> {
    let mut options = Options::default();
    // The SDK has a block for them.
    options.max_image_bytes = Some(Options::CLAUDE_IMAGE_BYTES);
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
        if name == "sensitiveRules" {
            options.sensitive_rules = rules(&name, &set)?;
            continue;
        }
        if name == "encryptionKey" {
            options.encryption_key = Some(key(&name, set)?);
            continue;
        }
        let set = value(&set)?;
        match name.as_str() {
            "maxViewChars" => options.max_view_chars = limit(&name, &set)?,
            "maxFileBytes" => options.max_file_bytes = limit(&name, &set)?,
            "maxImageBytes" => options.max_image_bytes = limit(&name, &set)?,
            "maxTotalBytes" => options.max_total_bytes = limit(&name, &set)?,
            "maxFiles" => options.max_files = limit(&name, &set)?,
            "staleGuard" => options.stale_guard = word(&name, &set)?,
            "onExisting" => options.on_existing = word(&name, &set)?,
            "durability" => options.durability = word(&name, &set)?,
            "readOnly" => options.read_only = flag(&name, &set)?,
            "encryptNames" => options.encrypt_names = flag(&name, &set)?,
            "sensitiveText" => options.sensitive_text = word(&name, &set)?,
            "eventContent" => options.event_content = flag(&name, &set)?,
            "sensitiveOnView" => options.sensitive_on_view = flag(&name, &set)?,
            "expireAfter" => {
                options.expire_after = Some(duration(&name, &set)?);
            }
            "lockTimeout" => {
                let given = !matches!(set, Value::Null);
                options.lock_timeout = given.then(|| duration(&name, &set)).transpose()?;
            }
            "namespace" => options.namespace = text(&name, &set)?,
            "recordAccess" => options.record_access = flag(&name, &set)?,
            "readOnlyPaths" => options.read_only_paths = patterns(&name, &set)?,
            "writablePaths" => {
                let given = !matches!(set, Value::Null);
                options.writable_paths = given.then(|| patterns(&name, &set)).transpose()?;
            }
            "neverExpire" => options.never_expire = patterns(&name, &set)?,
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

/// A text; null is none.
fn text(name: &str, set: &Value<'_>) -> Result<Option<String>> {
    match set {
        Value::Null => Ok(None),
        Value::Text(text) => Ok(Some(text.as_ref().to_owned())),
        _ => Err(wrong(format!("{name} must be a string, or null, got {set}"))),
    }
}

fn flag(name: &str, set: &Value<'_>) -> Result<bool> {
    match set {
        Value::Bool(flag) => Ok(*flag),
        _ => Err(wrong(format!("{name} must be true or false, got {set}"))),
    }
}

/// So many milliseconds.
fn duration(name: &str, set: &Value<'_>) -> Result<Duration> {
    let unfit = || wrong(format!("{name} must be a number of milliseconds from 0 on, got {set}"));
    Duration::try_from_secs_f64(number(set) / 1_000.0).map_err(|_| unfit())
}

/// Anything else becomes NaN, which every option rejects.
#[expect(clippy::cast_precision_loss, reason = "exact for 285,000 years of milliseconds")]
fn number(set: &Value<'_>) -> f64 {
    match set {
        Value::Integer(number) => *number as f64,
        Value::Number(number) => *number,
        _ => f64::NAN,
    }
}

/// So many milliseconds.
pub(crate) fn span(name: &str, millis: f64) -> Result<Duration> {
    Duration::try_from_secs_f64(millis / 1_000.0).map_err(|_| {
        wrong(format!("{name} must be a number of milliseconds from 0 on, got {millis}"))
    })
}

/// Patterns of paths.
fn patterns(name: &str, set: &Value<'_>) -> Result<Vec<PathPattern>> {
    let Value::List(items) = set else {
        return Err(wrong(format!("{name} must be an array, got {set}")));
    };
    let texts = items.iter().enumerate().map(|(at, item)| match item {
        Value::Text(pattern) => Ok(pattern.as_ref()),
        other => Err(wrong(format!("{name}[{at}] must be a string, got {other}"))),
    });
    PathPattern::all(name, texts.collect::<Result<Vec<_>>>()?).map_err(|error| refused(name, error))
}

/// Patterns by the ids of their rules.
fn rules(name: &str, set: &Unknown<'_>) -> Result<Vec<SensitiveRule>> {
    let given = value(set)?;
    if given != Value::Object {
        return Err(wrong(format!("{name} must be an object, got {given}")));
    }
    let set = set.coerce_to_object()?;
    let mut patterns = Vec::new();
    for id in Object::keys(&set)? {
        let given: Unknown<'_> = set.get_named_property_unchecked(&id)?;
        match value(&given)? {
            Value::Text(pattern) => patterns.push((id, pattern.into_owned())),
            other => return Err(wrong(format!("{name}.{id} must be a string, got {other}"))),
        }
    }
    SensitiveRule::all(patterns).map_err(|error| refused(name, error))
}

/// The key of an encrypted store: bytes, or a text of which the core says what it means. No sentence
/// shows it.
pub(crate) fn key(name: &str, given: Unknown<'_>) -> Result<EncryptionKey> {
    let key = match given.get_type()? {
        // Not as UTF-8, which would put something else in the place of half a pair.
        ValueType::String => match given.coerce_to_string()?.into_utf16()?.as_str() {
            Ok(key) => key.parse(),
            Err(_) => return Err(wrong(format!("{name} must be valid Unicode"))),
        },
        ValueType::Object if given.is_typedarray()? || given.is_buffer()? => {
            match Uint8Array::from_unknown(given) {
                Ok(bytes) => EncryptionKey::from_slice(&bytes),
                Err(_) => return Err(wrong(format!("{name} must be a Uint8Array or a string"))),
            }
        }
        _ => return Err(wrong(format!("{name} must be a Uint8Array or a string"))),
    };
    key.map_err(|error| refused(name, error))
}

/// One of the words that the core knows.
fn word<W: FromStr<Err = CoreError>>(name: &str, set: &Value<'_>) -> Result<W> {
    match set {
        Value::Text(word) => word.parse().map_err(|error| refused(name, error)),
        _ => Err(wrong(format!("{name} must be a string, got {set}"))),
    }
}

/// What the core says of the value of `name`.
fn refused(name: &str, error: CoreError) -> Error {
    let error = match error {
        CoreError::Config(error) => CoreError::Config(error.renamed(name)),
        other => other,
    };
    wrong(sentence(&error))
}

/// An error of the core in words, which have JavaScript's names.
pub(crate) fn sentence(error: &CoreError) -> String {
    match error {
        CoreError::Config(error) => error.in_case(NameCase::Camel),
        other => other.to_string(),
    }
}

/// An error of the core.
pub(crate) fn thrown(error: &CoreError) -> Error {
    Error::from_reason(sentence(error))
}

fn wrong(sentence: String) -> Error {
    Error::new(Status::InvalidArg, sentence)
}

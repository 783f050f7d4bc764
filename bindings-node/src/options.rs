//! A memory's options, under their JavaScript names.

use std::borrow::Cow;
use std::fmt::Display;
use std::str::FromStr;
use std::time::Duration;

use memdir::policy::PathPattern;
use memdir::policy::sensitive::SensitiveRule;
use memdir::value::Value;
use memdir::{ConfigError, EncryptionKey, Error as CoreError, MemoryOptions};
use napi::ValueType;
use napi::bindgen_prelude::{FromNapiValue, JsObjectValue, JsValue, Object, Uint8Array, Unknown};

use crate::errors::Failure;
use crate::input::value;

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
            "expireAfter" => options.expire_after = duration(&name, &set)?,
            "lockTimeout" => options.lock_timeout = duration(&name, &set)?,
            "namespace" => options.namespace = text(&name, &set)?,
            "history" => options.history = flag(&name, &set)?,
            "historyMaxAge" => options.history_max_age = duration(&name, &set)?,
            "historyMaxVersions" => options.history_max_versions = limit(&name, &set)?,
            "historyMaxBytes" => options.history_max_bytes = limit(&name, &set)?,
            "actor" => options.actor = text(&name, &set)?,
            "recordAccess" => options.record_access = flag(&name, &set)?,
            "readOnlyPaths" => options.read_only_paths = patterns(&name, &set)?,
            "writablePaths" => {
                let given = !matches!(set, Value::Null);
                options.writable_paths = given.then(|| patterns(&name, &set)).transpose()?;
            }
            "neverExpire" => options.never_expire = patterns(&name, &set)?,
            _ => {
                return Err(ConfigError::from(format!("there is no option {name}"))
                    .about(&name)
                    .into());
            }
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
    let wrong = || wrong(name, " must be a whole number from 0 on, or null", set);
    number.map(Some).ok_or_else(wrong)
}

/// A whole number.
pub(crate) fn count(name: &str, set: &Value<'_>) -> Result<usize> {
    let number = match set {
        Value::Integer(number) => usize::try_from(*number).ok(),
        _ => None,
    };
    number.ok_or_else(|| wrong(name, " must be a whole number from 0 on", set))
}

/// A text.
pub(crate) fn string(name: &str, set: &Value<'_>) -> Result<String> {
    match set {
        Value::Text(text) => Ok(text.as_ref().to_owned()),
        _ => Err(wrong(name, " must be a string", set)),
    }
}

/// A text; null is none.
fn text(name: &str, set: &Value<'_>) -> Result<Option<String>> {
    match set {
        Value::Null => Ok(None),
        Value::Text(text) => Ok(Some(text.as_ref().to_owned())),
        _ => Err(wrong(name, " must be a string, or null", set)),
    }
}

/// Whether or not.
pub(crate) fn flag(name: &str, set: &Value<'_>) -> Result<bool> {
    match set {
        Value::Bool(flag) => Ok(*flag),
        _ => Err(wrong(name, " must be true or false", set)),
    }
}

/// So many milliseconds; null is none.
fn duration(name: &str, set: &Value<'_>) -> Result<Option<Duration>> {
    if matches!(set, Value::Null) {
        return Ok(None);
    }
    let wrong = || wrong(name, " must be a number of milliseconds from 0 on, or null", set);
    Duration::try_from_secs_f64(number(set) / 1_000.0).map(Some).map_err(|_| wrong())
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
    Duration::try_from_secs_f64(millis / 1_000.0)
        .map_err(|_| wrong(name, " must be a number of milliseconds from 0 on", millis))
}

/// Texts.
pub(crate) fn strings(name: &str, set: &Value<'_>) -> Result<Vec<String>> {
    let Value::List(items) = set else {
        return Err(wrong(name, " must be an array", set));
    };
    let texts = items.iter().enumerate().map(|(at, item)| match item {
        Value::Text(text) => Ok(text.as_ref().to_owned()),
        other => Err(wrong(name, format!("[{at}] must be a string"), other)),
    });
    texts.collect()
}

/// Patterns of paths.
fn patterns(name: &str, set: &Value<'_>) -> Result<Vec<PathPattern>> {
    PathPattern::all(name, strings(name, set)?).map_err(|error| refused(name, error))
}

/// Patterns by the ids of their rules.
fn rules(name: &str, set: &Unknown<'_>) -> Result<Vec<SensitiveRule>> {
    let given = value(set)?;
    if given != Value::Object {
        return Err(wrong(name, " must be an object", given));
    }
    let set = set.coerce_to_object()?;
    let mut patterns = Vec::new();
    for id in Object::keys(&set)? {
        let given: Unknown<'_> = set.get_named_property_unchecked(&id)?;
        match value(&given)? {
            Value::Text(pattern) => patterns.push((id, pattern.into_owned())),
            other => return Err(wrong(name, format!(".{id} must be a string"), other)),
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
    key.map_err(|error| refused(name, error))
}

/// One of the words that the core knows.
pub(crate) fn word<W: FromStr<Err = CoreError>>(name: &str, set: &Value<'_>) -> Result<W> {
    match set {
        Value::Text(word) => word.parse().map_err(|error| refused(name, error)),
        _ => Err(wrong(name, " must be a string", set)),
    }
}

/// What the core says of the value of `name`.
fn refused(name: &str, error: CoreError) -> Failure {
    match error {
        CoreError::Config(error) => error.renamed(name).into(),
        other => other.into(),
    }
}

fn wrong(name: &str, problem: impl Into<Cow<'static, str>>, got: impl Display) -> Failure {
    ConfigError::of_option(name).and(problem).got(got).into()
}

/// Says nothing of what was given, which could be a key.
fn no_key(name: &str) -> Failure {
    ConfigError::of_option(name).and(" must be a Uint8Array or a string").into()
}

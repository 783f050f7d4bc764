//! The options whose values are simple, and the arguments that are read alike, under their JavaScript names. The
//! WebAssembly build reads them with the same file.

use std::str::FromStr;
use std::time::Duration;

use memdir::policy::PathPattern;
use memdir::value::Value;
use memdir::{ConfigError, Error, MemoryOptions};
use memdir_bindings_shared::arguments::{flag, strings, wrong};

type Result<T> = std::result::Result<T, Error>;

/// Sets the option `name`, which is none of those with a type of its own.
pub(crate) fn set(options: &mut MemoryOptions, name: &str, set: &Value<'_>) -> Result<()> {
    match name {
        "maxViewChars" => options.max_view_chars = limit(name, set)?,
        "maxFileBytes" => options.max_file_bytes = limit(name, set)?,
        "maxImageBytes" => options.max_image_bytes = limit(name, set)?,
        "maxTotalBytes" => options.max_total_bytes = limit(name, set)?,
        "maxFiles" => options.max_files = limit(name, set)?,
        "staleGuard" => options.stale_guard = word(name, set)?,
        "onExisting" => options.on_existing = word(name, set)?,
        "durability" => options.durability = word(name, set)?,
        "readOnly" => options.read_only = flag(name, set)?,
        "encryptNames" => options.encrypt_names = flag(name, set)?,
        "sensitiveText" => options.sensitive_text = word(name, set)?,
        "eventContent" => options.event_content = flag(name, set)?,
        "sensitiveOnView" => options.sensitive_on_view = flag(name, set)?,
        "expireAfter" => options.expire_after = duration(name, set)?,
        "lockTimeout" => options.lock_timeout = duration(name, set)?,
        "namespace" => options.namespace = text(name, set)?,
        "history" => options.history = flag(name, set)?,
        "historyMaxAge" => options.history_max_age = duration(name, set)?,
        "historyMaxVersions" => options.history_max_versions = limit(name, set)?,
        "historyMaxBytes" => options.history_max_bytes = limit(name, set)?,
        "actor" => options.actor = text(name, set)?,
        "recordAccess" => options.record_access = flag(name, set)?,
        "readOnlyPaths" => options.read_only_paths = patterns(name, set)?,
        "writablePaths" => {
            let given = !matches!(set, Value::Null);
            options.writable_paths = given.then(|| patterns(name, set)).transpose()?;
        }
        "neverExpire" => options.never_expire = patterns(name, set)?,
        _ => {
            return Err(ConfigError::from(format!("there is no option {name}")).about(name).into());
        }
    }
    Ok(())
}

/// A limit; null lifts it.
fn limit<N: TryFrom<i64>>(name: &str, set: &Value<'_>) -> Result<Option<N>> {
    let number = match set {
        Value::Null => return Ok(None),
        // Larger than anything can be where addresses have 32 bits.
        Value::Integer(number) if *number > 0 && N::try_from(*number).is_err() => return Ok(None),
        Value::Integer(number) => N::try_from(*number).ok(),
        _ => None,
    };
    let wrong = || wrong(name, " must be a whole number from 0 on, or null", set);
    number.map(Some).ok_or_else(wrong)
}

/// A text; null is none.
fn text(name: &str, set: &Value<'_>) -> Result<Option<String>> {
    match set {
        Value::Null => Ok(None),
        Value::Text(text) => Ok(Some(text.as_ref().to_owned())),
        _ => Err(wrong(name, " must be a string, or null", set)),
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

/// A number of milliseconds.
pub(crate) fn span(name: &str, set: &Value<'_>) -> Result<Duration> {
    Duration::try_from_secs_f64(number(set) / 1_000.0)
        .map_err(|_| wrong(name, " must be a number of milliseconds from 0 on", set))
}

/// Patterns of paths.
fn patterns(name: &str, set: &Value<'_>) -> Result<Vec<PathPattern>> {
    PathPattern::all(name, strings(name, set)?).map_err(|error| refused(name, error))
}

/// One of the words that the core knows.
pub(crate) fn word<W: FromStr<Err = Error>>(name: &str, set: &Value<'_>) -> Result<W> {
    match set {
        Value::Text(word) => word.parse().map_err(|error| refused(name, error)),
        _ => Err(wrong(name, " must be a string", set)),
    }
}

/// What the core says of the value of `name`.
pub(crate) fn refused(name: &str, error: Error) -> Error {
    match error {
        Error::Config(error) => error.renamed(name).into(),
        other => other,
    }
}

//! Options as JSON, for languages that hand them over as text. One list says which there are; a test compares it with
//! `core/options.json`.

use std::borrow::Cow;
use std::str::FromStr;
use std::time::Duration;

use memdir_store::{ConfigError, Error};
use serde_json::Value as Json;

use super::MemoryOptions;
use crate::policy::PathPattern;
use crate::policy::sensitive::{SensitiveRule, custom_rules};
use crate::value::Value;

/// Declares the options: the name of each, and the function that reads its value.
macro_rules! options {
    ($($(#[$feature:meta])? $name:ident: $read:ident,)*) => {
        const NAMES: &[&str] = &[$($(#[$feature])? stringify!($name),)*];

        fn set(options: &mut MemoryOptions, name: &str, given: &Json) -> Result<(), Error> {
            match name {
                $($(#[$feature])? stringify!($name) => options.$name = $read(name, given)?,)*
                _ => return Err(unknown(name)),
            }
            Ok(())
        }
    };
}

options! {
    max_view_chars: limit,
    max_file_bytes: limit,
    max_total_bytes: limit,
    max_files: limit,
    max_image_bytes: limit,
    on_existing: word,
    durability: word,
    read_only: flag,
    lock_timeout: duration,
    namespace: text,
    read_only_paths: patterns,
    writable_paths: patterns_or_none,
    stale_guard: word,
    #[cfg(feature = "encryption")] encryption_key: key,
    #[cfg(feature = "encryption")] encrypt_names: flag,
    sensitive_text: word,
    sensitive_rules: rules,
    sensitive_on_view: flag,
    expire_after: duration,
    record_access: flag,
    never_expire: patterns,
    event_content: flag,
    history: flag,
    history_max_age: duration,
    history_max_versions: limit,
    history_max_bytes: limit,
    actor: text,
}

impl MemoryOptions {
    /// The same options, with those that `json` sets: the text of a JSON object of options by their names.
    ///
    /// Durations are numbers of seconds. `null` stands for no limit or for none, where an option has that. A key is
    /// text: `"hex:…"`, `"base64:…"`, or a passphrase.
    ///
    /// ```
    /// use memdir::MemoryOptions;
    ///
    /// let options = MemoryOptions::default().with_json(r#"{"max_files": 100, "lock_timeout": null}"#)?;
    /// assert_eq!((options.max_files, options.lock_timeout), (Some(100), None));
    ///
    /// let error = MemoryOptions::default().with_json(r#"{"maxFiles": 100}"#).unwrap_err();
    /// assert_eq!(error.to_string(), "there is no option maxFiles; did you mean max_files?");
    /// # Ok::<(), memdir::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Config`] if it is not a JSON object, an option does not exist, or a value is wrong.
    pub fn with_json(mut self, json: &str) -> Result<Self, Error> {
        let given: Json = serde_json::from_str(json).map_err(|error| {
            // Not the text, which may hold a key.
            let (line, column) = (error.line(), error.column());
            let place = format!(" must be a JSON object; line {line}, column {column} is not JSON");
            ConfigError::of_option("options").and(place)
        })?;
        let Json::Object(given) = given else {
            return Err(wrong("options", " must be a JSON object", &given));
        };
        for (name, value) in &given {
            set(&mut self, name, value)?;
        }
        Ok(self)
    }
}

fn unknown(name: &str) -> Error {
    let error = ConfigError::unknown_option(name, NAMES);
    if !cfg!(feature = "encryption") && ["encryption_key", "encrypt_names"].contains(&name) {
        return error.and(" in this build of memdir, which has no encryption").into();
    }
    error.into()
}

fn wrong(name: &str, problem: impl Into<Cow<'static, str>>, given: &Json) -> Error {
    ConfigError::of_option(name).and(problem).got(Value::from(given)).into()
}

/// A whole number; null lifts the limit.
fn limit<N: TryFrom<u64>>(name: &str, given: &Json) -> Result<Option<N>, Error> {
    if given.is_null() {
        return Ok(None);
    }
    let number = given.as_u64().and_then(|number| N::try_from(number).ok());
    number.map(Some).ok_or_else(|| wrong(name, " must be a whole number from 0 on, or null", given))
}

fn flag(name: &str, given: &Json) -> Result<bool, Error> {
    given.as_bool().ok_or_else(|| wrong(name, " must be true or false", given))
}

/// One of the words of an option.
fn word<W: FromStr<Err = Error>>(name: &str, given: &Json) -> Result<W, Error> {
    match given {
        Json::String(word) => word.parse(),
        _ => Err(wrong(name, " must be a string", given)),
    }
}

/// A number of seconds; null is none.
fn duration(name: &str, given: &Json) -> Result<Option<Duration>, Error> {
    if given.is_null() {
        return Ok(None);
    }
    let span = given.as_f64().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    span.map(Some)
        .ok_or_else(|| wrong(name, " must be a number of seconds from 0 on, or null", given))
}

fn text(name: &str, given: &Json) -> Result<Option<String>, Error> {
    match given {
        Json::Null => Ok(None),
        Json::String(text) => Ok(Some(text.clone())),
        _ => Err(wrong(name, " must be a string, or null", given)),
    }
}

fn patterns(name: &str, given: &Json) -> Result<Vec<PathPattern>, Error> {
    let Json::Array(items) = given else {
        return Err(wrong(name, " must be an array of strings", given));
    };
    let texts = items.iter().enumerate().map(|(at, item)| {
        item.as_str().ok_or_else(|| wrong(name, format!("[{at}] must be a string"), item))
    });
    PathPattern::all(name, texts.collect::<Result<Vec<_>, _>>()?)
}

fn patterns_or_none(name: &str, given: &Json) -> Result<Option<Vec<PathPattern>>, Error> {
    if given.is_null() { Ok(None) } else { patterns(name, given).map(Some) }
}

/// Patterns by the ids of their rules.
fn rules(name: &str, given: &Json) -> Result<Vec<SensitiveRule>, Error> {
    let Json::Object(rules) = given else {
        return Err(wrong(name, " must be an object of strings", given));
    };
    let texts = rules.iter().map(|(id, pattern)| match pattern.as_str() {
        Some(pattern) => Ok((id.as_str(), pattern)),
        None => Err(wrong(name, format!(".{id} must be a string"), pattern)),
    });
    custom_rules(texts.collect::<Result<Vec<_>, _>>()?)
}

/// The key of an encrypted store; null is none. No error shows it.
#[cfg(feature = "encryption")]
fn key(name: &str, given: &Json) -> Result<Option<crate::store::EncryptionKey>, Error> {
    match given {
        Json::Null => Ok(None),
        Json::String(key) => key.parse().map(Some),
        _ => Err(ConfigError::of_option(name).and(" must be a string, or null").into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_option_that_rust_has_can_be_set() {
        let shown = format!("{:?}", MemoryOptions::default());
        let fields = shown.trim_start_matches("MemoryOptions { ").trim_end_matches(" }");
        let mut fields: Vec<_> =
            fields.split(", ").filter_map(|field| field.split(':').next()).collect();
        let mut names = NAMES.to_vec();
        fields.sort_unstable();
        names.sort_unstable();
        assert_eq!(names, fields);
    }

    #[test]
    fn values_of_every_kind_are_read() {
        let json = r#"{"max_view_chars": null, "max_files": 3, "on_existing": "overwrite", "read_only": true,
            "lock_timeout": 0.5, "namespace": "ann", "writable_paths": [], "never_expire": ["/memories/a"],
            "sensitive_rules": {"b": "B+", "a": "A+"}}"#;
        let options = MemoryOptions::default().with_json(json).unwrap();
        assert_eq!((options.max_view_chars, options.max_files), (None, Some(3)));
        assert_eq!(options.lock_timeout, Some(Duration::from_millis(500)));
        assert_eq!(options.namespace.as_deref(), Some("ann"));
        assert_eq!(options.writable_paths, Some(Vec::new()));
        assert_eq!((options.never_expire.len(), options.sensitive_rules.len()), (1, 2));
        assert!(options.read_only);
        assert_eq!(options.with_json("{}").unwrap().max_files, Some(3));
    }

    #[test]
    fn what_is_wrong_is_said_with_the_options_name() {
        for (json, sentence) in [
            ("", "options must be a JSON object; line 1, column 0 is not JSON"),
            (
                r#"{"encryption_key": "s3cret"#,
                "options must be a JSON object; line 1, column 26 is not JSON",
            ),
            ("[1]", "options must be a JSON object, got [1]"),
            (r#"{"max_file": 1}"#, "there is no option max_file; did you mean max_files?"),
            (r#"{"colour": 1}"#, "there is no option colour"),
            (r#"{"max_files": -1}"#, "max_files must be a whole number from 0 on, or null, got -1"),
            (
                r#"{"max_files": true}"#,
                "max_files must be a whole number from 0 on, or null, got true",
            ),
            (
                r#"{"lock_timeout": -1}"#,
                "lock_timeout must be a number of seconds from 0 on, or null, got -1",
            ),
            (r#"{"read_only": 1}"#, "read_only must be true or false, got 1"),
            (r#"{"read_only_paths": [1]}"#, "read_only_paths[0] must be a string, got 1"),
            (r#"{"sensitive_rules": {"a": 1}}"#, "sensitive_rules.a must be a string, got 1"),
        ] {
            let error = MemoryOptions::default().with_json(json).unwrap_err();
            assert_eq!(error.to_string(), sentence);
        }
    }
}

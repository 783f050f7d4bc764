//! Parses options from JSON, for languages and programs that pass them as text.

use std::time::Duration;

use memdir_store::{ConfigError, Error, NameCase};
use serde_json::Value as Json;

use super::MemoryOptions;
use super::value::{OptionValue, Words};
#[cfg(feature = "encryption")]
use crate::store::EncryptionKey;
use crate::value::Value;

impl MemoryOptions {
    /// Returns the same options, with the values that `json` sets. `json` is the text of a JSON object with the
    /// options' names as keys.
    ///
    /// Durations are in seconds. `null` means no limit or no value, if the option allows that. A key is a text:
    /// `"hex:…"`, `"base64:…"`, or a passphrase.
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
    /// [`Error::Config`] if the text is not a JSON object, an option does not exist, or a value is wrong.
    pub fn with_json(mut self, json: &str) -> Result<Self, Error> {
        let given: Json = serde_json::from_str(json).map_err(|error| {
            // Without the text, which may contain a key.
            let (line, column) = (error.line(), error.column());
            let place = format!(" must be a JSON object; line {line}, column {column} is not JSON");
            ConfigError::of_option("options").and(place)
        })?;
        let Json::Object(given) = given else {
            let error = ConfigError::of_option("options").and(" must be a JSON object");
            return Err(error.got(Value::from(&given)).into());
        };
        for (name, value) in &given {
            self.set(name, value)?;
        }
        Ok(self)
    }
}

impl OptionValue for &Json {
    const WORDS: &'static Words = &Words {
        case: NameCase::Snake,
        none: "null",
        flag: "true or false",
        duration: "a number of seconds from 0 on",
        text: "a string",
        texts: "an array of strings",
        texts_by_name: "an object of strings",
        key: "a string",
    };

    fn shown(&self) -> Value<'_> {
        Value::from(*self)
    }

    fn whole_number(&self) -> Option<u64> {
        self.as_u64()
    }

    fn duration(&self) -> Option<Duration> {
        Duration::try_from_secs_f64(self.as_f64()?).ok()
    }

    fn items(&self) -> Option<Vec<Self>> {
        self.as_array().map(|items| items.iter().collect())
    }

    fn entries(&self) -> Option<Vec<(String, Self)>> {
        let entries = self.as_object()?;
        Some(entries.iter().map(|(name, value)| (name.clone(), value)).collect())
    }

    #[cfg(feature = "encryption")]
    fn key(&self) -> Option<Result<EncryptionKey, Error>> {
        self.as_str().map(str::parse)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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

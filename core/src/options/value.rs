//! Reads the value of an option from any language, so every language has the same options and the same error
//! sentences.

use std::str::FromStr;
use std::time::Duration;

use memdir_store::{ConfigError, Error, NameCase};

use crate::policy::PathPattern;
use crate::policy::sensitive::{SensitiveRule, custom_rules};
#[cfg(feature = "encryption")]
use crate::store::EncryptionKey;
use crate::value::Value;

/// The value of an option, as a language gives it.
///
/// A binding implements this for its language's values. Each method returns `None` if the value has another
/// type.
pub trait OptionValue: Sized {
    /// The language's names for the types of values.
    const WORDS: &'static Words;

    /// Returns the value for an error sentence.
    fn shown(&self) -> Value<'_>;

    /// Returns whether it is the value for "no limit" or "not set".
    fn is_none(&self) -> bool {
        self.shown() == Value::Null
    }

    /// Returns a boolean.
    fn flag(&self) -> Option<bool> {
        match self.shown() {
            Value::Bool(flag) => Some(flag),
            _ => None,
        }
    }

    /// Returns a whole number of at least 0. Not a boolean.
    fn whole_number(&self) -> Option<u64> {
        match self.shown() {
            Value::Integer(number) => u64::try_from(number).ok(),
            _ => None,
        }
    }

    /// Returns a duration, in the unit of the language.
    fn duration(&self) -> Option<Duration>;

    /// Returns a text of valid Unicode.
    fn text(&self) -> Option<String> {
        match self.shown() {
            Value::Text(text) => Some(text.into_owned()),
            _ => None,
        }
    }

    /// Returns the values of a list.
    fn items(&self) -> Option<Vec<Self>>;

    /// Returns the values of a mapping, with their names.
    fn entries(&self) -> Option<Vec<(String, Self)>>;

    /// Returns the key of an encrypted store, from its text or from the language's type for bytes.
    #[cfg(feature = "encryption")]
    fn key(&self) -> Option<Result<EncryptionKey, Error>> {
        self.text().map(|text| text.parse())
    }
}

/// A language's names for the types of option values, with articles.
#[derive(Debug)]
pub struct Words {
    /// The case of the options' names.
    pub case: NameCase,
    /// The value for "not set": `null`.
    pub none: &'static str,
    /// `true or false`.
    pub flag: &'static str,
    /// `a number of seconds from 0 on`.
    pub duration: &'static str,
    /// `a string`.
    pub text: &'static str,
    /// `an array of strings`.
    pub texts: &'static str,
    /// `an object of strings`.
    pub texts_by_name: &'static str,
    /// The type of a key: `a string`.
    pub key: &'static str,
}

/// The value that was given for an option or an argument.
///
/// Each method reads one type of value. The methods that begin with `optional` also accept the value for "not
/// set", and mention it in the error sentence.
pub struct Given<'a, V> {
    name: &'a str,
    value: V,
}

impl<'a, V: OptionValue> Given<'a, V> {
    /// Creates the value for the option `name`.
    pub fn new(name: &'a str, value: V) -> Self {
        Self { name, value }
    }

    /// Reads a boolean.
    ///
    /// # Errors
    /// [`Error::Config`] if the value has another type. This applies to every method.
    pub fn flag(&self) -> Result<bool, Error> {
        self.required(V::WORDS.flag, V::flag)
    }

    /// Reads a whole number.
    pub fn whole_number(&self) -> Result<u64, Error> {
        self.required(WHOLE_NUMBER, V::whole_number)
    }

    /// Reads a whole number. A number that is too large for `usize` becomes the largest `usize`.
    pub fn count(&self) -> Result<usize, Error> {
        Ok(usize::try_from(self.whole_number()?).unwrap_or(usize::MAX))
    }

    /// Reads a limit. The value for "not set" means no limit, and so does a number that is too large for the
    /// type.
    pub fn limit<N: TryFrom<u64>>(&self) -> Result<Option<N>, Error> {
        let number = self.optional(WHOLE_NUMBER, V::whole_number)?;
        Ok(number.and_then(|number| N::try_from(number).ok()))
    }

    /// Reads a duration.
    pub fn duration(&self) -> Result<Duration, Error> {
        self.required(V::WORDS.duration, V::duration)
    }

    /// Reads an optional duration.
    pub fn optional_duration(&self) -> Result<Option<Duration>, Error> {
        self.optional(V::WORDS.duration, V::duration)
    }

    /// Reads a text.
    pub fn text(&self) -> Result<String, Error> {
        self.required(V::WORDS.text, V::text)
    }

    /// Reads an optional text.
    pub fn optional_text(&self) -> Result<Option<String>, Error> {
        self.optional(V::WORDS.text, V::text)
    }

    /// Reads one of the words that the option allows.
    pub fn word<W: FromStr<Err = Error>>(&self) -> Result<W, Error> {
        let text = self.value.text();
        // No option allows an empty word, so a value of another type also gets the error that lists the words.
        text.as_deref().unwrap_or_default().parse().map_err(|error| match self.about(error) {
            Error::Config(error) if text.is_none() => error.got_instead(self.value.shown()).into(),
            error => error,
        })
    }

    /// Reads a list of texts.
    pub fn texts(&self) -> Result<Vec<String>, Error> {
        self.texts_of(&self.required(V::WORDS.texts, V::items)?)
    }

    /// Reads patterns of paths.
    pub(super) fn patterns(&self) -> Result<Vec<PathPattern>, Error> {
        PathPattern::all(self.name, self.texts()?)
    }

    /// Reads optional patterns of paths.
    pub(super) fn optional_patterns(&self) -> Result<Option<Vec<PathPattern>>, Error> {
        let items = self.optional(V::WORDS.texts, V::items)?;
        items.map(|items| PathPattern::all(self.name, self.texts_of(&items)?)).transpose()
    }

    /// Reads rules for sensitive text: patterns with their ids.
    pub(super) fn rules(&self) -> Result<Vec<SensitiveRule>, Error> {
        let entries = self.required(V::WORDS.texts_by_name, V::entries)?;
        let rules = entries.iter().map(|(id, pattern)| match pattern.text() {
            Some(text) => Ok((id.clone(), text)),
            None => Err(self.part_must_be_text(&format!(".{id}"), pattern)),
        });
        custom_rules(rules.collect::<Result<Vec<_>, _>>()?).map_err(|error| self.about(error))
    }

    /// Reads the key of an encrypted store. No error sentence shows it.
    #[cfg(feature = "encryption")]
    pub fn key(&self) -> Result<EncryptionKey, Error> {
        let key = self.value.key().ok_or_else(|| self.problem(V::WORDS.key))?;
        key.map_err(|error| self.about(error))
    }

    /// Reads the optional key of an encrypted store.
    #[cfg(feature = "encryption")]
    pub(super) fn optional_key(&self) -> Result<Option<EncryptionKey>, Error> {
        if self.value.is_none() { Ok(None) } else { self.key().map(Some) }
    }

    fn required<T>(&self, expected: &str, read: impl FnOnce(&V) -> Option<T>) -> Result<T, Error> {
        read(&self.value).ok_or_else(|| self.problem(expected).got(self.value.shown()).into())
    }

    fn optional<T>(
        &self,
        expected: &str,
        read: impl FnOnce(&V) -> Option<T>,
    ) -> Result<Option<T>, Error> {
        if self.value.is_none() {
            return Ok(None);
        }
        self.required(&format!("{expected}, or {}", V::WORDS.none), read).map(Some)
    }

    fn texts_of(&self, items: &[V]) -> Result<Vec<String>, Error> {
        let texts = items.iter().enumerate().map(|(at, item)| {
            item.text().ok_or_else(|| self.part_must_be_text(&format!("[{at}]"), item))
        });
        texts.collect()
    }

    fn part_must_be_text(&self, part: &str, value: &V) -> Error {
        let problem = format!("{part} must be {}", V::WORDS.text);
        ConfigError::of_option(self.name).and(problem).got(value.shown()).into()
    }

    fn problem(&self, expected: &str) -> ConfigError {
        ConfigError::of_option(self.name).and(format!(" must be {expected}"))
    }

    /// Puts the name of this option into an error of the core about the value.
    fn about(&self, error: Error) -> Error {
        match error {
            Error::Config(error) => error.renamed(self.name).into(),
            other => other,
        }
    }
}

const WHOLE_NUMBER: &str = "a whole number from 0 on";

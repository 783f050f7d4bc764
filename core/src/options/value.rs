//! How the value of an option is read, whatever language gives it. So every language has the same options, and the same sentence
//! for the same mistake.

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
/// A binding implements this for its language's values. Each method returns `None` if the value is of another kind.
pub trait OptionValue: Sized {
    /// What the language calls its values.
    const WORDS: &'static Words;

    /// The value in a sentence that says what is wrong with it.
    fn shown(&self) -> Value<'_>;

    /// Whether it is the value that stands for none and for no limit.
    fn is_none(&self) -> bool {
        self.shown() == Value::Null
    }

    /// Yes or no.
    fn flag(&self) -> Option<bool> {
        match self.shown() {
            Value::Bool(flag) => Some(flag),
            _ => None,
        }
    }

    /// A whole number from 0 on. A boolean is none.
    fn whole_number(&self) -> Option<u64> {
        match self.shown() {
            Value::Integer(number) => u64::try_from(number).ok(),
            _ => None,
        }
    }

    /// A duration, in the unit of the language.
    fn duration(&self) -> Option<Duration>;

    /// A text of valid Unicode.
    fn text(&self) -> Option<String> {
        match self.shown() {
            Value::Text(text) => Some(text.into_owned()),
            _ => None,
        }
    }

    /// The values of a list.
    fn items(&self) -> Option<Vec<Self>>;

    /// The values of a mapping, by their names.
    fn entries(&self) -> Option<Vec<(String, Self)>>;

    /// The key of an encrypted store that a text stands for, or the bytes that the language has for it.
    #[cfg(feature = "encryption")]
    fn key(&self) -> Option<Result<EncryptionKey, Error>> {
        self.text().map(|text| text.parse())
    }
}

/// What a language calls the values of options, with articles.
#[derive(Debug)]
pub struct Words {
    /// How it writes the options' names.
    pub case: NameCase,
    /// The value for none: `null`.
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
    /// What a key may be: `a string`.
    pub key: &'static str,
}

/// The value that was given for an option, or for an argument.
///
/// Each method reads a kind of value. Those that begin with `optional` take none as well, and say so if the value is wrong.
pub struct Given<'a, V> {
    name: &'a str,
    value: V,
}

impl<'a, V: OptionValue> Given<'a, V> {
    /// The value for the option `name`.
    pub fn new(name: &'a str, value: V) -> Self {
        Self { name, value }
    }

    /// Yes or no.
    ///
    /// # Errors
    /// It is something else, as for every kind of value.
    pub fn flag(&self) -> Result<bool, Error> {
        self.required(V::WORDS.flag, V::flag)
    }

    /// A whole number.
    pub fn whole_number(&self) -> Result<u64, Error> {
        self.required(WHOLE_NUMBER, V::whole_number)
    }

    /// A whole number. A larger one than addresses can count is as many as they can.
    pub fn count(&self) -> Result<usize, Error> {
        Ok(usize::try_from(self.whole_number()?).unwrap_or(usize::MAX))
    }

    /// A limit. None, or a number that is larger than anything that is counted, is no limit.
    pub fn limit<N: TryFrom<u64>>(&self) -> Result<Option<N>, Error> {
        let number = self.optional(WHOLE_NUMBER, V::whole_number)?;
        Ok(number.and_then(|number| N::try_from(number).ok()))
    }

    /// A duration.
    pub fn duration(&self) -> Result<Duration, Error> {
        self.required(V::WORDS.duration, V::duration)
    }

    /// A duration, or none.
    pub fn optional_duration(&self) -> Result<Option<Duration>, Error> {
        self.optional(V::WORDS.duration, V::duration)
    }

    /// A text.
    pub fn text(&self) -> Result<String, Error> {
        self.required(V::WORDS.text, V::text)
    }

    /// A text, or none.
    pub fn optional_text(&self) -> Result<Option<String>, Error> {
        self.optional(V::WORDS.text, V::text)
    }

    /// One of the words of the option.
    pub fn word<W: FromStr<Err = Error>>(&self) -> Result<W, Error> {
        self.text()?.parse().map_err(|error| self.about(error))
    }

    /// Texts.
    pub fn texts(&self) -> Result<Vec<String>, Error> {
        self.texts_of(&self.required(V::WORDS.texts, V::items)?)
    }

    /// Patterns of paths.
    pub(super) fn patterns(&self) -> Result<Vec<PathPattern>, Error> {
        PathPattern::all(self.name, self.texts()?)
    }

    /// Patterns of paths, or none.
    pub(super) fn optional_patterns(&self) -> Result<Option<Vec<PathPattern>>, Error> {
        let items = self.optional(V::WORDS.texts, V::items)?;
        items.map(|items| PathPattern::all(self.name, self.texts_of(&items)?)).transpose()
    }

    /// Rules for sensitive text: patterns by their ids.
    pub(super) fn rules(&self) -> Result<Vec<SensitiveRule>, Error> {
        let entries = self.required(V::WORDS.texts_by_name, V::entries)?;
        let rules = entries.iter().map(|(id, pattern)| match pattern.text() {
            Some(text) => Ok((id.clone(), text)),
            None => Err(self.part_must_be_text(&format!(".{id}"), pattern)),
        });
        custom_rules(rules.collect::<Result<Vec<_>, _>>()?).map_err(|error| self.about(error))
    }

    /// The key of an encrypted store. No sentence shows it.
    #[cfg(feature = "encryption")]
    pub fn key(&self) -> Result<EncryptionKey, Error> {
        let key = self.value.key().ok_or_else(|| self.problem(V::WORDS.key))?;
        key.map_err(|error| self.about(error))
    }

    /// The key of an encrypted store, or none.
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

    /// What the core says of the value, under the name of this option.
    fn about(&self, error: Error) -> Error {
        match error {
            Error::Config(error) => error.renamed(self.name).into(),
            other => other,
        }
    }
}

const WHOLE_NUMBER: &str = "a whole number from 0 on";

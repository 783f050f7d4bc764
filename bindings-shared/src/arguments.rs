//! [`Arguments`]: the arguments of an operation, by name. Each method reads one type.

use std::borrow::Cow;
use std::fmt::Display;
use std::str::FromStr;
use std::time::{Duration, SystemTime};

use memdir::options::{Given, OptionValue, Words};
use memdir::value::{Fields, Value};
use memdir::{ConfigError, Error, NameCase};

use crate::search::TextUnit;

/// How a language represents times.
#[derive(Debug, Clone, Copy)]
pub struct Times {
    /// Reads a time, or says what it must be, such as ` must be a valid Date`.
    pub read: fn(&Value<'_>) -> Result<SystemTime, &'static str>,
    /// The rest of the smallest unit in which the language counts time. A change within that unit belongs to the time.
    pub rest: Duration,
}

/// The arguments of an operation.
pub struct Arguments<'a> {
    fields: &'a dyn Fields,
    names: Vec<&'a str>,
    times: Times,
    omitted: Value<'static>,
    text_unit: TextUnit,
}

impl<'a> Arguments<'a> {
    /// `names` are the names that were given, if the language does not check them itself.
    pub fn new(fields: &'a dyn Fields, names: Vec<&'a str>, times: Times) -> Self {
        Self { fields, names, times, omitted: Value::Null, text_unit: TextUnit::Bytes }
    }

    /// The same, with the language's word for an argument that is omitted, such as `undefined`. Errors use it instead of `null`.
    #[must_use]
    pub fn with_omitted(self, word: &'static str) -> Self {
        Self { omitted: Value::Other(word.into()), ..self }
    }

    /// The same, for a language that counts the places in a text in this unit. The default is bytes.
    #[must_use]
    pub fn with_text_unit(self, text_unit: TextUnit) -> Self {
        Self { text_unit, ..self }
    }

    /// The unit in which the language counts the places in a text.
    #[must_use]
    pub fn text_unit(&self) -> TextUnit {
        self.text_unit
    }

    /// The argument; `None` if it is omitted.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<Value<'_>> {
        self.fields.get(name)
    }

    /// A text.
    ///
    /// # Errors
    /// The argument is something else. The same error applies to every argument.
    pub fn text(&self, name: &str) -> Result<String, Error> {
        string(name, &self.required(name))
    }

    /// A text, or the default if it is omitted.
    pub fn text_or(&self, name: &str, default: &str) -> Result<String, Error> {
        self.get(name).map_or_else(|| Ok(default.to_owned()), |given| string(name, &given))
    }

    /// One of the words that the argument allows, or the default if it is omitted.
    pub fn word_or<W: FromStr<Err = Error>>(&self, name: &str, default: W) -> Result<W, Error> {
        self.get(name).map_or(Ok(default), |given| argument(name, &given).word())
    }

    /// A text that may be null.
    pub fn optional_text(&self, name: &str) -> Result<Option<String>, Error> {
        optional_string(name, &self.get(name).unwrap_or(Value::Null))
    }

    /// A list of texts.
    pub fn texts(&self, name: &str) -> Result<Vec<String>, Error> {
        strings(name, &self.required(name))
    }

    /// A boolean; false if it is omitted.
    pub fn flag(&self, name: &str) -> Result<bool, Error> {
        self.get(name).map_or(Ok(false), |given| flag(name, &given))
    }

    /// A whole number, or the default if it is omitted.
    pub fn count_or(&self, name: &str, default: usize) -> Result<usize, Error> {
        self.get(name).map_or(Ok(default), |given| count(name, &given))
    }

    /// A whole number that may be null.
    pub fn optional_count(&self, name: &str) -> Result<Option<usize>, Error> {
        optional_count(name, &self.get(name).unwrap_or(Value::Null))
    }

    /// The time of the first changes to include; `None` if it is null or omitted.
    pub fn since(&self, name: &str) -> Result<Option<SystemTime>, Error> {
        self.optional(name).map(|given| self.time(name, &given)).transpose()
    }

    /// The time of a state. It includes all changes within the last unit of the time.
    pub fn at(&self, name: &str) -> Result<SystemTime, Error> {
        Ok(self.time(name, &self.required(name))? + self.times.rest)
    }

    /// Fails for an argument that is not one of these, as for an option that does not exist.
    pub fn none_but(&self, names: &[&str]) -> Result<(), Error> {
        let unknown = self.names.iter().find(|name| !names.contains(name));
        unknown.map_or(Ok(()), |name| Err(ConfigError::unknown_option(name, names).into()))
    }

    fn time(&self, name: &str, given: &Value<'_>) -> Result<SystemTime, Error> {
        (self.times.read)(given).map_err(|problem| match given {
            // An invalid `Date` of JavaScript. Its number would explain nothing.
            Value::Number(number) if number.is_nan() => {
                ConfigError::of_option(name).and(problem).into()
            }
            _ => wrong(name, problem, given),
        })
    }

    fn required(&self, name: &str) -> Value<'_> {
        self.get(name).unwrap_or_else(|| self.omitted.clone())
    }

    fn optional(&self, name: &str) -> Option<Value<'_>> {
        self.get(name).filter(|given| *given != Value::Null)
    }
}

/// A text.
///
/// # Errors
/// The value is not a text.
pub fn string(name: &str, given: &Value<'_>) -> Result<String, Error> {
    argument(name, given).text()
}

/// A text; `None` for null.
///
/// # Errors
/// The value is neither a text nor null.
pub fn optional_string(name: &str, given: &Value<'_>) -> Result<Option<String>, Error> {
    argument(name, given).optional_text()
}

/// A list of texts.
///
/// # Errors
/// The value is not a list of texts.
pub fn strings(name: &str, given: &Value<'_>) -> Result<Vec<String>, Error> {
    argument(name, given).texts()
}

/// A boolean.
///
/// # Errors
/// The value is not a boolean.
pub fn flag(name: &str, given: &Value<'_>) -> Result<bool, Error> {
    argument(name, given).flag()
}

/// A whole number. A number that is too large for `usize` becomes the largest `usize`.
///
/// # Errors
/// The value is not a whole number, or is negative.
pub fn count(name: &str, given: &Value<'_>) -> Result<usize, Error> {
    argument(name, given).count()
}

/// A whole number, as for [`count`]; `None` for null.
///
/// # Errors
/// The value is neither a whole number nor null, or is negative.
pub fn optional_count(name: &str, given: &Value<'_>) -> Result<Option<usize>, Error> {
    argument(name, given).limit()
}

/// The error for a wrong value.
pub fn wrong(name: &str, problem: impl Into<Cow<'static, str>>, got: impl Display) -> Error {
    ConfigError::of_option(name).and(problem).got(got).into()
}

/// An argument, read like the value of an option.
fn argument<'a>(name: &'a str, given: &Value<'a>) -> Given<'a, Argument<'a>> {
    Given::new(name, Argument(given.clone()))
}

struct Argument<'a>(Value<'a>);

impl OptionValue for Argument<'_> {
    const WORDS: &'static Words = &Words {
        case: NameCase::Snake,
        none: "null",
        flag: "true or false",
        duration: "a duration",
        text: "a string",
        texts: "an array of strings",
        texts_by_name: "an object of strings",
        key: "a string",
    };

    fn shown(&self) -> Value<'_> {
        self.0.clone()
    }

    /// Languages differ in their units, so each reads durations itself.
    fn duration(&self) -> Option<Duration> {
        None
    }

    fn items(&self) -> Option<Vec<Self>> {
        match &self.0 {
            Value::List(items) => Some(items.iter().cloned().map(Self).collect()),
            _ => None,
        }
    }

    fn entries(&self) -> Option<Vec<(String, Self)>> {
        None
    }
}

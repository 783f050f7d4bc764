//! [`Arguments`]: those of an operation, by their names, of which each has its type.

use std::borrow::Cow;
use std::fmt::Display;
use std::time::{Duration, SystemTime};

use memdir::options::{Given, OptionValue, Words};
use memdir::value::{Fields, Value};
use memdir::{ConfigError, Error, NameCase};

/// How a language writes times.
#[derive(Debug, Clone, Copy)]
pub struct Times {
    /// Reads one, or says what it must be, such as ` must be a valid Date`.
    pub read: fn(&Value<'_>) -> Result<SystemTime, &'static str>,
    /// The rest of the smallest unit in which the language counts time: a change within it belongs to the time.
    pub rest: Duration,
}

/// The arguments of an operation.
pub struct Arguments<'a> {
    fields: &'a dyn Fields,
    names: Vec<&'a str>,
    times: Times,
}

impl<'a> Arguments<'a> {
    /// `names` are those that were given, if a language does not check them itself.
    pub fn new(fields: &'a dyn Fields, names: Vec<&'a str>, times: Times) -> Self {
        Self { fields, names, times }
    }

    /// The argument; `None` if it is left out.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<Value<'_>> {
        self.fields.get(name)
    }

    /// A text.
    ///
    /// # Errors
    /// It is something else, as for every argument.
    pub fn text(&self, name: &str) -> Result<String, Error> {
        string(name, &self.get(name).unwrap_or(Value::Null))
    }

    /// A text, or the default if it is left out.
    pub fn text_or(&self, name: &str, default: &str) -> Result<String, Error> {
        self.get(name).map_or_else(|| Ok(default.to_owned()), |given| string(name, &given))
    }

    /// A text that may be null.
    pub fn optional_text(&self, name: &str) -> Result<Option<String>, Error> {
        optional_string(name, &self.get(name).unwrap_or(Value::Null))
    }

    /// Texts.
    pub fn texts(&self, name: &str) -> Result<Vec<String>, Error> {
        strings(name, &self.get(name).unwrap_or(Value::Null))
    }

    /// Whether or not; false if it is left out.
    pub fn flag(&self, name: &str) -> Result<bool, Error> {
        self.get(name).map_or(Ok(false), |given| flag(name, &given))
    }

    /// A whole number, or the default if it is left out.
    pub fn count_or(&self, name: &str, default: usize) -> Result<usize, Error> {
        self.get(name).map_or(Ok(default), |given| count(name, &given))
    }

    /// A whole number that may be null.
    pub fn optional_count(&self, name: &str) -> Result<Option<usize>, Error> {
        optional_count(name, &self.get(name).unwrap_or(Value::Null))
    }

    /// A time from which on changes are meant; `None` if it is null or left out.
    pub fn since(&self, name: &str) -> Result<Option<SystemTime>, Error> {
        self.optional(name).map(|given| self.time(name, &given)).transpose()
    }

    /// A time whose state is meant, with all that was done within its last unit.
    pub fn at(&self, name: &str) -> Result<SystemTime, Error> {
        Ok(self.time(name, &self.get(name).unwrap_or(Value::Null))? + self.times.rest)
    }

    /// Fails for an argument that is not one of these, as for an option of a memory that does not exist.
    pub fn none_but(&self, names: &[&str]) -> Result<(), Error> {
        let unknown = self.names.iter().find(|name| !names.contains(name));
        unknown.map_or(Ok(()), |name| Err(ConfigError::unknown_option(name, names).into()))
    }

    fn time(&self, name: &str, given: &Value<'_>) -> Result<SystemTime, Error> {
        (self.times.read)(given).map_err(|problem| match given {
            // A `Date` of JavaScript that is none. To show its number would explain nothing.
            Value::Number(number) if number.is_nan() => {
                ConfigError::of_option(name).and(problem).into()
            }
            _ => wrong(name, problem, given),
        })
    }

    fn optional(&self, name: &str) -> Option<Value<'_>> {
        self.get(name).filter(|given| *given != Value::Null)
    }
}

/// A text.
///
/// # Errors
/// It is something else.
pub fn string(name: &str, given: &Value<'_>) -> Result<String, Error> {
    argument(name, given).text()
}

/// A text; `None` for null.
///
/// # Errors
/// It is something else.
pub fn optional_string(name: &str, given: &Value<'_>) -> Result<Option<String>, Error> {
    argument(name, given).optional_text()
}

/// Texts.
///
/// # Errors
/// They are something else.
pub fn strings(name: &str, given: &Value<'_>) -> Result<Vec<String>, Error> {
    argument(name, given).texts()
}

/// Whether or not.
///
/// # Errors
/// It is something else.
pub fn flag(name: &str, given: &Value<'_>) -> Result<bool, Error> {
    argument(name, given).flag()
}

/// A whole number. A larger one than addresses can count is as many as they can.
///
/// # Errors
/// It is something else, or negative.
pub fn count(name: &str, given: &Value<'_>) -> Result<usize, Error> {
    argument(name, given).count()
}

/// A whole number, as [`count`]; `None` for null.
///
/// # Errors
/// It is something else, or negative.
pub fn optional_count(name: &str, given: &Value<'_>) -> Result<Option<usize>, Error> {
    argument(name, given).limit()
}

/// The error for a wrong value.
pub fn wrong(name: &str, problem: impl Into<Cow<'static, str>>, got: impl Display) -> Error {
    ConfigError::of_option(name).and(problem).got(got).into()
}

/// An argument, which is read like the value of an option.
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

    /// Languages differ in their units, so each reads its own.
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

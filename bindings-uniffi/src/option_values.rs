//! Converts a record's fields, and arguments, to the values that the core's option reader takes.

use std::borrow::Cow;
use std::collections::HashMap;
use std::time::Duration;

use memdir::NameCase;
use memdir::options::{self, OptionValue, Words};
use memdir::value::Value;

use crate::border::{MemdirDuration, MemdirKey, MemdirText};
use crate::error::MemdirError;

/// The value of a field of the record.
pub(crate) enum Given {
    None,
    Flag(bool),
    Number(i64),
    Word(&'static str),
    Duration(MemdirDuration),
    Text(MemdirText),
    Patterns(Vec<MemdirText>),
    Rules(HashMap<MemdirText, MemdirText>),
    #[cfg_attr(
        not(feature = "encryption"),
        expect(dead_code, reason = "only encryption reads a key")
    )]
    Key(MemdirKey),
}

impl OptionValue for Given {
    const WORDS: &'static Words = &Words {
        case: NameCase::Snake,
        none: "null",
        flag: "true or false",
        duration: "0 seconds or more",
        text: "a string of valid Unicode",
        texts: "an array of strings",
        texts_by_name: "strings by strings of valid Unicode",
        key: "bytes, or a string of valid Unicode",
    };

    fn shown(&self) -> Value<'_> {
        match self {
            Self::None => Value::Null,
            Self::Flag(flag) => Value::Bool(*flag),
            Self::Number(number) => Value::Integer(*number),
            Self::Word(word) => Value::Text(Cow::Borrowed(word)),
            Self::Duration(duration) => duration.shown(),
            Self::Text(text) => text.field(),
            Self::Patterns(_) => Value::Other(Cow::Borrowed("an array")),
            Self::Rules(_) => {
                Value::Other(Cow::Borrowed("strings by text that is not valid Unicode"))
            }
            Self::Key(_) => Value::Other(Cow::Borrowed("a key")),
        }
    }

    fn duration(&self) -> Option<Duration> {
        match self {
            Self::Duration(duration) => duration.value(),
            _ => None,
        }
    }

    fn items(&self) -> Option<Vec<Self>> {
        match self {
            Self::Patterns(patterns) => Some(patterns.iter().cloned().map(Self::Text).collect()),
            _ => None,
        }
    }

    fn entries(&self) -> Option<Vec<(String, Self)>> {
        let Self::Rules(rules) = self else { return None };
        let entries = rules.iter().map(|(id, pattern)| match id.field() {
            Value::Text(id) => Some((id.into_owned(), Self::Text(pattern.clone()))),
            _ => None,
        });
        entries.collect()
    }

    #[cfg(feature = "encryption")]
    fn key(&self) -> Option<Result<memdir::EncryptionKey, memdir::Error>> {
        match self {
            Self::Key(key) => key.value(),
            _ => None,
        }
    }
}

impl MemdirText {
    /// Reads an argument, or a part of an address.
    pub(crate) fn option(self, name: &str) -> Result<String, MemdirError> {
        Ok(options::Given::new(name, Given::Text(self)).text()?)
    }
}

/// Reads an argument that is a list.
pub(crate) fn texts(name: &str, given: Vec<MemdirText>) -> Result<Vec<String>, MemdirError> {
    Ok(options::Given::new(name, Given::Patterns(given)).texts()?)
}

impl MemdirDuration {
    /// Reads an argument.
    pub(crate) fn option(self, name: &str) -> Result<Duration, MemdirError> {
        Ok(options::Given::new(name, Given::Duration(self)).duration()?)
    }
}

impl MemdirKey {
    /// Reads an argument.
    #[cfg(feature = "encryption")]
    pub(crate) fn option(&self, name: &str) -> Result<memdir::EncryptionKey, MemdirError> {
        Ok(options::Given::new(name, Given::Key(self.clone())).key()?)
    }

    #[cfg(not(feature = "encryption"))]
    #[expect(clippy::unused_self, reason = "the same method with encryption uses it")]
    pub(crate) fn option<Never>(&self, name: &str) -> Result<Never, MemdirError> {
        let error = memdir::ConfigError::of_option(name);
        Err(error.and(" is for encryption, and this library was built without it").into())
    }
}

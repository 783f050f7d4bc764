//! Converts JavaScript's values for the core's option reader, and arguments that are read in the same way. The
//! WebAssembly build includes this same file.

use std::str::FromStr;
use std::time::Duration;

use memdir::options::{self, OptionValue, Words};
use memdir::value::Value;
use memdir::{EncryptionKey, Error, NameCase};

/// A JavaScript value.
pub(crate) enum Given<'a> {
    /// A value without named parts.
    Value(Value<'a>),
    /// An object, with its own properties.
    Object(Vec<(String, Value<'a>)>),
    /// A `Uint8Array`.
    Bytes(Vec<u8>),
}

impl OptionValue for Given<'_> {
    const WORDS: &'static Words = &Words {
        case: NameCase::Camel,
        none: "null",
        flag: "true or false",
        duration: "a number of milliseconds from 0 on",
        text: "a string",
        texts: "an array of strings",
        texts_by_name: "an object of strings",
        key: "a Uint8Array or a string of valid Unicode",
    };

    fn shown(&self) -> Value<'_> {
        match self {
            Self::Value(value) => value.clone(),
            Self::Object(_) | Self::Bytes(_) => Value::Object,
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "exact for 285,000 years of milliseconds")]
    fn duration(&self) -> Option<Duration> {
        let milliseconds = match self {
            Self::Value(Value::Integer(number)) => *number as f64,
            Self::Value(Value::Number(number)) => *number,
            _ => return None,
        };
        Duration::try_from_secs_f64(milliseconds / 1_000.0).ok()
    }

    fn items(&self) -> Option<Vec<Self>> {
        match self {
            Self::Value(Value::List(items)) => {
                Some(items.iter().cloned().map(Self::Value).collect())
            }
            _ => None,
        }
    }

    fn entries(&self) -> Option<Vec<(String, Self)>> {
        let Self::Object(entries) = self else { return None };
        Some(entries.iter().cloned().map(|(name, value)| (name, Self::Value(value))).collect())
    }

    fn key(&self) -> Option<Result<EncryptionKey, Error>> {
        match self {
            Self::Bytes(bytes) => Some(EncryptionKey::from_slice(bytes)),
            Self::Value(Value::Text(text)) => Some(text.parse()),
            _ => None,
        }
    }
}

/// A number of milliseconds.
pub(crate) fn span(name: &str, value: &Value<'_>) -> Result<Duration, Error> {
    options::Given::new(name, Given::Value(value.clone())).duration()
}

/// A number of milliseconds; `None` for null.
pub(crate) fn optional_span(name: &str, value: &Value<'_>) -> Result<Option<Duration>, Error> {
    options::Given::new(name, Given::Value(value.clone())).optional_duration()
}

/// One of an enum's words in the core.
pub(crate) fn word<W: FromStr<Err = Error>>(name: &str, value: &Value<'_>) -> Result<W, Error> {
    options::Given::new(name, Given::Value(value.clone())).word()
}

/// A key of an encrypted store.
pub(crate) fn key(name: &str, given: Given<'_>) -> Result<EncryptionKey, Error> {
    options::Given::new(name, given).key()
}

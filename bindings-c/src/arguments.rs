//! The arguments of an operation: a JSON object, of which each has its type.

use std::time::Duration;

use memdir::ConfigError;
use serde_json::{Map, Value};

use crate::failure::Failure;

/// The arguments of an operation.
pub(crate) struct Arguments(Map<String, Value>);

impl Arguments {
    pub(crate) fn parse(json: &str) -> Result<Self, Failure> {
        match serde_json::from_str(json) {
            Ok(Value::Object(fields)) => Ok(Self(fields)),
            Ok(Value::Null) => Ok(Self(Map::new())),
            _ => Err(Failure::usage("the arguments of an operation are a JSON object")),
        }
    }

    /// The argument; null if it is not there.
    pub(crate) fn get(&self, name: &str) -> &Value {
        self.0.get(name).unwrap_or(&Value::Null)
    }

    /// A text that has to be there.
    pub(crate) fn text(&self, name: &str) -> Result<&str, Failure> {
        self.get(name).as_str().ok_or_else(|| wrong(name, " must be a string"))
    }

    /// A text that may be left out, which then is none.
    pub(crate) fn optional_text(&self, name: &str) -> Result<Option<&str>, Failure> {
        if self.get(name).is_null() { Ok(None) } else { self.text(name).map(Some) }
    }

    /// A text that may be left out, which then is the default.
    pub(crate) fn text_or<'a>(&'a self, name: &str, default: &'a str) -> Result<&'a str, Failure> {
        if self.get(name).is_null() { Ok(default) } else { self.text(name) }
    }

    /// A list of texts that has to be there.
    pub(crate) fn texts(&self, name: &str) -> Result<Vec<&str>, Failure> {
        let texts = self.get(name).as_array();
        texts
            .and_then(|texts| texts.iter().map(Value::as_str).collect())
            .ok_or_else(|| wrong(name, " must be an array of strings"))
    }

    /// A flag; false if it is left out.
    pub(crate) fn flag(&self, name: &str) -> Result<bool, Failure> {
        match self.get(name) {
            Value::Null => Ok(false),
            given => given.as_bool().ok_or_else(|| wrong(name, " must be true or false")),
        }
    }

    /// A whole number that may be left out.
    pub(crate) fn number(&self, name: &str) -> Result<Option<usize>, Failure> {
        match self.get(name) {
            Value::Null => Ok(None),
            given => {
                let number = given.as_u64().and_then(|number| usize::try_from(number).ok());
                number.map(Some).ok_or_else(|| wrong(name, " must be a whole number from 0 on"))
            }
        }
    }

    /// A number of seconds that may be left out.
    pub(crate) fn span(&self, name: &str) -> Result<Option<Duration>, Failure> {
        match self.get(name) {
            Value::Null => Ok(None),
            given => {
                let span =
                    given.as_f64().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
                span.map(Some).ok_or_else(|| wrong(name, " must be a number of seconds from 0 on"))
            }
        }
    }

    /// Fails for an argument that is not one of these, as for an option of a memory that does not exist.
    pub(crate) fn none_but(&self, names: &[&str]) -> Result<(), Failure> {
        match self.0.keys().find(|name| !names.contains(&name.as_str())) {
            None => Ok(()),
            Some(name) => Err(memdir::Error::from(ConfigError::unknown_option(name, names)).into()),
        }
    }
}

/// The error for an argument with a wrong value.
pub(crate) fn wrong(name: &str, problem: &'static str) -> Failure {
    memdir::Error::from(ConfigError::of_option(name).and(problem)).into()
}

//! What a program can ask of a memory beside executing commands: one function, with the name of the operation.

use std::ops::ControlFlow;
use std::time::Duration;

use memdir::{ConfigError, Memory};
use serde_json::{Map, Value, json};

use crate::failure::Failure;
use crate::files::{self, seconds};

/// Does the operation `name` with these arguments, an object, and returns its result.
pub(crate) fn call(memory: &Memory, name: &str, arguments: &str) -> Result<Value, Failure> {
    let arguments = Arguments::parse(arguments)?;
    match name {
        "clear" => {
            arguments.none_but(&[])?;
            Ok(memory.clear()?.into())
        }
        "expire" => expire(memory, &arguments),
        #[cfg(feature = "testing")]
        _ if name.starts_with("testing.") => crate::testing::call(memory, name, &arguments),
        _ => files::call(memory, name, &arguments)?
            .ok_or_else(|| Failure::usage(format!("there is no operation {name:?}"))),
    }
}

fn expire(memory: &Memory, arguments: &Arguments) -> Result<Value, Failure> {
    arguments.none_but(&["older_than", "dry_run"])?;
    let older_than = arguments.get("older_than");
    let span = older_than.as_f64().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    let span = span.ok_or_else(|| wrong("older_than", " must be a number of seconds from 0 on"))?;
    let dry_run = arguments.flag("dry_run")?;
    let expired = memory.expire(span, dry_run, &mut |_| ControlFlow::Continue(()))?;
    Ok(expired
        .iter()
        .map(|file| {
            let last_used = seconds(file.last_used);
            json!({ "path": file.path.as_str(), "bytes": file.bytes, "last_used": last_used })
        })
        .collect())
}

fn wrong(name: &str, problem: &'static str) -> Failure {
    memdir::Error::from(ConfigError::of_option(name).and(problem)).into()
}

/// The arguments of an operation.
pub(crate) struct Arguments(Map<String, Value>);

impl Arguments {
    fn parse(json: &str) -> Result<Self, Failure> {
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

    /// A text that may be left out.
    pub(crate) fn text_or<'a>(&'a self, name: &str, default: &'a str) -> Result<&'a str, Failure> {
        if self.get(name).is_null() { Ok(default) } else { self.text(name) }
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

    /// Fails for an argument that is not one of these.
    pub(crate) fn none_but(&self, names: &[&str]) -> Result<(), Failure> {
        match self.0.keys().find(|name| !names.contains(&name.as_str())) {
            None => Ok(()),
            Some(name) => Err(Failure::usage(format!("there is no argument {name:?}"))),
        }
    }
}

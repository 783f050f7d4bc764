//! What a program can ask of a memory beside executing commands: one function, with the name of the operation.

use std::ops::ControlFlow;

use memdir::Memory;
use serde::Serialize;
use serde_json::Value;

use crate::arguments::{Arguments, wrong};
use crate::failure::Failure;
use crate::files;
use crate::{history, watch};

/// Does the operation `name` with these arguments, an object, and returns its result.
pub(crate) fn call(memory: &Memory, name: &str, arguments: &str) -> Result<Value, Failure> {
    let arguments = Arguments::parse(arguments)?;
    match name {
        "clear" => {
            arguments.none_but(&[])?;
            Ok(memory.clear()?.into())
        }
        "erase" => {
            arguments.none_but(&["dry_run"])?;
            shown(&memory.erase(arguments.flag("dry_run")?)?)
        }
        "expire" => expire(memory, &arguments),
        #[cfg(feature = "testing")]
        _ if name.starts_with("testing.") => crate::testing::call(memory, name, &arguments),
        _ => {
            for call in [files::call, history::call, watch::call] {
                if let Some(result) = call(memory, name, &arguments)? {
                    return Ok(result);
                }
            }
            Err(Failure::usage(format!("there is no operation {name:?}")))
        }
    }
}

/// A result as JSON.
pub(crate) fn shown(result: &impl Serialize) -> Result<Value, Failure> {
    serde_json::to_value(result).map_err(|error| Failure::usage(error.to_string()))
}

fn expire(memory: &Memory, arguments: &Arguments) -> Result<Value, Failure> {
    arguments.none_but(&["older_than", "dry_run"])?;
    let span = arguments.span("older_than")?;
    let span = span.ok_or_else(|| wrong("older_than", " must be a number of seconds from 0 on"))?;
    let dry_run = arguments.flag("dry_run")?;
    shown(&memory.expire(span, dry_run, &mut |_| ControlFlow::Continue(()))?)
}

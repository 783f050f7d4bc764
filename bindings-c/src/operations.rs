//! What a program can ask of a memory beside executing commands: one function, with the name of the operation.

use std::ops::ControlFlow;

use memdir::Memory;
use serde_json::{Value, json};

use crate::arguments::{Arguments, wrong};
use crate::failure::Failure;
use crate::files;
use crate::time::seconds;
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
            let erased = memory.erase(arguments.flag("dry_run")?)?;
            Ok(json!({
                "files": erased.files,
                "bytes": erased.bytes,
                "versions": erased.versions,
                "history_bytes": erased.history_bytes,
            }))
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

fn expire(memory: &Memory, arguments: &Arguments) -> Result<Value, Failure> {
    arguments.none_but(&["older_than", "dry_run"])?;
    let span = arguments.span("older_than")?;
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

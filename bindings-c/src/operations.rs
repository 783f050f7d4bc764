//! The operations on a memory other than tool calls: one function, which gets the name of the operation.

use std::ops::ControlFlow;

use memdir::command::{Dialect, search_tool_definition};
use memdir::sync::SyncProgress;
use memdir::value::Value as Given;
use memdir::value::Value::Null;
use memdir::{CopyOptions, Memory, OnExisting};
use memdir_bindings_shared::arguments::{Arguments, wrong};
use memdir_bindings_shared::check::check;
use memdir_bindings_shared::operations::perform;
use memdir_bindings_shared::sync::{SYNC_OPTIONS, sync_options};
use serde_json::Value;

use crate::arguments::{NO_SPAN, named, parse, span, without_nulls};
use crate::failure::Failure;
use crate::handles::{MEMORIES, Opened};
use crate::results::{returned, shown};
use crate::watch;

/// Executes the operation `name` with these arguments, an object, and returns its result.
pub(crate) fn call(opened: &Opened, name: &str, arguments: &str) -> Result<Value, Failure> {
    let memory = &opened.memory;
    let fields = parse(arguments)?;
    let names: Vec<String> = fields.keys().cloned().collect();
    let fields = without_nulls(fields);
    #[cfg(feature = "testing")]
    if name.starts_with("testing.") {
        return crate::testing::call(memory, name, &fields);
    }
    let given = named(&fields, &names);
    if let Some(done) = perform::<Failure>(memory, name, &given)? {
        return Ok(returned(done));
    }
    match name {
        "check" => {
            given.none_but(&[])?;
            Ok(shown(&check(memory.cancellation(), &opened.store)?))
        }
        "copy" => copy(memory, &given),
        "sync" => sync(opened, &given),
        "clear" => {
            given.none_but(&[])?;
            Ok(memory.clear()?.into())
        }
        "expire" => expire(memory, &given),
        "tool_definition" => {
            given.none_but(&["dialect"])?;
            Ok(memory.tool_definition(dialect(&given)?))
        }
        "tool_definitions" => {
            given.none_but(&["dialect", "prefix"])?;
            let prefix = given.text_or("prefix", "")?;
            Ok(memory.tool_definitions(dialect(&given)?, &prefix)?.into())
        }
        "search_tool_definition" => {
            given.none_but(&["dialect", "prefix"])?;
            let prefix = given.text_or("prefix", "memory_")?;
            Ok(search_tool_definition(dialect(&given)?, &prefix)?)
        }
        _ => watch::call(memory, name, &given)?
            .ok_or_else(|| Failure::usage(format!("there is no operation {name:?}"))),
    }
}

fn dialect(given: &Arguments<'_>) -> Result<Dialect, Failure> {
    Ok(given.word_or("dialect", Dialect::JsonSchema)?)
}

/// Copies to another memory, by its number. A cancelled copy ends before the next file.
fn copy(memory: &Memory, given: &Arguments<'_>) -> Result<Value, Failure> {
    given.none_but(&["to", "overwrite", "without_history"])?;
    let to = other(given)?.memory;
    let mut how = CopyOptions::default();
    let overwrite = given.flag("overwrite")?;
    how.existing = if overwrite { OnExisting::Overwrite } else { OnExisting::Error };
    how.without_history = given.flag("without_history")?;
    how.durability = to.options().durability;
    let copied = memory.copy_to(&to, how, &mut |_| ControlFlow::Continue(()))?;
    Ok(shown(&copied))
}

/// Syncs with another memory, by its number. A cancelled sync ends before the next file.
fn sync(opened: &Opened, given: &Arguments<'_>) -> Result<Value, Failure> {
    let mut names = vec!["to"];
    names.extend(SYNC_OPTIONS);
    given.none_but(&names)?;
    let (to, mut options) = (other(given)?, sync_options(given)?);
    if given.get("on_conflict").is_none() {
        options.on_conflict = opened.on_conflict.clone();
    }
    let go_on = &mut |_: SyncProgress<'_>| ControlFlow::Continue(());
    Ok(shown(&memdir::sync(&opened.for_sync(), &to.for_sync(), &options, go_on)?))
}

/// The memory whose number is the argument "to".
fn other(given: &Arguments<'_>) -> Result<Opened, Failure> {
    let number = match given.get("to").unwrap_or(Null) {
        Given::Integer(number) => u64::try_from(number).unwrap_or_default(),
        other => return Err(wrong("to", " must be the number of a memory", other).into()),
    };
    MEMORIES.get(number)
}

fn expire(memory: &Memory, given: &Arguments<'_>) -> Result<Value, Failure> {
    given.none_but(&["older_than", "dry_run"])?;
    let age = span(given, "older_than")?;
    let age = age.ok_or_else(|| wrong("older_than", NO_SPAN, Null))?;
    let dry_run = given.flag("dry_run")?;
    Ok(shown(&memory.expire(age, dry_run, &mut |_| ControlFlow::Continue(()))?))
}

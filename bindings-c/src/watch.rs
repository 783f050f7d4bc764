//! Watches, by their numbers. A watch outlives the number of the memory with which it was begun, because the
//! application may have made that number for one call.

use std::sync::Arc;
use std::time::Duration;

use memdir::value::Value as Given;
use memdir::{Memory, SharedWatch};
use memdir_bindings_shared::arguments::{Arguments, wrong};
use serde_json::Value;

use crate::arguments::{optional_span, span};
use crate::failure::Failure;
use crate::handles::Table;
use crate::results::shown;

static WATCHES: Table<Arc<SharedWatch>> = Table::new();

/// Executes the operation `name`; `None` if there is no such operation here.
pub(crate) fn call(
    memory: &Memory,
    name: &str,
    given: &Arguments<'_>,
) -> Result<Option<Value>, Failure> {
    Ok(Some(match name {
        "watch" => {
            given.none_but(&["path", "every"])?;
            let every = optional_span(given, "every")?;
            let watch = memory.watch(&given.text_or("path", "/memories")?, every)?;
            WATCHES.add(Arc::new(SharedWatch::from(watch))).into()
        }
        "changes" => {
            given.none_but(&["watch", "wait"])?;
            let wait = span(given, "wait")?.unwrap_or(Duration::ZERO);
            let number = number(given)?;
            let watch = WATCHES.find(number).ok_or_else(|| none(number))?;
            // Null if the watch was ended meanwhile.
            shown(&watch.changes(memory.cancellation(), wait)?)
        }
        "is_due" => {
            given.none_but(&["watch"])?;
            let number = number(given)?;
            WATCHES.find(number).ok_or_else(|| none(number))?.is_due().into()
        }
        "unwatch" => {
            given.none_but(&["watch"])?;
            let number = number(given)?;
            WATCHES.take(number).ok_or_else(|| none(number))?.close();
            Value::Null
        }
        _ => return Ok(None),
    }))
}

fn number(given: &Arguments<'_>) -> Result<u64, Failure> {
    let given = given.get("watch").unwrap_or(Given::Null);
    let number = if let Given::Integer(number) = given { u64::try_from(number).ok() } else { None };
    number.ok_or_else(|| wrong("watch", " must be the number of a watch", given).into())
}

fn none(number: u64) -> Failure {
    Failure::usage(format!("there is no watch {number}: it was ended, or never begun"))
}

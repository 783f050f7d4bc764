//! Watches, by their numbers. One outlives the number of the memory that it was begun with: a program may have made that
//! number for one call.

use std::sync::Arc;
use std::time::Duration;

use memdir::{Memory, SharedWatch};
use serde_json::Value;

use crate::arguments::{Arguments, wrong};
use crate::failure::Failure;
use crate::handles::Table;
use crate::operations::shown;

static WATCHES: Table<Arc<SharedWatch>> = Table::new();

/// Does the operation `name`; none if there is no such operation here.
pub(crate) fn call(
    memory: &Memory,
    name: &str,
    given: &Arguments,
) -> Result<Option<Value>, Failure> {
    Ok(Some(match name {
        "watch" => {
            given.none_but(&["path", "every"])?;
            let every = given.span("every")?;
            let watch = memory.watch(given.text_or("path", "/memories")?, every)?;
            WATCHES.add(Arc::new(SharedWatch::from(watch))).into()
        }
        "changes" => {
            given.none_but(&["watch", "wait"])?;
            let wait = given.span("wait")?.unwrap_or(Duration::ZERO);
            let number = number(given)?;
            let watch = WATCHES.find(number).ok_or_else(|| none(number))?;
            // Null if it was ended meanwhile.
            shown(&watch.changes(memory.cancellation(), wait)?)?
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

fn number(given: &Arguments) -> Result<u64, Failure> {
    given.get("watch").as_u64().ok_or_else(|| wrong("watch", " must be the number of a watch"))
}

fn none(number: u64) -> Failure {
    Failure::usage(format!("there is no watch {number}: it was ended, or never begun"))
}

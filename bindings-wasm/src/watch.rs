//! A watch. JavaScript checks from time to time whether the watch has to poll.

use std::sync::Arc;
use std::time::Duration;

use memdir::SharedWatch;
use serde_json::Value as Json;

use crate::arguments::Arguments;
use crate::errors::{Failure, unknown};
use crate::handles::{MEMORIES, WATCHES};
use crate::options::{optional_span, string};
use crate::results::shown;

pub(crate) fn perform(method: &str, given: &Arguments) -> Result<Json, Failure> {
    Ok(match method {
        "begin" => {
            let memory = MEMORIES.get(given.number(0))?;
            let path = given.given(2, "path", string)?;
            let every = given.given(3, "every", optional_span)?;
            let watch = memory.cancelled_by(&given.cancellation(1)).watch(&path, every)?;
            WATCHES.add(Arc::new(SharedWatch::from(watch))).into()
        }
        "isDue" => WATCHES.get(given.number(0))?.is_due().into(),
        "changes" => {
            let watch = WATCHES.get(given.number(0))?;
            shown(watch.changes(&given.cancellation(1), Duration::ZERO)?)
        }
        "drop" => WATCHES.take(given.number(0)).is_some().into(),
        _ => return Err(unknown(method)),
    })
}

//! `memdir diff`: prints the changes between two versions.

use serde_json::json;

use super::history::{self, failure};
use super::history_arguments::DiffArguments;
use super::output::Output;
use super::{Ended, Failure, stores};
use memdir::MemoryOptions;
use memdir::history::ResolvedId;

pub(super) fn run(wanted: &DiffArguments, output: &mut Output) -> Result<Ended, Failure> {
    let argument = stores::only(&wanted.store, MemoryOptions::default())?;
    let memory = history::reading_memory(&argument)?;
    let reading = history::reading(&memory, &argument)?;
    let failed = |error| failure(&error, &argument);
    if let Some(other) = &wanted.other {
        let (one, other) =
            (history::version(&reading, &wanted.id)?, history::version(&reading, other)?);
        let diff = memory.diff(one, Some(other)).map_err(failed)?;
        if output.json {
            output.object(&json!({"type": "diff", "id": one, "other": other, "diff": diff}))?;
        } else {
            output.diff(&diff)?;
        }
        return Ok(Ended::Well);
    }
    let ids = match history::named(&reading, &wanted.id)? {
        ResolvedId::Change(_, versions) => versions,
        _ => vec![history::version(&reading, &wanted.id)?],
    };
    for id in ids {
        let diff = reading.diff(id).map_err(failed)?;
        if output.json {
            output.object(&json!({"type": "diff", "id": id, "other": null, "diff": diff}))?;
        } else {
            output.diff(&diff)?;
        }
    }
    Ok(Ended::Well)
}

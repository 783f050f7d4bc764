//! `memdir blame`: prints the version that added each line of a file.

use serde_json::Value;

use super::history::{self, failure};
use super::history_arguments::BlameArguments;
use super::output::Output;
use super::style::{Style, escaped};
use super::{Ended, Failure, stores};
use memdir::MemoryOptions;
use memdir::history::{BlamedLine, HistoryId};
use memdir::text::rfc3339;

/// The number of digits shown of an id. The last ones are shown, because the first ones encode the time.
const SHORT_ID: usize = 12;

/// The maximum width of the column of actors.
const MAX_ACTOR: usize = 24;

/// The width of a timestamp.
const TIME: usize = "2026-03-14T15:09:26.535000Z".len();

pub(super) fn run(wanted: &BlameArguments, output: &mut Output) -> Result<Ended, Failure> {
    let path = stores::path(&wanted.path)?;
    let argument = stores::only(&wanted.store, MemoryOptions::default())?;
    let memory = history::reading_memory(&argument)?;
    history::reading(&memory, &argument)?;
    let lines = memory.blame(path.as_str()).map_err(|error| failure(&error, &argument))?;
    let widest = lines.iter().map(|line| actor(line).chars().count()).max().unwrap_or(0);
    let widest = widest.min(MAX_ACTOR);
    let digits = lines.len().to_string().len();
    for line in &lines {
        if output.json {
            output.result("line", line, Value::Null)?;
            continue;
        }
        let mark = if line.may_be_older { "^" } else { " " };
        let id = line.version.map_or_else(|| "-".repeat(SHORT_ID), short);
        let time = line.time.map_or_else(|| "-".to_owned(), rfc3339);
        let (actor, number) = (actor(line), line.line);
        output.pieces(&[
            (Style::Dim, &format!("{mark}{id}  {actor:widest$}  {time:TIME$}  ")),
            (Style::Number, &format!("{number:digits$}")),
            (Style::Plain, &format!("  {}", line.text)),
        ])?;
    }
    Ok(Ended::Well)
}

fn short(id: HistoryId) -> String {
    let id = id.to_string();
    id.get(id.len().saturating_sub(SHORT_ID)..).unwrap_or(&id).to_owned()
}

fn actor(line: &BlamedLine) -> String {
    line.actor.as_deref().map_or_else(|| "-".to_owned(), escaped)
}

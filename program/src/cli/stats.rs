//! `memdir stats`: prints the size of a memory.

use std::time::SystemTime;

use serde_json::json;

use super::file_arguments::StatsArguments;
use super::output::{Output, age, count};
use super::style::Style;
use super::{Ended, Failure, history, stores};
use memdir::MemoryOptions;
use memdir::path::MemoryPath;
use memdir::text::human_size;

pub(super) fn run(wanted: &StatsArguments, output: &mut Output) -> Result<Ended, Failure> {
    let argument = stores::only(&wanted.store, MemoryOptions::default())?;
    let memory =
        history::with_history_if_any(argument.readable()?, &argument, argument.options().clone())?;
    let stats = memory.stats().map_err(|error| argument.error(&error))?;
    if output.json {
        let limits = json!({
            "max_files": wanted.max_files,
            "max_total_bytes": wanted.max_total_bytes,
            "max_file_bytes": wanted.max_file_bytes,
        });
        output.result("stats", &stats, limits)?;
        return Ok(Ended::Well);
    }
    let now = SystemTime::now();
    let limited = |used: String, limit: Option<String>| match limit {
        Some(limit) => format!("{used} / {limit}"),
        None => used,
    };
    let size_limit = |limit: Option<u64>| limit.map(human_size);
    let files = limited(stats.files.to_string(), wanted.max_files.map(|limit| limit.to_string()));
    let bytes = limited(human_size(stats.bytes), size_limit(wanted.max_total_bytes));
    let mut row = |name: &str, value: &str, path: Option<&MemoryPath>| {
        let name = format!("{name:<13}");
        let pieces = [(Style::Dim, name.as_str()), (Style::Plain, value)];
        let Some(path) = path else { return output.pieces(&pieces) };
        output.pieces(&[pieces[0], pieces[1], (Style::Plain, "  "), (Style::Path, path.as_str())])
    };
    row("files", &files, None)?;
    row("directories", &stats.directories.to_string(), None)?;
    row("bytes", &bytes, None)?;
    if let Some(largest) = &stats.largest {
        let size = limited(human_size(largest.bytes), size_limit(wanted.max_file_bytes));
        row("largest", &size, Some(&largest.path))?;
    }
    let times = [
        ("oldest", &stats.oldest),
        ("newest", &stats.newest),
        ("least used", &stats.least_recently_used),
    ];
    for (name, found) in times {
        if let Some(file) = found {
            row(name, &age(now, Some(file.time)), Some(&file.path))?;
        }
    }
    if let Some(history) = stats.history {
        let versions = count(history.versions, "version", "versions");
        row("history", &format!("{versions}, {}", human_size(history.bytes)), None)?;
    }
    Ok(Ended::Well)
}

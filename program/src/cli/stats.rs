//! `memdir stats`: how much a memory holds.

use std::time::SystemTime;

use serde_json::{Value, json};

use super::file_arguments::StatsArguments;
use super::output::{Output, age, count, time};
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
        let at = |found: &Option<(MemoryPath, SystemTime)>, name: &str| {
            found.as_ref().map(|(path, at)| json!({"path": path.as_str(), name: time(Some(*at))}))
        };
        let largest = stats.largest.as_ref();
        output.object(&json!({
            "type": "stats",
            "files": stats.files,
            "max_files": wanted.max_files,
            "directories": stats.directories,
            "bytes": stats.bytes,
            "max_total_bytes": wanted.max_total_bytes,
            "largest": largest.map(|(path, size)| json!({"path": path.as_str(), "size": size})),
            "max_file_bytes": wanted.max_file_bytes,
            "oldest": at(&stats.oldest, "modified"),
            "newest": at(&stats.newest, "modified"),
            "least_recently_used": at(&stats.least_recently_used, "used"),
            "history": stats.history.map_or(Value::Null, |history| {
                json!({"versions": history.versions, "bytes": history.bytes})
            }),
        }))?;
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
    if let Some((path, size)) = &stats.largest {
        let size = limited(human_size(*size), size_limit(wanted.max_file_bytes));
        row("largest", &size, Some(path))?;
    }
    let times = [
        ("oldest", &stats.oldest),
        ("newest", &stats.newest),
        ("least used", &stats.least_recently_used),
    ];
    for (name, found) in times {
        if let Some((path, time)) = found {
            row(name, &age(now, Some(*time)), Some(path))?;
        }
    }
    if let Some(history) = stats.history {
        let versions = count(history.versions, "version", "versions");
        row("history", &format!("{versions}, {}", human_size(history.bytes)), None)?;
    }
    Ok(Ended::Well)
}

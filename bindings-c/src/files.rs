//! What a program does with the files itself, past the commands: see `Memory::read` and its like.

use std::time::SystemTime;

use memdir::command::Dialect;
use memdir::store::{Entry, EntryKind};
use memdir::{GrepQuery, Memory, MemoryPath, Project, Stats};
use memdir_bindings_shared::grep_query;
use serde_json::{Value, json};

use crate::arguments::Arguments;
use crate::failure::Failure;
use crate::time::seconds;

/// Does the operation `name`; none if there is no such operation here.
pub(crate) fn call(
    memory: &Memory,
    name: &str,
    given: &Arguments,
) -> Result<Option<Value>, Failure> {
    let dialect = || Ok::<Dialect, Failure>(given.text_or("dialect", "json-schema")?.parse()?);
    Ok(Some(match name {
        "read" => {
            given.none_but(&["path"])?;
            memory.read(given.text("path")?)?.into()
        }
        "read_shown" => {
            given.none_but(&["path"])?;
            memory.read_shown(given.text("path")?)?.into()
        }
        "write" => {
            given.none_but(&["path", "text", "if_unchanged"])?;
            let unchanged = given.optional_text("if_unchanged")?;
            memory.write(given.text("path")?, given.text("text")?, unchanged)?;
            Value::Null
        }
        "list" => {
            given.none_but(&["path", "depth"])?;
            let depth = given.number("depth")?;
            let listed = memory.list(given.text_or("path", "/memories")?, depth)?;
            listed.iter().map(entry).collect()
        }
        "exists" => {
            given.none_but(&["path"])?;
            memory.exists(given.text("path")?)?.into()
        }
        "grep" => {
            let (query, path, limit) = sought(given)?;
            let found = memory.grep(&query, path, limit)?;
            let shown = found.iter().map(|found| {
                json!({ "path": found.path.as_str(), "line": found.line, "text": found.text })
            });
            shown.collect()
        }
        "find_sensitive" => {
            given.none_but(&["path", "limit"])?;
            let limit = given.number("limit")?.unwrap_or(100);
            let found = memory.find_sensitive(given.text_or("path", "/memories")?, limit)?;
            let shown = found.iter().map(|found| {
                json!({ "path": found.path.as_str(), "line": found.line, "rule": found.rule })
            });
            shown.collect()
        }
        "stats" => {
            given.none_but(&[])?;
            stats(&memory.stats()?)
        }
        "index" => {
            given.none_but(&["max_chars"])?;
            memory.index(given.number("max_chars")?.unwrap_or(2_000))?.into()
        }
        "bootstrap" => {
            given.none_but(&["about", "features", "init"])?;
            let (about, init) = (given.text("about")?, given.text_or("init", "")?);
            let features = given.texts("features")?;
            let made = memory.bootstrap(&Project { about, features: &features, init })?;
            made.iter().map(MemoryPath::as_str).collect()
        }
        "forget_views" => {
            given.none_but(&[])?;
            memory.forget_views();
            Value::Null
        }
        "tool_definition" => {
            given.none_but(&["dialect"])?;
            memory.tool_definition(dialect()?)
        }
        "tool_definitions" => {
            given.none_but(&["dialect", "prefix"])?;
            memory.tool_definitions(dialect()?, given.text_or("prefix", "")?)?.into()
        }
        _ => return Ok(None),
    }))
}

/// What "grep" and "grep_history" look for, where, and how often.
pub(crate) fn sought(given: &Arguments) -> Result<(GrepQuery, &str, usize), Failure> {
    given.none_but(&["query", "regex", "ignore_case", "path", "limit"])?;
    let query = grep_query(given.text("query")?, given.flag("regex")?, given.flag("ignore_case")?)?;
    let limit = given.number("limit")?.unwrap_or(100);
    Ok((query, given.text_or("path", "/memories")?, limit))
}

fn stats(stats: &Stats) -> Value {
    let at = |file: &Option<(MemoryPath, SystemTime)>| {
        file.as_ref().map(|(path, time)| json!({ "path": path.as_str(), "time": seconds(*time) }))
    };
    let largest = stats.largest.as_ref();
    json!({
        "files": stats.files,
        "directories": stats.directories,
        "bytes": stats.bytes,
        "largest": largest.map(|(path, bytes)| json!({ "path": path.as_str(), "bytes": bytes })),
        "oldest": at(&stats.oldest),
        "newest": at(&stats.newest),
        "least_recently_used": at(&stats.least_recently_used),
        "history": stats.history.map(|size| json!({ "versions": size.versions, "bytes": size.bytes })),
    })
}

fn entry(entry: &Entry) -> Value {
    let size = match entry.kind {
        EntryKind::File(size) => Some(size),
        EntryKind::Directory => None,
    };
    json!({
        "path": entry.path.as_str(),
        "size": size,
        "modified": entry.modified.map(seconds),
        "accessed": entry.accessed.map(seconds),
    })
}

//! What a program does with the files itself, past the commands: see `Memory::read` and its like.

use memdir::command::Dialect;
use memdir::{GrepQuery, Memory, MemoryPath, Project};
use memdir_bindings_shared::grep_query;
use serde_json::Value;

use crate::arguments::Arguments;
use crate::failure::Failure;
use crate::operations::shown;

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
            shown(&listed)?
        }
        "exists" => {
            given.none_but(&["path"])?;
            memory.exists(given.text("path")?)?.into()
        }
        "grep" => {
            let (query, path, limit) = sought(given)?;
            shown(&memory.grep(&query, path, limit)?)?
        }
        "find_sensitive" => {
            given.none_but(&["path", "limit"])?;
            let limit = given.number("limit")?.unwrap_or(100);
            shown(&memory.find_sensitive(given.text_or("path", "/memories")?, limit)?)?
        }
        "stats" => {
            given.none_but(&[])?;
            shown(&memory.stats()?)?
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

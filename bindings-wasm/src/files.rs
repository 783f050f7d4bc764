//! The operations of an `Engine` that are for a developer's own code, and the tool's definitions for other model hosts.

use memdir::command::Dialect;
use memdir::{Memory, MemoryPath, Project, Query};
use serde_json::{Value as Json, json};

use crate::answer;
use crate::arguments::Arguments;
use crate::errors::{Failure, unknown};
use crate::handles::MEMORIES;
use crate::options::{count, flag, string, strings, word};

/// The number of the memory, whether the call is cancelled, and the arguments as `native.d.cts` has them.
pub(crate) fn perform(method: &str, given: &Arguments) -> Result<Json, Failure> {
    let memory = MEMORIES.get(given.number(0))?;
    given.cancellation(1).within(|| carry_out(&memory, method, given))
}

fn carry_out(memory: &Memory, method: &str, given: &Arguments) -> Result<Json, Failure> {
    let path = || given.given(2, "path", string);
    Ok(match method {
        "read" => memory.read(&path()?)?.into(),
        "write" => {
            let (path, text) = (path()?, given.given(3, "text", string)?);
            let old = given.optional(4, "ifUnchanged", string)?;
            memory.write(&path, &text, old.as_deref())?;
            Json::Null
        }
        "list" => {
            let (path, depth) = (path()?, given.optional(3, "depth", count)?);
            answer::entries(memory.list(&path, depth)?)
        }
        "exists" => memory.exists(&path()?)?.into(),
        "search" => search(memory, given)?,
        "index" => memory.index(given.given(2, "maxChars", count)?)?.into(),
        "bootstrap" => {
            let about = given.given(2, "about", string)?;
            let features = given.given(3, "features", strings)?;
            let init = given.given(4, "init", string)?;
            let features: Vec<&str> = features.iter().map(String::as_str).collect();
            let made =
                memory.bootstrap(&Project { about: &about, features: &features, init: &init })?;
            made.iter().map(MemoryPath::as_str).collect()
        }
        "forgetViews" => {
            memory.forget_views();
            Json::Null
        }
        "toolDefinition" => {
            let dialect: Dialect = given.given(2, "dialect", word)?;
            memory.tool_definition(dialect).to_string().into()
        }
        "toolDefinitions" => {
            let dialect: Dialect = given.given(2, "dialect", word)?;
            let prefix = given.given(3, "prefix", string)?;
            let tools = memory.tool_definitions(dialect, &prefix)?;
            tools.iter().map(ToString::to_string).collect()
        }
        _ => return Err(unknown(method)),
    })
}

fn search(memory: &Memory, given: &Arguments) -> Result<Json, Failure> {
    let query = given.given(2, "query", string)?;
    let path = given.given(5, "path", string)?;
    let limit = given.given(6, "limit", count)?;
    let mut query = match given.given(3, "regex", flag)? {
        false => Query::text(query),
        true => Query::regex(&query)?,
    };
    if given.given(4, "ignoreCase", flag)? {
        query = query.ignoring_case();
    }
    let found = memory.search(&query, &path, limit)?;
    let shown = found.into_iter().map(|found| {
        let mut shown = json!({ "path": found.path.as_str(), "text": found.text });
        if let Some(line) = found.line {
            shown["line"] = line.into();
        }
        shown
    });
    Ok(shown.collect())
}

//! The operations of an `Engine` that are for a developer's own code, and the tool's definitions for other model hosts.

use memdir::command::Dialect;
use memdir::{GrepQuery, Memory, Project};
use memdir_bindings_shared::grep_query;
use serde_json::Value as Json;

use crate::answer;
use crate::arguments::Arguments;
use crate::errors::{Failure, unknown};
use crate::handles::MEMORIES;
use crate::options::{count, flag, string, strings, word};
use crate::results::shown;

/// The number of the memory, whether the call is cancelled, and the arguments as `native.d.cts` has them.
pub(crate) fn perform(method: &str, given: &Arguments) -> Result<Json, Failure> {
    let memory = MEMORIES.get(given.number(0))?;
    carry_out(&memory.cancelled_by(&given.cancellation(1)), method, given)
}

fn carry_out(memory: &Memory, method: &str, given: &Arguments) -> Result<Json, Failure> {
    let path = || given.given(2, "path", string);
    Ok(match method {
        "read" => memory.read(&path()?)?.into(),
        "readShown" => memory.read_shown(&path()?)?.into(),
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
        "grep" => {
            let (query, path, limit) = sought(given)?;
            shown(memory.grep(&query, &path, limit)?)
        }
        "findSensitive" => {
            let limit = given.given(3, "limit", count)?;
            shown(memory.find_sensitive(&path()?, limit)?)
        }
        "stats" => shown(memory.stats()?),
        "erase" => shown(memory.erase(given.given(2, "dryRun", flag)?)?),
        "index" => memory.index(given.given(2, "maxChars", count)?)?.into(),
        "bootstrap" => {
            let about = given.given(2, "about", string)?;
            let features = given.given(3, "features", strings)?;
            let init = given.given(4, "init", string)?;
            let features: Vec<&str> = features.iter().map(String::as_str).collect();
            shown(memory.bootstrap(&Project { about: &about, features: &features, init: &init })?)
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

/// What `grep` and `grepHistory` look for, where, and how often.
pub(crate) fn sought(given: &Arguments) -> Result<(GrepQuery, String, usize), Failure> {
    let query = given.given(2, "query", string)?;
    let regex = given.given(3, "regex", flag)?;
    let ignore_case = given.given(4, "ignoreCase", flag)?;
    let query = grep_query(&query, regex, ignore_case)?;
    Ok((query, given.given(5, "path", string)?, given.given(6, "limit", count)?))
}

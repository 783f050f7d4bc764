//! `memdir show`: prints a file's bytes, or the agent's view of it.

use std::io::{self, Write};
use std::sync::Arc;
use std::time::SystemTime;

use serde_json::json;

use super::arguments::ShowArguments;
use super::history;
use super::output::{Output, time};
use super::stores::{self, StoreArgument};
use super::{Ended, Failure};
use crate::with::with;
use memdir::history::without_journal;
use memdir::path::MemoryPath;
use memdir::store::{Node, Store, StoreError};
use memdir::text::rfc3339;
use memdir::{Memory, MemoryOptions};

pub(super) fn run(wanted: &ShowArguments, output: &mut Output) -> Result<Ended, Failure> {
    let path = wanted.path.as_deref().map(stores::path).transpose()?;
    let options = with(MemoryOptions::default(), |options| options.max_view_chars = None);
    let argument = stores::only(&wanted.store, options.clone())?;
    if let Some(id) = &wanted.version {
        return version(id, &argument, output);
    }
    let Some(path) = path else {
        return Err(Failure::Usage(
            "PATH is missing: give the path of a file, or --version ID".to_owned(),
        ));
    };
    if let Some(at) = wanted.at {
        return past(&path, at, &argument, output);
    }
    let store = without_journal(argument.readable()?);
    if wanted.lines {
        let memory = Memory::with_store(Arc::clone(&store), options);
        let view = memory.view(path.as_str(), None);
        output.line(&view.map_err(|error| argument.error_in(&*store, &path, &error))?)?;
    } else if output.json {
        as_json(&*store, &path, &argument, output)?;
    } else {
        let opened =
            store.open(&path, 0).map_err(|error| argument.condition_in(&*store, &path, error))?;
        let Node::File(_, mut stream) = opened else {
            return Err(argument.condition_in(&*store, &path, StoreError::IsADirectory));
        };
        output.content(|to| print(&mut stream, to, &path, &argument))?;
    }
    Ok(Ended::Well)
}

/// Prints the content of a version.
fn version(given: &str, argument: &StoreArgument, output: &mut Output) -> Result<Ended, Failure> {
    let memory = history::reading_memory(argument)?;
    let id = history::version(&history::reading(&memory, argument)?, given)?;
    let content = memory.read_version(id).map_err(|error| history::failure(&error, argument))?;
    if output.json {
        output.object(&json!({
            "type": "version",
            "id": id,
            "size": content.len(),
            "content": std::str::from_utf8(&content).ok(),
        }))?;
    } else {
        output.content(|to| Ok(to.write_all(&content)?))?;
    }
    Ok(Ended::Well)
}

/// Prints the content of a file at a time.
fn past(
    path: &MemoryPath,
    at: SystemTime,
    argument: &StoreArgument,
    output: &mut Output,
) -> Result<Ended, Failure> {
    let memory = history::reading_memory(argument)?;
    history::reading(&memory, argument)?;
    let read = memory.read_at(path.as_str(), at);
    let Some(content) = read.map_err(|error| history::failure(&error, argument))? else {
        return Err(Failure::Refused(format!(
            "{path}: not found at {}: `memdir log` lists its versions",
            rfc3339(at)
        )));
    };
    if output.json {
        output.object(&json!({
            "type": "file",
            "path": path.as_str(),
            "size": content.len(),
            "content": std::str::from_utf8(&content).ok(),
        }))?;
    } else {
        output.content(|to| Ok(to.write_all(&content)?))?;
    }
    Ok(Ended::Well)
}

/// Prints one piece at a time, so a large file is never in memory as a whole.
fn print(
    from: &mut dyn io::Read,
    to: &mut dyn Write,
    path: &MemoryPath,
    argument: &StoreArgument,
) -> Result<(), Failure> {
    let mut window = vec![0; 64 * 1024];
    loop {
        match from.read(&mut window) {
            Ok(0) => return Ok(()),
            Ok(read) => to.write_all(window.get(..read).unwrap_or_default())?,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => {
                let error = StoreError::failed("reading a file", error);
                return Err(argument.condition(path, error));
            }
        }
    }
}

fn as_json(
    store: &dyn Store,
    path: &MemoryPath,
    argument: &StoreArgument,
    output: &mut Output,
) -> Result<(), Failure> {
    let failed = |error| argument.condition_in(store, path, error);
    let content = store.read(path).map_err(failed)?;
    let modified = store.modified(path).map_err(failed)?;
    output.object(&json!({
        "type": "file",
        "path": path.as_str(),
        "size": content.len(),
        "modified": time(modified),
        // JSON can only contain text.
        "content": std::str::from_utf8(&content).ok(),
    }))
}

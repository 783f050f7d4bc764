//! `memdir show`: prints a file's bytes, or the agent's view of it.

use std::io::{self, Write};

use serde_json::json;

use super::arguments::Show;
use super::output::{Output, time};
use super::stores::{self, Place};
use super::{Ended, Failure};
use crate::error::Error;
use crate::memory::Memory;
use crate::options::MemoryOptions;
use crate::path::MemoryPath;
use crate::store::{Node, Store, StoreError};

pub(super) fn run(wanted: &Show, output: &mut Output) -> Result<Ended, Failure> {
    let path = stores::path(&wanted.path)?;
    let options = MemoryOptions { max_view_chars: None, ..MemoryOptions::default() };
    let place = stores::only(&wanted.store, options.clone())?;
    let store = place.existing()?;
    if wanted.lines {
        let memory = Memory::with_store(store, options);
        match memory.view(path.as_str(), None) {
            Ok(view) => output.line(&view)?,
            Err(Error::Refused(sentence)) => return Err(Failure::Refused(sentence)),
            Err(error) => return Err(place.failed(&error)),
        }
    } else if output.json {
        as_json(&*store, &path, &place, output)?;
    } else {
        let opened = store.open(&path, 0).map_err(|error| place.condition(&path, error))?;
        let Node::File(_, mut stream) = opened else {
            return Err(place.condition(&path, StoreError::IsADirectory));
        };
        print(&mut stream, output.stream(), &path, &place)?;
    }
    Ok(Ended::Well)
}

/// Prints one piece at a time, so a large file is never in memory as a whole.
fn print(
    from: &mut dyn io::Read,
    to: &mut impl Write,
    path: &MemoryPath,
    place: &Place,
) -> Result<(), Failure> {
    let mut window = vec![0; 64 * 1024];
    loop {
        match from.read(&mut window) {
            Ok(0) => return Ok(()),
            Ok(read) => to.write_all(window.get(..read).unwrap_or_default())?,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => {
                let error = StoreError::failed("reading a file", error);
                return Err(place.condition(path, error));
            }
        }
    }
}

fn as_json(
    store: &dyn Store,
    path: &MemoryPath,
    place: &Place,
    output: &mut Output,
) -> Result<(), Failure> {
    let failed = |error| place.condition(path, error);
    let content = store.read(path).map_err(failed)?;
    let modified = store.modified(path).map_err(failed)?;
    output.object(&json!({
        "type": "file",
        "path": path.as_str(),
        "size": content.len(),
        "modified": time(modified),
        // JSON can only hold text.
        "content": std::str::from_utf8(&content).ok(),
    }))
}

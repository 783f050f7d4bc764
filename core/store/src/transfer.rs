//! Copies one file from one store into another, and compares the copy.

use std::io::Read;

use super::access::Times;
use super::{Node, Store, StoreError};
use crate::path::MemoryPath;
use crate::settings::OnExisting;

/// Writes content that was read from another store, with its times, and reads it back.
///
/// # Errors
/// As [`Store::write`]. [`StoreError::Failed`] if the store returns other content than was written.
pub fn place_file(
    destination: &dyn Store,
    to: &MemoryPath,
    content: &[u8],
    times: Times,
    existing: OnExisting,
) -> Result<(), StoreError> {
    destination.write(to, content, existing)?;
    times.set(destination, to)?;
    if holds(destination, to, content)? {
        Ok(())
    } else {
        Err(StoreError::failed(format!("copying to {to}"), "the copy differs"))
    }
}

/// Whether the file has exactly this content. If the store streams, no second copy is held in memory.
///
/// # Errors
/// As [`Store::read`].
pub fn holds(store: &dyn Store, path: &MemoryPath, content: &[u8]) -> Result<bool, StoreError> {
    let Node::File(_, mut stream) = store.open(path, 0)? else {
        return Err(StoreError::IsADirectory);
    };
    let mut window = vec![0; 64 * 1024];
    let mut rest = content;
    loop {
        let read = match stream.read(&mut window) {
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            read => read.map_err(|error| StoreError::failed("reading a file", error))?,
        };
        match window.get(..read).and_then(|seen| rest.strip_prefix(seen)) {
            Some(_) if read == 0 => return Ok(rest.is_empty()),
            Some(below) => rest = below,
            None => return Ok(false),
        }
    }
}

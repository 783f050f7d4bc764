//! A file's way from one store into another: copied, and compared with what arrived.

use std::time::SystemTime;

use super::{Store, StoreError};
use crate::options::OnExisting;
use crate::path::MemoryPath;

/// Copies the file `from`, with its time, and reads it back; how many bytes it holds.
///
/// # Errors
/// As [`Store::read`] for the source and [`Store::write`] for the copy;
/// [`StoreError::Failed`] where the copy does not hold what was written to it.
pub(crate) fn copy_file(
    source: &dyn Store,
    from: &MemoryPath,
    destination: &dyn Store,
    to: &MemoryPath,
    existing: OnExisting,
) -> Result<u64, StoreError> {
    let modified = source.modified(from)?;
    let content = source.read(from)?;
    place_file(destination, to, &content, modified, existing)?;
    Ok(content.len() as u64)
}

/// Writes what was read elsewhere, with its time, and reads it back.
///
/// # Errors
/// As [`Store::write`]; [`StoreError::Failed`] where the copy does not hold what was written to it.
pub(crate) fn place_file(
    destination: &dyn Store,
    to: &MemoryPath,
    content: &[u8],
    modified: Option<SystemTime>,
    existing: OnExisting,
) -> Result<(), StoreError> {
    destination.write(to, content, existing)?;
    if let Some(time) = modified {
        destination.set_modified(to, time)?;
    }
    if destination.read(to)? != content {
        return Err(StoreError::failed(format!("copying to {to}"), "the copy differs"));
    }
    Ok(())
}

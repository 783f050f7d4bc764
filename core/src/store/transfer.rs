//! A file's way from one store into another: copied, and compared with what arrived.

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
    destination.write(to, &content, existing)?;
    if let Some(time) = modified {
        destination.set_modified(to, time)?;
    }
    if destination.read(to)? != content {
        return Err(StoreError::failed(format!("copying {from}"), "the copy differs"));
    }
    Ok(content.len() as u64)
}

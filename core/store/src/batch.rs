//! [`FileToWrite`] and [`BatchError`], for [`Store::write_batch`](crate::Store::write_batch): many files that are written
//! together.

use crate::access::Times;
use crate::path::MemoryPath;
use crate::{Mutation, OnExisting, StoreError};

/// A whole file of [`Store::write_batch`](crate::Store::write_batch).
#[derive(Debug, Clone, Copy)]
pub struct FileToWrite<'f> {
    /// The file.
    pub path: &'f MemoryPath,
    /// Its whole content.
    pub content: &'f [u8],
    /// The times that it gets, where known. A time that the store does not keep is ignored.
    pub times: Times,
    /// The behaviour if the file exists.
    pub existing: OnExisting,
}

/// Why [`Store::write_batch`](crate::Store::write_batch) ended early.
#[derive(Debug, thiserror::Error)]
#[error("{error}")]
pub struct BatchError {
    /// The number of files that were written, from the first on. They stay. Each of the others is written whole, or not at all.
    pub written: usize,
    /// The error of the next file, or of the store.
    #[source]
    pub error: StoreError,
}

/// Writes the files one after another, each with its own changes. This is the default of
/// [`Store::write_batch`](crate::Store::write_batch).
///
/// # Errors
/// As that method.
pub fn write_each(
    files: &[FileToWrite<'_>],
    tracks_access: impl FnOnce() -> bool,
    mutate: &mut dyn FnMut(Mutation<'_>) -> Result<bool, StoreError>,
) -> Result<(), BatchError> {
    let sets_access = files.iter().any(|file| file.times.accessed.is_some()) && tracks_access();
    for (written, file) in files.iter().enumerate() {
        let mut write = || {
            let &FileToWrite { path, content, times, existing } = file;
            mutate(Mutation::Write { path, content, existing })?;
            // Set the access time first, so the file never seems unused for longer than it is.
            if let Some(time) = times.accessed.filter(|_| sets_access) {
                mutate(Mutation::RecordAccess { path, time })?;
            }
            if let Some(time) = times.modified {
                mutate(Mutation::SetModified { path, time })?;
            }
            Ok(())
        };
        write().map_err(|error| BatchError { written, error })?;
    }
    Ok(())
}

//! [`FileToWrite`] and [`BatchError`], for [`Store::write_batch`]: many files that are written
//! together. [`FileToDelete`] is for [`Store::delete_unused_batch`].

use std::time::SystemTime;

use crate::access::Times;
use crate::note::Note;
use crate::path::MemoryPath;
use crate::{Context, Mutation, OnExisting, Store, StoreError};

/// A whole file of [`Store::write_batch`].
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
    /// The note that a store with [`notes`](crate::Store::notes) keeps if and only if the file is written, in the same transaction.
    /// `None` for every other store.
    pub note: Option<&'f Note>,
}

/// A file of [`Store::delete_unused_batch`].
#[derive(Debug, Clone, Copy)]
pub struct FileToDelete<'f> {
    /// The file.
    pub path: &'f MemoryPath,
    /// The note that a store with [`notes`](crate::Store::notes) keeps if and only if the file is deleted, in the same transaction.
    /// `None` for every other store.
    pub note: Option<&'f Note>,
}

/// Why [`Store::write_batch`] ended early.
#[derive(Debug, thiserror::Error)]
#[error("{error}")]
pub struct BatchError {
    /// The number of files that were written, from the first on. They stay. Each of the others is written whole, or not at all.
    pub written: usize,
    /// The error of the next file, or of the store.
    #[source]
    pub error: StoreError,
}

/// The number of bytes that a caller of [`Store::write_batch`] collects, or the size of the largest file.
pub const MAX_BATCH_BYTES: u64 = 8 << 20;

/// The number of files that a caller collects. A store may hold a lock, and a process may be killed, while a batch is written.
pub const MAX_BATCH_FILES: usize = 4096;

/// Splits files into batches within these limits.
pub fn batches<'b, 'f>(
    files: &'b [FileToWrite<'f>],
) -> impl Iterator<Item = &'b [FileToWrite<'f>]> {
    in_batches(files, |file| file.content.len() as u64)
}

/// Splits anything with a size in bytes into batches within these limits. A batch has at least one element.
pub fn in_batches<T>(all: &[T], size: impl Fn(&T) -> u64) -> impl Iterator<Item = &[T]> {
    let mut rest = all;
    std::iter::from_fn(move || {
        let mut bytes = 0_u64;
        let fits = |one: &&T| {
            bytes = bytes.saturating_add(size(one));
            bytes <= MAX_BATCH_BYTES
        };
        let count = rest.iter().take(MAX_BATCH_FILES).take_while(fits).count();
        let (batch, left) = rest.split_at(count.max(1).min(rest.len()));
        rest = left;
        (!batch.is_empty()).then_some(batch)
    })
}

/// Reads files together, and gives each its own result. After an error the others are read one by one, each when the iterator is asked for
/// it, so a caller that ends at a failure of the store waits for no other. The caller limits the number of the files and their sizes.
pub fn read_all<'r>(
    store: &'r dyn Store,
    context: &'r Context,
    paths: Vec<&'r MemoryPath>,
) -> impl Iterator<Item = Result<Vec<u8>, StoreError>> {
    let mut read = Vec::with_capacity(paths.len());
    let done = store.read_batch(context, &paths, &mut |content| read.push(Ok(content)));
    if let Err(error) = done
        && read.len() < paths.len()
    {
        read.push(Err(error));
    }
    let rest = paths.into_iter().skip(read.len());
    read.into_iter().chain(rest.map(|path| store.read_in(context, path)))
}

/// The times of files, one after another. This is the default of [`Store::read_times`].
///
/// # Errors
/// As that method.
pub fn times_of_each(
    context: &Context,
    paths: &[&MemoryPath],
    tracks_access: bool,
    modified: impl Fn(&MemoryPath) -> Result<Option<SystemTime>, StoreError>,
    accessed: impl Fn(&MemoryPath) -> Result<Option<SystemTime>, StoreError>,
) -> Result<Vec<Times>, StoreError> {
    let times = |path: &&MemoryPath| {
        context.check()?;
        let accessed = if tracks_access { accessed(path)? } else { None };
        Ok(Times { modified: modified(path)?, accessed })
    };
    paths.iter().map(times).collect()
}

/// Writes the files one after another, each with its own changes. This is the default of
/// [`Store::write_batch`].
///
/// # Errors
/// As that method.
pub fn write_each(
    context: &Context,
    files: &[FileToWrite<'_>],
    tracks_access: impl FnOnce() -> bool,
    mutate: &mut dyn FnMut(Mutation<'_>) -> Result<bool, StoreError>,
) -> Result<(), BatchError> {
    let sets_access = files.iter().any(|file| file.times.accessed.is_some()) && tracks_access();
    for (written, file) in files.iter().enumerate() {
        let &FileToWrite { path, content, times, existing, note } = file;
        with_note(context, note, || mutate(Mutation::Write { path, content, existing }))
            .map_err(|error| BatchError { written, error })?;
        let mut set_times = || {
            // Set the access time first, so the file never seems unused for longer than it is.
            if let Some(time) = times.accessed.filter(|_| sets_access) {
                mutate(Mutation::RecordAccess { path, time })?;
            }
            if let Some(time) = times.modified {
                mutate(Mutation::SetModified { path, time })?;
            }
            Ok(())
        };
        set_times()
            .map_err(|error: StoreError| BatchError { written, error: error.after_changes() })?;
    }
    Ok(())
}

/// Deletes the unused files one after another, each with its own change. This is the default of [`Store::delete_unused_batch`].
///
/// # Errors
/// As that method.
pub fn delete_each_unused(
    context: &Context,
    files: &[FileToDelete<'_>],
    since: SystemTime,
    mutate: &mut dyn FnMut(Mutation<'_>) -> Result<bool, StoreError>,
    visit: &mut dyn FnMut(bool),
) -> Result<(), StoreError> {
    for &FileToDelete { path, note } in files {
        context.check()?;
        let deleted = with_note(context, note, || mutate(Mutation::DeleteUnused { path, since }));
        visit(unless_refused(deleted)?);
    }
    Ok(())
}

/// Whether a file was deleted. A file that the store refuses to delete was not; a failure of the store is an error.
///
/// # Errors
/// Only failures of the store.
pub fn unless_refused(deleted: Result<bool, StoreError>) -> Result<bool, StoreError> {
    match deleted {
        Err(error) if error.is_failure() => Err(error),
        Err(_) => Ok(false),
        deleted => deleted,
    }
}

/// Makes a change with this note.
fn with_note<T>(context: &Context, note: Option<&Note>, change: impl FnOnce() -> T) -> T {
    let Some(note) = note else { return change() };
    context.put_note(note.clone());
    let done = change();
    context.take_notes();
    done
}

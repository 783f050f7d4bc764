//! Read-only paths and writable paths: which files and directories a command may change.
//!
//! A pattern that fits a directory fits all below it, so that only [`Options::read_only_paths`] can
//! forbid something within a directory that itself may be changed.

use crate::error::Error;
use crate::options::Options;
use crate::path::MemoryPath;
use crate::reply;
use crate::store::{Store, StoreError};

/// That a command may write, delete or move what is at `path` itself.
pub(crate) fn judge(options: &Options, path: &MemoryPath) -> Result<(), Error> {
    if is_read_only(options, path) {
        return Err(reply::condition(path, StoreError::ReadOnly));
    }
    match &options.writable_paths {
        Some(writable) if !writable.iter().any(|pattern| pattern.fits(path)) => {
            Err(reply::not_writable(path, writable))
        }
        _ => Ok(()),
    }
}

/// Whether a command may change what is at `path` itself.
pub(crate) fn allows(options: &Options, path: &MemoryPath) -> bool {
    judge(options, path).is_ok()
}

/// That a command may delete what is at `path`, and all below it.
pub(crate) fn judge_delete(
    options: &Options,
    store: &dyn Store,
    path: &MemoryPath,
) -> Result<(), Error> {
    judge(options, path)?;
    below(options, store, path)?.iter().try_for_each(|below| judge(options, below))
}

/// That a command may move what is at `from`, and all below it, to `to`.
pub(crate) fn judge_rename(
    options: &Options,
    store: &dyn Store,
    from: &MemoryPath,
    to: &MemoryPath,
) -> Result<(), Error> {
    judge(options, from)?;
    let below = below(options, store, from)?;
    below.iter().try_for_each(|below| judge(options, below))?;
    judge(options, to)?;
    // What has no path there is the store's to refuse.
    let mut moved = below.iter().filter_map(|below| below.moved(from, to).ok());
    moved.try_for_each(|moved| judge(options, &moved))
}

fn is_read_only(options: &Options, path: &MemoryPath) -> bool {
    options.read_only_paths.iter().any(|pattern| pattern.fits(path))
}

/// All that is below `path`, in the order of a listing, if anything below could be forbidden where
/// `path` is not.
fn below(
    options: &Options,
    store: &dyn Store,
    path: &MemoryPath,
) -> Result<Vec<MemoryPath>, Error> {
    let mut found = Vec::new();
    if !options.read_only_paths.is_empty() {
        let mut directories = vec![path.clone()];
        while let Some(directory) = directories.pop() {
            let entries = match store.list(&directory) {
                // A file, or gone meanwhile; also where nothing is at `path`, which the store says.
                Err(StoreError::NotFound | StoreError::NotADirectory | StoreError::Symlink) => {
                    continue;
                }
                // Nobody can say what is below.
                Err(error) => return Err(reply::condition(&directory, error.unchanged())),
                Ok(entries) => entries,
            };
            for entry in entries {
                if !entry.is_file() {
                    directories.push(entry.path.clone());
                }
                found.push(entry.path);
            }
        }
        found.sort_unstable();
    }
    Ok(found)
}

//! `list` returns the entries of a directory, and `exists` checks whether there is an entry.

use memdir_store::Error;
use memdir_store::path::{MAX_LEVELS, MemoryPath};

use super::read::refusal;
use crate::store::{Entry, Node, Store, StoreError, sort_by_path};

/// Returns the entries below a directory, sorted by path. For a file, it returns the file itself.
pub(crate) fn list(
    store: &dyn Store,
    path: &MemoryPath,
    depth: usize,
) -> Result<Vec<Entry>, Error> {
    // Paths are never deeper, and stores add this depth to the levels of the path.
    let depth = depth.min(MAX_LEVELS);
    // A file has no entries of its own, so its time and size are read from its directory.
    let listed = match store.open(path, depth) {
        Ok(Node::Directory(entries)) => Ok(entries),
        Ok(Node::File(size, _)) => {
            store.modified(path).map(|time| vec![Entry::file(path.clone(), size).modified_at(time)])
        }
        Err(error) => Err(error),
    };
    let mut entries = listed.map_err(|error| refusal(path, error))?;
    sort_by_path(&mut entries);
    Ok(entries)
}

/// Returns whether a file or a directory is at the path.
pub(crate) fn exists(store: &dyn Store, path: &MemoryPath) -> Result<bool, Error> {
    if path.is_root() {
        return Ok(true);
    }
    match store.modified(path) {
        Ok(_) | Err(StoreError::IsADirectory) => Ok(true),
        Err(StoreError::NotFound | StoreError::NotADirectory) => Ok(false),
        Err(error) => Err(refusal(path, error)),
    }
}

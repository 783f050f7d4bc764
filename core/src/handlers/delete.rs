//! `delete`: a file, or a directory and all that it holds.

use crate::error::Error;
use crate::path::MemoryPath;
use crate::policy::Policies;
use crate::reply;
use crate::store::{Store, StoreError};

pub(crate) fn delete(
    store: &dyn Store,
    _policies: &Policies,
    path: &MemoryPath,
) -> Result<String, Error> {
    if path.is_root() {
        return Err(reply::delete_root());
    }
    match store.delete(path) {
        Ok(()) => Ok(reply::deleted(path)),
        Err(StoreError::NotFound | StoreError::NotADirectory) => Err(reply::missing(path)),
        Err(error) => Err(reply::condition(path, error)),
    }
}

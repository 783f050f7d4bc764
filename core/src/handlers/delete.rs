//! `delete`: a file, or a directory and all that it holds.

use crate::error::Error;
use crate::path::MemoryPath;
use crate::policy::{Policies, limits, write_patterns};
use crate::reply;
use crate::store::{Store, StoreError};

pub(crate) fn delete(
    store: &dyn Store,
    policies: &Policies,
    path: &MemoryPath,
) -> Result<String, Error> {
    if path.is_root() {
        return Err(reply::delete_root());
    }
    write_patterns::judge_delete(&policies.options, store, path)?;
    let moving = limits::moving(policies);
    let done = store.delete(path);
    limits::shrunk(policies);
    drop(moving);
    match done {
        Ok(()) => {
            policies.seen.forget(path);
            Ok(reply::deleted(path))
        }
        Err(StoreError::NotFound | StoreError::NotADirectory) => Err(reply::missing(path)),
        Err(error) => Err(reply::condition(path, error)),
    }
}

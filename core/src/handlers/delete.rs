//! `delete`: deletes a file, or a directory with everything in it.

use memdir_store::Error;
use memdir_store::path::MemoryPath;

use crate::reply;
use crate::store::{Mutation, StoreError};
use crate::unit_of_work::UnitOfWork;

pub(super) fn delete(work: &UnitOfWork<'_>, path: &MemoryPath) -> Result<String, Error> {
    if path.is_root() {
        return Err(reply::delete_root());
    }
    work.policies().check_delete(work.store(), path)?;
    match work.mutate(Mutation::Delete { path }) {
        Ok(_) => Ok(reply::deleted(path)),
        Err(StoreError::NotFound | StoreError::NotADirectory) => Err(reply::missing(path)),
        Err(error) => Err(reply::condition(path, error)),
    }
}

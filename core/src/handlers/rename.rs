//! `rename`: moves a file or directory, and never overwrites.

use memdir_store::Error;
use memdir_store::path::MemoryPath;

use crate::reply;
use crate::store::{Mutation, StoreError};
use crate::unit_of_work::UnitOfWork;

pub(super) fn rename(
    work: &UnitOfWork<'_>,
    from: &MemoryPath,
    to: &MemoryPath,
) -> Result<String, Error> {
    if from.is_root() {
        return Err(reply::rename_root());
    }
    let (store, policies) = (work.store(), work.policies());
    policies.check_rename(store, from, to)?;
    match work.mutate(Mutation::Rename { from, to }) {
        Ok(_) => {
            // The rename has succeeded, so failures here are ignored. For a directory the store records
            // nothing.
            let _ = policies.expiry.record(store, to);
            Ok(reply::renamed(from, to))
        }
        Err(StoreError::NotFound) => Err(reply::missing(from)),
        Err(StoreError::AlreadyExists) => Err(reply::rename_exists(to)),
        Err(StoreError::IntoItself) => Err(reply::rename_into_itself(from, to)),
        Err(StoreError::NameTooLong) => Err(reply::rename_too_long(from, to)),
        Err(StoreError::Source(error)) => Err(reply::condition(from, *error)),
        Err(error) => Err(reply::condition(to, error)),
    }
}

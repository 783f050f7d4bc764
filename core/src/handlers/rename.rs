//! `rename`: moves a file or directory, and never overwrites.

use crate::error::Error;
use crate::path::MemoryPath;
use crate::policies::Policies;
use crate::reply;
use crate::store::{Context, Mutation, Store, StoreError};

pub(super) fn rename(
    store: &dyn Store,
    policies: &Policies,
    context: &Context,
    from: &MemoryPath,
    to: &MemoryPath,
) -> Result<String, Error> {
    if from.is_root() {
        return Err(reply::rename_root());
    }
    policies.check_rename(store, from, to)?;
    let moving = policies.limits.moving();
    let done = store.mutate(context, Mutation::Rename { from, to });
    drop(moving);
    match done {
        Ok(_) => {
            policies.views.moved(from, to);
            // The rename has succeeded, so its reply ignores failures here. For a directory the
            // store records nothing.
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

//! `delete`: deletes a file, or a directory with everything in it.

use crate::error::Error;
use crate::path::MemoryPath;
use crate::policies::Policies;
use crate::reply;
use crate::store::{Context, Mutation, Store, StoreError};

pub(super) fn delete(
    store: &dyn Store,
    policies: &Policies,
    context: &Context,
    path: &MemoryPath,
) -> Result<String, Error> {
    if path.is_root() {
        return Err(reply::delete_root());
    }
    policies.check_delete(store, path)?;
    let moving = policies.limits.moving();
    let done = store.mutate(context, Mutation::Delete { path });
    policies.limits.shrunk();
    drop(moving);
    match done {
        Ok(_) => {
            policies.views.removed(path);
            Ok(reply::deleted(path))
        }
        Err(StoreError::NotFound | StoreError::NotADirectory) => Err(reply::missing(path)),
        Err(error) => Err(reply::condition(path, error)),
    }
}

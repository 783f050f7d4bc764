//! `rename`: a file or directory moves, and never onto another.

use crate::error::Error;
use crate::path::MemoryPath;
use crate::policy::{Policies, expiry, limits, sensitive, write_patterns};
use crate::reply;
use crate::store::{Store, StoreError};

pub(crate) fn rename(
    store: &dyn Store,
    policies: &Policies,
    from: &MemoryPath,
    to: &MemoryPath,
) -> Result<String, Error> {
    let options = &policies.options;
    if from.is_root() {
        return Err(reply::rename_root());
    }
    sensitive::judge_path(options, to)?;
    write_patterns::judge_rename(options, store, from, to)?;
    let moving = limits::moving(policies);
    let done = store.rename(from, to);
    drop(moving);
    match done {
        Ok(()) => {
            policies.seen.moved(from, to);
            // Done is done: of a directory nothing is noted, and what broke will show again.
            let _ = expiry::record(store, options, to);
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

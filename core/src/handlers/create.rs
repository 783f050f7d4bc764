//! `create`: a new file, with its parents.

use super::check_size;
use crate::error::Error;
use crate::path::MemoryPath;
use crate::policy::{Policies, limits, sensitive, write_patterns};
use crate::reply;
use crate::store::{Store, StoreError};

pub(crate) fn create(
    store: &dyn Store,
    policies: &Policies,
    path: &MemoryPath,
    file_text: &str,
) -> Result<String, Error> {
    let options = &policies.options;
    // The store finds the root taken, too, but only after the size was judged.
    if path.is_root() {
        return Err(reply::create_exists(path));
    }
    write_patterns::judge(options, path)?;
    sensitive::judge_path(options, path)?;
    let redacted = sensitive::judge_content(options, path, file_text)?;
    let content = redacted.as_ref().map_or(file_text, |redacted| &redacted.instead);
    check_size(options, path, None, content.len())?;
    let mut room = limits::room_for_file(policies, store, path, content.len() as u64)?;
    let sight = policies.seen.writing(&[content.as_bytes()]);
    let done = store.write(path, content.as_bytes(), options.on_existing);
    if let Err(error) = &done {
        room.leave(error);
    }
    if let Err(StoreError::OverLimit { bytes, files }) = done {
        return Err(room.refused_by(store, path, bytes, files));
    }
    match done {
        Ok(()) => {
            limits::written(room);
            policies.seen.remember(path, sight);
            Ok(reply::created(path) + redacted.as_ref().map_or("", |it| &it.note))
        }
        Err(StoreError::AlreadyExists | StoreError::IsADirectory) => {
            Err(reply::create_exists(path))
        }
        Err(error) => Err(reply::condition(path, error)),
    }
}

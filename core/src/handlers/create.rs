//! `create`: a new file, with its parents.

use super::check_size;
use crate::error::Error;
use crate::options::Options;
use crate::path::MemoryPath;
use crate::reply;
use crate::store::{Store, StoreError};

pub(crate) fn create(
    store: &dyn Store,
    options: &Options,
    path: &MemoryPath,
    file_text: &str,
) -> Result<String, Error> {
    // The store finds the root taken, too, but only after the size was judged.
    if path.is_root() {
        return Err(reply::create_exists(path));
    }
    check_size(options, path, file_text.len())?;
    match store.write(path, file_text.as_bytes(), options.on_existing) {
        Ok(()) => Ok(reply::created(path)),
        Err(StoreError::AlreadyExists | StoreError::IsADirectory) => {
            Err(reply::create_exists(path))
        }
        Err(error) => Err(reply::condition(path, error)),
    }
}

//! `read`: the text of a file, as it is.

use std::borrow::Cow;

use crate::error::Error;
use crate::path::MemoryPath;
use crate::policies::Policies;
use crate::policy::sensitive;
use crate::reply;
use crate::store::{Effect, Store, StoreError};

pub(crate) fn read(store: &dyn Store, path: &MemoryPath) -> Result<String, Error> {
    let content = store.read(path).map_err(|error| match error {
        StoreError::NotFound | StoreError::NotADirectory => reply::view_missing(path),
        error => reply::condition(path, error).with_effect(Effect::Read),
    })?;
    String::from_utf8(content).map_err(|_| reply::not_text(path))
}

/// The text as a view would show it: without sensitive text, if views hide it.
pub(crate) fn read_shown(
    store: &dyn Store,
    policies: &Policies,
    path: &MemoryPath,
) -> Result<String, Error> {
    let text = read(store, path)?;
    Ok(match sensitive::shown(&policies.sensitive, &text) {
        Cow::Borrowed(_) => text,
        Cow::Owned(redacted) => redacted,
    })
}

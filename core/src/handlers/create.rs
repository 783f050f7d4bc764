//! `create`: a new file, with its parents.

use super::check_size;
use crate::error::Error;
use crate::options::Options;
use crate::path::MemoryPath;
use crate::policy::{Policies, limits, sensitive, write_patterns};
use crate::reply;
use crate::store::OnExisting;
use crate::store::{Node, Store, StoreError};

pub(crate) fn create(
    store: &dyn Store,
    policies: &Policies,
    path: &MemoryPath,
    file_text: &str,
) -> Result<String, Error> {
    let options = &policies.options;
    if path.is_root() {
        return Err(reply::create_exists(path));
    }
    write_patterns::judge(options, path)?;
    sensitive::judge_path(options, path)?;
    let checked = sensitive::judge_content(options, path, file_text).and_then(|redacted| {
        let content = redacted.as_ref().map_or(file_text, |redacted| &redacted.instead);
        check_size(options, path, None, content.len())?;
        Ok(redacted)
    });
    let redacted = match checked {
        Err(_) if is_taken(store, options, path) => return Err(reply::create_exists(path)),
        checked => checked?,
    };
    let content = redacted.as_ref().map_or(file_text, |redacted| &redacted.instead);
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

/// Whether something is there already that stays. Asked for the sentence of a refusal only: another text
/// would not help then. Whether a file may be made the store itself decides.
fn is_taken(store: &dyn Store, options: &Options, path: &MemoryPath) -> bool {
    match store.open(path, 0) {
        Ok(Node::Directory(_)) => true,
        Ok(Node::File(..)) | Err(StoreError::Symlink) => options.on_existing == OnExisting::Error,
        Err(_) => false,
    }
}

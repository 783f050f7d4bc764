//! `create`: creates a file and its parents.

use memdir_store::Error;
use memdir_store::path::MemoryPath;

use crate::policies::{NewFile, Policies};
use crate::reply;
use crate::store::{Mutation, Node, Store, StoreError};
use crate::unit_of_work::UnitOfWork;

pub(super) fn create(
    work: &UnitOfWork<'_>,
    path: &MemoryPath,
    file_text: &str,
) -> Result<String, Error> {
    let (store, policies) = (work.store(), work.policies());
    if path.is_root() {
        return Err(reply::create_exists(path));
    }
    let NewFile { text, note, mut reservation } =
        policies.check_create(store, path, file_text, policies.options.on_existing, || {
            is_taken(store, policies, path)
        })?;
    let snapshot = policies.views.writing(&[text.as_bytes()]);
    let (content, existing) = (text.as_bytes(), policies.options.on_existing);
    let done = work.mutate(Mutation::Write { path, content, existing });
    if let Err(error) = &done {
        reservation.failed(error);
    }
    match done {
        Ok(_) => {
            reservation.commit();
            policies.views.remember(path, snapshot);
            Ok(reply::created(path) + &note)
        }
        Err(StoreError::OverLimit { bytes, files }) => {
            Err(reservation.refused_by(store, path, bytes, files))
        }
        Err(StoreError::AlreadyExists | StoreError::IsADirectory) => {
            Err(reply::create_exists(path))
        }
        Err(error) => Err(reply::condition(path, error)),
    }
}

/// Returns whether the path is taken. This decides only which sentence a refusal has. The store decides whether
/// the file can be created.
fn is_taken(store: &dyn Store, policies: &Policies, path: &MemoryPath) -> bool {
    match store.open(path, 0) {
        Ok(Node::Directory(_)) => true,
        Ok(Node::File(..)) | Err(StoreError::Symlink) => !policies.overwrites(),
        Err(_) => false,
    }
}

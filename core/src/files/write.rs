//! `write`: writes a whole file; on request only if it has not changed since it was read.

use memdir_store::Error;
use memdir_store::path::MemoryPath;

use crate::handlers::edit::{EditOperation, edit};
use crate::policies::NewFile;
use crate::policy::limits::Reservation;
use crate::reply;
use crate::store::{BatchError, FileToWrite, Mutation, OnExisting, StoreError, Times};
use crate::text::Splice;
use crate::unit_of_work::UnitOfWork;

/// Writes `text`. With `unchanged`, only if the file holds exactly that text.
pub(crate) fn write(
    work: &UnitOfWork<'_>,
    path: &MemoryPath,
    text: &str,
    unchanged: Option<&str>,
) -> Result<(), Error> {
    if path.is_root() {
        return Err(is_a_directory(path));
    }
    match unchanged {
        None => put(work, path, text, OnExisting::Overwrite),
        Some(old) => replace_if(work, path, text, old),
    }
}

/// Creates a file. Returns whether it did not exist before.
pub(crate) fn make(work: &UnitOfWork<'_>, path: &MemoryPath, text: &str) -> Result<bool, Error> {
    if super::exists(work.store(), path)? {
        return Ok(false);
    }
    match put(work, path, text, OnExisting::Error) {
        Ok(()) => Ok(true),
        // Another writer created it first.
        Err(Error::Refused(_)) if super::exists(work.store(), path)? => Ok(false),
        Err(error) => Err(error),
    }
}

/// Writes `text` to a new file, or replaces an existing one if `existing` allows it.
pub(crate) fn put(
    work: &UnitOfWork<'_>,
    path: &MemoryPath,
    text: &str,
    existing: OnExisting,
) -> Result<(), Error> {
    let NewFile { text, mut reservation, .. } =
        work.policies().check_create(work.store(), path, text, existing, || false)?;
    // The model has not seen this text, so it is not recorded as viewed. The stale guard then refuses an edit
    // that is based on the previous text.
    let content = text.as_bytes();
    match work.mutate(Mutation::Write { path, content, existing }) {
        Ok(_) => {
            reservation.commit();
            Ok(())
        }
        Err(error) => Err(not_written(work, path, existing, &mut reservation, error)),
    }
}

/// A file of [`put_all`].
#[derive(Debug, Clone, Copy)]
pub(crate) struct FileToPut<'f> {
    pub(crate) path: &'f MemoryPath,
    pub(crate) text: &'f str,
    pub(crate) existing: OnExisting,
}

/// As [`put`] for each of the files, in one batch of the store. It ends at the first file that is not written: the error has the
/// number of files before it, which stay.
pub(crate) fn put_all(
    work: &UnitOfWork<'_>,
    files: &[FileToPut<'_>],
) -> Result<(), (usize, Error)> {
    let (mut new, mut end) = (Vec::new(), Ok(()));
    for file in files {
        let &FileToPut { path, text, existing } = file;
        match work.policies().check_create(work.store(), path, text, existing, || false) {
            Ok(checked) => new.push((file, checked)),
            Err(error) => {
                end = Err((new.len(), error));
                break;
            }
        }
    }
    let to_write: Vec<_> = new
        .iter()
        .map(|(file, checked)| FileToWrite {
            path: file.path,
            content: checked.text.as_bytes(),
            times: Times::default(),
            existing: file.existing,
            note: None,
        })
        .collect();
    let done = work.write_batch(&to_write);
    let written = done.as_ref().map_or_else(|failed| failed.written, |()| new.len());
    let mut rest = new.into_iter();
    rest.by_ref().take(written).for_each(|(_, mut file)| file.reservation.commit());
    let Err(BatchError { error, .. }) = done else { return end };
    // The store may have written the files after this one. Their reservations count until the tree is measured again.
    let Some((file, mut checked)) = rest.next() else {
        return Err((written, reply::condition(&MemoryPath::root(), error)));
    };
    Err((written, not_written(work, file.path, file.existing, &mut checked.reservation, error)))
}

/// The error for a file that the store did not write.
fn not_written(
    work: &UnitOfWork<'_>,
    path: &MemoryPath,
    existing: OnExisting,
    reservation: &mut Reservation<'_>,
    error: StoreError,
) -> Error {
    reservation.failed(&error);
    match error {
        StoreError::OverLimit { bytes, files } => {
            reservation.refused_by(work.store(), path, bytes, files)
        }
        StoreError::AlreadyExists if existing == OnExisting::Error => {
            reply::condition(path, StoreError::AlreadyExists)
        }
        StoreError::AlreadyExists | StoreError::IsADirectory => is_a_directory(path),
        error => reply::condition(path, error),
    }
}

fn replace_if(
    work: &UnitOfWork<'_>,
    path: &MemoryPath,
    text: &str,
    old: &str,
) -> Result<(), Error> {
    let change = |content: &[u8]| {
        if content == old.as_bytes() {
            Ok(Splice::between(old, text))
        } else {
            Err(reply::changed_meanwhile(path))
        }
    };
    let replace = EditOperation {
        missing: reply::view_missing,
        check_view: |_, _, _| Ok(()),
        change: &change,
        answer: &|_, _| Ok(String::new()),
        seen_by_model: false,
    };
    edit(work, path, &replace).map(drop)
}

fn is_a_directory(path: &MemoryPath) -> Error {
    reply::condition(path, StoreError::IsADirectory)
}

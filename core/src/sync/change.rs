//! [`Change`]: one change of a file. Every change is conditional on the content that was compared, and the policies of the memory apply to it.

use std::borrow::Cow;
use std::cell::Cell;
use std::time::SystemTime;

use memdir_store::path::MemoryPath;
use memdir_store::{Error, ErrorKind};

use super::baseline::{Digest, digest};
use super::error::{SyncError, is_missing};
use super::sources::Taken;
use super::writer::Writer;
use crate::handlers::edit::{EditOperation, edit};
use crate::policy::limits::Reservation;
use crate::reply;
use crate::store::{BatchError, FileToWrite, Mutation, OnExisting, StoreError, Times};
use crate::text::Splice;
use crate::unit_of_work::UnitOfWork;

/// The outcome of a change.
#[derive(Debug)]
pub(super) enum Outcome {
    /// It was made. The file has a content with this digest and size, which may differ from what was asked for if it was redacted.
    Done(Digest, u64),
    /// The memory is not as it was compared. Nothing was changed.
    Changed,
    /// Something exists at the new path. Nothing was changed.
    Exists,
    /// A directory that could not be removed is at the new path. If it is not empty, its files do not travel.
    Directory { is_empty: bool },
    /// A policy, a hook or the store refused it. Nothing was changed.
    Refused(Error),
}

/// A new file.
#[derive(Clone, Copy)]
pub(super) struct NewFile<'f> {
    pub(super) path: &'f MemoryPath,
    /// The path of the file in the other memory.
    pub(super) from: &'f MemoryPath,
    pub(super) content: &'f [u8],
    pub(super) modified: Option<SystemTime>,
}

/// A change of one file.
#[derive(Debug, Clone)]
pub(super) enum Change<'c> {
    /// A file with this content, from a path of the other memory.
    Create {
        path: Cow<'c, MemoryPath>,
        from: Cow<'c, MemoryPath>,
        content: Cow<'c, [u8]>,
        modified: Option<SystemTime>,
    },
    /// Replaces the content `old`. `theirs` is the content of the other memory that was taken or merged.
    Replace { path: Cow<'c, MemoryPath>, old: Digest, content: Cow<'c, [u8]>, theirs: Digest },
    /// Deletes a file with the content `old`.
    Delete { path: Cow<'c, MemoryPath>, old: Digest },
    /// Renames a file with the content `old`, which has this size.
    Rename { from: Cow<'c, MemoryPath>, to: Cow<'c, MemoryPath>, old: Digest, size: u64 },
}

impl<'f> From<NewFile<'f>> for Change<'f> {
    fn from(file: NewFile<'f>) -> Self {
        let NewFile { path, from, content, modified } = file;
        Self::Create {
            path: Cow::Borrowed(path),
            from: Cow::Borrowed(from),
            content: Cow::Borrowed(content),
            modified,
        }
    }
}

impl<'c> Change<'c> {
    pub(super) fn replace(
        path: &'c MemoryPath,
        old: Digest,
        content: &'c [u8],
        theirs: Digest,
    ) -> Self {
        let (path, content) = (Cow::Borrowed(path), Cow::Borrowed(content));
        Self::Replace { path, old, content, theirs }
    }

    /// The path that is changed; of a renamed file the old one.
    pub(super) fn path(&self) -> &MemoryPath {
        match self {
            Self::Create { path, .. } | Self::Replace { path, .. } | Self::Delete { path, .. } => {
                path
            }
            Self::Rename { from, .. } => from,
        }
    }

    pub(super) fn into_owned(self) -> Change<'static> {
        fn owned<T: ToOwned + ?Sized>(value: Cow<'_, T>) -> Cow<'static, T> {
            Cow::Owned(value.into_owned())
        }
        match self {
            Self::Create { path, from, content, modified } => Change::Create {
                path: owned(path),
                from: owned(from),
                content: owned(content),
                modified,
            },
            Self::Replace { path, old, content, theirs } => {
                Change::Replace { path: owned(path), old, content: owned(content), theirs }
            }
            Self::Delete { path, old } => Change::Delete { path: owned(path), old },
            Self::Rename { from, to, old, size } => {
                Change::Rename { from: owned(from), to: owned(to), old, size }
            }
        }
    }

    /// The file of the other memory that the change takes.
    fn taken(&self) -> Taken<'_> {
        match self {
            Self::Create { path, from, content, .. } => Taken::whole(path, from, digest(content)),
            Self::Replace { path, content, theirs, .. } => {
                Taken { is_merged: *theirs != digest(content), ..Taken::whole(path, path, *theirs) }
            }
            Self::Delete { path, .. } => {
                Taken { path, from: path, content: None, is_merged: false }
            }
            Self::Rename { to, old, .. } => Taken::whole(to, to, *old),
        }
    }

    /// Makes the change.
    ///
    /// # Errors
    /// The policies or the store refuse it; the store failed.
    pub(super) fn make(&self, work: &UnitOfWork<'_>) -> Result<Outcome, Error> {
        match self {
            Self::Create { path, content, .. } => create(work, path, content),
            Self::Replace { path, old, content, .. } => replace(work, path, *old, content),
            Self::Delete { path, old } => delete(work, path, *old),
            Self::Rename { from, to, old, size } => rename(work, from, to, *old, *size),
        }
    }
}

/// Creates a file, with the present time.
fn create(work: &UnitOfWork<'_>, path: &MemoryPath, content: &[u8]) -> Result<Outcome, Error> {
    let existing = OnExisting::Error;
    let (content, mut reservation) =
        work.policies().check_bytes(work.store(), path, content, existing)?;
    match work.mutate(Mutation::Write { path, content: &content, existing }) {
        Ok(_) => {
            reservation.commit();
            Ok(Outcome::Done(digest(&content), content.len() as u64))
        }
        Err(error) => {
            reservation.failed(&error);
            not_created(work, path, &mut reservation, error)
        }
    }
}

/// The outcome of a file that was not created.
fn not_created(
    work: &UnitOfWork<'_>,
    path: &MemoryPath,
    reservation: &mut Reservation<'_>,
    error: StoreError,
) -> Result<Outcome, Error> {
    match error {
        StoreError::AlreadyExists => Ok(Outcome::Exists),
        StoreError::OverLimit { bytes, files } => {
            Err(reservation.refused_by(work.store(), path, bytes, files))
        }
        error => Err(reply::condition(path, error)),
    }
}

fn replace(
    work: &UnitOfWork<'_>,
    path: &MemoryPath,
    old: Digest,
    content: &[u8],
) -> Result<Outcome, Error> {
    let Ok(text) = str::from_utf8(content) else {
        return replace_bytes(work, path, old, content);
    };
    let (is_other, new) = (Cell::new(false), Cell::new(None));
    let change = |now: &[u8]| {
        is_other.set(digest(now) != old);
        if is_other.get() {
            return Err(reply::changed_meanwhile(path));
        }
        let now = str::from_utf8(now).map_err(|_| reply::not_text(path))?;
        Ok(Splice::between(now, text))
    };
    let answer = |now: &str, splice: &Splice| {
        let written = splice.apply(now.as_bytes());
        new.set(Some((digest(&written), written.len() as u64)));
        Ok(String::new())
    };
    let operation = EditOperation {
        missing: reply::missing,
        check_view: |_, _, _| Ok(()),
        change: &change,
        answer: &answer,
        seen_by_model: false,
    };
    match (edit(work, path, &operation), new.take()) {
        (Ok(_), Some((digest, size))) => Ok(Outcome::Done(digest, size)),
        (Ok(_), None) => Ok(Outcome::Changed),
        (Err(_), _) if is_other.get() => Ok(Outcome::Changed),
        (Err(Error::Refused(refused)), _) if refused.kind() == ErrorKind::NotText => {
            replace_bytes(work, path, old, content)
        }
        (Err(Error::Refused(refused)), _) if refused.kind() == ErrorKind::NotFound => {
            Ok(Outcome::Changed)
        }
        (Err(error), _) => Err(error),
    }
}

/// As [`replace`], if the old content or the new one is not text.
fn replace_bytes(
    work: &UnitOfWork<'_>,
    path: &MemoryPath,
    old: Digest,
    content: &[u8],
) -> Result<Outcome, Error> {
    let (store, existing) = (work.store(), OnExisting::Overwrite);
    let (content, mut reservation) = work.policies().check_bytes(store, path, content, existing)?;
    let mut is_other = false;
    let edit = &mut |now: &[u8]| {
        is_other = digest(now) != old;
        let whole = || Splice { range: 0..now.len(), text: content.to_vec() };
        (!is_other).then(whole)
    };
    match work.mutate(Mutation::Update { path, edit }) {
        Ok(_) if is_other => {
            reservation.release();
            Ok(Outcome::Changed)
        }
        Ok(_) => {
            reservation.commit();
            Ok(Outcome::Done(digest(&content), content.len() as u64))
        }
        Err(error) => {
            reservation.failed(&error);
            condition(path, error)
        }
    }
}

fn delete(work: &UnitOfWork<'_>, path: &MemoryPath, old: Digest) -> Result<Outcome, Error> {
    work.policies().patterns.check(path)?;
    let is_old = &mut |now: &[u8]| digest(now) == old;
    match work.mutate(Mutation::DeleteIf { path, condition: is_old }) {
        Ok(true) => Ok(Outcome::Done(old, 0)),
        Ok(false) => Ok(Outcome::Changed),
        Err(error) => condition(path, error),
    }
}

fn rename(
    work: &UnitOfWork<'_>,
    from: &MemoryPath,
    to: &MemoryPath,
    old: Digest,
    size: u64,
) -> Result<Outcome, Error> {
    work.policies().check_move(from, to)?;
    let is_old = &mut |now: &[u8]| digest(now) == old;
    match work.mutate(Mutation::RenameIf { from, to, condition: is_old }) {
        Ok(true) => Ok(Outcome::Done(old, size)),
        Ok(false) => Ok(Outcome::Changed),
        Err(StoreError::AlreadyExists) => Ok(Outcome::Exists),
        Err(StoreError::Source(error)) => condition(from, *error),
        Err(error) => condition(to, error),
    }
}

/// The outcome after an error of a store.
fn condition(path: &MemoryPath, error: StoreError) -> Result<Outcome, Error> {
    match error {
        error if is_missing(&error) => Ok(Outcome::Changed),
        error => Err(reply::condition(path, error)),
    }
}

impl Writer {
    /// Checks that the policies allow a change of this path.
    pub(super) fn check_change(&self, path: &MemoryPath) -> Result<(), Error> {
        self.working(&[], |work| work.policies().patterns.check(path))
    }

    /// The error with which the policies or the store would refuse a change; `None` if there is none. Nothing is changed.
    pub(super) fn refusal_of(&self, change: &Change<'_>) -> Result<Option<Error>, SyncError> {
        let refusal = self.acting.refusal_of(|work| change.make(work).map(drop));
        refusal.map_err(|error| self.failed(change.path(), error))
    }

    /// Makes a change.
    pub(super) fn make(&self, change: &Change<'_>) -> Result<Outcome, SyncError> {
        if let Change::Create { path, from, content, modified } = change {
            let created = self.create(&[NewFile { path, from, content, modified: *modified }])?;
            return Ok(created.into_iter().next().unwrap_or(Outcome::Changed));
        }
        let made = self.working(&[change.taken()], |work| change.make(work));
        self.ended(change.path(), made)
    }

    /// Creates files together, and returns the outcome of each.
    pub(super) fn create(&self, files: &[NewFile<'_>]) -> Result<Vec<Outcome>, SyncError> {
        // Only a history needs the digests.
        let recorded = if self.has_history { files } else { &[] };
        let taken: Vec<Taken<'_>> = recorded
            .iter()
            .map(|file| Taken::whole(file.path, file.from, digest(file.content)))
            .collect();
        self.working(&taken, |work| {
            let mut outcomes: Vec<Option<Outcome>> = Vec::new();
            let mut new: Vec<(usize, Cow<'_, [u8]>, Reservation<'_>)> = Vec::new();
            for (number, file) in files.iter().enumerate() {
                let (store, existing) = (work.store(), OnExisting::Error);
                match work.policies().check_bytes(store, file.path, file.content, existing) {
                    Ok((content, reservation)) => {
                        new.push((number, content, reservation));
                        outcomes.push(None);
                    }
                    Err(error) => outcomes.push(Some(self.ended(file.path, Err(error))?)),
                }
            }
            let mut rest = &mut new[..];
            while !rest.is_empty() {
                let to_write: Vec<FileToWrite<'_>> = rest
                    .iter()
                    .map(|(number, content, _)| FileToWrite {
                        path: files[*number].path,
                        content,
                        times: Times { modified: files[*number].modified, accessed: None },
                        existing: OnExisting::Error,
                        note: None,
                    })
                    .collect();
                let done = work.write_batch(&to_write);
                drop(to_write);
                let written = done.as_ref().map_or_else(|failed| failed.written, |()| rest.len());
                let (finished, left) = rest.split_at_mut(written.min(rest.len()));
                for (number, content, reservation) in finished {
                    reservation.commit();
                    outcomes[*number] = Some(Outcome::Done(digest(content), content.len() as u64));
                }
                let Err(BatchError { error, .. }) = done else { break };
                let Some(((number, _, reservation), left)) = left.split_first_mut() else {
                    return Err(self.failed(&MemoryPath::root(), error));
                };
                reservation.failed(&error);
                let path = files[*number].path;
                let outcome = not_created(work, path, reservation, error);
                outcomes[*number] = Some(self.ended(path, outcome)?);
                rest = left;
            }
            Ok(outcomes.into_iter().map(|outcome| outcome.unwrap_or(Outcome::Changed)).collect())
        })
    }

    /// Removes a directory if it is empty. Returns whether it is gone. Everything that forbids it is ignored.
    ///
    /// # Errors
    /// Only failures of the store.
    pub(super) fn remove_directory(&self, path: &MemoryPath) -> Result<bool, SyncError> {
        self.working(&[], |work| {
            if work.policies().patterns.check(path).is_err() {
                return Ok(false);
            }
            match work.mutate(Mutation::RemoveDirectory { path }) {
                Ok(removed) => Ok(removed),
                Err(StoreError::NotFound) => Ok(true),
                Err(error) if error.is_failure() => Err(self.failed(path, error)),
                Err(_) => Ok(false),
            }
        })
    }

    fn ended(&self, path: &MemoryPath, made: Result<Outcome, Error>) -> Result<Outcome, SyncError> {
        match made {
            Err(Error::Store(error)) => Err(self.failed(path, error)),
            Err(error) => Ok(Outcome::Refused(error)),
            Ok(outcome) => Ok(outcome),
        }
    }
}

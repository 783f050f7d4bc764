//! Changes one of the two memories. Every change is conditional on the content that was compared, and the policies of the memory apply to it.

use std::borrow::Cow;
use std::cell::Cell;
use std::time::SystemTime;

use memdir_store::path::MemoryPath;
use memdir_store::{Error, ErrorKind};

use super::baseline::{Digest, digest};
use super::error::{SyncError, is_missing};
use super::side::Side;
use super::sources::Taken;
use crate::handlers::edit::{EditOperation, edit};
use crate::policy::limits::Reservation;
use crate::reply;
use crate::store::{BatchError, Entry, FileToWrite, Mutation, OnExisting, StoreError, Times};
use crate::text::Splice;

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
    /// A policy or the store refused it. Nothing was changed.
    Refused(Error),
}

/// The state of a path that is needed for a file, after the attempt to remove an empty directory.
pub(super) enum Room {
    /// The path is free.
    Made,
    File,
    /// A directory that could not be removed, and the files below it.
    Directory(Vec<MemoryPath>),
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

impl Side<'_> {
    /// Checks that the policies allow a change of this path.
    pub(super) fn check_change(&self, path: &MemoryPath) -> Result<(), Error> {
        self.working(&[], |work| work.policies().patterns.check(path))
    }

    /// Creates files, and returns the outcome of each.
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
                    Err(error) => outcomes.push(Some(self.refused(file.path, error)?)),
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
                outcomes[*number] = Some(match error {
                    StoreError::AlreadyExists => Outcome::Exists,
                    StoreError::OverLimit { bytes, files } => {
                        let error = reservation.refused_by(work.store(), path, bytes, files);
                        self.refused(path, error)?
                    }
                    error => self.refused(path, reply::condition(path, error))?,
                });
                rest = left;
            }
            Ok(outcomes.into_iter().map(|outcome| outcome.unwrap_or(Outcome::Changed)).collect())
        })
    }

    /// Replaces the content of a file, if it still has the old one. `theirs` is the content of the other memory that was taken or merged.
    pub(super) fn replace(
        &self,
        path: &MemoryPath,
        old: Digest,
        content: &[u8],
        theirs: Digest,
    ) -> Result<Outcome, SyncError> {
        let taken = Taken::whole(path, path, theirs);
        let taken = Taken { is_merged: theirs != digest(content), ..taken };
        let Ok(text) = str::from_utf8(content) else {
            return self.replace_bytes(&taken, old, content);
        };
        let (is_other, new) = (Cell::new(false), Cell::new(None));
        let replaced = self.working(&[taken], |work| {
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
            let replace = EditOperation {
                missing: reply::missing,
                check_view: |_, _, _| Ok(()),
                change: &change,
                answer: &answer,
                seen_by_model: false,
            };
            edit(work, path, &replace)
        });
        match (replaced, new.take()) {
            (Ok(_), Some((digest, size))) => Ok(Outcome::Done(digest, size)),
            (Ok(_), None) => Ok(Outcome::Changed),
            (Err(_), _) if is_other.get() => Ok(Outcome::Changed),
            (Err(Error::Refused(refused)), _) if refused.kind() == ErrorKind::NotText => {
                self.replace_bytes(&taken, old, content)
            }
            (Err(Error::Refused(refused)), _) if refused.kind() == ErrorKind::NotFound => {
                Ok(Outcome::Changed)
            }
            (Err(error), _) => self.refused(path, error),
        }
    }

    /// As [`replace`](Self::replace), if the old content or the new one is not text.
    fn replace_bytes(
        &self,
        taken: &Taken<'_>,
        old: Digest,
        content: &[u8],
    ) -> Result<Outcome, SyncError> {
        let path = taken.path;
        self.working(&[*taken], |work| {
            let (store, existing) = (work.store(), OnExisting::Overwrite);
            let (content, mut reservation) =
                match work.policies().check_bytes(store, path, content, existing) {
                    Ok(checked) => checked,
                    Err(error) => return self.refused(path, error),
                };
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
                    self.condition(path, error)
                }
            }
        })
    }

    /// Deletes a file, if it still has this content.
    pub(super) fn delete(&self, path: &MemoryPath, old: Digest) -> Result<Outcome, SyncError> {
        let taken = Taken { path, from: path, content: None, is_merged: false };
        self.working(&[taken], |work| {
            if let Err(error) = work.policies().patterns.check(path) {
                return self.refused(path, error);
            }
            let condition = &mut |now: &[u8]| digest(now) == old;
            match work.mutate(Mutation::DeleteIf { path, condition }) {
                Ok(true) => Ok(Outcome::Done(old, 0)),
                Ok(false) => Ok(Outcome::Changed),
                Err(error) => self.condition(path, error),
            }
        })
    }

    /// Renames a file, if it still has this content, which has this size.
    pub(super) fn rename(
        &self,
        from: &MemoryPath,
        to: &MemoryPath,
        old: Digest,
        size: u64,
    ) -> Result<Outcome, SyncError> {
        self.working(&[Taken::whole(to, to, old)], |work| {
            if let Err(error) = work.policies().check_move(from, to) {
                return self.refused(from, error);
            }
            let condition = &mut |now: &[u8]| digest(now) == old;
            match work.mutate(Mutation::RenameIf { from, to, condition }) {
                Ok(true) => Ok(Outcome::Done(old, size)),
                Ok(false) => Ok(Outcome::Changed),
                Err(StoreError::AlreadyExists) => Ok(Outcome::Exists),
                Err(StoreError::Source(error)) => self.condition(from, *error),
                Err(error) => self.condition(to, error),
            }
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

    /// Removes the directory at `path` with the directories below it, if there are no files.
    pub(super) fn make_room(&self, path: &MemoryPath) -> Result<Room, SyncError> {
        let (mut directories, mut files) = (vec![path.clone()], Vec::new());
        let mut number = 0;
        while let Some(directory) = directories.get(number) {
            match self.memory.store().list_in(&self.context(), directory) {
                Ok(entries) => {
                    let (below, found): (Vec<Entry>, Vec<Entry>) =
                        entries.into_iter().partition(|entry| !entry.is_file());
                    directories.extend(below.into_iter().map(|entry| entry.path));
                    files.extend(found.into_iter().map(|entry| entry.path));
                }
                Err(error) if error.is_failure() => return Err(self.failed(path, error)),
                Err(StoreError::NotADirectory) if number == 0 => return Ok(Room::File),
                // It is gone, or cannot be read. Then it cannot be removed either.
                Err(_) => {}
            }
            number += 1;
        }
        if files.is_empty() {
            // Each directory comes before those below it.
            for directory in directories.iter().rev() {
                if !self.remove_directory(directory)? {
                    return Ok(Room::Directory(files));
                }
            }
            return Ok(Room::Made);
        }
        Ok(Room::Directory(files))
    }

    /// The outcome after an error of a store.
    fn condition(&self, path: &MemoryPath, error: StoreError) -> Result<Outcome, SyncError> {
        match error {
            error if is_missing(&error) => Ok(Outcome::Changed),
            error => self.refused(path, reply::condition(path, error)),
        }
    }

    /// The outcome after an error that a command would have replied with.
    fn refused(&self, path: &MemoryPath, error: Error) -> Result<Outcome, SyncError> {
        match error {
            Error::Store(error) => Err(self.failed(path, error)),
            error => Ok(Outcome::Refused(error)),
        }
    }
}

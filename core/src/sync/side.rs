//! [`Side`]: one of the two memories, as a sync reads and changes it.
//!
//! Every change is conditional on the content that was compared, and the policies of the memory apply to it.

use std::borrow::Cow;
use std::cell::Cell;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use memdir_store::batch::{in_batches, read_all};
use memdir_store::path::{Folding, MemoryPath};
use memdir_store::{Error, ErrorKind};

use super::baseline::{Digest, digest};
use super::both::SyncSide;
use super::error::{SyncError, is_missing};
use super::parallel::for_each;
use super::sources::{Sources, Taken};
use crate::handlers::edit::{EditOperation, edit};
use crate::history::{HistoryError, HistoryId, HistorySnapshot};
use crate::memory::Memory;
use crate::policy::limits::Reservation;
use crate::reply;
use crate::store::{
    BatchError, Context, Entry, FileToWrite, Fingerprints, Mutation, Node, OnExisting, Store,
    StoreError, Times,
};
use crate::text::Splice;
use crate::trust::{Moment, Seen};
use crate::unit_of_work::UnitOfWork;

/// The actor of a sync, in the history.
const ACTOR: &str = "sync";

/// The number of calls of a store in a service that run at once.
const AT_ONCE: usize = 32;

/// One of the two memories.
pub(super) struct Side<'m> {
    pub(super) side: SyncSide,
    memory: &'m Memory,
    acting: Memory,
    pub(super) is_read_only: bool,
    /// The number of calls at once.
    pub(super) at_once: usize,
    /// Whether it is a store of the application, which may not be made for many calls at once.
    pub(super) is_own: bool,
    fingerprints: Fingerprints,
    pub(super) folding: Folding,
    pub(super) has_history: bool,
    /// The versions of the other memory, for the history of this one.
    sources: Mutex<Option<Arc<Sources>>>,
    /// The change of this sync in the history, once it has begun.
    change: Mutex<Option<HistoryId>>,
}

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

impl<'m> Side<'m> {
    pub(super) fn new(side: SyncSide, memory: &'m Memory) -> Self {
        Self::changed_by(side, memory, memory.acting_as(ACTOR))
    }

    /// A memory that is changed by the actor of `acting`.
    pub(super) fn changed_by(side: SyncSide, memory: &'m Memory, acting: Memory) -> Self {
        let info = memory.store().info();
        let is_far = info.locations.iter().any(|at| !at.is_local());
        Self {
            side,
            memory,
            acting,
            is_read_only: info.is_read_only,
            at_once: if is_far { AT_ONCE } else { 1 },
            is_own: info.locations.is_empty(),
            fingerprints: info.fingerprints,
            folding: Folding::new(info.folds_case),
            has_history: memory.options().history,
            sources: Mutex::default(),
            change: Mutex::default(),
        }
    }

    /// The store beneath the history, for what the sync keeps.
    pub(super) fn store(&self) -> &dyn Store {
        &**self.memory.without_recorder()
    }

    pub(super) fn context(&self) -> Context {
        Context::new().cancelled_by(self.memory.cancellation())
    }

    pub(super) fn can_keep(&self, path: &MemoryPath) -> bool {
        self.memory.store().can_keep(path)
    }

    /// The history; `None` if the memory has none.
    pub(super) fn history(&self) -> Result<Option<HistorySnapshot<'_>>, SyncError> {
        if !self.has_history {
            return Ok(None);
        }
        match self.memory.history_snapshot() {
            Ok(history) => Ok(Some(history)),
            Err(HistoryError::Store(error)) => Err(self.failed(&MemoryPath::root(), error)),
            Err(_) => Ok(None),
        }
    }

    /// Redacts versions as one change. Returns those that were not redacted, with the reasons.
    pub(super) fn redact(
        &self,
        versions: &[HistoryId],
        reason: &str,
    ) -> Result<Vec<(HistoryId, String)>, SyncError> {
        let details = match self.taking(&[]).redact_all(versions, reason) {
            Ok(_) => return Ok(Vec::new()),
            Err(HistoryError::Store(error)) => {
                return Err(self.failed(&MemoryPath::root(), error));
            }
            Err(HistoryError::IsCurrent { path }) => format!("{path} has this content now"),
            Err(error) => error.to_string(),
        };
        match versions {
            [version] => Ok(vec![(*version, details)]),
            // One of them keeps the others from it.
            versions => {
                let (some, others) = versions.split_at(versions.len() / 2);
                let mut refused = self.redact(some, reason)?;
                refused.extend(self.redact(others, reason)?);
                Ok(refused)
            }
        }
    }

    /// Names the versions of the other memory, for the history of this one.
    pub(super) fn set_sources(&self, sources: Sources) {
        let mut current = self.sources.lock().unwrap_or_else(PoisonError::into_inner);
        *current = Some(Arc::new(sources));
    }

    fn taking(&self, files: &[Taken<'_>]) -> Memory {
        let sources = self.sources.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let taking = |sources: Arc<Sources>| self.acting.taking_from(sources.of(files));
        sources.map_or_else(|| self.acting.clone(), taking)
    }

    pub(super) fn check(&self) -> Result<(), SyncError> {
        self.memory.cancellation().check().map_err(|_| SyncError::Stopped)
    }

    fn failed(&self, path: &MemoryPath, error: StoreError) -> SyncError {
        SyncError::of(self.side, path, error)
    }

    pub(super) fn list(&self) -> Result<Vec<Entry>, SyncError> {
        let mut entries = Vec::new();
        let listed =
            self.memory.store().files_in(&self.context(), &mut |entry| entries.push(entry));
        listed.map_err(|error| self.failed(&MemoryPath::root(), error))?;
        Ok(entries)
    }

    /// The trust in the fingerprint of a listed file.
    pub(super) fn seen(&self, entry: &Entry, listed: (Moment, Moment)) -> Seen {
        Seen::new(entry, self.fingerprints, listed, None)
    }

    /// Reads files of these sizes, in their order. A condition of a file is passed on, and a failure of the store ends it.
    pub(super) fn read_each<'p>(
        &self,
        files: &[(&'p MemoryPath, u64)],
        visit: &mut dyn FnMut(&'p MemoryPath, Result<Vec<u8>, StoreError>) -> Result<(), SyncError>,
    ) -> Result<(), SyncError> {
        let context = self.context();
        for batch in in_batches(files, |(_, size)| *size) {
            let paths: Vec<&MemoryPath> = batch.iter().map(|(path, _)| *path).collect();
            let contents = read_all(&**self.memory.store(), &context, paths);
            for ((path, _), content) in batch.iter().zip(contents) {
                match content {
                    Err(error) if error.is_failure() => return Err(self.failed(path, error)),
                    content => visit(path, content)?,
                }
            }
        }
        Ok(())
    }

    /// The content of a file; `None` if there is none that can be read.
    pub(super) fn read(&self, path: &MemoryPath) -> Result<Option<Vec<u8>>, SyncError> {
        match self.memory.store().read_in(&self.context(), path) {
            Err(error) if error.is_failure() => Err(self.failed(path, error)),
            content => Ok(content.ok()),
        }
    }

    /// The paths that are not certainly without a file.
    pub(super) fn unreadable(&self, paths: Vec<MemoryPath>) -> Result<Vec<MemoryPath>, SyncError> {
        let unreadable = Mutex::new(Vec::new());
        for_each(self.at_once, paths, |path| {
            let context = self.context();
            let is_missing = match self.memory.store().open_in(&context, &path, 0) {
                Ok(Node::Directory(_)) => true,
                // It was created a moment ago.
                Ok(Node::File(..)) => false,
                Err(error) if is_missing(&error) => true,
                Err(error) if error.is_failure() => return Err(self.failed(&path, error)),
                Err(_) => false,
            };
            if !is_missing {
                unreadable.lock().unwrap_or_else(PoisonError::into_inner).push(path);
            }
            Ok(())
        })?;
        Ok(unreadable.into_inner().unwrap_or_else(PoisonError::into_inner))
    }

    /// Checks that the policies allow a change of this path.
    pub(super) fn check_change(&self, path: &MemoryPath) -> Result<(), Error> {
        self.working(&[], |work| work.policies().patterns.check(path))
    }

    /// Does `work`, which takes these files, as a part of the one change that this sync is in the history.
    fn working<T>(&self, taken: &[Taken<'_>], work: impl FnOnce(&UnitOfWork<'_>) -> T) -> T {
        if !self.has_history {
            return self.acting.working_in(None, work).0;
        }
        let acting = self.taking(taken);
        let mut change = self.change.lock().unwrap_or_else(PoisonError::into_inner);
        if change.is_some() {
            let begun = *change;
            drop(change);
            return acting.working_in(begun, work).0;
        }
        // Other threads wait until the change has an id.
        let (done, begun) = acting.working_in(None, work);
        *change = begun;
        done
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

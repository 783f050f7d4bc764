//! Access times. Each file has a second object for its access time, its note, because a change of a file's
//! own metadata would be a write of the file.
//!
//! All notes are below one reserved name in the root. No path can contain that name, so a note never makes a
//! directory seem to exist. A note contains the id of the file's latest write. A file that is created later
//! at the same path does not have that write, so a leftover note is never attributed to it. If the access
//! time is the time when the note was stored, the note is empty, and a listing is enough to know the time.
//! Otherwise it contains one byte, and its metadata must be read.

use std::collections::{HashMap, HashSet};
use std::time::{Duration, SystemTime};

use futures_util::{StreamExt, TryStreamExt, stream};
use memdir_store::access::{Times, is_unused};
use memdir_store::path::MemoryPath;
use memdir_store::{Entry, Scope, StoreError, micros};
use object_store::path::Path as Key;
use object_store::{PutMode, PutPayload, UpdateVersion};

use super::batch::TOGETHER;
use super::client::{AT_A_TIME, Client, FoundObject, Item, Put, below};
use super::error::{ObjectError, RetryBackoff};
use super::files::Claim;
use super::stamp::{Id, Stamp};

/// The prefix of all notes.
const NOTES: &str = ".memdir-accessed%2F";

/// The tolerated difference between the server's clock and the access time of an empty note.
const NOW: Duration = Duration::from_secs(60);

/// The note of a moved file, which moves with it.
pub(super) struct Carried {
    old: Key,
}

impl Item {
    /// If this is a note and was listed from the root: the file's path relative to `/memories`.
    pub(super) fn notes(&self) -> Option<&str> {
        self.rest.strip_prefix(NOTES)?.strip_prefix('/')
    }
}

impl Client {
    /// The key of a file's note, or the prefix of the notes below a directory.
    pub(super) fn note(&self, path: &MemoryPath) -> Result<Key, StoreError> {
        let name = match path.relative() {
            "" => NOTES.to_owned(),
            relative => format!("{NOTES}/{relative}"),
        };
        below(&self.key(&MemoryPath::root())?, &name)
    }

    /// A file, and the access time in its note.
    async fn noted(
        &self,
        path: &MemoryPath,
    ) -> Result<Option<(FoundObject, Option<SystemTime>)>, ObjectError> {
        let key = self.key(path).map_err(|_| StoreError::NotFound)?;
        let Some(file) = (if path.is_root() { None } else { self.file(&key).await? }) else {
            return Ok(None);
        };
        let note = self.head(&self.note(path)?).await?;
        let own = note.filter(|note| note.stamp.newest().is_none_or(|id| file.stamp.has(id)));
        let accessed = own.and_then(|note| micros::time(note.stamp.modified?));
        Ok(Some((file, accessed)))
    }

    /// Adds access times to the entries of a directory, for files with notes.
    pub(super) async fn with_accesses(
        &self,
        directory: &MemoryPath,
        entries: Vec<Entry>,
    ) -> Result<Vec<Entry>, ObjectError> {
        let (notes, _) = self.within(&self.note(directory)?).await?;
        let names: HashSet<&str> = notes.iter().map(|note| &*note.rest).collect();
        let noted = stream::iter(entries).map(|entry| {
            let has_note = entry.path.name().is_some_and(|name| names.contains(name));
            async move {
                if !has_note || !entry.is_file() {
                    return Ok::<_, ObjectError>(entry);
                }
                let accessed = self.noted(&entry.path).await?.and_then(|(_, accessed)| accessed);
                Ok(entry.accessed_at(accessed))
            }
        });
        noted.buffered(AT_A_TIME).try_collect().await
    }

    pub(super) async fn accessed(
        &self,
        path: &MemoryPath,
    ) -> Result<Option<SystemTime>, ObjectError> {
        match self.noted(path).await? {
            Some((_, accessed)) => Ok(accessed),
            None => Err(self.no_file(path).await?.into()),
        }
    }

    /// The times of a file, with two requests at most.
    pub(super) async fn times(&self, path: &MemoryPath) -> Result<Times, ObjectError> {
        match self.noted(path).await? {
            Some((file, accessed)) => {
                Ok(Times { modified: micros::time(file.modified()), accessed })
            }
            None => Err(self.no_file(path).await?.into()),
        }
    }

    pub(super) async fn record_access(
        &self,
        path: &MemoryPath,
        time: SystemTime,
    ) -> Result<(), ObjectError> {
        let key = self.key(path).map_err(|_| StoreError::NotFound)?;
        match if path.is_root() { None } else { self.file(&key).await? } {
            Some(file) => self.put_note(&self.note(path)?, time, file.stamp.newest()).await,
            None => Err(self.no_file(path).await?.into()),
        }
    }

    /// Of two concurrent notes either one may remain.
    pub(super) async fn put_note(
        &self,
        key: &Key,
        time: SystemTime,
        write: Option<Id>,
    ) -> Result<(), ObjectError> {
        let now = SystemTime::now();
        let apart = now.duration_since(time).unwrap_or_else(|later| later.duration());
        let content = if apart < NOW { "" } else { "." };
        let stamp = Stamp::note(micros::of(time), write);
        let mut backoff = RetryBackoff::new();
        loop {
            let content = PutPayload::from_static(content.as_bytes());
            match self.put(key, content, &stamp, PutMode::Overwrite).await? {
                Put::Done(_) | Put::Conflict => return Ok(()),
                Put::Unknown(error) => backoff.after(error).await?,
            }
        }
    }

    /// Copies notes to the new path before a move, so a file never seems unused for longer than it was.
    pub(super) async fn carry_notes(
        &self,
        from: &MemoryPath,
        to: &MemoryPath,
        is_directory: bool,
    ) -> Result<Vec<Carried>, ObjectError> {
        let (old, new) = (self.note(from)?, self.note(to)?);
        if !is_directory {
            return Ok(self.carry_note(old, &new).await?.into_iter().collect());
        }
        let notes = self.all_below(&old).await?;
        let carried: Vec<_> = stream::iter(notes)
            .map(|note| {
                let new = below(&new, &note.rest);
                async move { self.carry_note(note.key, &new?).await }
            })
            .buffer_unordered(AT_A_TIME)
            .try_collect()
            .await?;
        Ok(carried.into_iter().flatten().collect())
    }

    async fn carry_note(&self, old: Key, new: &Key) -> Result<Option<Carried>, ObjectError> {
        let Some(note) = self.head(&old).await? else { return Ok(None) };
        if let Some(time) = note.stamp.modified.and_then(micros::time) {
            self.put_note(new, time, note.stamp.newest()).await?;
        }
        Ok(Some(Carried { old }))
    }

    /// Removes the old notes after a move. A leftover note is ignored.
    pub(super) async fn drop_carried(&self, carried: Vec<Carried>) {
        if !carried.is_empty() {
            let _ = self.try_to_delete(carried.into_iter().map(|note| note.old).collect()).await;
        }
    }

    /// Removes the notes of deleted files. A leftover note is ignored.
    pub(super) async fn drop_notes_below(&self, path: &MemoryPath) {
        if let Ok(note) = self.note(path)
            && let Ok(notes) = self.all_below(&note).await
            && !notes.is_empty()
        {
            let _ = self.try_to_delete(notes.into_iter().map(|note| note.key).collect()).await;
        }
    }

    /// Every file with the times that the listing contains. The real times are not later, except for an
    /// access time that the listing does not contain.
    pub(super) async fn files(&self) -> Result<Vec<Entry>, ObjectError> {
        let root = MemoryPath::root();
        let items = self.below(&self.key(&root)?).await?;
        let notes = items.iter().filter(|item| item.size == 0);
        let notes: HashMap<&str, SystemTime> =
            notes.filter_map(|item| Some((item.notes()?, item.stored))).collect();
        let files = Self::entries_of(&root, &items, Scope::EVERYTHING);
        let noted = |file: Entry| {
            let accessed = notes.get(file.path.relative()).copied();
            file.accessed_at(accessed)
        };
        Ok(files.into_iter().filter(Entry::is_file).map(noted).collect())
    }

    /// The files that were not used. The listing shows recent views; for all other files the objects are
    /// read.
    pub(super) async fn unused(
        &self,
        files: Vec<Entry>,
        since: SystemTime,
    ) -> Result<Vec<Entry>, ObjectError> {
        let candidates = files.into_iter().filter(|file| file.accessed.is_none_or(|at| at < since));
        let looked = stream::iter(candidates).map(|file| async move {
            let key = self.key(&file.path)?;
            // The listing does not show that the object is a copy of an older file.
            if file.modified.is_none_or(|stored| stored >= since) {
                let head = self.file(&key).await?;
                if head.is_none_or(|head| micros::of(since) <= head.modified()) {
                    return Ok::<_, ObjectError>(None);
                }
            }
            let Some((found, accessed)) = self.noted(&file.path).await? else { return Ok(None) };
            let modified = micros::time(found.modified());
            let unused = is_unused(modified, accessed, since);
            Ok(unused.then(|| file.modified_at(modified).accessed_at(accessed)))
        });
        let looked: Vec<_> = looked.buffered(TOGETHER).try_collect().await?;
        Ok(looked.into_iter().flatten().collect())
    }

    /// Claims the file as in a rename, so no edit is lost. A concurrent access can be missed.
    pub(super) async fn delete_unused(
        &self,
        path: &MemoryPath,
        since: SystemTime,
    ) -> Result<bool, ObjectError> {
        let Some((file, accessed)) = self.noted(path).await? else { return Ok(false) };
        if !is_unused(micros::time(file.modified()), accessed, since) {
            return Ok(false);
        }
        self.delete_version(path, &file.version).await
    }

    /// Deletes the file if it still has this version, and returns whether it did.
    pub(super) async fn delete_version(
        &self,
        path: &MemoryPath,
        version: &UpdateVersion,
    ) -> Result<bool, ObjectError> {
        let (key, id) = (self.key(path)?, Id::new()?);
        self.mark_parent(path).await?;
        match self.claim(&key, version, id).await? {
            Claim::Claimed => self.bury(&key, Some(id)).await,
            Claim::Taken | Claim::Gone | Claim::Changed => return Ok(false),
        }
        let _ = self.try_to_delete(vec![self.note(path)?]).await;
        Ok(true)
    }
}

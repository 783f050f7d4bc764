//! Writes, claims and deletes single objects. Each step is done once or not at all.

use std::time::{Duration, Instant};

use memdir_store::StoreError;
use memdir_store::path::MemoryPath;
use memdir_store::settings::OnExisting;
use object_store::path::Path as Key;
use object_store::{PutMode, PutPayload, UpdateVersion};

use super::client::{Client, FoundObject, GONE_BYTES, Item, MARKER, Put, below};
use super::error::{ConflictBackoff, ObjectError, RetryBackoff, pause};
use super::stamp::{Id, Stamp};

/// How long the command that claimed an object tries to remove its mark.
const BURY: Duration = Duration::from_secs(10);
/// How long other commands leave a mark in place. This is longer, so a late removal never deletes a newer
/// file.
const ABANDONED: Duration = Duration::from_secs(15);

/// The result of putting an object at a key.
pub(super) struct Placed {
    pub(super) version: UpdateVersion,
    /// Whether the key was free before.
    pub(super) created: bool,
    /// The stamp of the object, if an earlier attempt had written it.
    pub(super) earlier: Option<Stamp>,
}

/// The result of an attempt to claim one version of an object.
pub(super) enum Claim {
    /// The version is replaced by a mark, which only the claimer removes.
    Claimed,
    /// Another command claimed it.
    Taken,
    /// The object was deleted.
    Gone,
    /// The object was changed.
    Changed,
}

impl Client {
    pub(super) async fn write(
        &self,
        path: &MemoryPath,
        content: Vec<u8>,
        existing: OnExisting,
    ) -> Result<(), ObjectError> {
        if path.is_root() {
            return Err(StoreError::AlreadyExists.into());
        }
        let (key, id) = (self.key(path)?, Id::new()?);
        self.check_place(path).await?;
        let placed = self.place(&key, &content.into(), &Stamp::new(id), id, existing).await?;
        if placed.created {
            self.confirm(path, &key, placed.version, id).await?;
        }
        Ok(())
    }

    /// Writes an object with a unique name, without checking the directory around it.
    pub(super) async fn write_unique(
        &self,
        path: &MemoryPath,
        content: Vec<u8>,
    ) -> Result<(), ObjectError> {
        let (key, id) = (self.key(path)?, Id::new()?);
        self.place(&key, &content.into(), &Stamp::new(id), id, OnExisting::Error).await?;
        Ok(())
    }

    pub(super) async fn make_directory(&self, path: &MemoryPath) -> Result<(), ObjectError> {
        if path.is_root() {
            return Ok(());
        }
        let key = self.key(path)?;
        for made in [false, true] {
            self.check_parents(path).await?;
            if self.file(&key).await?.is_some() {
                return Err(StoreError::AlreadyExists.into());
            }
            if !made {
                self.mark(&key).await?;
            }
        }
        Ok(())
    }

    /// Deletes the marker of a directory, if nothing else is below it. A file that is created meanwhile keeps the directory by
    /// itself. Returns whether the directory is gone.
    pub(super) async fn remove_directory(&self, path: &MemoryPath) -> Result<bool, ObjectError> {
        let Ok(key) = self.key(path) else { return Err(StoreError::NotFound.into()) };
        if self.file(&key).await?.is_some() {
            return Err(StoreError::NotADirectory.into());
        }
        let first = self.first_below(&key, 2).await?;
        if first.is_empty() {
            return Err(StoreError::NotFound.into());
        }
        // The marker of a directory that is being moved is not empty.
        if first.iter().any(|item| item.rest != MARKER || item.size > 0) {
            return Ok(false);
        }
        self.mark_parent(path).await?;
        self.delete(vec![below(&key, MARKER)?]).await?;
        Ok(!self.is_directory(&key).await?)
    }

    /// Checks again after a file was created. If two commands create paths that exclude each other, at least
    /// one of them detects the other's, and removes its own.
    pub(super) async fn confirm(
        &self,
        path: &MemoryPath,
        key: &Key,
        version: UpdateVersion,
        id: Id,
    ) -> Result<(), ObjectError> {
        let confirmed = self.check_place(path).await;
        if confirmed.is_err() {
            self.withdraw(key, version, id).await?;
        }
        confirmed
    }

    /// Writes an object to a free key, or with [`OnExisting::Overwrite`] over a file, which gets the time of the stamp.
    pub(super) async fn place(
        &self,
        key: &Key,
        content: &PutPayload,
        stamp: &Stamp,
        id: Id,
        existing: OnExisting,
    ) -> Result<Placed, ObjectError> {
        let (mut backoff, mut conflicts) = (RetryBackoff::new(), ConflictBackoff::new());
        let mut abandoned = Abandoned::default();
        let mut there = match existing {
            OnExisting::Error => None,
            OnExisting::Overwrite => self.head(key).await?,
        };
        loop {
            let created = there.as_ref().is_none_or(|found| found.stamp.moved);
            let (mode, put) = match there {
                None => (PutMode::Create, stamp.clone()),
                Some(found) if found.stamp.moved && !abandoned.is(&found) => {
                    pause(100).await;
                    there = self.head(key).await?;
                    continue;
                }
                Some(found) if found.stamp.moved => (PutMode::Update(found.version), stamp.clone()),
                Some(found) if found.stamp.has(id) => {
                    let earlier = Some(found.stamp);
                    return Ok(Placed { version: found.version, created: true, earlier });
                }
                Some(_) if existing == OnExisting::Error => {
                    return Err(StoreError::AlreadyExists.into());
                }
                Some(found) => {
                    let mut put = found.stamp.touched(id);
                    put.modified = stamp.modified;
                    (PutMode::Update(found.version), put)
                }
            };
            match self.put(key, content.clone(), &put, mode).await? {
                Put::Done(version) => return Ok(Placed { version, created, earlier: None }),
                Put::Conflict => conflicts.next().await?,
                Put::Unknown(error) => backoff.after(error).await?,
            }
            there = self.head(key).await?;
        }
    }

    /// Replaces exactly this version by a mark of a removed file. The mark differs from every other content,
    /// so an edit of the file detects it.
    pub(super) async fn claim(
        &self,
        key: &Key,
        version: &UpdateVersion,
        id: Id,
    ) -> Result<Claim, ObjectError> {
        let mut sign = format!("This file was moved by memdir, and is about to be removed. {id}\n");
        sign.extend(std::iter::repeat_n('.', GONE_BYTES - sign.len()));
        let (sign, stamp) = (PutPayload::from(sign.into_bytes()), Stamp::gone(id));
        let (mut backoff, mut conflicts) = (RetryBackoff::new(), ConflictBackoff::new());
        loop {
            let mode = PutMode::Update(version.clone());
            match self.put(key, sign.clone(), &stamp, mode).await? {
                Put::Done(_) => return Ok(Claim::Claimed),
                Put::Conflict => conflicts.next().await?,
                Put::Unknown(error) => backoff.after(error).await?,
            }
            match self.head(key).await? {
                None => return Ok(Claim::Gone),
                Some(found) if found.stamp.moved && found.stamp.has(id) => {
                    return Ok(Claim::Claimed);
                }
                Some(found) if found.stamp.moved => return Ok(Claim::Taken),
                Some(found) if found.version.e_tag != version.e_tag => return Ok(Claim::Changed),
                // The attempt was lost, or conflicted with another write.
                Some(_) => {}
            }
        }
    }

    /// Removes the mark of a claim. If that fails, the mark stays and does not count as a file.
    pub(super) async fn bury(&self, key: &Key, id: Option<Id>) {
        let removal = async {
            let mut backoff = RetryBackoff::new();
            while let Err(error) = self.try_to_delete(vec![key.clone()]).await {
                backoff.after(error).await?;
                let found = self.head(key).await?;
                if !found.is_some_and(|found| found.stamp.moved && found.stamp.newest() == id) {
                    break;
                }
            }
            Ok::<_, ObjectError>(())
        };
        let _ = tokio::time::timeout(BURY, removal).await;
    }

    /// Waits until the mark of a claim is removed. Removes it if it belongs to this command, or is abandoned.
    /// Returns `false` if it is not a mark.
    pub(super) async fn clear_away(&self, key: &Key, own: Option<Id>) -> Result<bool, ObjectError> {
        let mut abandoned = Abandoned::default();
        loop {
            match self.head(key).await? {
                None => return Ok(true),
                Some(found) if !found.stamp.moved => return Ok(false),
                Some(found)
                    if own.is_some_and(|own| found.stamp.has(own)) || abandoned.is(&found) =>
                {
                    self.bury(key, found.stamp.newest()).await;
                    return Ok(true);
                }
                Some(_) => pause(100).await,
            }
        }
    }

    /// Removes the object that this command has written, unless it was changed since.
    pub(super) async fn withdraw(
        &self,
        key: &Key,
        version: UpdateVersion,
        id: Id,
    ) -> Result<(), ObjectError> {
        if matches!(self.claim(key, &version, id).await?, Claim::Claimed) {
            self.bury(key, Some(id)).await;
        }
        Ok(())
    }

    pub(super) async fn delete_path(&self, path: &MemoryPath) -> Result<(), ObjectError> {
        let Ok(key) = self.key(path) else { return Err(StoreError::NotFound.into()) };
        if let Some(found) = self.file(&key).await? {
            self.mark_parent(path).await?;
            return self.delete_file(&key, self.note(path)?, found).await;
        }
        if !self.is_directory(&key).await? {
            return Err(StoreError::NotFound.into());
        }
        self.mark_parent(path).await?;
        self.delete_below(&key).await?;
        self.drop_notes_below(path).await;
        Ok(())
    }

    /// Deletes a file and its note, in one request if the service supports that.
    async fn delete_file(
        &self,
        key: &Key,
        note: Key,
        found: FoundObject,
    ) -> Result<(), ObjectError> {
        let mut backoff = RetryBackoff::new();
        while let Err(error) = self.try_to_delete(vec![key.clone(), note.clone()]).await {
            backoff.after(error).await?;
            // It may be deleted despite the error, and another command may have created a file there since.
            let Some(now) = self.file(key).await? else { break };
            let edited = found.stamp.newest().is_some_and(|newest| now.stamp.has(newest));
            if now.version != found.version && !edited {
                break;
            }
        }
        Ok(())
    }

    /// Deletes everything below a directory, until nothing is left.
    pub(super) async fn delete_below(&self, directory: &Key) -> Result<(), ObjectError> {
        for _ in 0..100 {
            let left = self.all_below(directory).await?;
            if left.is_empty() {
                return Ok(());
            }
            let (doubtful, plain): (Vec<_>, Vec<_>) = left.into_iter().partition(Item::may_be_gone);
            self.delete(plain.into_iter().map(|item| item.key).collect()).await?;
            for item in doubtful {
                if !self.clear_away(&item.key, None).await? {
                    self.delete(vec![item.key]).await?;
                }
            }
        }
        Err(ObjectError::Broken("others kept on writing into the directory".to_owned()))
    }

    /// Sets the time of a file.
    pub(super) async fn set_modified(&self, key: &Key, micros: i64) -> Result<bool, ObjectError> {
        let id = Id::new()?;
        let (mut backoff, mut conflicts) = (RetryBackoff::new(), ConflictBackoff::new());
        loop {
            let Some((found, content)) = self.read(key).await? else { return Ok(false) };
            if found.stamp.has(id) {
                return Ok(true);
            }
            let mut stamp = found.stamp.touched(id);
            stamp.modified = Some(micros);
            match self.put(key, content.into(), &stamp, PutMode::Update(found.version)).await? {
                Put::Done(_) => return Ok(true),
                Put::Conflict => conflicts.next().await?,
                Put::Unknown(error) => backoff.after(error).await?,
            }
        }
    }
}

/// The mark of a claim that was last seen, and when it was first seen.
#[derive(Default)]
struct Abandoned(Option<(String, Instant)>);

impl Abandoned {
    /// Whether the mark is abandoned, so no other command will remove it.
    fn is(&mut self, found: &FoundObject) -> bool {
        let tag = found.tag();
        match &self.0 {
            Some((seen, since)) if *seen == tag => since.elapsed() > ABANDONED,
            _ => {
                self.0 = Some((tag, Instant::now()));
                false
            }
        }
    }
}

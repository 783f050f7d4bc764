//! Renames. An object cannot be renamed, so a move is a copy, a claim and a deletion.
//!
//! **A file.**
//!
//! 1. Copy it to the destination, which must be free.
//! 2. Claim the source: a conditional write replaces exactly the copied version by a mark. If the source was
//!    edited meanwhile, the condition fails, and the copy is repeated. A later edit finds the mark and no
//!    file. So no edit is lost.
//! 3. Remove the mark. If another command has claimed or deleted the source, remove the copy.
//!
//! **A directory.**
//!
//! 1. Write the intent into the source's marker. There is only one marker, so one of two concurrent moves of
//!    a directory wins. The marker is removed last.
//! 2. Write the destination's marker, which must be free, with the same id.
//! 3. Copy all files.
//! 4. Verify the copies against a listing.
//! 5. Settle the move by a conditional write of the source's marker: from now on it can only be completed,
//!    not undone.
//! 6. Claim and remove each file, as above.
//! 7. Move files that were added to the source meanwhile in the same way.
//! 8. Remove the source's marker.
//!
//! After a crash at any point every file is at its old path, its new path, or both, and the intent is still
//! in the marker. If the same rename is requested again, it continues: the ids of the copies show that they
//! belong to this move, and which version of the source each one is.

use std::collections::HashMap;

use futures_util::StreamExt;
use futures_util::TryStreamExt;
use futures_util::future::join;
use futures_util::stream;
use memdir_store::StoreError;
use memdir_store::path::{MemoryPath, PathError};
use memdir_store::settings::OnExisting;
use object_store::path::Path as Key;
use object_store::{PutMode, PutPayload, UpdateVersion};

use super::client::{AT_A_TIME, Client, FoundObject, Item, MARKER, MAX_KEY_BYTES, Put, below};
use super::error::{ConflictBackoff, ObjectError, RetryBackoff};
use super::files::Claim;
use super::stamp::{Id, Stamp};

/// A copy and its source.
#[derive(Clone)]
struct Copied {
    source: UpdateVersion,
    target: UpdateVersion,
    size: u64,
}

/// The copies of a directory's files, by their names relative to the directory.
type Copies = HashMap<String, Copied>;

/// The content of the marker of a directory that is being moved.
struct Intent {
    id: Id,
    /// Whether the move can only be completed, and no longer undone.
    settled: bool,
    to: String,
}

const COPYING: &str = "copying";
const SETTLED: &str = "moving";

impl Intent {
    fn payload(&self) -> PutPayload {
        let state = if self.settled { SETTLED } else { COPYING };
        let Self { id, to, .. } = self;
        let text = format!("This directory is being moved by memdir.\n{id}\n{state}\n{to}\n");
        text.into_bytes().into()
    }

    fn parse(text: &[u8]) -> Option<Self> {
        let mut lines = std::str::from_utf8(text).ok()?.lines().skip(1);
        let id = Id::parse(lines.next()?)?;
        let settled = match lines.next()? {
            SETTLED => true,
            COPYING => false,
            _ => return None,
        };
        Some(Self { id, settled, to: lines.next()?.to_owned() })
    }
}

impl Client {
    pub(super) async fn rename(
        &self,
        from: &MemoryPath,
        to: &MemoryPath,
    ) -> Result<(), ObjectError> {
        let Ok(source) = self.key(from) else { return Err(StoreError::NotFound.into()) };
        let (file, place) = join(self.file(&source), self.check_target(to)).await;
        if file?.is_some() {
            place?;
            return self.rename_file(from, to, &source).await;
        }
        let items = self.all_below(&source).await?;
        if items.is_empty() {
            return Err(StoreError::NotFound.into());
        }
        self.rename_directory(from, to, &source, items).await
    }

    /// Checks that `path` is free, and that its parents are not files.
    ///
    /// # Errors
    /// [`StoreError::AlreadyExists`], [`StoreError::NotADirectory`].
    async fn check_target(&self, path: &MemoryPath) -> Result<(), ObjectError> {
        let (free, parents) = join(self.check_free(path), self.check_parents(path)).await;
        free.and(parents)
    }

    /// # Errors
    /// [`StoreError::AlreadyExists`] if `path` exists.
    async fn check_free(&self, path: &MemoryPath) -> Result<(), ObjectError> {
        let Ok(key) = self.key(path) else { return Ok(()) };
        if path.is_root() {
            return Err(StoreError::AlreadyExists.into());
        }
        let (file, is_directory) = join(self.file(&key), self.is_directory(&key)).await;
        if file?.is_some() || is_directory? {
            return Err(StoreError::AlreadyExists.into());
        }
        Ok(())
    }

    /// Renames a file. The destination is already checked.
    async fn rename_file(
        &self,
        from: &MemoryPath,
        to: &MemoryPath,
        source: &Key,
    ) -> Result<(), ObjectError> {
        let (target, id) = (self.key(to)?, Id::new()?);
        let (notes, read) = join(self.carry_notes(from, to, false), self.read(source)).await;
        let (notes, read) = (notes?, read?);
        let Some(copied) = self.copy_read(source, &target, id, read).await? else {
            return Err(StoreError::NotFound.into());
        };
        self.confirm_copy(from, to, &target, &copied, id).await?;
        let (copied, claim) = self.claim_copied(source, &target, copied, id).await?;
        match claim {
            Claim::Claimed => {
                self.bury(source, Some(id)).await;
                self.drop_carried(notes).await;
                Ok(())
            }
            _ => {
                self.withdraw(&target, copied.target, id).await?;
                Err(StoreError::NotFound.into())
            }
        }
    }

    /// Confirms the new file, and creates the directory of the old one, so it stays.
    async fn confirm_copy(
        &self,
        from: &MemoryPath,
        to: &MemoryPath,
        target: &Key,
        copied: &Copied,
        id: Id,
    ) -> Result<(), ObjectError> {
        let confirming = self.confirm(to, target, copied.target.clone(), id);
        let (confirmed, marked) = join(confirming, self.mark_parent(from)).await;
        confirmed.and(marked)
    }

    /// Renames the file if it still has this version, and returns whether it did.
    pub(super) async fn rename_version(
        &self,
        from: &MemoryPath,
        to: &MemoryPath,
        version: &UpdateVersion,
    ) -> Result<bool, ObjectError> {
        let source = &self.key(from)?;
        self.check_target(to).await?;
        let (target, id) = (self.key(to)?, Id::new()?);
        let (notes, read) = join(self.carry_notes(from, to, false), self.read(source)).await;
        let (notes, read) = (notes?, read?);
        let Some(copied) = self.copy_read(source, &target, id, read).await? else {
            return Ok(false);
        };
        if copied.source.e_tag == version.e_tag {
            self.confirm_copy(from, to, &target, &copied, id).await?;
            if let Claim::Claimed = self.claim(source, version, id).await? {
                self.bury(source, Some(id)).await;
                self.drop_carried(notes).await;
                return Ok(true);
            }
        }
        match self.claim(&target, &copied.target, id).await? {
            Claim::Claimed => self.bury(&target, Some(id)).await,
            Claim::Gone | Claim::Taken => {}
            Claim::Changed => return Err(changed_twice()),
        }
        Ok(false)
    }

    /// Copies a file to a free key, or over an older copy by the same move; `None` if the file does not
    /// exist.
    async fn copy(
        &self,
        source: &Key,
        target: &Key,
        id: Id,
    ) -> Result<Option<Copied>, ObjectError> {
        let read = self.read(source).await?;
        self.copy_read(source, target, id, read).await
    }

    /// As [`copy`](Self::copy), for a source that was just read.
    async fn copy_read(
        &self,
        source: &Key,
        target: &Key,
        id: Id,
        mut read: Option<(FoundObject, Vec<u8>)>,
    ) -> Result<Option<Copied>, ObjectError> {
        let (mut backoff, mut conflicts) = (RetryBackoff::new(), ConflictBackoff::new());
        loop {
            let Some((found, content)) = read else { return Ok(None) };
            let (tag, size) = (found.tag(), found.size);
            let mut stamp = found.stamp.touched(id);
            stamp.modified = Some(found.modified());
            stamp.source = Some(tag.clone());
            let content = PutPayload::from(content);
            let placed = self.place(target, &content, &stamp, id, OnExisting::Error).await?;
            let copied = |target| Some(Copied { source: found.version, target, size });
            let Some(earlier) = placed.earlier else { return Ok(copied(placed.version)) };
            if earlier.source.as_ref() == Some(&tag) {
                return Ok(copied(placed.version));
            }
            if earlier.newest() != Some(id) {
                return Err(changed_twice());
            }
            match self.put(target, content, &stamp, PutMode::Update(placed.version)).await? {
                Put::Done(version) => return Ok(copied(version)),
                Put::Conflict => conflicts.next().await?,
                Put::Unknown(error) => backoff.after(error).await?,
            }
            read = self.read(source).await?;
        }
    }

    /// Claims the source of a copy. Repeats the copy as long as the source changes.
    async fn claim_copied(
        &self,
        source: &Key,
        target: &Key,
        mut copied: Copied,
        id: Id,
    ) -> Result<(Copied, Claim), ObjectError> {
        loop {
            match self.claim(source, &copied.source, id).await? {
                Claim::Changed => match self.copy(source, target, id).await? {
                    Some(again) => copied = again,
                    None => return Ok((copied, Claim::Gone)),
                },
                claim => return Ok((copied, claim)),
            }
        }
    }

    async fn rename_directory(
        &self,
        from: &MemoryPath,
        to: &MemoryPath,
        source: &Key,
        items: Vec<Item>,
    ) -> Result<(), ObjectError> {
        let (marker, target) = (below(source, MARKER)?, self.key(to));
        let earlier = match items.iter().find(|item| item.key == marker && item.size > 0) {
            Some(_) => self.intent(&marker).await?.map(|(intent, _)| intent),
            None => None,
        };
        if earlier.as_ref().is_some_and(|intent| intent.to != to.as_str()) {
            return Err(unfinished());
        }
        if earlier.is_none() {
            self.check_free(to).await?;
            if from.is_above(to) {
                return Err(StoreError::IntoItself.into());
            }
            self.check_parents(to).await?;
        }
        let target = target?;
        check_names(to, &target, &items)?;
        if items.iter().any(|item| item.key != marker && item.marks().is_some() && item.size > 0) {
            return Err(unfinished());
        }
        let (id, again) = match earlier {
            Some(intent) => (intent.id, true),
            None => (self.announce(&marker, to).await?, false),
        };
        let copies = match self.copy_all(to, &target, &marker, &items, id, again).await {
            Ok(copies) => copies,
            // After a failure, the same rename continues when it is requested again.
            Err(condition @ ObjectError::Condition(_)) => {
                self.revert_rename(&marker, &target, id).await?;
                return Err(condition);
            }
            Err(error) => return Err(error),
        };
        let notes = self.carry_notes(from, to, true).await?;
        self.settle(&marker, id).await?;
        self.mark_parent(from).await?;
        self.move_all(source, &target, &marker, items, copies, id).await?;
        self.delete(vec![marker]).await?;
        self.drop_carried(notes).await;
        Ok(())
    }

    /// The intent in a directory's marker, with the marker's metadata.
    async fn intent(&self, marker: &Key) -> Result<Option<(Intent, FoundObject)>, ObjectError> {
        match self.read(marker).await? {
            Some((found, content)) if !content.is_empty() => match Intent::parse(&content) {
                Some(intent) => Ok(Some((intent, found))),
                None => Err(ObjectError::Broken("a directory's marker is damaged".to_owned())),
            },
            _ => Ok(None),
        }
    }

    /// Writes the intent into the source's marker.
    async fn announce(&self, marker: &Key, to: &MemoryPath) -> Result<Id, ObjectError> {
        let intent = Intent { id: Id::new()?, settled: false, to: to.to_string() };
        let (mut backoff, mut conflicts) = (RetryBackoff::new(), ConflictBackoff::new());
        loop {
            let (mode, stamp) = match self.head(marker).await? {
                None => (PutMode::Create, Stamp::new(intent.id)),
                Some(found) if found.stamp.newest() == Some(intent.id) => return Ok(intent.id),
                Some(found) if found.size > 0 => return Err(unfinished()),
                Some(found) => (PutMode::Update(found.version), found.stamp.touched(intent.id)),
            };
            match self.put(marker, intent.payload(), &stamp, mode).await? {
                Put::Done(_) => return Ok(intent.id),
                Put::Conflict => conflicts.next().await?,
                Put::Unknown(error) => backoff.after(error).await?,
            }
        }
    }

    /// Settles the move: from here on it can only be completed, not undone.
    async fn settle(&self, marker: &Key, id: Id) -> Result<(), ObjectError> {
        let (mut backoff, mut conflicts) = (RetryBackoff::new(), ConflictBackoff::new());
        loop {
            let Some((intent, found)) = self.intent(marker).await?.filter(|(i, _)| i.id == id)
            else {
                return Err(ObjectError::Broken("the same rename has just been undone".to_owned()));
            };
            if intent.settled {
                return Ok(());
            }
            let payload = Intent { settled: true, ..intent }.payload();
            let stamp = found.stamp.touched(id);
            match self.put(marker, payload, &stamp, PutMode::Update(found.version)).await? {
                Put::Done(_) => return Ok(()),
                Put::Conflict => conflicts.next().await?,
                Put::Unknown(error) => backoff.after(error).await?,
            }
        }
    }

    /// Undoes the move, unless it is settled: removes the intent first, then the unchanged copies.
    async fn revert_rename(&self, marker: &Key, target: &Key, id: Id) -> Result<(), ObjectError> {
        let (mut backoff, mut conflicts) = (RetryBackoff::new(), ConflictBackoff::new());
        while let Some((intent, found)) = self.intent(marker).await?.filter(|(i, _)| i.id == id) {
            if intent.settled {
                return Ok(());
            }
            let stamp = found.stamp.touched(Id::new()?);
            let mode = PutMode::Update(found.version);
            match self.put(marker, PutPayload::new(), &stamp, mode).await? {
                Put::Done(_) => break,
                Put::Conflict => conflicts.next().await?,
                Put::Unknown(error) => backoff.after(error).await?,
            }
        }
        let target_marker = below(target, MARKER)?;
        for item in self.all_below(target).await? {
            if item.key != target_marker
                && let Some(found) = self.file(&item.key).await?
                && found.stamp.newest() == Some(id)
            {
                self.withdraw(&item.key, found.version, id).await?;
            }
        }
        let ours = self.head(&target_marker).await?;
        if ours.is_some_and(|found| found.stamp.newest() == Some(id)) {
            self.delete(vec![target_marker]).await?;
        }
        Ok(())
    }

    /// Reserves the destination, copies everything there, and verifies it.
    async fn copy_all(
        &self,
        to: &MemoryPath,
        target: &Key,
        marker: &Key,
        items: &[Item],
        id: Id,
        again: bool,
    ) -> Result<Copies, ObjectError> {
        let target_marker = below(target, MARKER)?;
        let empty = PutPayload::new();
        self.place(&target_marker, &empty, &Stamp::new(id), id, OnExisting::Error).await?;
        // As after the creation of a file: if two commands create paths that exclude each other, one of them
        // detects it.
        if self.file(target).await?.is_some() {
            return Err(StoreError::AlreadyExists.into());
        }
        self.check_parents(to).await?;
        if !again && self.all_below(target).await?.len() > 1 {
            return Err(StoreError::AlreadyExists.into());
        }
        let rest: Vec<Item> = items.iter().filter(|item| item.key != *marker).cloned().collect();
        let copied: Vec<_> = stream::iter(rest)
            .map(|item| async move {
                let to = below(target, &item.rest)?;
                if item.marks().is_some() {
                    let above = item.rest.strip_suffix(MARKER).unwrap_or_default();
                    self.mark(&below(target, above.trim_end_matches('/'))?).await?;
                    return Ok::<_, ObjectError>(None);
                }
                let copied = self.copy(&item.key, &to, id).await?;
                Ok(copied.map(|copied| (item.rest, copied)))
            })
            .buffer_unordered(AT_A_TIME)
            .try_collect()
            .await?;
        let copies: Copies = copied.into_iter().flatten().collect();
        self.verify(target, &copies, id).await?;
        Ok(copies)
    }

    async fn verify(&self, target: &Key, copies: &Copies, id: Id) -> Result<(), ObjectError> {
        let there: HashMap<_, _> =
            self.all_below(target).await?.into_iter().map(|item| (item.rest, item.size)).collect();
        for (rest, copied) in copies {
            if there.get(rest) == Some(&copied.size) {
                continue;
            }
            // Another command may already have changed the copy, which then is an ordinary file.
            let now = self.file(&below(target, rest)?).await?;
            if now.is_some_and(|now| now.stamp.newest() == Some(id)) {
                return Err(ObjectError::Broken("a copy differs from its original".to_owned()));
            }
        }
        Ok(())
    }

    /// Claims and removes everything at the source, including files that are added meanwhile.
    async fn move_all(
        &self,
        source: &Key,
        target: &Key,
        marker: &Key,
        mut items: Vec<Item>,
        mut copies: Copies,
        id: Id,
    ) -> Result<(), ObjectError> {
        for _ in 0..100 {
            items.retain(|item| item.key != *marker);
            if items.is_empty() {
                return Ok(());
            }
            let (markers, files): (Vec<_>, Vec<_>) =
                items.into_iter().partition(|item| item.marks().is_some());
            let files: Vec<_> =
                files.into_iter().map(|file| (copies.remove(&file.rest), file)).collect();
            stream::iter(files)
                .map(|(copied, file)| async move {
                    self.move_one(&file.key, &below(target, &file.rest)?, copied, id).await
                })
                .buffer_unordered(AT_A_TIME)
                .try_collect::<Vec<_>>()
                .await?;
            for item in &markers {
                let above = item.rest.strip_suffix(MARKER).unwrap_or_default();
                self.mark(&below(target, above.trim_end_matches('/'))?).await?;
            }
            if !markers.is_empty() {
                self.delete(markers.into_iter().map(|item| item.key).collect()).await?;
            }
            items = self.all_below(source).await?;
        }
        Err(ObjectError::Broken("others kept on writing into the directory".to_owned()))
    }

    async fn move_one(
        &self,
        source: &Key,
        target: &Key,
        copied: Option<Copied>,
        id: Id,
    ) -> Result<(), ObjectError> {
        let copied = match copied {
            Some(copied) => copied,
            None => match self.copy(source, target, id).await? {
                Some(copied) => copied,
                None => return self.clear_away(source, Some(id)).await.map(drop),
            },
        };
        let (copied, claim) = self.claim_copied(source, target, copied, id).await?;
        match claim {
            Claim::Claimed => self.bury(source, Some(id)).await,
            // Another command moved it elsewhere.
            Claim::Taken => self.withdraw(target, copied.target, id).await?,
            // Deleted, or moved to the same path by another command that completes the same rename. In the
            // second case this is the only copy.
            Claim::Gone | Claim::Changed => {}
        }
        Ok(())
    }
}

fn changed_twice() -> ObjectError {
    ObjectError::Broken(
        "a file was changed both at its old and at its new place while it was being moved: delete \
         one of the two"
            .to_owned(),
    )
}

/// For the developer. A model gets a reply that the memory cannot be reached.
fn unfinished() -> ObjectError {
    ObjectError::Broken(
        "a rename of this directory, or of one in it, has not been finished: ask for the same \
         rename again first"
            .to_owned(),
    )
}

/// Checks that all entries can have their new names.
fn check_names(to: &MemoryPath, target: &Key, items: &[Item]) -> Result<(), StoreError> {
    for item in items {
        let rest = item.marks().unwrap_or(&item.rest);
        let mut names = rest.split('/').filter(|name| !name.is_empty());
        match names.try_fold(to.clone(), |directory, name| directory.join(name)) {
            Ok(_) => {}
            // Names that no path can contain are unreachable before and after.
            Err(PathError::Escapes) => {}
            Err(_) => return Err(StoreError::NameTooLong),
        }
        if target.as_ref().len() + 1 + item.rest.len() > MAX_KEY_BYTES {
            return Err(StoreError::NameTooLong);
        }
    }
    Ok(())
}

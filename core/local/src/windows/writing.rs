//! Creates and edits files: prepares the content without the lock, and renames it into place under the lock.

use std::fs::File;
use std::sync::atomic::Ordering::Relaxed;

use memdir_store::backoff::Backoff;
use memdir_store::path::MemoryPath;
use memdir_store::settings::OnExisting;
use memdir_store::{Context, Edit, StoreError};

use super::handle::{self, Purpose};
use super::parent::{Parent, on_disk, parent_of};
use super::staged::{Kept, Staged, failed, flush};
use super::times::Accesses;
use super::tree::{EntryAt, look};
use super::{LocalDirectory, names::encoded};
use crate::read::{absent, read_whole};

/// How many times an edit is computed without the lock before it is computed under the lock.
pub(super) const TRIES: usize = 3;

impl LocalDirectory {
    pub(super) fn write_file(
        &self,
        context: &Context,
        path: &MemoryPath,
        content: &[u8],
        existing: OnExisting,
    ) -> Result<(), StoreError> {
        let Some(name) = path.name() else { return Err(StoreError::AlreadyExists) };
        // Before anything is opened, because a waiting thread must not hold anything.
        let mut staging = self.turn_to_stage(context)?;
        let mut backoff = self.backoff(context);
        loop {
            let root = self.enter_to_write()?;
            // Checked before anything is written.
            let there = may_be_written(&root, path, existing)?;
            let old = there.as_ref().map(Kept::of).transpose()?;
            // On a system without POSIX semantics, an open handle would prevent others from replacing the file.
            drop(there);
            let staged =
                Staged::new(&root, &[content], old.as_ref(), self.durability, &mut backoff)?;
            let Some(locked) = self.lock(&root, &mut backoff)? else { continue };
            let parent = Parent::make(locked.root, path)?;
            let now = may_be_written(locked.root, path, existing)?;
            let same = match (&now, &old) {
                (Some(now), Some(old)) => Kept::of(now)?.is_as(old),
                (now, old) => now.is_none() && old.is_none(),
            };
            if !same {
                continue;
            }
            let placed = self.put(staged, &parent.directory, name, now, &root, &mut backoff)?;
            parent.keep();
            drop(locked);
            staging.succeeded();
            drop(staging);
            Self::tidy(&root);
            return flush(&placed, self.durability).map_err(failed);
        }
    }

    pub(crate) fn edit_file(
        &self,
        context: &Context,
        path: &MemoryPath,
        edit: &mut Edit<'_>,
    ) -> Result<(), StoreError> {
        let mut turn = self.turn_if_busy(context, path)?;
        let mut backoff = self.backoff(context);
        // If open files cannot be replaced, writers that read without the lock would block each other.
        let tries = if self.refuses_open_files.load(Relaxed) { 0 } else { TRIES };
        for tried in 0.. {
            // Before anything is opened, because a waiting thread must not hold anything.
            let mut staging = self.turn_to_stage(context)?;
            if staging.has_waited() {
                // The waiting time for this turn does not count towards the timeout.
                backoff = self.backoff(context);
            }
            let root = self.enter_to_write()?;
            let edited = if tried < tries {
                self.edit_ahead(&root, path, edit, &mut backoff)?
            } else {
                self.edit_locked(&root, path, edit, &mut backoff)?
            };
            let Some(edited) = edited else {
                drop(root);
                drop(staging);
                if turn.is_none() {
                    turn = Some(self.turn_at(context, path)?);
                    backoff = self.backoff(context);
                }
                continue;
            };
            staging.succeeded();
            drop(staging);
            if let Some(mut turn) = turn {
                turn.succeeded();
            }
            let Some(placed) = edited else { break };
            Self::tidy(&root);
            return flush(&placed, self.durability).map_err(failed);
        }
        Ok(())
    }

    /// Computes and stages the edit first, and takes the lock to put it in place. Returns `None` if the file was changed
    /// meanwhile, `Some(None)` if the edit changes nothing, and otherwise the new file.
    fn edit_ahead(
        &self,
        root: &File,
        path: &MemoryPath,
        edit: &mut Edit<'_>,
        backoff: &mut Backoff,
    ) -> Result<Option<Option<File>>, StoreError> {
        let found = self.find_file(root, path)?;
        let Some(splice) = edit(&found.content) else { return Ok(Some(None)) };
        let pieces = splice.pieces(&found.content);
        let staged = Staged::new(root, &pieces, Some(&found.kept), self.durability, backoff)?;
        let Some(locked) = self.lock(root, backoff)? else { return Ok(None) };
        let Some(old) = unchanged(locked.root, path, &found.content) else { return Ok(None) };
        let (parent, name) = parent_of(locked.root, path)?;
        let placed = self.put(staged, &parent, name, Some(old), root, backoff)?;
        Ok(Some(Some(placed)))
    }

    /// As [`edit_ahead`](Self::edit_ahead), but computes the edit under the lock, so it cannot lose a race. If no name is free, it
    /// releases the lock while it waits, because the owners of the names wait for the lock.
    fn edit_locked(
        &self,
        root: &File,
        path: &MemoryPath,
        edit: &mut Edit<'_>,
        backoff: &mut Backoff,
    ) -> Result<Option<Option<File>>, StoreError> {
        let Some(locked) = self.lock(root, backoff)? else { return Ok(None) };
        let found = self.find_file(locked.root, path)?;
        let Some(splice) = edit(&found.content) else { return Ok(Some(None)) };
        let pieces = splice.pieces(&found.content);
        let Some(staged) = Staged::now(root, &pieces, Some(&found.kept), self.durability)? else {
            drop(locked);
            backoff.wait()?;
            return Ok(None);
        };
        let EntryAt::File(old, _) = look(locked.root, path, Purpose::Read)? else {
            return Err(StoreError::IsADirectory);
        };
        let (parent, name) = parent_of(locked.root, path)?;
        let placed = self.put(staged, &parent, name, Some(old), root, backoff)?;
        Ok(Some(Some(placed)))
    }

    /// Renames content into place. If `old` is given, it replaces that file and keeps the case of its name. The caller has the
    /// lock.
    fn put(
        &self,
        staged: Staged,
        parent: &File,
        name: &str,
        old: Option<File>,
        root: &File,
        backoff: &mut Backoff,
    ) -> Result<File, StoreError> {
        let Some(old) = old else { return staged.place(parent, &encoded(name), None, backoff) };
        let name = on_disk(parent, name)?;
        let id = handle::id(&old).ok();
        // A system without POSIX semantics cannot replace an open file.
        drop(old);
        let placed = staged.place(parent, &name, Some(&self.refuses_open_files), backoff)?;
        if let Some((_, id)) = id {
            Accesses::open(root).forget(id);
        }
        Ok(placed)
    }

    pub(super) fn find_file(&self, root: &File, path: &MemoryPath) -> Result<Text, StoreError> {
        let found = look(root, path, Purpose::Read).map_err(|error| absent(error).unchanged())?;
        match found {
            EntryAt::File(file, size) => {
                let content = read_whole(&file, size, self.max_file_bytes)?;
                Ok(Text { kept: Kept::of(&file)?, content })
            }
            EntryAt::Directory(_) => Err(StoreError::IsADirectory),
        }
    }
}

/// A file to edit.
pub(super) struct Text {
    kept: Kept,
    pub(super) content: Vec<u8>,
}

/// Returns the file at this path if it still has the content that was read. The caller has the lock.
///
/// This compares the content, not the file number. With the number, the file would have to stay open until then. On a system
/// without POSIX semantics no other process could replace it meanwhile.
pub(super) fn unchanged(root: &File, path: &MemoryPath, content: &[u8]) -> Option<File> {
    let Ok(EntryAt::File(there, size)) = look(root, path, Purpose::Read) else { return None };
    let same_size = usize::try_from(size).is_ok_and(|size| size == content.len());
    let same = same_size && read_whole(&there, size, None).is_ok_and(|now| now == content);
    same.then_some(there)
}

/// The existing file that would be replaced; `None` if the path is free.
fn may_be_written(
    root: &File,
    path: &MemoryPath,
    existing: OnExisting,
) -> Result<Option<File>, StoreError> {
    match look(root, path, Purpose::Read) {
        Ok(EntryAt::File(file, _)) if existing == OnExisting::Overwrite => Ok(Some(file)),
        Ok(_) => Err(StoreError::AlreadyExists),
        // Includes a path below a file. The walk to the parent reports that case.
        Err(StoreError::NotFound | StoreError::NotADirectory) => Ok(None),
        Err(error) => Err(error.unchanged()),
    }
}

//! Deletes or moves a file if a condition accepts its content. The condition is called without the lock. The change is made under the
//! lock if the file is still the one that was read. After a few attempts the condition is called under the lock.

use std::fs::File;

use memdir_store::path::MemoryPath;
use memdir_store::{Condition, Context, StoreError};
use rustix::fd::{AsFd, BorrowedFd};

use super::deleting::move_in;
use super::directory::{Changed, flush};
use super::writing::TRIES;
use super::{LocalDirectory, parent_of, remove};

impl LocalDirectory {
    pub(super) fn delete_file_if(
        &self,
        context: &Context,
        path: &MemoryPath,
        condition: &mut Condition<'_>,
    ) -> Result<bool, StoreError> {
        let delete = |root: BorrowedFd<'_>| {
            let (parent, name) = parent_of(root, path).map_err(StoreError::unchanged)?;
            context.check()?;
            remove::file(&parent, name)?;
            Ok(parent)
        };
        match self.change_if(context, path, condition, |error| error, delete)? {
            Some(parent) => flush(&parent, self.durability).map(|()| true),
            None => Ok(false),
        }
    }

    pub(super) fn move_file_if(
        &self,
        context: &Context,
        from: &MemoryPath,
        to: &MemoryPath,
        condition: &mut Condition<'_>,
    ) -> Result<bool, StoreError> {
        if self.read_only {
            return Err(StoreError::Source(Box::new(StoreError::ReadOnly)));
        }
        let rename = |root: BorrowedFd<'_>| move_in(context, root, from, to);
        let moved = self.change_if(context, from, condition, StoreError::about_source, rename)?;
        let Some((old_parent, new_parent)): Option<(File, Changed)> = moved else {
            return Ok(false);
        };
        new_parent.flush(self.durability)?;
        flush(&old_parent, self.durability)?;
        Ok(true)
    }

    /// Makes a change under the lock, if the condition accepts the file's current content. Returns `None` otherwise. `of_file`
    /// converts an error of the file itself.
    fn change_if<T>(
        &self,
        context: &Context,
        path: &MemoryPath,
        condition: &mut Condition<'_>,
        of_file: fn(StoreError) -> StoreError,
        mut change: impl FnMut(BorrowedFd<'_>) -> Result<T, StoreError>,
    ) -> Result<Option<T>, StoreError> {
        let mut backoff = self.backoff(context);
        for tried in 0.. {
            let root = self.enter_to_write()?;
            let mut accepted = None;
            if tried < TRIES {
                let found = self.find_file(root.as_fd(), path).map_err(of_file)?;
                if !condition(&found.content) {
                    break;
                }
                accepted = Some(found);
            }
            let Some(locked) = self.lock(&root, &mut backoff)? else { continue };
            match accepted {
                Some(found) if found.is_still_at(locked.as_fd(), path).is_none() => continue,
                Some(_) => {}
                None => {
                    let found = self.find_file(locked.as_fd(), path).map_err(of_file)?;
                    if !condition(&found.content) {
                        break;
                    }
                }
            }
            let changed = change(locked.as_fd())?;
            drop(locked);
            Self::tidy(&root);
            return Ok(Some(changed));
        }
        Ok(None)
    }
}

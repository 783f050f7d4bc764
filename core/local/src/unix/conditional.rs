//! Deletes or moves a file if a condition accepts its content. The condition is called without the lock. The change is made under the
//! lock if the file is still the one that was read. After a few attempts the condition is called under the lock.

use memdir_store::path::MemoryPath;
use memdir_store::{Condition, Context, StoreError};
use rustix::fd::AsFd;

use super::deleting::move_in;
use super::lock::Root;
use super::writing::TRIES;
use super::{LocalDirectory, parent_of, remove};

impl LocalDirectory {
    pub(super) fn delete_file_if(
        &self,
        context: &Context,
        path: &MemoryPath,
        condition: &mut Condition<'_>,
    ) -> Result<bool, StoreError> {
        let Some(root) = self.lock_if(context, path, condition, |error| error)? else {
            return Ok(false);
        };
        let (parent, name) = parent_of(root.as_fd(), path).map_err(StoreError::unchanged)?;
        context.check()?;
        remove::file(parent.as_fd(), name)?;
        Self::unlock(&root);
        parent.flush(self.durability)?;
        Ok(true)
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
        let Some(root) = self.lock_if(context, from, condition, StoreError::about_source)? else {
            return Ok(false);
        };
        let moved = move_in(context, root.as_fd(), from, to)?;
        Self::unlock(&root);
        moved.flush(self.durability)?;
        Ok(true)
    }

    /// Takes the lock, if the condition accepts the file's current content. Returns `None` otherwise. `of_file` converts an error
    /// of the file itself.
    fn lock_if(
        &self,
        context: &Context,
        path: &MemoryPath,
        condition: &mut Condition<'_>,
        of_file: fn(StoreError) -> StoreError,
    ) -> Result<Option<Root>, StoreError> {
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
            if !self.lock(&root, &mut backoff)? {
                continue;
            }
            match accepted {
                Some(found) if found.is_still_at(root.as_fd(), path).is_none() => continue,
                Some(_) => {}
                None => {
                    let found = self.find_file(root.as_fd(), path).map_err(of_file)?;
                    if !condition(&found.content) {
                        break;
                    }
                }
            }
            return Ok(Some(root));
        }
        Ok(None)
    }
}

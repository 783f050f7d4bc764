//! Deletes or moves a file if a condition accepts its content. The condition is called without the lock. The change is made
//! under the lock if the file still has that content. After a few attempts the condition is called under the lock.

use std::fs::File;

use memdir_store::backoff::Backoff;
use memdir_store::path::MemoryPath;
use memdir_store::{Condition, Context, StoreError};

use super::LocalDirectory;
use super::changing::{delete, rename};
use super::writing::{TRIES, unchanged};

impl LocalDirectory {
    pub(super) fn delete_file_if(
        &self,
        context: &Context,
        path: &MemoryPath,
        condition: &mut Condition<'_>,
    ) -> Result<bool, StoreError> {
        let delete = |root: &File, backoff: &mut Backoff| delete(root, path, backoff);
        let is_met = self.change_if(context, path, condition, |error| error, delete)?;
        if is_met {
            self.flush_parent(path)?;
        }
        Ok(is_met)
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
        let rename = |root: &File, backoff: &mut Backoff| rename(root, from, to, backoff);
        let is_met = self.change_if(context, from, condition, StoreError::about_source, rename)?;
        if is_met {
            self.flush_moved(from, to)?;
        }
        Ok(is_met)
    }

    /// Makes a change under the lock, if the condition accepts the file's current content. Returns whether it does. `of_file`
    /// converts an error of the file itself.
    fn change_if(
        &self,
        context: &Context,
        path: &MemoryPath,
        condition: &mut Condition<'_>,
        of_file: fn(StoreError) -> StoreError,
        mut change: impl FnMut(&File, &mut Backoff) -> Result<(), StoreError>,
    ) -> Result<bool, StoreError> {
        let mut backoff = self.backoff(context);
        for tried in 0.. {
            let root = self.enter_to_write()?;
            let mut accepted = None;
            if tried < TRIES {
                let content = self.find_file(&root, path).map_err(of_file)?.content;
                if !condition(&content) {
                    break;
                }
                accepted = Some(content);
            }
            let Some(locked) = self.lock(&root, &mut backoff)? else { continue };
            match accepted {
                // The file is not kept open, so it can be removed.
                Some(content) if unchanged(locked.root, path, &content).is_none() => continue,
                Some(_) => {}
                None => {
                    let content = self.find_file(locked.root, path).map_err(of_file)?.content;
                    if !condition(&content) {
                        break;
                    }
                }
            }
            change(locked.root, &mut backoff)?;
            drop(locked);
            Self::tidy(&root);
            return Ok(true);
        }
        Ok(false)
    }
}

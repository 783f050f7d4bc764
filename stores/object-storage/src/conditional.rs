//! Deletes or moves a file if a condition accepts its content.
//!
//! The content is read with its version. The change claims exactly that version by a conditional write, as in a rename. If
//! the file was changed meanwhile, that write fails, and the condition is called again.

use memdir_store::path::MemoryPath;
use memdir_store::{Condition, Context, StoreError};
use object_store::UpdateVersion;

use super::ObjectStorage;
use super::client::{Body, How};
use super::error::ConflictBackoff;

impl ObjectStorage {
    pub(super) fn delete_if_met(
        &self,
        context: &Context,
        path: &MemoryPath,
        condition: &mut Condition<'_>,
    ) -> Result<bool, StoreError> {
        let operation = "deleting";
        let mut conflicts = ConflictBackoff::new();
        loop {
            let (version, content) = self.read_version(context, operation, path)?;
            if !condition(&content) {
                return Ok(false);
            }
            let path = path.clone();
            let deleted = self.run(context, operation, |client| async move {
                client.delete_version(&path, &version).await
            })?;
            if deleted {
                return Ok(true);
            }
            conflicts = self.after_conflict(context, operation, conflicts)?;
        }
    }

    pub(super) fn rename_if_met(
        &self,
        context: &Context,
        from: &MemoryPath,
        to: &MemoryPath,
        condition: &mut Condition<'_>,
    ) -> Result<bool, StoreError> {
        let operation = "renaming";
        let mut conflicts = ConflictBackoff::new();
        loop {
            let read = self.read_version(context, operation, from);
            let (version, content) = read.map_err(StoreError::about_source)?;
            if !condition(&content) {
                return Ok(false);
            }
            let (from, to) = (from.clone(), to.clone());
            let renamed = self.run(context, operation, |client| async move {
                client.rename_version(&from, &to, &version).await
            })?;
            if renamed {
                return Ok(true);
            }
            conflicts = self.after_conflict(context, operation, conflicts)?;
        }
    }

    /// The content and the version of a file that is not too large for an edit.
    fn read_version(
        &self,
        context: &Context,
        operation: &'static str,
        path: &MemoryPath,
    ) -> Result<(UpdateVersion, Vec<u8>), StoreError> {
        let (path, how) = (path.clone(), How::Whole(self.max_file_bytes));
        self.run(context, operation, |client| async move {
            match client.open(&path, how).await? {
                Some((found, Body::Whole(content))) => Ok((found.version, content)),
                _ => Err(client.no_file(&path).await?.into()),
            }
        })
    }

    fn after_conflict(
        &self,
        context: &Context,
        operation: &'static str,
        mut conflicts: ConflictBackoff,
    ) -> Result<ConflictBackoff, StoreError> {
        self.run(context, operation, |_| async move {
            conflicts.next().await?;
            Ok(conflicts)
        })
    }
}

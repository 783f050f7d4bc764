//! [`BuiltInStore`]: a store of the core for Kotlin and Swift.

use std::sync::Arc;
use std::time::SystemTime;

use memdir::store::Splice;
use memdir::{MemoryPath, OnExisting, StoreError as CoreStoreError};

use crate::border::MemdirText;
use crate::error::MemdirError;
use crate::options::MemoryOptions;
use crate::results::Entry;
use crate::store::{Edit, Store, StoreError};
use crate::time::meant;

/// One of memdir's own stores.
pub(crate) struct BuiltInStore(Arc<dyn memdir::Store>);

impl BuiltInStore {
    pub(crate) fn new(store: Arc<dyn memdir::Store>) -> Self {
        Self(store)
    }

    pub(crate) fn core(&self) -> Arc<dyn memdir::Store> {
        Arc::clone(&self.0)
    }
}

/// Validates a path from the host like one from a model.
fn valid_path(path: &str) -> Result<MemoryPath, StoreError> {
    MemoryPath::parse(path)
        .map_err(|error| StoreError::Failed { reason: format!("{path:?}: {error}") })
}

impl Store for BuiltInStore {
    fn read(&self, path: String) -> Result<Vec<u8>, StoreError> {
        Ok(self.0.read(&valid_path(&path)?)?)
    }

    fn list(&self, path: String) -> Result<Vec<Entry>, StoreError> {
        let listed = self.0.list(&valid_path(&path)?)?;
        Ok(listed.into_iter().map(Entry::from).collect())
    }

    fn write(&self, path: String, content: Vec<u8>, overwrite: bool) -> Result<(), StoreError> {
        let existing = if overwrite { OnExisting::Overwrite } else { OnExisting::Error };
        Ok(self.0.write(&valid_path(&path)?, &content, existing)?)
    }

    fn update(&self, path: String, edit: Arc<dyn Edit>) -> Result<(), StoreError> {
        let mut broken = None;
        let updated =
            self.0.update(&valid_path(&path)?, &mut |content| match edit.apply(content.to_vec()) {
                Ok(new) => new.map(|text| Splice { range: 0..content.len(), text }),
                Err(error) => {
                    broken = Some(error);
                    None
                }
            });
        match broken {
            Some(error) => Err(error),
            None => Ok(updated?),
        }
    }

    fn delete(&self, path: String) -> Result<(), StoreError> {
        Ok(self.0.delete(&valid_path(&path)?)?)
    }

    fn rename(&self, source: String, destination: String) -> Result<(), StoreError> {
        Ok(self.0.rename(&valid_path(&source)?, &valid_path(&destination)?)?)
    }

    fn set_modified(&self, path: String, time: SystemTime) -> Result<(), StoreError> {
        Ok(self.0.set_modified(&valid_path(&path)?, meant(time))?)
    }

    fn tracks_access(&self) -> Result<bool, StoreError> {
        Ok(self.0.info().tracks_access)
    }

    fn folds_case(&self) -> Result<bool, StoreError> {
        Ok(self.0.info().folds_case)
    }

    fn record_access(&self, path: String, time: SystemTime) -> Result<(), StoreError> {
        Ok(self.0.record_access(&valid_path(&path)?, meant(time))?)
    }

    fn delete_unused(&self, path: String, since: SystemTime) -> Result<bool, StoreError> {
        Ok(self.0.delete_unused(&valid_path(&path)?, meant(since))?)
    }
}

impl From<CoreStoreError> for StoreError {
    fn from(error: CoreStoreError) -> Self {
        match error {
            CoreStoreError::NotFound => Self::NotFound,
            CoreStoreError::AlreadyExists => Self::AlreadyExists,
            CoreStoreError::IsADirectory => Self::IsADirectory,
            CoreStoreError::NotADirectory => Self::NotADirectory,
            CoreStoreError::Symlink => Self::Symlink,
            CoreStoreError::SpecialFile => Self::SpecialFile,
            CoreStoreError::IntoItself => Self::IntoItself,
            CoreStoreError::NameTooLong => Self::NameTooLong,
            CoreStoreError::PermissionDenied => Self::PermissionDenied,
            CoreStoreError::ReadOnly => Self::ReadOnly,
            CoreStoreError::MountPoint => Self::MountPoint,
            CoreStoreError::Full | CoreStoreError::OverLimit { .. } => Self::Full,
            CoreStoreError::TooLarge { size } => {
                Self::TooLarge { size: i64::try_from(size).unwrap_or(i64::MAX) }
            }
            CoreStoreError::Busy => Self::Busy,
            CoreStoreError::Cancelled => Self::Cancelled,
            CoreStoreError::Source(error) => Self::from(*error),
            other => Self::Failed { reason: other.to_string() },
        }
    }
}

/// Opens one of memdir's own stores: a directory such as `./memory`, which is created if it does
/// not exist, `sqlite:agent.db` for an SQLite database, or `memory:` for a new store in this
/// process.
///
/// Several memories can share the store. You can also write to it directly, or build your own store
/// on it. Only options about stores apply: `durability`, `read_only`, `lock_timeout`,
/// `max_file_bytes`, and for SQLite `max_total_bytes` and `max_files`.
#[uniffi::export(default(options))]
pub fn open_store(
    address: MemdirText,
    options: MemoryOptions,
) -> Result<Arc<dyn Store>, MemdirError> {
    let store = memdir::open_store(
        &address.option("address")?,
        &memdir::MemoryOptions::try_from(options)?,
    )?;
    Ok(Arc::new(BuiltInStore::new(store)))
}

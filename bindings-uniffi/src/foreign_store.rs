//! [`ForeignStore`]: a store written in Kotlin or Swift, for the core.

use std::any::Any;
use std::sync::Arc;
use std::time::SystemTime;

use memdir::path::PathError;
use memdir::store::{Context, Edit, Entry as CoreEntry, Mutation, StoreInfo, update_by_swap};
use memdir::{MemoryPath, OnExisting, StoreError as CoreStoreError};

use crate::built_in_store::BuiltInStore;
use crate::results::Entry;
use crate::store::{Store, StoreError};
use crate::swap::Swap;
use crate::time::meant;

/// The core's store for `store`. A built-in store is unwrapped.
pub(crate) fn core_store(store: Arc<dyn Store>) -> Arc<dyn memdir::Store> {
    match (&*store as &dyn Any).downcast_ref::<BuiltInStore>() {
        Some(built_in) => built_in.core(),
        None => Arc::new(ForeignStore::new(store)),
    }
}

/// An object of the host that implements `Store`.
pub(crate) struct ForeignStore(Arc<dyn Store>);

impl ForeignStore {
    pub(crate) fn new(store: Arc<dyn Store>) -> Self {
        Self(store)
    }
}

impl ForeignStore {
    /// Passes the host a `Swap` instead of the edit: the host may keep its object, but the borrowed
    /// `edit` must not outlive this call.
    fn swap(
        &self,
        context: &Context,
        path: &MemoryPath,
        edit: &mut Edit<'_>,
    ) -> Result<(), CoreStoreError> {
        update_by_swap(self, context, path, edit, |swap| {
            self.0
                .update(path.to_string(), Arc::new(Swap(swap)))
                .map_err(|failure| named("updating", path, failure))
        })
    }
}

impl memdir::Store for ForeignStore {
    fn info(&self) -> StoreInfo {
        StoreInfo {
            // If it fails, other methods fail as well, and can report it.
            tracks_access: self.0.tracks_access().unwrap_or(false),
            // If the store does not answer, spellings are folded, so another spelling cannot evade
            // a policy.
            folds_case: self.0.folds_case().unwrap_or(true),
            ..StoreInfo::default()
        }
    }

    fn read(&self, path: &MemoryPath) -> Result<Vec<u8>, CoreStoreError> {
        self.0.read(path.to_string()).map_err(|failure| named("reading", path, failure))
    }

    fn list(&self, path: &MemoryPath) -> Result<Vec<CoreEntry>, CoreStoreError> {
        let listed =
            self.0.list(path.to_string()).map_err(|error| named("listing", path, error))?;
        let mut entries = Vec::with_capacity(listed.len());
        for entry in listed {
            entries.extend(valid_entry(path, &entry)?);
        }
        Ok(entries)
    }

    fn write(
        &self,
        path: &MemoryPath,
        content: &[u8],
        existing: OnExisting,
    ) -> Result<(), CoreStoreError> {
        let overwrite = existing == OnExisting::Overwrite;
        self.0
            .write(path.to_string(), content.to_vec(), overwrite)
            .map_err(|failure| named("writing", path, failure))
    }

    fn mutate(&self, context: &Context, mutation: Mutation<'_>) -> Result<bool, CoreStoreError> {
        match mutation {
            Mutation::Update { path, edit } => self.swap(context, path, edit).map(|()| true),
            other => other.apply_to(self),
        }
    }

    fn update(&self, path: &MemoryPath, edit: &mut Edit<'_>) -> Result<(), CoreStoreError> {
        self.swap(&Context::new(), path, edit)
    }

    fn delete(&self, path: &MemoryPath) -> Result<(), CoreStoreError> {
        self.0.delete(path.to_string()).map_err(|failure| named("deleting", path, failure))
    }

    fn rename(&self, from: &MemoryPath, to: &MemoryPath) -> Result<(), CoreStoreError> {
        self.0
            .rename(from.to_string(), to.to_string())
            .map_err(|failure| named("renaming", from, failure))
    }

    fn set_modified(&self, path: &MemoryPath, time: SystemTime) -> Result<(), CoreStoreError> {
        self.0
            .set_modified(path.to_string(), time)
            .map_err(|failure| named("setting the time of", path, failure))
    }

    fn record_access(&self, path: &MemoryPath, time: SystemTime) -> Result<(), CoreStoreError> {
        self.0
            .record_access(path.to_string(), time)
            .map_err(|failure| named("noting the access of", path, failure))
    }

    fn delete_unused(&self, path: &MemoryPath, since: SystemTime) -> Result<bool, CoreStoreError> {
        self.0
            .delete_unused(path.to_string(), since)
            .map_err(|failure| named("deleting", path, failure))
    }
}

/// The core's error for an error that a host's store threw during `operation`.
fn named(operation: &str, path: &MemoryPath, failure: StoreError) -> CoreStoreError {
    match failure {
        StoreError::NotFound => CoreStoreError::NotFound,
        StoreError::AlreadyExists => CoreStoreError::AlreadyExists,
        StoreError::IsADirectory => CoreStoreError::IsADirectory,
        StoreError::NotADirectory => CoreStoreError::NotADirectory,
        StoreError::Symlink => CoreStoreError::Symlink,
        StoreError::SpecialFile => CoreStoreError::SpecialFile,
        StoreError::IntoItself => CoreStoreError::IntoItself,
        StoreError::NameTooLong => CoreStoreError::NameTooLong,
        StoreError::PermissionDenied => CoreStoreError::PermissionDenied,
        StoreError::ReadOnly => CoreStoreError::ReadOnly,
        StoreError::MountPoint => CoreStoreError::MountPoint,
        StoreError::Full => CoreStoreError::Full,
        StoreError::TooLarge { size } => {
            CoreStoreError::TooLarge { size: u64::try_from(size).unwrap_or_default() }
        }
        StoreError::Busy => CoreStoreError::Busy,
        StoreError::Cancelled => CoreStoreError::Cancelled,
        StoreError::Failed { reason } => {
            CoreStoreError::failed(format!("{operation} {path}"), reason)
        }
    }
}

/// An entry that the host listed in `directory`. A name that is not valid in a path is left out. A
/// path that is not directly below the directory is an error of the store.
fn valid_entry(directory: &MemoryPath, entry: &Entry) -> Result<Option<CoreEntry>, CoreStoreError> {
    let wrong = |problem: String| {
        Err(CoreStoreError::failed(
            format!("listing {directory}"),
            format!("{:?} {problem}", entry.path),
        ))
    };
    let path = match MemoryPath::parse(&entry.path) {
        Ok(path) if path.parent().as_ref() == Some(directory) => path,
        Ok(_) | Err(PathError::Outside) => return wrong("is not an entry of it".to_owned()),
        Err(_) => return Ok(None),
    };
    match entry.size.map(u64::try_from) {
        None => Ok(Some(CoreEntry::directory(path))),
        Some(Ok(size)) => {
            let file = CoreEntry::file(path, size).modified_at(entry.modified.map(meant));
            Ok(Some(file.accessed_at(entry.accessed.map(meant))))
        }
        Some(Err(_)) => wrong("has a negative size".to_owned()),
    }
}

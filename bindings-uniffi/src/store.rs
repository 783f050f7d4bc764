//! [`Store`]: the interface of a store for Kotlin and Swift.

use std::any::Any;
use std::sync::Arc;
use std::time::SystemTime;

use uniffi::UnexpectedUniFFICallbackError;

use crate::results::Entry;

/// A place that keeps files and directories under `/memories`. Implement it to keep memories in a
/// storage system of your own.
///
/// Paths are valid and canonical (`/memories/notes.md`); the root always exists. Each method either
/// succeeds completely, or throws and changes nothing. Throw the matching `StoreError`. Any other
/// error means that the store is broken, and the model reads only that the memory is out of reach.
/// Several threads may call methods concurrently.
#[uniffi::export(rust, foreign)]
pub trait Store: Any + Send + Sync {
    /// The whole content of a file. Throws `NotFound` (also if a parent is a file), `IsADirectory`.
    fn read(&self, path: String) -> Result<Vec<u8>, StoreError>;

    /// The entries of a directory, one level deep, in any order, hidden ones included. Throws
    /// `NotFound`, `NotADirectory`.
    fn list(&self, path: String) -> Result<Vec<Entry>, StoreError>;

    /// Writes a whole file, and makes missing parents.
    ///
    /// Without `overwrite` creation is exclusive: if two calls create one path concurrently,
    /// exactly one succeeds. With it, an existing file is replaced. Throws `AlreadyExists` if there
    /// is a file (unless overwriting) or a directory (always), `NotADirectory` if a parent is a
    /// file.
    fn write(&self, path: String, content: Vec<u8>, overwrite: bool) -> Result<(), StoreError>;

    /// Changes a file atomically: reads it, passes the content to `edit`, and writes the result,
    /// without another writer in between.
    ///
    /// If there was one, the store calls `edit` again with the newer content; the last call counts.
    /// If `edit` returns null, nothing is written. Throws `NotFound`, `IsADirectory`.
    fn update(&self, path: String, edit: Arc<dyn Edit>) -> Result<(), StoreError>;

    /// Deletes a file, or a directory with everything in it. Throws `NotFound`.
    fn delete(&self, path: String) -> Result<(), StoreError>;

    /// Moves a file or directory, and makes the destination's missing parents. Never overwrites.
    ///
    /// Throws, in this order:
    ///
    /// - `NotFound` if `source` does not exist,
    /// - `AlreadyExists` if `destination` exists, also if both are the same,
    /// - `IntoItself` if `destination` is below the directory `source`,
    /// - `NotADirectory` if a parent of `destination` is a file,
    /// - `NameTooLong` if a path below `source` would have more than 64 levels below `/memories` or
    ///   more than 4,096 bytes.
    fn rename(&self, source: String, destination: String) -> Result<(), StoreError>;

    /// Sets when a file was last written, to the microsecond, for a copy that keeps its original's
    /// time. Throws `NotFound`, `IsADirectory`.
    ///
    /// A store that keeps no times, or cannot set them, does nothing. This is the default.
    fn set_modified(&self, path: String, time: SystemTime) -> Result<(), StoreError>;

    /// True if the store keeps times of access, which the expiry of unused files needs. Such a
    /// store implements `record_access` and `delete_unused`, and its listings have the `accessed`
    /// of each file. Default: false.
    fn tracks_access(&self) -> Result<bool, StoreError>;

    /// True if the store treats names that differ only in case, or in how letters are composed, as
    /// the same name. File systems of macOS and Windows do. A memory then compares paths in the
    /// same way, so another spelling cannot evade a policy. The memory calls this once, when it is
    /// opened. Default: false.
    fn folds_case(&self) -> Result<bool, StoreError>;

    /// Records that a file was accessed at `time`, to the microsecond. This is not a change of the
    /// file, and the time moves with the file. Throws `NotFound`, `IsADirectory`. By default it
    /// does nothing.
    fn record_access(&self, path: String, time: SystemTime) -> Result<(), StoreError>;

    /// Deletes a file if it was neither written nor accessed at `since` or later, and returns
    /// whether it did. The check and the deletion are one atomic step. Returns false also if the path
    /// has no file. By default it deletes nothing.
    fn delete_unused(&self, path: String, since: SystemTime) -> Result<bool, StoreError>;
}

/// Computes the new content of a file.
#[uniffi::export(rust, foreign)]
pub trait Edit: Send + Sync {
    /// The content to write instead of `content`; null leaves the file unchanged.
    fn apply(&self, content: Vec<u8>) -> Result<Option<Vec<u8>>, StoreError>;
}

/// The reason why a method of a store failed.
#[derive(uniffi::Error, thiserror::Error, Debug, Clone, PartialEq, Eq)]
#[uniffi::export(Display)]
pub enum StoreError {
    /// The path does not exist.
    #[error("not found")]
    NotFound,
    /// The path already exists.
    #[error("already exists")]
    AlreadyExists,
    /// The path is a directory, but a file is needed.
    #[error("is a directory")]
    IsADirectory,
    /// The path, or a parent of it, is a file, but a directory is needed.
    #[error("not a directory")]
    NotADirectory,
    /// The path, or a parent of it, is a symbolic link. Links are never followed.
    #[error("a symbolic link")]
    Symlink,
    /// The path is neither a file nor a directory.
    #[error("neither a file nor a directory")]
    SpecialFile,
    /// A directory cannot be moved into its own subtree.
    #[error("a directory cannot be moved into itself")]
    IntoItself,
    /// The store cannot keep a name or path of this length.
    #[error("the name is too long for this store")]
    NameTooLong,
    /// The store does not permit the operation.
    #[error("permission denied")]
    PermissionDenied,
    /// The store, or this part of it, is read-only.
    #[error("read-only")]
    ReadOnly,
    /// Another store is mounted at or below the path, so the path can be neither deleted nor moved.
    #[error("a mount point, or above one")]
    MountPoint,
    /// The store has no space left.
    #[error("no space left")]
    Full,
    /// The file is larger than the limit for reading a file into memory to edit it.
    #[error("the file is too large to be edited")]
    TooLarge {
        /// Its size in bytes.
        size: i64,
    },
    /// Other writers kept the store locked for too long. Nothing was changed.
    #[error("locked by other writers for too long")]
    Busy,
    /// The call was cancelled before anything was changed.
    #[error("cancelled before anything was changed")]
    Cancelled,
    /// The store itself is broken or out of reach.
    #[error("{reason}")]
    Failed {
        /// The details, for you and never for the model.
        reason: String,
    },
}

/// Any other error of a foreign store. Without this conversion UniFFI would panic.
impl From<UnexpectedUniFFICallbackError> for StoreError {
    fn from(error: UnexpectedUniFFICallbackError) -> Self {
        Self::Failed { reason: error.reason }
    }
}

//! [`Store`]: the interface of a store for Kotlin and Swift.

use std::any::Any;
use std::sync::Arc;
use std::time::SystemTime;

use uniffi::UnexpectedUniFFICallbackError;

use crate::results::Entry;

/// A place that keeps files and directories under `/memories`: implement it to keep memories
/// wherever you like.
///
/// Paths are valid and canonical (`/memories/notes.md`); the root always exists. Each method either
/// succeeds completely, or throws and changes nothing. Throw the matching `StoreError`. Any other
/// error means that the store is broken, and the model reads only that the memory is out of reach.
/// Many threads may call methods at once.
#[uniffi::export(rust, foreign)]
pub trait Store: Any + Send + Sync {
    /// The whole content of a file. Throws `NotFound` (also if a parent is a file), `IsADirectory`.
    fn read(&self, path: String) -> Result<Vec<u8>, StoreError>;

    /// The entries of a directory, one level deep, in any order, hidden ones included. Throws
    /// `NotFound`, `NotADirectory`.
    fn list(&self, path: String) -> Result<Vec<Entry>, StoreError>;

    /// Writes a whole file, and makes missing parents.
    ///
    /// Without `overwrite` creation is exclusive: if two calls create one path at once, exactly one
    /// succeeds. With it, an existing file is replaced. Throws `AlreadyExists` if there is a file
    /// (unless overwriting) or a directory (always), `NotADirectory` if a parent is a file.
    fn write(&self, path: String, content: Vec<u8>, overwrite: bool) -> Result<(), StoreError>;

    /// Changes a file: reads it, passes the content to `edit`, and writes the result, while no
    /// other writer can come between.
    ///
    /// If one did, the store calls `edit` again with the newer content; the last call counts. If
    /// `edit` returns null, nothing is written. Throws `NotFound`, `IsADirectory`.
    fn update(&self, path: String, edit: Arc<dyn Edit>) -> Result<(), StoreError>;

    /// Deletes a file, or a directory with everything in it. Throws `NotFound`.
    fn delete(&self, path: String) -> Result<(), StoreError>;

    /// Moves a file or directory, and makes the destination's missing parents. Never overwrites.
    ///
    /// Throws, in this order: `NotFound` if `source` does not exist, `AlreadyExists` if
    /// `destination` exists (also if both are the same), `IntoItself` if `destination` is below the
    /// directory `source`, `NotADirectory` if a parent of `destination` is a file, `NameTooLong` if
    /// a path below `source` would have more than 64 levels below `/memories` or more than 4,096
    /// bytes.
    fn rename(&self, source: String, destination: String) -> Result<(), StoreError>;

    /// Sets when a file was last written, to the microsecond, for a copy that keeps its original's
    /// time. Throws `NotFound`, `IsADirectory`.
    ///
    /// A store that keeps no times, or cannot set them, does nothing. This is the default.
    fn set_modified(&self, path: String, time: SystemTime) -> Result<(), StoreError>;

    /// Whether the store keeps times of access, which the expiry of unused files needs. If it does,
    /// it implements `record_access` and `delete_unused`, and its listings have the `accessed` of
    /// each file. By default it does not.
    fn tracks_access(&self) -> Result<bool, StoreError>;

    /// Whether the store takes names for the same that differ only in case or in how letters are
    /// composed, as file systems of macOS and Windows do. A memory then compares paths so, too: no
    /// policy can be passed by another spelling. By default it does not. The memory asks when it is
    /// opened.
    fn folds_case(&self) -> Result<bool, StoreError>;

    /// Records that a file was accessed at `time`, to the microsecond. This is not a change of the
    /// file, and the time moves with the file. Throws `NotFound`, `IsADirectory`. By default it
    /// does nothing.
    fn record_access(&self, path: String, time: SystemTime) -> Result<(), StoreError>;

    /// Deletes a file if it was neither written nor accessed at `since` or later, and returns
    /// whether it did. No writer can come between. Returns false also if nothing is there, or a
    /// directory. By default it deletes nothing.
    fn delete_unused(&self, path: String, since: SystemTime) -> Result<bool, StoreError>;
}

/// Computes the new content of a file.
#[uniffi::export(rust, foreign)]
pub trait Edit: Send + Sync {
    /// The content to write in the place of `content`; null leaves the file as it is.
    fn apply(&self, content: Vec<u8>) -> Result<Option<Vec<u8>>, StoreError>;
}

/// Why a method of a store failed.
#[derive(uniffi::Error, thiserror::Error, Debug, Clone, PartialEq, Eq)]
#[uniffi::export(Display)]
pub enum StoreError {
    /// Nothing is there.
    #[error("not found")]
    NotFound,
    /// Something is there already.
    #[error("already exists")]
    AlreadyExists,
    /// It is a directory where a file was needed.
    #[error("is a directory")]
    IsADirectory,
    /// It, or a parent of it, is a file where a directory was needed.
    #[error("not a directory")]
    NotADirectory,
    /// The path, or a parent of it, is a symbolic link. Links are never followed.
    #[error("a symbolic link")]
    Symlink,
    /// It is neither a file nor a directory.
    #[error("neither a file nor a directory")]
    SpecialFile,
    /// A directory cannot be moved into its own subtree.
    #[error("a directory cannot be moved into itself")]
    IntoItself,
    /// The store cannot keep a name or path of this length.
    #[error("the name is too long for this store")]
    NameTooLong,
    /// The store does not allow it.
    #[error("permission denied")]
    PermissionDenied,
    /// It may be read but not changed.
    #[error("read-only")]
    ReadOnly,
    /// A store is mounted there or below, so it can be neither deleted nor moved.
    #[error("a mount point, or above one")]
    MountPoint,
    /// There is no room left.
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

/// Whatever else a foreign store throws: without this UniFFI would panic.
impl From<UnexpectedUniFFICallbackError> for StoreError {
    fn from(error: UnexpectedUniFFICallbackError) -> Self {
        Self::Failed { reason: error.reason }
    }
}

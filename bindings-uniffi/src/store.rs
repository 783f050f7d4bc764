//! A store as Kotlin and Swift see it, and may write one.

use std::any::Any;
use std::sync::Arc;
use std::time::SystemTime;

use uniffi::UnexpectedUniFFICallbackError;

/// A place that keeps files and directories under `/memories`: implement it to keep memories
/// wherever you like.
///
/// Paths are valid and canonical (`/memories/notes.md`); the root always exists. Each method does
/// the whole of what it says, or throws and changes nothing. To say why, throw the matching
/// `StoreError`; anything else that is thrown means that the store is broken, and the model is
/// told only that the memory is out of reach. Methods may be called from many threads at once.
#[uniffi::export(rust, foreign)]
pub trait Store: Any + Send + Sync {
    /// The whole content of a file. Throws `NotFound` (also where a parent is a file),
    /// `IsADirectory`.
    fn read(&self, path: String) -> Result<Vec<u8>, StoreError>;

    /// The entries of a directory, one level deep, in any order, hidden ones included. Throws
    /// `NotFound`, `NotADirectory`.
    fn list(&self, path: String) -> Result<Vec<Entry>, StoreError>;

    /// Writes a whole file, making missing parents.
    ///
    /// Without `overwrite` creation is exclusive: of two at once exactly one succeeds. With it a
    /// file that is there is replaced. Throws `AlreadyExists` if there is a file (unless
    /// overwriting) or a directory (always), `NotADirectory` if a parent is a file.
    fn write(&self, path: String, content: Vec<u8>, overwrite: bool) -> Result<(), StoreError>;

    /// Changes a file: reads it, hands the content to `edit`, and writes what that returns, while
    /// no other writer can come between.
    ///
    /// A store that finds that one did calls `edit` again with the newer content; the last call
    /// counts. Where `edit` returns null nothing is written. Throws `NotFound`, `IsADirectory`.
    fn update(&self, path: String, edit: Arc<dyn Edit>) -> Result<(), StoreError>;

    /// Deletes a file, or a directory and all that it holds. Throws `NotFound`.
    fn delete(&self, path: String) -> Result<(), StoreError>;

    /// Moves a file or directory, making the destination's missing parents, never overwriting.
    ///
    /// Throws, in this order: `NotFound` if `source` is not there, `AlreadyExists` if `destination`
    /// is (also if both are the same), `IntoItself` if `destination` is below the directory
    /// `source`, `NotADirectory` if a parent of `destination` is a file, `NameTooLong` if something
    /// below `source` would come to have a path of more than 64 levels below `/memories` or of more
    /// than 4,096 bytes.
    fn rename(&self, source: String, destination: String) -> Result<(), StoreError>;

    /// Says that a file was last written at `time`, for a copy that keeps its original's time; to the
    /// microsecond. Throws `NotFound`, `IsADirectory`.
    ///
    /// A store that keeps no times, or cannot set them, does nothing, as by default.
    fn set_modified(&self, path: String, time: SystemTime) -> Result<(), StoreError>;

    /// Whether the store keeps when files were last accessed, so that unused ones can expire: then it
    /// has `record_access` and `delete_unused`, and says `accessed` in the entries that it lists. By
    /// default it does not.
    fn tracks_access(&self) -> Result<bool, StoreError>;

    /// Says that a file was accessed at `time`, which is no change of it, and goes along when it is
    /// renamed; to the microsecond. Throws `NotFound`, `IsADirectory`. By default nothing is done.
    fn record_access(&self, path: String, time: SystemTime) -> Result<(), StoreError>;

    /// Deletes a file if it was neither written nor accessed at `since` or later, while no writer can
    /// come between. Whether it did; false also where nothing is, or a directory, and by default.
    fn delete_unused(&self, path: String, since: SystemTime) -> Result<bool, StoreError>;
}

/// Says what a file's content becomes.
#[uniffi::export(rust, foreign)]
pub trait Edit: Send + Sync {
    /// The content to write instead of `content`; null leaves the file as it is.
    fn apply(&self, content: Vec<u8>) -> Result<Option<Vec<u8>>, StoreError>;
}

/// What a store lists.
#[derive(uniffi::Record, Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The whole path, from `/memories` on.
    pub path: String,
    /// A file's length in bytes; null for a directory.
    pub size: Option<i64>,
    /// When a file was last written, to the microsecond; null for a directory, or if the store does
    /// not keep it.
    #[uniffi(default = None)]
    pub modified: Option<SystemTime>,
    /// When a file was last said to be accessed, likewise.
    #[uniffi(default = None)]
    pub accessed: Option<SystemTime>,
}

/// Why a store did not do what it was asked to do.
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
    /// A symbolic link is on the way or at the end; links are never followed.
    #[error("a symbolic link")]
    Symlink,
    /// It is neither a file nor a directory.
    #[error("neither a file nor a directory")]
    SpecialFile,
    /// A directory was to be moved into its own subtree.
    #[error("a directory cannot be moved into itself")]
    IntoItself,
    /// The store cannot keep a name or path of this length.
    #[error("the name is too long for this store")]
    NameTooLong,
    /// The store does not allow it.
    #[error("permission denied")]
    PermissionDenied,
    /// It may be read and not be changed.
    #[error("read-only")]
    ReadOnly,
    /// A store is mounted there or below, so that it can be neither deleted nor moved.
    #[error("a mount point, or above one")]
    MountPoint,
    /// There is no room left.
    #[error("no space left")]
    Full,
    /// The file holds more bytes than are read into memory to edit it.
    #[error("the file is too large to be edited")]
    TooLarge {
        /// What it holds, in bytes.
        size: i64,
    },
    /// Other writers kept it locked for too long. Nothing was changed.
    #[error("locked by other writers for too long")]
    Busy,
    /// The call was given up before anything was changed.
    #[error("cancelled before anything was changed")]
    Cancelled,
    /// The store itself is broken or out of reach.
    #[error("{reason}")]
    Failed {
        /// The details, for the developer and never for the model.
        reason: String,
    },
}

/// Whatever else a foreign store throws: without this UniFFI would panic.
impl From<UnexpectedUniFFICallbackError> for StoreError {
    fn from(error: UnexpectedUniFFICallbackError) -> Self {
        Self::Failed { reason: error.reason }
    }
}

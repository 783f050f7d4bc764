//! [`StoreError`]: why a store did not do what it was asked to do.

use std::borrow::Cow;

/// Why a store did not do what it was asked to do.
///
/// All but [`Failed`](StoreError::Failed) are conditions of the tree, which a model can act on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
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
    /// It is neither a file nor a directory: a FIFO, a socket, a device.
    #[error("neither a file nor a directory")]
    SpecialFile,
    /// A directory was to be moved into its own subtree.
    #[error("a directory cannot be moved into itself")]
    IntoItself,
    /// In a [`rename`](crate::Store::rename), a condition of the path that was to be moved.
    #[error("the source: {0}")]
    Source(#[source] Box<StoreError>),
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
    /// The store itself is broken or out of reach.
    #[error("{operation}: {source}")]
    Failed {
        /// What was being done, in a few words for the developer.
        operation: Cow<'static, str>,
        /// What went wrong.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

impl StoreError {
    /// A failure of the store itself while doing `operation`.
    pub fn failed(
        operation: impl Into<Cow<'static, str>>,
        source: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Self {
        Self::Failed { operation: operation.into(), source: source.into() }
    }
}

//! [`StoreError`]: why a store did not do what it was asked to do.

use std::borrow::Cow;

/// Why a store did not do what it was asked to do.
///
/// All but [failures](StoreError::is_failure) are conditions of the tree, which a model can act on.
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
    /// A directory that this store cannot move in one step, though the files in it can be moved.
    #[error("a directory that cannot be moved as a whole")]
    Unmovable,
    /// There is no room left.
    #[error("no space left")]
    Full,
    /// The file holds more bytes than are read into memory to edit it.
    #[error("the file is too large to be edited: {size} bytes")]
    TooLarge {
        /// What it holds, in bytes.
        size: u64,
    },
    /// All files together would come to hold more than they may
    /// ([`TotalLimits`](crate::store::TotalLimits)): so many bytes, or so many files.
    #[error("the store would hold more than it may")]
    OverLimit {
        /// How many bytes it would hold, if they are too many.
        bytes: Option<u64>,
        /// How many files there would be, if they are too many.
        files: Option<u64>,
    },
    /// Other writers kept the store locked for longer than the lock timeout
    /// ([`MemoryOptions::lock_timeout`](crate::MemoryOptions::lock_timeout)). Nothing was changed.
    #[error("the store was locked by other writers for too long")]
    Busy,
    /// The caller went away before anything was changed ([`Cancellation`](crate::Cancellation)).
    #[error("cancelled before anything was changed")]
    Cancelled,
    /// The store itself is broken or out of reach.
    #[error("{operation}: {source}")]
    Failed {
        /// What was being done, in a few words for the developer.
        operation: Cow<'static, str>,
        /// What went wrong.
        source: Box<dyn std::error::Error + Send + Sync>,
        /// What is known of the change that was under way.
        effect: Effect,
    },
}

/// What is known of the change that a [failure](StoreError::Failed) broke off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// It may have been made or not.
    Unknown,
    /// Nothing was changed.
    Unchanged,
    /// There was nothing to change: it was a read.
    Read,
}

impl StoreError {
    /// A failure of the store itself while doing `operation`. Whether anything was changed is taken to be
    /// unknown, unless it is said with [`unchanged`](StoreError::unchanged).
    pub fn failed(
        operation: impl Into<Cow<'static, str>>,
        source: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Self {
        let (operation, source) = (operation.into(), source.into());
        Self::Failed { operation, source, effect: Effect::Unknown }
    }

    /// The same error, known to have come before anything was changed, or after everything was put back.
    #[must_use]
    pub fn unchanged(self) -> Self {
        self.with_effect(Effect::Unchanged)
    }

    /// What an error means that comes after other steps have changed something: a failure, because what a condition
    /// says of the tree, or that nothing was changed, does not hold for the whole.
    #[must_use]
    pub(crate) fn after_changes(self) -> Self {
        match self {
            failure @ Self::Failed { .. } => failure.with_effect(Effect::Unknown),
            stopped => Self::failed("going on with a change that had begun", stopped),
        }
    }

    /// The same error; a failure is of that effect.
    #[must_use]
    pub(crate) fn with_effect(self, effect: Effect) -> Self {
        match self {
            Self::Failed { operation, source, .. } => Self::Failed { operation, source, effect },
            Self::Source(error) => Self::Source(Box::new(error.with_effect(effect))),
            condition => condition,
        }
    }

    /// Whether the store did not get to answer at all, which is for the developer to look into: every
    /// other error is a condition of the tree.
    #[must_use]
    pub fn is_failure(&self) -> bool {
        matches!(self, Self::Failed { .. } | Self::Busy | Self::Cancelled)
    }
}

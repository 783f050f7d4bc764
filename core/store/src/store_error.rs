//! [`StoreError`]: why a method of a store failed.

use std::borrow::Cow;

/// Why a method of a store failed.
///
/// All cases except [failures](StoreError::is_failure) are conditions of the tree, which a model can act on. A model gets a
/// sentence for each, so a new case requires a new major version.
#[derive(Debug, thiserror::Error)]
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
    /// The path is neither a file nor a directory: a FIFO, a socket, a device.
    #[error("neither a file nor a directory")]
    SpecialFile,
    /// The destination of a directory's move is inside that directory.
    #[error("a directory cannot be moved into itself")]
    IntoItself,
    /// A condition of the old path in a [`rename`](crate::Store::rename).
    #[error("the source: {0}")]
    Source(#[source] Box<StoreError>),
    /// The store cannot keep a name or path of this length.
    #[error("the name is too long for this store")]
    NameTooLong,
    /// The operating system or the server denied access.
    #[error("permission denied")]
    PermissionDenied,
    /// The path can be read but not changed.
    #[error("read-only")]
    ReadOnly,
    /// A store is mounted at the path or below it, so the path can be neither deleted nor moved.
    #[error("a mount point, or above one")]
    MountPoint,
    /// The directory cannot be moved in one step by this store. The files in it can be moved.
    #[error("a directory that cannot be moved as a whole")]
    Unmovable,
    /// The store has no space left.
    #[error("no space left")]
    Full,
    /// The file exceeds the size limit for editing, which reads the file into memory.
    #[error("the file is too large to be edited: {size} bytes")]
    TooLarge {
        /// Its size in bytes.
        size: u64,
    },
    /// The change would exceed a limit of the whole store
    /// ([`TotalLimits`](crate::TotalLimits)).
    #[error("the limit of the store would be exceeded")]
    OverLimit {
        /// The size that the store would have in bytes, if it exceeds the limit.
        bytes: Option<u64>,
        /// The number of files that the store would have, if it exceeds the limit.
        files: Option<u64>,
    },
    /// Other writers kept the store locked for longer than the lock timeout (`MemoryOptions::lock_timeout`). Nothing was changed.
    #[error("the store was locked by other writers for too long")]
    Busy,
    /// The caller cancelled the call before anything was changed ([`Cancellation`](crate::Cancellation)).
    #[error("cancelled before anything was changed")]
    Cancelled,
    /// The store itself is broken or unreachable.
    #[error("{operation}: {source}")]
    Failed {
        /// The operation that failed, in a few words for you.
        operation: Cow<'static, str>,
        /// The cause.
        source: Box<dyn std::error::Error + Send + Sync>,
        /// Whether the operation changed anything.
        effect: Effect,
    },
}

/// Marks the source of a failure as damage.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
struct Damage(Box<dyn std::error::Error + Send + Sync>);

/// The source of a failure whose store may still be at work.
#[derive(Debug, thiserror::Error)]
#[error("the call was cancelled before the store had answered")]
struct Unanswered;

/// Whether an operation that [failed](StoreError::Failed) changed anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// The change may or may not have been made.
    Unknown,
    /// Nothing was changed.
    Unchanged,
    /// The operation was a read, so it changes nothing.
    Read,
}

impl StoreError {
    /// A failure of the store itself during `operation`. Its effect is [`Effect::Unknown`]. Call
    /// [`unchanged`](StoreError::unchanged) if nothing was changed.
    pub fn failed(
        operation: impl Into<Cow<'static, str>>,
        source: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Self {
        let (operation, source) = (operation.into(), source.into());
        Self::Failed { operation, source, effect: Effect::Unknown }
    }

    /// A failure because content was read and is damaged. Reading it again does not help. Nothing was changed.
    ///
    /// ```
    /// use memdir_store::StoreError;
    ///
    /// let error = StoreError::damaged("decrypting /memories/a.md", "the seal is broken");
    /// assert!(error.is_failure() && error.is_damage());
    /// assert!(!StoreError::failed("reading /memories/a.md", "the disk is gone").is_damage());
    /// ```
    pub fn damaged(
        operation: impl Into<Cow<'static, str>>,
        source: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Self {
        Self::failed(operation, Damage(source.into())).unchanged()
    }

    /// Whether content was read and [is damaged](StoreError::damaged).
    #[must_use]
    pub fn is_damage(&self) -> bool {
        match self {
            Self::Failed { source, .. } => {
                let beneath = source.downcast_ref::<Self>();
                source.is::<Damage>() || beneath.is_some_and(Self::is_damage)
            }
            Self::Source(error) => error.is_damage(),
            _ => false,
        }
    }

    /// A failure because the call was cancelled and the store had not answered. Its effect is [`Effect::Unknown`], and stays so: the
    /// store may carry out the operation later, whatever it holds now.
    ///
    /// ```
    /// use memdir_store::StoreError;
    ///
    /// let error = StoreError::unanswered("renaming /memories/a.md");
    /// assert!(error.is_unanswered() && error.may_have_changed());
    /// assert!(!StoreError::failed("renaming /memories/a.md", "the disk is gone").is_unanswered());
    /// ```
    pub fn unanswered(operation: impl Into<Cow<'static, str>>) -> Self {
        Self::failed(operation, Unanswered)
    }

    /// Whether the store [had not answered](StoreError::unanswered).
    #[must_use]
    pub fn is_unanswered(&self) -> bool {
        match self {
            Self::Failed { source, .. } => {
                let beneath = source.downcast_ref::<Self>();
                source.is::<Unanswered>() || beneath.is_some_and(Self::is_unanswered)
            }
            Self::Source(error) => error.is_unanswered(),
            _ => false,
        }
    }

    /// Whether the operation may have changed something despite the error.
    pub fn may_have_changed(&self) -> bool {
        matches!(self, Self::Failed { effect: Effect::Unknown, .. })
    }

    /// The same error for an operation that changed nothing, or rolled everything back.
    #[must_use]
    pub fn unchanged(self) -> Self {
        self.with_effect(Effect::Unchanged)
    }

    /// The error of a whole operation, if this error occurred after earlier steps had changed something. A condition becomes a
    /// failure, because "nothing was changed" is not true for the whole operation.
    #[must_use]
    pub fn after_changes(self) -> Self {
        match self {
            failure @ Self::Failed { .. } => failure.with_effect(Effect::Unknown),
            stopped => Self::failed("continuing a change that had begun", stopped),
        }
    }

    /// The same error. If it is a failure, it gets this effect.
    #[must_use]
    pub fn with_effect(self, effect: Effect) -> Self {
        match self {
            Self::Failed { operation, source, .. } => Self::Failed { operation, source, effect },
            Self::Source(error) => Self::Source(Box::new(error.with_effect(effect))),
            condition => condition,
        }
    }

    /// The same error, about the source of a rename. A condition except `NotFound` is wrapped in [`Source`](StoreError::Source).
    #[must_use]
    pub fn about_source(self) -> Self {
        match self {
            Self::NotFound | Self::Source(_) => self,
            failure if failure.is_failure() => failure,
            condition => Self::Source(Box::new(condition)),
        }
    }

    /// The name in C's `errno.h` for this condition, such as `ENOENT`, for languages whose file functions report it; `None` for a
    /// failure.
    #[must_use]
    pub fn errno_name(&self) -> Option<&'static str> {
        Some(match self {
            Self::NotFound => "ENOENT",
            Self::AlreadyExists => "EEXIST",
            Self::IsADirectory => "EISDIR",
            Self::NotADirectory => "ENOTDIR",
            Self::PermissionDenied => "EACCES",
            Self::Symlink => "ELOOP",
            Self::SpecialFile => "ENXIO",
            Self::IntoItself => "EINVAL",
            Self::NameTooLong => "ENAMETOOLONG",
            Self::ReadOnly => "EROFS",
            Self::MountPoint => "EBUSY",
            Self::Full => "ENOSPC",
            Self::OverLimit { .. } => "EDQUOT",
            Self::TooLarge { .. } => "EFBIG",
            Self::Busy => "EAGAIN",
            Self::Cancelled => "ECANCELED",
            Self::Source(error) => return error.errno_name(),
            Self::Unmovable | Self::Failed { .. } => return None,
        })
    }

    /// The condition for a name of [`errno_name`](Self::errno_name), for a store written in such a language.
    #[must_use]
    pub fn from_errno_name(name: &str) -> Option<Self> {
        Some(match name {
            "ENOENT" => Self::NotFound,
            "EEXIST" => Self::AlreadyExists,
            "EISDIR" => Self::IsADirectory,
            "ENOTDIR" => Self::NotADirectory,
            "EACCES" | "EPERM" => Self::PermissionDenied,
            "ELOOP" => Self::Symlink,
            "ENXIO" => Self::SpecialFile,
            "EINVAL" => Self::IntoItself,
            "ENAMETOOLONG" => Self::NameTooLong,
            "EROFS" => Self::ReadOnly,
            "EBUSY" => Self::MountPoint,
            "ENOSPC" | "EDQUOT" => Self::Full,
            "EAGAIN" => Self::Busy,
            "ECANCELED" => Self::Cancelled,
            _ => return None,
        })
    }

    /// Whether the caller cancelled the call before anything was changed.
    pub fn is_cancelled(&self) -> bool {
        match self {
            Self::Source(error) => error.is_cancelled(),
            error => matches!(error, Self::Cancelled),
        }
    }

    /// Whether the store itself failed, was busy, or the call was cancelled. Every other error is a
    /// condition of the tree.
    #[must_use]
    pub fn is_failure(&self) -> bool {
        matches!(self, Self::Failed { .. } | Self::Busy | Self::Cancelled)
    }
}

//! [`SyncError`]: why a sync did not run to its end.

use memdir_store::HookError;
use memdir_store::path::MemoryPath;
use serde::Serialize;

use super::both::SyncSide;
use super::on_conflict::MergeError;
use crate::Error;
use crate::store::StoreError;

/// An error of a sync. The changes that were made before it stay, each of them whole. The next sync makes the others.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SyncError {
    /// Both memories are the same, or one contains the other. Nothing was changed.
    #[error("both memories are the same, or one of them is within the other")]
    Overlapping,
    /// Too many files would be deleted. Nothing was changed.
    #[error(
        "{deletions} of the {files} files of {side} would be deleted, as they are gone from the other memory: nothing was \
         changed"
    )]
    TooManyDeletions {
        /// The memory whose files would be deleted.
        side: SyncSide,
        /// The number of files that would be deleted.
        deletions: u64,
        /// The number of files that the memory has.
        files: u64,
    },
    /// A memory that the sync would have to change is read-only. Nothing was changed.
    #[error("{side} is read-only: a sync from it goes one way")]
    ReadOnly {
        /// The memory.
        side: SyncSide,
    },
    /// A store failed.
    #[error("{side}: {path}: {error}")]
    Store {
        /// The memory whose store failed.
        side: SyncSide,
        /// The path that could not be read or changed.
        path: MemoryPath,
        /// The error of the store.
        #[source]
        error: StoreError,
    },
    /// The [function](super::MergeFunction) that merges conflicts failed.
    #[error("{path} could not be merged: {error}")]
    Merge {
        /// The file.
        path: MemoryPath,
        /// The error of the function.
        #[source]
        error: MergeError,
    },
    /// A [hook](crate::MemoryHooks) of a memory failed.
    #[error("{path} could not be checked: {error}")]
    Hook {
        /// The file.
        path: MemoryPath,
        /// The error of the hook.
        #[source]
        error: HookError,
    },
    /// The sync was stopped by its callback or its cancellation.
    #[error("the sync was stopped")]
    Stopped,
}

impl SyncError {
    /// Returns the kind of the error; `None` if a store failed.
    #[must_use]
    pub fn kind(&self) -> Option<SyncErrorKind> {
        Some(match self {
            Self::Overlapping => SyncErrorKind::Overlapping,
            Self::TooManyDeletions { .. } => SyncErrorKind::TooManyDeletions,
            Self::ReadOnly { .. } => SyncErrorKind::ReadOnly,
            Self::Merge { .. } | Self::Hook { .. } | Self::Stopped => SyncErrorKind::Stopped,
            Self::Store { .. } => return None,
        })
    }

    /// The error of a function that looks at one memory only.
    pub(super) fn into_error(self) -> Error {
        match self {
            Self::Store { error, .. } => Error::Store(error),
            _ => Error::Store(StoreError::Cancelled),
        }
    }

    pub(super) fn of_merge(path: &MemoryPath, error: MergeError) -> Self {
        match error.downcast_ref() {
            Some(StoreError::Cancelled) => Self::Stopped,
            _ => Self::Merge { path: path.clone(), error },
        }
    }

    pub(super) fn of_hook(path: &MemoryPath, error: HookError) -> Self {
        match error.downcast_ref() {
            Some(StoreError::Cancelled) => Self::Stopped,
            _ => Self::Hook { path: path.clone(), error },
        }
    }

    pub(super) fn of(side: SyncSide, path: &MemoryPath, error: StoreError) -> Self {
        match error {
            StoreError::Cancelled => Self::Stopped,
            error => Self::Store { side, path: path.clone(), error },
        }
    }
}

/// The reason why a sync did not run to its end. Nothing was changed, unless it is `stopped`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub enum SyncErrorKind {
    /// Both memories are the same, or one contains the other.
    Overlapping,
    /// More than a quarter of a memory's files would be deleted, or all of them, and the option `delete` was not set.
    TooManyDeletions,
    /// A memory that the sync would have to change is read-only.
    ReadOnly,
    /// The callback for the progress, a function that merges conflicts, a hook or a cancellation stopped the
    /// sync. The changes before that stay, and the next sync makes the others.
    Stopped,
}

impl SyncErrorKind {
    /// All kinds.
    pub const ALL: [Self; 4] =
        [Self::Overlapping, Self::TooManyDeletions, Self::ReadOnly, Self::Stopped];

    /// Returns its name in every language: `overlapping`, `too_many_deletions`, …
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Overlapping => "overlapping",
            Self::TooManyDeletions => "too_many_deletions",
            Self::ReadOnly => "read_only",
            Self::Stopped => "stopped",
        }
    }
}

/// Whether the error says that there is no such file.
pub(super) fn is_missing(error: &StoreError) -> bool {
    matches!(error, StoreError::NotFound | StoreError::NotADirectory | StoreError::IsADirectory)
}

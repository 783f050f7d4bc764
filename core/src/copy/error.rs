//! [`CopyError`]: why a copy failed or was refused.

use memdir_store::path::MemoryPath;

use super::refusal::{Refusal, There, list};
use crate::history::HistoryError;
use crate::store::StoreError;

/// An error of a copy.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CopyError {
    /// The destination has other entries at these paths, or cannot represent their names. Nothing was changed,
    /// unless another process caused the conflict during the copy. In that case the files before it are copied.
    #[error("{}", list(.0))]
    Refused(Vec<Refusal>),
    /// Both stores are the same, or one contains the other. Nothing was changed.
    #[error("the source and the destination are the same, or one of them is within the other")]
    Overlapping,
    /// The history of the source is damaged, so a copy would lack a part of it. Nothing was changed.
    #[error(
        "the history of the source is damaged: a check of the source names the problems, and a copy without the \
         history copies the files"
    )]
    DamagedHistory,
    /// The history of the destination has changes that the source does not have. Nothing was changed.
    #[error(
        "the destination has a history of its own: a copy without the history copies the files"
    )]
    OtherHistory,
    /// The source has a history, and the destination is a tree of mounts, in which each store has its own history.
    /// Nothing was changed.
    #[error(
        "each store that is mounted in the destination has a history of its own: a copy without the history copies \
         the files"
    )]
    ManyHistories,
    /// Reading from the source failed at this path. Files that are already copied stay.
    #[error("reading {path} from the source: {error}")]
    Source {
        /// The path that could not be read.
        path: MemoryPath,
        /// The error of the store.
        #[source]
        error: StoreError,
    },
    /// Writing to the destination failed at this path. Files that are already copied stay.
    #[error("writing {path} to the destination: {error}")]
    Destination {
        /// The path that could not be written or compared.
        path: MemoryPath,
        /// The error of the store.
        #[source]
        error: StoreError,
    },
    /// The callback stopped the copy. Files that are already copied stay.
    #[error("the copy was stopped")]
    Stopped,
}

impl CopyError {
    pub(super) fn of_source(error: HistoryError) -> Self {
        match error {
            HistoryError::Damaged => Self::DamagedHistory,
            error => Self::Source { path: MemoryPath::root(), error: failed_history(error) },
        }
    }

    pub(super) fn of_destination(error: HistoryError) -> Self {
        Self::Destination { path: MemoryPath::root(), error: failed_history(error) }
    }

    /// Returns the paths of [`CopyError::Refused`]. Empty for every other error.
    pub fn paths(&self) -> impl Iterator<Item = &MemoryPath> {
        let refusals = if let Self::Refused(refusals) = self { &refusals[..] } else { &[] };
        refusals.iter().map(|refusal| &refusal.path)
    }
}

fn failed_history(error: HistoryError) -> StoreError {
    match error {
        HistoryError::Store(error) => error,
        error => StoreError::failed("copying the history", error),
    }
}

/// The refusal of one path.
pub(super) fn refuse(path: &MemoryPath, there: There) -> CopyError {
    CopyError::Refused(vec![Refusal { path: path.clone(), there }])
}

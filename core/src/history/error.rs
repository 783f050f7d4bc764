//! [`HistoryError`]: why the history could not be read, or something not be taken back.

use crate::path::MemoryPath;
use crate::store::StoreError;

/// Why a call about the history failed. Nothing was changed, if it does not say otherwise.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HistoryError {
    /// The memory was opened without [`MemoryOptions::history`](crate::MemoryOptions::history).
    #[error("this memory has no history: open it with the option `history`")]
    Off,
    /// The memory is read-only.
    #[error("the memory is read-only: it can be viewed but not changed")]
    ReadOnly,
    /// The text is not an id.
    #[error("{0:?} is not the id of a version or a change")]
    NoId(String),
    /// The text is not a path below `/memories`.
    #[error("{0:?} is not a path below /memories")]
    Path(String),
    /// There is no such version or change: it is another memory's, or was removed for its age.
    #[error("there is no version or change {0} in this history")]
    Unknown(String),
    /// The version is the deletion of a file, so it has no content.
    #[error("the version {0} has no content: it is the deletion of the file")]
    NoContent(String),
    /// The content was removed from the history, for this reason.
    #[error("the content was redacted: {0}")]
    Redacted(String),
    /// The content of the version cannot be computed any more, because records of the history are damaged or missing.
    #[error("the content cannot be brought back: records of the history are damaged or missing")]
    Damaged,
    /// Later changes stand on what would be taken back, or files were changed since.
    #[error("{}", conflict(paths))]
    Conflict {
        /// The paths in question, sorted.
        paths: Vec<MemoryPath>,
    },
    /// What the file was before was removed from the history for its age.
    #[error("what {path} was before was removed from the history for its age")]
    Trimmed {
        /// The file.
        path: MemoryPath,
    },
    /// A file has this content now. Edit or delete it first.
    #[error("{path} has this content now: change or delete the file first")]
    IsCurrent {
        /// The file.
        path: MemoryPath,
    },
    /// The store failed.
    #[error("the memory store failed: {0}")]
    Store(#[source] StoreError),
    /// The store failed after some of the files were written. What was written is a change of its own.
    #[error("the change was made in part, as {change}: {source}")]
    Partly {
        /// The change, which can be undone.
        change: super::HistoryId,
        /// What went wrong.
        source: StoreError,
    },
}

impl From<StoreError> for HistoryError {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

fn conflict(paths: &[MemoryPath]) -> String {
    const SHOWN: usize = 20;
    let named: Vec<&str> = paths.iter().take(SHOWN).map(MemoryPath::as_str).collect();
    let more = match paths.len().saturating_sub(SHOWN) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("changed since, so nothing was taken back: {}{more}", named.join(", "))
}

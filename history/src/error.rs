//! [`HistoryError`]: why a history could not be read, or a change could not be undone.

use memdir_store::StoreError;
use memdir_store::path::MemoryPath;

use super::conflict::{self, Conflict, named};
use super::error_kind::HistoryErrorKind;

/// Why a call about the history failed. Unless the case says otherwise, nothing was changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HistoryError {
    /// The memory was opened without `MemoryOptions::history`.
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
    /// There is no such version or change. It belongs to another memory, or was removed because of a limit.
    #[error("there is no version or change {0} in this history")]
    Unknown(String),
    /// Part of an id that matches several versions or changes.
    #[error("{}", ambiguous(part, ids))]
    Ambiguous {
        /// The part of the id.
        part: String,
        /// The matching ids, ordered by time.
        ids: Vec<super::HistoryId>,
    },
    /// The version is the deletion of a file, so it has no content.
    #[error("the version {0} has no content: it is the deletion of the file")]
    NoContent(String),
    /// There is no file at the path.
    #[error("there is no file {path}")]
    NoFile {
        /// The path.
        path: MemoryPath,
    },
    /// The file is not valid UTF-8, so it has no lines.
    #[error("{path} is not valid UTF-8 text")]
    NotText {
        /// The file.
        path: MemoryPath,
    },
    /// The content was removed from the history. Holds the reason.
    #[error("the content was redacted: {0}")]
    Redacted(String),
    /// The content of the version can no longer be computed, because records of the history are damaged or missing.
    #[error("the content cannot be brought back: records of the history are damaged or missing")]
    Damaged,
    /// Later changes depend on the change to be undone, files were changed since, or something is in the way.
    #[error("{}", conflict::sentence(conflicts, *restores))]
    Conflict {
        /// Whether the call was a restore, and not an undo.
        restores: bool,
        /// The paths that were changed since or are in the way: one conflict for each path, sorted by path.
        conflicts: Vec<Conflict>,
    },
    /// The earlier state of the file was removed from the history because of its limits of age, versions and bytes.
    #[error(
        "what {path} was before was removed from the history, which keeps no more than its limits of age, versions and bytes allow"
    )]
    Trimmed {
        /// The file.
        path: MemoryPath,
    },
    /// A file holds this content now. Edit or delete it first.
    #[error("{path} has this content now: change or delete the file first")]
    IsCurrent {
        /// The file.
        path: MemoryPath,
    },
    /// Files hold a text now that is to be removed from the history. Edit or delete them first.
    #[error("{}", are_current(paths))]
    AreCurrent {
        /// The files, sorted.
        paths: Vec<MemoryPath>,
    },
    /// The store failed.
    #[error("the memory store failed: {0}")]
    Store(#[source] StoreError),
    /// The store failed after some of the files were written. The files that were written form a change of their own.
    #[error("the change was made in part, as {change}: {source}")]
    Partly {
        /// The change, which can be undone.
        change: super::HistoryId,
        /// The failure.
        source: StoreError,
    },
}

impl HistoryError {
    pub(super) fn conflict(conflicts: impl IntoIterator<Item = Conflict>) -> Self {
        Self::Conflict { restores: false, conflicts: Conflict::sorted(conflicts) }
    }

    /// The same error, for a call that restores.
    pub(super) fn of_restoring(self) -> Self {
        match self {
            Self::Conflict { conflicts, .. } => Self::Conflict { restores: true, conflicts },
            other => other,
        }
    }

    /// The kind; `None` for a failure of the store, which has an [`ErrorKind`](memdir_store::ErrorKind).
    #[must_use]
    pub fn kind(&self) -> Option<HistoryErrorKind> {
        Some(match self {
            Self::Off => HistoryErrorKind::Off,
            Self::ReadOnly => HistoryErrorKind::ReadOnly,
            Self::NoId(_) => HistoryErrorKind::NoId,
            Self::Path(_) => HistoryErrorKind::Path,
            Self::Unknown(_) => HistoryErrorKind::Unknown,
            Self::Ambiguous { .. } => HistoryErrorKind::Ambiguous,
            Self::NoContent(_) => HistoryErrorKind::NoContent,
            Self::NoFile { .. } => HistoryErrorKind::NoFile,
            Self::NotText { .. } => HistoryErrorKind::NotText,
            Self::Redacted(_) => HistoryErrorKind::Redacted,
            Self::Damaged => HistoryErrorKind::Damaged,
            Self::Conflict { .. } => HistoryErrorKind::Conflict,
            Self::Trimmed { .. } => HistoryErrorKind::Trimmed,
            Self::IsCurrent { .. } | Self::AreCurrent { .. } => HistoryErrorKind::IsCurrent,
            Self::Partly { .. } => HistoryErrorKind::Partly,
            Self::Store(_) => return None,
        })
    }

    /// The paths concerned: all paths of a conflict, or the file of [`Trimmed`](HistoryError::Trimmed),
    /// [`IsCurrent`](HistoryError::IsCurrent), [`NoFile`](HistoryError::NoFile) and [`NotText`](HistoryError::NotText). Empty for
    /// any other case.
    #[must_use]
    pub fn paths(&self) -> Vec<&MemoryPath> {
        match self {
            Self::Conflict { conflicts, .. } => {
                conflicts.iter().map(|conflict| &conflict.path).collect()
            }
            Self::AreCurrent { paths } => paths.iter().collect(),
            Self::Trimmed { path }
            | Self::IsCurrent { path }
            | Self::NoFile { path }
            | Self::NotText { path } => vec![path],
            _ => Vec::new(),
        }
    }

    /// The conflicts of a [`Conflict`](HistoryError::Conflict). Empty for any other case.
    #[must_use]
    pub fn conflicts(&self) -> &[Conflict] {
        if let Self::Conflict { conflicts, .. } = self { conflicts } else { &[] }
    }
}

impl From<StoreError> for HistoryError {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

fn are_current(paths: &[MemoryPath]) -> String {
    format!(
        "files have this text now, so nothing was redacted: change or delete them first: {}",
        named(paths)
    )
}

fn ambiguous(part: &str, ids: &[super::HistoryId]) -> String {
    format!("{part:?} may be each of these ids, give more of it: {}", named(ids))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::HistoryId;

    #[test]
    fn a_history_error_has_a_word_for_its_case_and_its_paths() {
        let path = MemoryPath::parse("/memories/a.md").unwrap();
        let other = MemoryPath::parse("/memories/b.md").unwrap();
        let lost = || StoreError::failed("reading a record", std::io::Error::other("gone"));
        let id: HistoryId = "01990a3c-7c00-7123-8456-789abc000000".parse().unwrap();
        let both = vec![path.clone(), other.clone()];
        let one = vec![path.clone()];
        let cases = [
            (HistoryError::Off, "off", vec![]),
            (HistoryError::ReadOnly, "read_only", vec![]),
            (HistoryError::NoId("x".to_owned()), "no_id", vec![]),
            (HistoryError::Path("x".to_owned()), "path", vec![]),
            (HistoryError::Unknown("x".to_owned()), "unknown", vec![]),
            (
                HistoryError::Ambiguous { part: "x".to_owned(), ids: vec![id, id] },
                "ambiguous",
                vec![],
            ),
            (HistoryError::NoContent("x".to_owned()), "no_content", vec![]),
            (HistoryError::Redacted("x".to_owned()), "redacted", vec![]),
            (HistoryError::Damaged, "damaged", vec![]),
            (
                HistoryError::conflict([
                    Conflict::in_the_way(other),
                    Conflict::changed(path.clone()),
                ]),
                "conflict",
                both,
            ),
            (HistoryError::Trimmed { path: path.clone() }, "trimmed", one.clone()),
            (HistoryError::NoFile { path: path.clone() }, "no_file", one.clone()),
            (HistoryError::NotText { path: path.clone() }, "not_text", one.clone()),
            (HistoryError::IsCurrent { path }, "is_current", one.clone()),
            (HistoryError::AreCurrent { paths: one.clone() }, "is_current", one),
            (HistoryError::Store(lost()), "none", vec![]),
            (HistoryError::Partly { change: id, source: lost() }, "partly", vec![]),
        ];
        for (error, kind, paths) in cases {
            assert_eq!(error.kind().map_or("none", HistoryErrorKind::as_str), kind);
            let expected: Vec<&MemoryPath> = paths.iter().collect();
            assert_eq!(error.paths(), expected, "{kind}");
        }
    }
}

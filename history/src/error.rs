//! [`HistoryError`]: why the history could not be read, or something not be taken back.

use std::collections::BTreeSet;

use memdir_store::StoreError;
use memdir_store::path::MemoryPath;

/// Why a call about the history failed. Nothing was changed, if it does not say otherwise.
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
    /// There is no such version or change: it is another memory's, or was removed for its age.
    #[error("there is no version or change {0} in this history")]
    Unknown(String),
    /// A part of an id that several versions or changes have.
    #[error("{}", ambiguous(part, ids))]
    Ambiguous {
        /// The part.
        part: String,
        /// The ids, in the order of their times.
        ids: Vec<super::HistoryId>,
    },
    /// The version is the deletion of a file, so it has no content.
    #[error("the version {0} has no content: it is the deletion of the file")]
    NoContent(String),
    /// The content was removed from the history, for this reason.
    #[error("the content was redacted: {0}")]
    Redacted(String),
    /// The content of the version cannot be computed any more, because records of the history are damaged or missing.
    #[error("the content cannot be brought back: records of the history are damaged or missing")]
    Damaged,
    /// Later changes stand on what would be taken back, files were changed since, or something is in the way.
    #[error("{}", conflict(paths, in_the_way))]
    Conflict {
        /// The paths in question, sorted: those that were changed since, and those that are in the way.
        paths: Vec<MemoryPath>,
        /// The paths among them that are in the way: a file where a directory is needed, or a directory or something else where
        /// a file is needed. They are never overwritten. Delete or rename them first.
        in_the_way: Vec<MemoryPath>,
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
    /// Files have a text now that is to be removed from the history. Edit or delete them first.
    #[error("{}", are_current(paths))]
    AreCurrent {
        /// The files, sorted.
        paths: Vec<MemoryPath>,
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

impl HistoryError {
    /// A [`Conflict`](HistoryError::Conflict) of what was changed and what is in the way.
    pub(super) fn conflict(
        changed: BTreeSet<MemoryPath>,
        in_the_way: BTreeSet<MemoryPath>,
    ) -> Self {
        let mut paths = changed;
        paths.extend(in_the_way.iter().cloned());
        let paths = paths.into_iter().collect();
        Self::Conflict { paths, in_the_way: in_the_way.into_iter().collect() }
    }

    /// A word for the case, the same in every language: `conflict`, `no_id`.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::ReadOnly => "read_only",
            Self::NoId(_) => "no_id",
            Self::Path(_) => "path",
            Self::Unknown(_) => "unknown",
            Self::Ambiguous { .. } => "ambiguous",
            Self::NoContent(_) => "no_content",
            Self::Redacted(_) => "redacted",
            Self::Damaged => "damaged",
            Self::Conflict { .. } => "conflict",
            Self::Trimmed { .. } => "trimmed",
            Self::IsCurrent { .. } | Self::AreCurrent { .. } => "is_current",
            Self::Store(_) => "store",
            Self::Partly { .. } => "partly",
        }
    }

    /// The paths in question: all of a conflict, the file of [`Trimmed`](HistoryError::Trimmed) and
    /// [`IsCurrent`](HistoryError::IsCurrent). Empty for any other case.
    #[must_use]
    pub fn paths(&self) -> &[MemoryPath] {
        match self {
            Self::Conflict { paths, .. } | Self::AreCurrent { paths } => paths,
            Self::Trimmed { path } | Self::IsCurrent { path } => std::slice::from_ref(path),
            _ => &[],
        }
    }
}

impl From<StoreError> for HistoryError {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

fn conflict(paths: &[MemoryPath], in_the_way: &[MemoryPath]) -> String {
    let changed: Vec<&MemoryPath> =
        paths.iter().filter(|path| !in_the_way.contains(path)).collect();
    let in_the_way: Vec<&MemoryPath> = in_the_way.iter().collect();
    match (&changed[..], &in_the_way[..]) {
        (changed, []) => format!("changed since, so nothing was taken back: {}", named(changed)),
        ([], in_the_way) => {
            format!(
                "something else is in the way, so nothing was taken back: {}",
                named(in_the_way)
            )
        }
        (changed, in_the_way) => format!(
            "changed since, so nothing was taken back: {}; in the way: {}",
            named(changed),
            named(in_the_way)
        ),
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

/// The first of them, and how many more there are.
fn named(all: &[impl ToString]) -> String {
    const SHOWN: usize = 20;
    let named: Vec<String> = all.iter().take(SHOWN).map(ToString::to_string).collect();
    let more = match all.len().saturating_sub(SHOWN) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("{}{more}", named.join(", "))
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
                HistoryError::conflict(both.clone().into_iter().collect(), [].into()),
                "conflict",
                both.clone(),
            ),
            (
                HistoryError::conflict([path.clone()].into(), [other.clone()].into()),
                "conflict",
                both,
            ),
            (HistoryError::Trimmed { path: path.clone() }, "trimmed", one.clone()),
            (HistoryError::IsCurrent { path }, "is_current", one.clone()),
            (HistoryError::AreCurrent { paths: one.clone() }, "is_current", one),
            (HistoryError::Store(lost()), "store", vec![]),
            (HistoryError::Partly { change: id, source: lost() }, "partly", vec![]),
        ];
        for (error, kind, paths) in cases {
            assert_eq!(error.kind(), kind);
            assert_eq!(error.paths(), paths, "{kind}");
        }
    }

    #[test]
    fn a_conflict_names_what_was_changed_and_what_is_in_the_way() {
        let path = |name: &str| MemoryPath::parse(&format!("/memories/{name}")).unwrap();
        let told = |changed: &[&str], in_the_way: &[&str]| {
            let paths = |names: &[&str]| names.iter().map(|name| path(name)).collect();
            HistoryError::conflict(paths(changed), paths(in_the_way)).to_string()
        };
        assert_eq!(told(&["a"], &[]), "changed since, so nothing was taken back: /memories/a");
        assert_eq!(
            told(&[], &["b", "a"]),
            "something else is in the way, so nothing was taken back: /memories/a, /memories/b"
        );
        assert_eq!(
            told(&["b", "a"], &["a"]),
            "changed since, so nothing was taken back: /memories/b; in the way: /memories/a"
        );
        let many: Vec<String> = (10..32).map(|number| number.to_string()).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        assert!(told(&[], &many).ends_with("/memories/28, /memories/29 and 2 more"));
    }
}

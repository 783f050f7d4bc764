//! The history of a `Memory`: the types of its methods, and how those are carried out.

use std::time::SystemTime;

use memdir::history::{
    HistoryError, Restored as CoreRestored, RestoredFile as CoreRestoredFile,
    Version as CoreVersion,
};
use memdir::{Memory as Core, MemoryPath};
use memdir_bindings_shared::history::Undo;
use pyo3::prelude::*;
use pyo3::types::{PyDateTime, PyTzInfo};

use crate::cancel::interruptible;
use crate::conflict::Conflict;
use crate::errors::{history_error, to_python};
use crate::logging;
use crate::moment::Moment;
use crate::opened::Opened;
use crate::time::shown;

/// One version of one file: what a change made of it.
///
/// Attributes:
///     id: Names this version, for `Memory.read_version` and the like. Ids sort by time.
///     change: The id of the change that made it. One change can make versions of several files, such
///         as the deletion of a directory.
///     operation: `"created"`, `"modified"`, `"overwritten"`, `"renamed"`, `"deleted"`, `"expired"`,
///         `"cleared"`, `"restored"`, `"imported"`, `"redacted"`, or `"external"` if somebody else changed the
///         file.
///     path: Where the file is since then; where it was, if it was deleted.
///     old_path: Where it was before, if it was renamed.
///     time: When, by the clock of the machine that made the change; with a time zone.
///     actor: Who, as the memory that made the change was told.
///     size: The size of the content in bytes. `None` if the file was deleted, its content is
///         redacted, or nobody has read it since it was moved.
///     sha256: The SHA-256 of the content, in hexadecimal digits; `None` as for `size`.
///     is_current: Whether the file is there, and this is what it holds, as far as the history knows.
///     redacted: Why the content was removed from the history; `None` if it was not.
#[pyclass(module = "memdir", frozen, eq, hash)]
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Version {
    /// Names this version. Ids sort by time.
    #[pyo3(get)]
    id: String,
    /// The id of the change that made it.
    #[pyo3(get)]
    change: String,
    /// What was done, as a word.
    #[pyo3(get)]
    operation: &'static str,
    /// Where the file is since then; where it was, if it was deleted.
    #[pyo3(get)]
    path: String,
    /// Where it was before, if it was renamed.
    #[pyo3(get)]
    old_path: Option<String>,
    time: SystemTime,
    /// Who, as the memory that made the change was told.
    #[pyo3(get)]
    actor: Option<String>,
    /// The size of the content in bytes.
    #[pyo3(get)]
    size: Option<u64>,
    /// The SHA-256 of the content, in hexadecimal digits.
    #[pyo3(get)]
    sha256: Option<String>,
    /// Whether the file is there, and this is what it holds, as far as the history knows.
    #[pyo3(get)]
    is_current: bool,
    /// Why the content was removed from the history; `None` if it was not.
    #[pyo3(get)]
    redacted: Option<String>,
}

#[pymethods]
impl Version {
    /// When, by the clock of the machine that made the change.
    #[getter]
    fn time<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDateTime>> {
        match shown(py, self.time) {
            Some(time) => Ok(time),
            // A clock beyond the year 9999: the last moment that a `datetime` can show.
            None => {
                let utc = PyTzInfo::utc(py)?;
                PyDateTime::new(py, 9999, 12, 31, 23, 59, 59, 999_999, Some(&*utc))
            }
        }
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let path = self.path.as_str().into_pyobject(py)?.repr()?;
        Ok(format!("Version('{}', '{}', {path})", self.id, self.operation))
    }
}

impl From<CoreVersion> for Version {
    fn from(version: CoreVersion) -> Self {
        Self {
            id: version.id.to_string(),
            change: version.change.to_string(),
            operation: version.operation.as_str(),
            path: text(&version.path),
            old_path: version.old_path.as_ref().map(text),
            time: version.time,
            actor: version.actor,
            size: version.size,
            sha256: version.sha256,
            is_current: version.is_current,
            redacted: version.redacted,
        }
    }
}

/// What was done to bring back an earlier state, or would be done.
///
/// `change` is the id of the change that this made, which can be undone itself; `None` if there was
/// nothing to do, or with `dry_run`. `files` are the files, in the order of their paths. `skipped` is what
/// was left out with `skip_conflicts`, and why.
#[pyclass(module = "memdir", frozen, eq, hash)]
#[derive(PartialEq, Eq, Hash)]
pub struct Restored {
    /// The id of the change that this made; `None` if there was nothing to do, or with `dry_run`.
    #[pyo3(get)]
    change: Option<String>,
    /// The files, in the order of their paths.
    #[pyo3(get)]
    files: Vec<RestoredFile>,
    /// What was left out with `skip_conflicts`, and why, in the order of the paths.
    #[pyo3(get)]
    skipped: Vec<Conflict>,
}

#[pymethods]
impl Restored {
    #[classattr]
    fn __match_args__() -> (&'static str, &'static str, &'static str) {
        ("change", "files", "skipped")
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let change = self.change.as_deref().into_pyobject(py)?.repr()?;
        let files = self.files.clone().into_pyobject(py)?.repr()?;
        let skipped = match &self.skipped[..] {
            [] => String::new(),
            skipped => format!(", {}", skipped.to_vec().into_pyobject(py)?.repr()?),
        };
        Ok(format!("Restored({change}, {files}{skipped})"))
    }
}

impl From<CoreRestored> for Restored {
    fn from(restored: CoreRestored) -> Self {
        let files = restored.files.into_iter().map(RestoredFile::from).collect();
        let skipped = restored.skipped.iter().map(Conflict::from).collect();
        Self { change: restored.change.as_ref().map(ToString::to_string), files, skipped }
    }
}

/// A file that was changed to bring back an earlier state, or would be changed.
///
/// `operation` is `"created"`, `"modified"`, `"renamed"` or `"deleted"`. `path` is where the file is,
/// or was if it was deleted. `old_path` is where it was before, if it was renamed. `merged` is the text of
/// the file after it, if this was merged with later changes.
#[pyclass(module = "memdir", frozen, eq, hash, get_all)]
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct RestoredFile {
    /// What was done, as a word.
    operation: &'static str,
    /// Where.
    path: String,
    /// Where it was before, if it was renamed.
    old_path: Option<String>,
    /// The text of the file after it, if this was merged with later changes.
    merged: Option<String>,
}

#[pymethods]
impl RestoredFile {
    #[classattr]
    fn __match_args__() -> (&'static str, &'static str, &'static str, &'static str) {
        ("operation", "path", "old_path", "merged")
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let path = self.path.as_str().into_pyobject(py)?.repr()?;
        let old_path = match &self.old_path {
            Some(old_path) => format!(", {}", old_path.as_str().into_pyobject(py)?.repr()?),
            None => String::new(),
        };
        Ok(format!("RestoredFile('{}', {path}{old_path})", self.operation))
    }
}

impl From<CoreRestoredFile> for RestoredFile {
    fn from(file: CoreRestoredFile) -> Self {
        Self {
            operation: file.operation.as_str(),
            path: text(&file.path),
            old_path: file.old_path.as_ref().map(text),
            merged: file.merged,
        }
    }
}

fn text(path: &MemoryPath) -> String {
    path.as_str().to_owned()
}

/// What the arguments of `undo` say.
///
/// # Errors
/// A `ConfigError` if they contradict each other, or say nothing, or if a time has no zone.
pub(crate) fn undo(
    py: Python<'_>,
    change: Option<String>,
    since: Option<Moment<'_>>,
    actor: Option<String>,
) -> PyResult<Undo> {
    let since = since.map(|since| since.time("since")).transpose()?;
    Undo::of(change, since, actor).map_err(|problem| to_python(py, &problem.into()))
}

/// Runs a method detached.
pub(crate) fn done<T: Send>(
    py: Python<'_>,
    work: impl FnOnce(&Core) -> Result<T, HistoryError> + Send,
    opened: &Opened,
) -> PyResult<T> {
    let core = opened.get()?;
    logging::refresh();
    interruptible(py, |cancellation| work(&core.cancelled_by(cancellation)))?
        .map_err(|error| history_error(py, &error))
}

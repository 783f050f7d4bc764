//! What the history of a `Memory` knows of times before: the types of `grep_history`,
//! `files_at`, `blame` and `redact_text`.

use std::time::SystemTime;

use memdir::HistoryMatch as CoreMatch;
use memdir::history::{BlamedLine as CoreLine, PastFile as CoreFile, RedactedText as CoreRedacted};
use pyo3::prelude::*;
use pyo3::types::PyDateTime;

use crate::history::Version;
use crate::time::shown;

/// A place where `Memory.grep_history` found something that is not there any more.
///
/// `version` is the newest version that has it. `line` is the number of the line in that version, counted
/// from 1, and `None` if the name was found. `text` is the line, or the name; a long line is cut around
/// the match.
#[pyclass(module = "memdir", frozen, eq, hash, get_all)]
#[derive(PartialEq, Eq, Hash)]
pub struct HistoryMatch {
    /// The newest version that has it.
    version: Version,
    /// The number of the line, counted from 1; `None` if the name was found.
    line: Option<u64>,
    /// The line, or the name.
    text: String,
}

#[pymethods]
impl HistoryMatch {
    #[classattr]
    fn __match_args__() -> (&'static str, &'static str, &'static str) {
        ("version", "line", "text")
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let version = self.version.clone().into_pyobject(py)?.repr()?;
        let line = self.line.into_pyobject(py)?.repr()?;
        let text = self.text.as_str().into_pyobject(py)?.repr()?;
        Ok(format!("HistoryMatch({version}, {line}, {text})"))
    }
}

impl From<CoreMatch> for HistoryMatch {
    fn from(found: CoreMatch) -> Self {
        Self { version: found.version.into(), line: found.line, text: found.text }
    }
}

/// A file as it was at a time, from `Memory.files_at`.
///
/// `path` is where it was. `size` is its size in bytes; `None` if its content is redacted, or nobody has
/// read it since it was moved. `modified` is when it was last changed before that time, if that is known.
/// `version` is the id of its version; `None` for a file that was not changed since the history is kept.
#[pyclass(module = "memdir", frozen, eq, hash)]
#[derive(PartialEq, Eq, Hash)]
pub struct PastFile {
    /// Where it was.
    #[pyo3(get)]
    path: String,
    /// Its size in bytes.
    #[pyo3(get)]
    size: Option<u64>,
    modified: Option<SystemTime>,
    /// The id of its version.
    #[pyo3(get)]
    version: Option<String>,
}

#[pymethods]
impl PastFile {
    #[classattr]
    fn __match_args__() -> (&'static str, &'static str, &'static str, &'static str) {
        ("path", "size", "modified", "version")
    }

    /// When it was last changed before that time, if that is known.
    #[getter]
    fn modified<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyDateTime>> {
        self.modified.and_then(|time| shown(py, time))
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let path = self.path.as_str().into_pyobject(py)?.repr()?;
        let size = self.size.into_pyobject(py)?.repr()?;
        Ok(format!("PastFile({path}, {size})"))
    }
}

impl From<CoreFile> for PastFile {
    fn from(file: CoreFile) -> Self {
        Self {
            path: file.path.as_str().to_owned(),
            size: file.size,
            modified: file.modified,
            version: file.version.as_ref().map(ToString::to_string),
        }
    }
}

/// A line of a file, and the version that brought it, from `Memory.blame`.
///
/// `line` is its number, counted from 1, and `text` is the line without its line feed. `version` is the id
/// of the version that brought it, and `change` that of its change; both are `None` if the history does not
/// know of it: another program changed the file since its last version, or it has no version. `operation` is
/// what this change did, such as `"modified"`, or `"external"` if another program brought the line. `actor`
/// made this change, and `time` is when; of an external version, when it was noticed. `may_be_older` says
/// whether the line may be older than this version: another program brought it, or earlier versions were
/// removed for their age, redacted or damaged.
#[pyclass(module = "memdir", frozen, eq, hash)]
#[derive(PartialEq, Eq, Hash)]
pub struct BlamedLine {
    /// The number of the line, counted from 1.
    #[pyo3(get)]
    line: u64,
    /// The line without its line feed.
    #[pyo3(get)]
    text: String,
    /// The id of the version that brought it.
    #[pyo3(get)]
    version: Option<String>,
    /// The id of the change that made this version.
    #[pyo3(get)]
    change: Option<String>,
    /// What this change did.
    #[pyo3(get)]
    operation: Option<&'static str>,
    /// Who made this change.
    #[pyo3(get)]
    actor: Option<String>,
    time: Option<SystemTime>,
    /// Whether the line may be older than this version.
    #[pyo3(get)]
    may_be_older: bool,
}

#[pymethods]
impl BlamedLine {
    #[classattr]
    fn __match_args__() -> (&'static str, &'static str, &'static str) {
        ("line", "text", "version")
    }

    /// When this change was made, or noticed.
    #[getter]
    fn time<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyDateTime>> {
        self.time.and_then(|time| shown(py, time))
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let text = self.text.as_str().into_pyobject(py)?.repr()?;
        let actor = self.actor.as_deref().into_pyobject(py)?.repr()?;
        Ok(format!("BlamedLine({}, {text}, actor={actor})", self.line))
    }
}

impl From<CoreLine> for BlamedLine {
    fn from(line: CoreLine) -> Self {
        Self {
            line: line.line,
            text: line.text,
            version: line.version.as_ref().map(ToString::to_string),
            change: line.change.as_ref().map(ToString::to_string),
            operation: line.operation.map(memdir::history::Operation::as_str),
            actor: line.actor,
            time: line.time,
            may_be_older: line.may_be_older,
        }
    }
}

/// What `Memory.redact_text` removed from the history, or would remove.
///
/// `change` is the id of the change; `None` if there was nothing to do, or with `dry_run`. `versions` are those
/// whose contents have the text, newest first, as they were before. `current` are the paths of the files that
/// have it now, with `dry_run`; otherwise that is an error. `names` are the paths that have the text, as they
/// were before: `redacted-` and random digits stand in the place of the names. `kept_names` are the paths that
/// have it in a name now: they stay.
#[pyclass(module = "memdir", frozen, eq, hash, get_all)]
#[derive(PartialEq, Eq, Hash)]
pub struct RedactedText {
    /// The id of the change; `None` if there was nothing to do, or with `dry_run`.
    change: Option<String>,
    /// The versions whose contents have the text, newest first, as they were before.
    versions: Vec<Version>,
    /// The paths of the files that have it now, with `dry_run`.
    current: Vec<String>,
    /// The paths that have the text, as they were before, sorted.
    names: Vec<String>,
    /// The paths that have the text in a name now, sorted: they stay.
    kept_names: Vec<String>,
}

#[pymethods]
impl RedactedText {
    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let versions = self.versions.len();
        let shown = |paths: &[String]| paths.into_pyobject(py)?.repr();
        let (current, names) = (shown(&self.current)?, shown(&self.names)?);
        let kept_names = shown(&self.kept_names)?;
        Ok(format!(
            "RedactedText(versions={versions}, current={current}, names={names}, kept_names={kept_names})"
        ))
    }
}

impl From<CoreRedacted> for RedactedText {
    fn from(redacted: CoreRedacted) -> Self {
        Self {
            change: redacted.change.as_ref().map(ToString::to_string),
            versions: redacted.versions.into_iter().map(Version::from).collect(),
            current: redacted.current.iter().map(ToString::to_string).collect(),
            names: redacted.names.iter().map(ToString::to_string).collect(),
            kept_names: redacted.kept_names.iter().map(ToString::to_string).collect(),
        }
    }
}

//! The types of `Memory.stats` and `Memory.erase`.

use std::time::SystemTime;

use memdir::Stats as Core;
use memdir::history::{Erased as CoreErased, HistorySize as CoreSize};
use pyo3::prelude::*;
use pyo3::types::PyDateTime;

use crate::time::shown;

/// How much a memory holds, from `Memory.stats`. Hidden files count, as they do for the limits; the files of
/// the history do not.
///
/// Attributes:
///     files: The number of files.
///     directories: The number of directories below `/memories`. A hidden one counts if there is a file in
///         it.
///     bytes: The bytes of all files together.
///     largest: The path of the largest file, and its size in bytes; `None` if there are no files.
///     oldest: The path of the file whose last change is the longest ago, and when that was; `None` if the
///         store does not keep times.
///     newest: The file that was changed last.
///     least_recently_used: The file that was not used for the longest time, and when it was used last.
///         `None` if the store does not keep accesses, or is read-only. Without `record_access`, only
///         changes count as uses.
///     history: The size of the history; `None` if the memory has none.
#[pyclass(module = "memdir", frozen, eq, hash)]
#[derive(PartialEq, Eq, Hash)]
pub struct Stats {
    /// The number of files.
    #[pyo3(get)]
    files: u64,
    /// The number of directories below `/memories`.
    #[pyo3(get)]
    directories: u64,
    /// The bytes of all files together.
    #[pyo3(get)]
    bytes: u64,
    /// The path of the largest file, and its size in bytes.
    #[pyo3(get)]
    largest: Option<(String, u64)>,
    oldest: Option<(String, SystemTime)>,
    newest: Option<(String, SystemTime)>,
    least_recently_used: Option<(String, SystemTime)>,
    /// The size of the history; `None` if the memory has none.
    #[pyo3(get)]
    history: Option<HistorySize>,
}

/// The path of a file, and a time of it.
type At<'py> = Option<(String, Bound<'py, PyDateTime>)>;

#[pymethods]
impl Stats {
    /// The file whose last change is the longest ago, and when that was.
    #[getter]
    fn oldest<'py>(&self, py: Python<'py>) -> At<'py> {
        at(py, self.oldest.as_ref())
    }

    /// The file that was changed last, and when that was.
    #[getter]
    fn newest<'py>(&self, py: Python<'py>) -> At<'py> {
        at(py, self.newest.as_ref())
    }

    /// The file that was not used for the longest time, and when it was used last.
    #[getter]
    fn least_recently_used<'py>(&self, py: Python<'py>) -> At<'py> {
        at(py, self.least_recently_used.as_ref())
    }

    fn __repr__(&self) -> String {
        let Self { files, directories, bytes, .. } = self;
        format!("Stats(files={files}, directories={directories}, bytes={bytes})")
    }
}

fn at<'py>(py: Python<'py>, file: Option<&(String, SystemTime)>) -> At<'py> {
    file.and_then(|(path, time)| Some((path.clone(), shown(py, *time)?)))
}

impl From<Core> for Stats {
    fn from(stats: Core) -> Self {
        let at = |(path, time): (memdir::MemoryPath, SystemTime)| (path.to_string(), time);
        Self {
            files: stats.files,
            directories: stats.directories,
            bytes: stats.bytes,
            largest: stats.largest.map(|(path, bytes)| (path.to_string(), bytes)),
            oldest: stats.oldest.map(at),
            newest: stats.newest.map(at),
            least_recently_used: stats.least_recently_used.map(at),
            history: stats.history.map(HistorySize::from),
        }
    }
}

/// How much the history of a memory holds.
///
/// `versions` is the number of versions of all files, those of deleted files included. `bytes` are the bytes
/// of its records, as `history_max_bytes` counts them.
#[pyclass(module = "memdir", frozen, eq, hash, get_all)]
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct HistorySize {
    /// The number of versions of all files, those of deleted files included.
    versions: u64,
    /// The bytes of its records.
    bytes: u64,
}

#[pymethods]
impl HistorySize {
    fn __repr__(&self) -> String {
        format!("HistorySize(versions={}, bytes={})", self.versions, self.bytes)
    }
}

impl From<CoreSize> for HistorySize {
    fn from(size: CoreSize) -> Self {
        Self { versions: size.versions, bytes: size.bytes }
    }
}

/// How much `Memory.erase` removed for good, or would.
///
/// Attributes:
///     files: The number of files, hidden ones included.
///     bytes: The bytes of all files together.
///     versions: The number of versions in the history, those of deleted files included.
///     history_bytes: The bytes of its records.
#[pyclass(module = "memdir", frozen, eq, hash, get_all)]
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Erased {
    /// The number of files, hidden ones included.
    files: u64,
    /// The bytes of all files together.
    bytes: u64,
    /// The number of versions in the history, those of deleted files included.
    versions: u64,
    /// The bytes of its records.
    history_bytes: u64,
}

#[pymethods]
impl Erased {
    fn __repr__(&self) -> String {
        let Self { files, bytes, versions, history_bytes } = self;
        format!(
            "Erased(files={files}, bytes={bytes}, versions={versions}, history_bytes={history_bytes})"
        )
    }
}

impl From<CoreErased> for Erased {
    fn from(erased: CoreErased) -> Self {
        let CoreErased { files, bytes, versions, history_bytes, .. } = erased;
        Self { files, bytes, versions, history_bytes }
    }
}

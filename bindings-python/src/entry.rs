//! [`Entry`]: what a store lists.

use std::time::SystemTime;

use memdir::store::{Entry as CoreEntry, EntryKind};
use pyo3::prelude::*;
use pyo3::types::PyDateTime;

use crate::time::{Time, shown};

/// One entry of a directory, as a `Store` lists it.
///
/// `path` is the whole path, from `/memories` on. `size` is a file's length in bytes, and `None`
/// for a directory. `modified` is when a file was last written, with a time zone, and `None` where
/// the store does not keep that.
///
/// >>> from memdir import Entry
/// >>> Entry("/memories/notes.md", 120)
/// Entry('/memories/notes.md', 120)
/// >>> Entry("/memories/projects").is_directory
/// True
#[pyclass(module = "memdir", frozen, eq, hash)]
#[derive(PartialEq, Eq, Hash)]
pub struct Entry {
    /// The whole path, from `/memories` on.
    #[pyo3(get)]
    path: String,
    /// A file's length in bytes; `None` for a directory.
    #[pyo3(get)]
    size: Option<u64>,
    modified: Option<SystemTime>,
}

#[pymethods]
impl Entry {
    #[classattr]
    fn __match_args__() -> (&'static str, &'static str, &'static str) {
        ("path", "size", "modified")
    }

    #[new]
    #[pyo3(signature = (path, size = None, modified = None))]
    fn new(path: String, size: Option<u64>, modified: Option<Time>) -> Self {
        Self { path, size, modified: modified.map(|Time(time)| time) }
    }

    /// When a file was last written; `None` for a directory, or where the store does not keep it.
    #[getter]
    fn modified<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyDateTime>> {
        self.modified.and_then(|time| shown(py, time))
    }

    /// Whether it is a directory.
    #[getter]
    fn is_directory(&self) -> bool {
        self.size.is_none()
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let path = self.path.as_str().into_pyobject(py)?.repr()?;
        Ok(match (self.size, self.modified(py)) {
            (Some(size), Some(time)) => format!("Entry({path}, {size}, {})", time.repr()?),
            (Some(size), None) => format!("Entry({path}, {size})"),
            (None, _) => format!("Entry({path})"),
        })
    }
}

impl Entry {
    pub(crate) fn path(&self) -> &str {
        &self.path
    }

    pub(crate) fn size(&self) -> Option<u64> {
        self.size
    }

    pub(crate) fn time(&self) -> Option<SystemTime> {
        self.modified
    }
}

impl From<CoreEntry> for Entry {
    fn from(entry: CoreEntry) -> Self {
        let size = match entry.kind {
            EntryKind::File(size) => Some(size),
            EntryKind::Directory => None,
        };
        Self { path: entry.path.as_str().to_owned(), size, modified: entry.modified }
    }
}

//! [`Entry`]: what a store lists.

use std::time::SystemTime;

use memdir::MemoryPath;
use memdir::store::{Entry as CoreEntry, EntryKind};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDateTime;

use crate::time::{Time, shown};

/// One entry of a directory, as a `Store` lists it.
///
/// `path` is the whole path, from `/memories` on. `size` is a file's length in bytes, and `None`
/// for a directory. `modified` is when a file was last written, and `accessed` is its last recorded
/// access; both have a time zone, and are `None` if the store does not keep them.
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
    accessed: Option<SystemTime>,
}

#[pymethods]
impl Entry {
    #[classattr]
    fn __match_args__() -> (&'static str, &'static str, &'static str, &'static str) {
        ("path", "size", "modified", "accessed")
    }

    #[new]
    #[pyo3(signature = (path, size = None, modified = None, accessed = None))]
    fn new(
        path: String,
        size: Option<i64>,
        modified: Option<Time>,
        accessed: Option<Time>,
    ) -> PyResult<Self> {
        let negative = |size| PyValueError::new_err(format!("size must be 0 or more, got {size}"));
        let size = size.map(|size| u64::try_from(size).map_err(|_| negative(size))).transpose()?;
        let time = |given: Option<Time>| given.map(|Time(time)| time);
        Ok(Self { path, size, modified: time(modified), accessed: time(accessed) })
    }

    /// When a file was last written; `None` for a directory, or if the store does not keep it.
    #[getter]
    fn modified<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyDateTime>> {
        self.modified.and_then(|time| shown(py, time))
    }

    /// The last recorded access of a file; `None` for a directory, or if the store or its listing
    /// does not have it.
    #[getter]
    fn accessed<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyDateTime>> {
        self.accessed.and_then(|time| shown(py, time))
    }

    /// Whether it is a directory.
    #[getter]
    fn is_directory(&self) -> bool {
        self.size.is_none()
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let path = self.path.as_str().into_pyobject(py)?.repr()?;
        let Some(size) = self.size else { return Ok(format!("Entry({path})")) };
        Ok(match (self.modified(py), self.accessed(py)) {
            (None, None) => format!("Entry({path}, {size})"),
            (Some(modified), None) => format!("Entry({path}, {size}, {})", modified.repr()?),
            (modified, Some(accessed)) => {
                let modified = modified.into_pyobject(py)?.repr()?;
                format!("Entry({path}, {size}, {modified}, {})", accessed.repr()?)
            }
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

    /// The same file for the core.
    pub(crate) fn file(&self, path: MemoryPath, size: u64) -> CoreEntry {
        CoreEntry::file(path, size).modified_at(self.modified).accessed_at(self.accessed)
    }
}

impl From<CoreEntry> for Entry {
    fn from(entry: CoreEntry) -> Self {
        let size = match entry.kind {
            EntryKind::File(size) => Some(size),
            EntryKind::Directory => None,
        };
        let (modified, accessed) = (entry.modified, entry.accessed);
        Self { path: entry.path.as_str().to_owned(), size, modified, accessed }
    }
}

//! `namespaces`: the memories in a database or bucket.

use memdir::{MemoryOptions, Namespace as Core};
use pyo3::prelude::*;

use crate::errors::to_python;

/// One of several memories in a database or bucket.
///
/// Attributes:
///     name: Its name, as the option `namespace` takes it.
///     files: The number of its files, hidden ones included.
///     bytes: The bytes of all files together.
///     history_bytes: The bytes of the records of its history.
#[pyclass(module = "memdir", frozen, eq, hash, get_all)]
#[derive(PartialEq, Eq, Hash)]
pub struct Namespace {
    /// Its name, as the option `namespace` takes it.
    name: String,
    /// The number of its files, hidden ones included.
    files: u64,
    /// The bytes of all files together.
    bytes: u64,
    /// The bytes of the records of its history.
    history_bytes: u64,
}

#[pymethods]
impl Namespace {
    fn __repr__(&self) -> String {
        let Self { name, files, bytes, history_bytes } = self;
        format!("Namespace({name:?}, files={files}, bytes={bytes}, history_bytes={history_bytes})")
    }
}

impl From<Core> for Namespace {
    fn from(found: Core) -> Self {
        let Core { name, files, bytes, history_bytes, .. } = found;
        Self { name, files, bytes, history_bytes }
    }
}

/// The memories in a PostgreSQL database, or below a prefix of object storage: those that hold something,
/// sorted by their names. Each opens with its name as the option `namespace`.
///
/// In PostgreSQL row-level security limits them to those that the user may see. In object storage a directory
/// of a memory that is at the prefix itself looks like a namespace. Of an encrypted memory with encrypted
/// names, the history counts among the files.
///
/// Args:
///     address: The address of the database or the prefix.
///
/// Raises:
///     ConfigError: The address is wrong, or that of another store, which is one memory.
///     StoreError: The store cannot be reached, or failed.
#[pyfunction]
pub(crate) fn namespaces(py: Python<'_>, address: &str) -> PyResult<Vec<Namespace>> {
    let found = py.detach(|| memdir::namespaces(address, &MemoryOptions::default()));
    let found = found.map_err(|error| to_python(py, &error))?;
    Ok(found.into_iter().map(Namespace::from).collect())
}

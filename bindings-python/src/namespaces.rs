//! `namespaces`: the memories in a database or bucket.

use memdir::MemoryOptions;
use memdir::store::Namespace;
use pyo3::prelude::*;

use crate::errors::to_python;
use crate::options::Text;
use crate::results::Shown;

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
pub(crate) fn namespaces(py: Python<'_>, address: Text<'_>) -> PyResult<Shown<Vec<Namespace>>> {
    let address = address.read("address")?;
    let found = py.detach(|| memdir::namespaces(address, &MemoryOptions::default()));
    found.map(Shown).map_err(|error| to_python(py, &error))
}

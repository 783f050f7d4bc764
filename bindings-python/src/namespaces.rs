//! `namespaces`: the memories in a database or bucket.

use memdir::MemoryOptions;
use memdir::store::Namespace;
use pyo3::prelude::*;

use crate::errors::to_python;
use crate::options::Text;
use crate::results::Shown;
use crate::shutdown::released;

/// Lists the memories in a PostgreSQL database, or below a prefix of object storage, that contain something,
/// sorted by name. Each opens with its name as the option `namespace`.
///
/// In PostgreSQL, row-level security limits the list to those that the user may see. In object storage, a
/// directory of a memory at the prefix itself looks like a namespace. If a memory is encrypted with encrypted
/// names, the history is counted among its files.
///
/// Args:
///     address: The address of the database or the prefix.
///
/// Raises:
///     ConfigError: The address is wrong, or it is the address of a store with only one memory.
///     StoreError: The store cannot be reached, or failed.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "pyo3 hands over what it has made")]
pub(crate) fn namespaces(py: Python<'_>, address: Text<'_>) -> PyResult<Shown<Vec<Namespace>>> {
    let address = address.read("address")?;
    let found = released(py, || memdir::namespaces(address, &MemoryOptions::default()));
    found.map(Shown).map_err(|error| to_python(py, &error))
}

//! The entries that a store written in Python lists.

use std::time::SystemTime;

use memdir::MemoryPath;
use memdir::path::PathError;
use memdir::store::Entry;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::guarded::items;
use crate::time::Time;

/// Reads entries: objects with the attributes of `memdir.Entry`. Names that no path can contain are left out.
///
/// # Errors
/// The store listed something that is not an entry, or an entry that is not below `/memories`.
pub(crate) fn entries(listed: &Bound<'_, PyAny>) -> PyResult<Vec<Entry>> {
    if listed.is_instance_of::<PyString>() {
        return Err(PyTypeError::new_err("expected entries, got a str"));
    }
    items(listed, None)?.into_iter().filter_map(|item| entry(&item).transpose()).collect()
}

fn entry(item: &Bound<'_, PyAny>) -> PyResult<Option<Entry>> {
    let path: String = field(item, "path", "a str")?;
    let path = match MemoryPath::parse(&path) {
        Ok(path) => path,
        Err(error @ PathError::Outside) => {
            return Err(PyValueError::new_err(format!("{path:?}: {error}")));
        }
        Err(_) => return Ok(None),
    };
    let Some(size) = field::<Option<i64>>(item, "size", "an int below 2**63, or None")? else {
        return Ok(Some(Entry::directory(path)));
    };
    let Ok(size) = u64::try_from(size) else {
        return Err(PyValueError::new_err(format!("size must be 0 or more, got {size}")));
    };
    let (modified, accessed) = (time(item, "modified")?, time(item, "accessed")?);
    Ok(Some(Entry::file(path, size).modified_at(modified).accessed_at(accessed)))
}

fn time(item: &Bound<'_, PyAny>, name: &str) -> PyResult<Option<SystemTime>> {
    let time = field::<Option<Time>>(item, name, "a datetime with a time zone, or None")?;
    Ok(time.map(|Time(time)| time))
}

fn field<'py, T>(item: &Bound<'py, PyAny>, name: &str, kind: &str) -> PyResult<T>
where
    T: for<'a> FromPyObject<'a, 'py>,
{
    let Some(value) = item.getattr_opt(name)? else {
        let class = item.get_type().name()?;
        return Err(PyTypeError::new_err(format!("expected an Entry, got {class}")));
    };
    value.extract().map_err(|_| {
        let value =
            value.repr().map_or_else(|_| "another value".to_owned(), |value| value.to_string());
        PyTypeError::new_err(format!("{name} must be {kind}, got {value}"))
    })
}

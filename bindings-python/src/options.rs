//! The options of a memory, as Python's keyword arguments give them.

use memdir::{Durability, OnExisting, Options};
use pyo3::prelude::*;

use crate::errors::config_error;

/// Puts keyword arguments together to the core's options.
pub(crate) fn options(
    py: Python<'_>,
    max_view_chars: Option<usize>,
    max_file_bytes: Option<u64>,
    on_existing: &str,
    durability: &str,
) -> PyResult<Options> {
    let mut options = Options::default();
    options.max_view_chars = max_view_chars;
    options.max_file_bytes = max_file_bytes;
    options.on_existing =
        on_existing.parse::<OnExisting>().map_err(|error| config_error(py, &error))?;
    options.durability =
        durability.parse::<Durability>().map_err(|error| config_error(py, &error))?;
    Ok(options)
}

//! [`check`]: reads a whole store and reports its problems.

use memdir::{Error, MemoryOptions};
use memdir_bindings_shared::check::{Checked, check as check_all};
use pyo3::prelude::*;

use crate::cancel::interruptible;
use crate::errors::to_python;
use crate::hints::Hinted;
use crate::read_only;
use crate::results::Shown;
use crate::stores;

/// Checks a store and its history: inspects the store's structures, reads every file, reads every
/// record of the history and computes every version. Changes nothing. Other processes may use the
/// store meanwhile.
///
/// If the store fails in the middle, the failure is reported as a problem, beside the problems
/// found before.
///
/// Args:
///     store: The store, or its address. It must exist.
///
/// Raises:
///     StoreError: The store cannot be opened, or it fails before anything was read or found.
///     ConfigError: The address is wrong.
///
/// >>> from memdir import check
/// >>> check("memory:")
/// Checked(directories=1, files=0, bytes=0, versions=None, problems=())
#[pyfunction]
pub(crate) fn check(
    py: Python<'_>,
    store: Hinted<'_, read_only::Places>,
) -> PyResult<Shown<Checked>> {
    let mut options = MemoryOptions::default();
    options.read_only = true;
    let store = stores::open("store", &store.into_inner(), &options)?;
    let checked = interruptible(py, |cancellation| check_all(cancellation, &store))?;
    checked.map(Shown).map_err(|error| to_python(py, &Error::Store(error)))
}

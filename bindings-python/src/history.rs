//! How the methods of `Memory` that concern its history are executed.

use memdir::Memory as Core;
use memdir::history::HistoryError;
use memdir_bindings_shared::history::Undo;
use pyo3::prelude::*;

use crate::cancel::interruptible;
use crate::errors::{history_error, to_python};
use crate::logging;
use crate::moment::Moment;
use crate::opened::Opened;

/// Reads the arguments of `undo`.
///
/// # Errors
/// A `ConfigError` if they contradict each other, if none is given, or if a time has no time zone.
pub(crate) fn undo(
    py: Python<'_>,
    change: Option<String>,
    since: Option<Moment<'_>>,
    actor: Option<String>,
) -> PyResult<Undo> {
    let since = since.map(|since| since.time("since")).transpose()?;
    Undo::of(change, since, actor).map_err(|problem| to_python(py, &problem.into()))
}

/// Runs a method with the interpreter released.
pub(crate) fn done<T: Send>(
    py: Python<'_>,
    work: impl FnOnce(&Core) -> Result<T, HistoryError> + Send,
    opened: &Opened,
) -> PyResult<T> {
    let core = opened.get()?;
    logging::refresh();
    interruptible(py, |cancellation| work(&core.cancelled_by(cancellation)))?
        .map_err(|error| history_error(py, &error))
}

//! `Memory.sync`.

use std::ops::ControlFlow;

use memdir::options::Given;
use memdir::{Memory as Core, SyncError, SyncOptions, Synced};
use pyo3::inspect::PyStaticExpr;
use pyo3::prelude::*;
use pyo3::{type_hint_identifier, type_hint_subscript};

use crate::cancel::{interruptible_by, of_call};
use crate::errors::{store_error, sync_error};
use crate::guarded::call;
use crate::hints::{self, Hint, hint};
use crate::interruption::pass_on;
use crate::logging;
use crate::options::{OrDefault, read, wrong_argument};
use crate::pool::UnderWay;
use crate::results;
use crate::shutdown::attached;

hint!(
    /// A callback for the progress of a sync.
    OnProgress = type_hint_subscript!(
        type_hint_identifier!("collections.abc", "Callable"),
        PyStaticExpr::List { elts: &[<memdir::sync::SyncProgress<'_> as Hint>::HINT] },
        hints::OBJECT
    )
);

/// Reads the names of both memories. `None` selects the default names.
pub(crate) fn names(given: OrDefault<'_, hints::TwoNames>) -> PyResult<[Option<String>; 2]> {
    let given = match given {
        OrDefault::Value(given, _) if !given.is_none() => given,
        _ => return Ok([None, None]),
    };
    let names: Result<[String; 2], _> = read("names", &given, Given::texts)?.try_into();
    names
        .map(|names| names.map(Some))
        .map_err(|_| wrong_argument("names", "two names, or None", &given))
}

/// Makes `memory` and the one that `open` returns equal, with the interpreter released. An exception of the callback stops it.
pub(crate) fn sync(
    py: Python<'_>,
    memory: &Core,
    open: impl FnOnce() -> PyResult<(Core, Option<UnderWay>)>,
    options: &SyncOptions,
    on_progress: Option<&Py<PyAny>>,
) -> PyResult<Synced> {
    // Opening the other memory may run code of the application, whose commands are not this call.
    let cancellation = of_call();
    let (other, _under_way) = open()?;
    logging::refresh();
    let mut raised = None;
    let mut progress = |progress: memdir::sync::SyncProgress<'_>| {
        let Some(function) = on_progress else { return ControlFlow::Continue(()) };
        let told = attached(|py| {
            let progress = results::to_python(py, &progress)?;
            call(function.bind(py), (progress,), None).map(drop)
        });
        match told {
            Some(Ok(())) => ControlFlow::Continue(()),
            Some(Err(error)) => {
                raised = Some(error);
                ControlFlow::Break(())
            }
            None => ControlFlow::Break(()),
        }
    };
    let synced = interruptible_by(py, cancellation, |cancellation| {
        memdir::sync(&memory.cancelled_by(cancellation), &other, options, &mut progress)
    })?;
    pass_on()?;
    match (synced, raised) {
        (_, Some(error)) => Err(error),
        (Ok(synced), None) => Ok(synced),
        (Err(SyncError::Store { error, .. }), None) => Err(store_error(py, &error)),
        (Err(error), None) => Err(sync_error(py, &error)),
    }
}

//! `Memory.sync`.

use std::ops::ControlFlow;

use memdir::options::Given;
use memdir::sync::{MergeError, SyncMerge};
use memdir::{Error, Memory as Core, SyncError, SyncOptions, Synced};
use pyo3::exceptions::PyTypeError;
use pyo3::inspect::PyStaticExpr;
use pyo3::prelude::*;
use pyo3::types::PyString;
use pyo3::{type_hint_identifier, type_hint_subscript, type_hint_union};

use crate::cancel::{interruptible_by, of_call};
use crate::errors::{store_error, sync_error, to_python};
use crate::guarded::call;
use crate::hints::{self, Hint, hint};
use crate::hooks::unawaited;
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

hint!(
    /// The way in which conflicts end: a word, or a function that merges.
    OnConflict = type_hint_union!(
        hints::OnConflict::HINT,
        type_hint_subscript!(
            type_hint_identifier!("collections.abc", "Callable"),
            PyStaticExpr::List { elts: &[<SyncMerge as Hint>::HINT] },
            type_hint_union!(hints::STR, hints::NONE)
        )
    )
);

/// Reads the way in which conflicts end.
pub(crate) fn on_conflict(given: OrDefault<'_, OnConflict>) -> PyResult<memdir::OnConflict> {
    match given {
        OrDefault::Value(given, _) if given.is_callable() => {
            let function = given.unbind();
            Ok(memdir::OnConflict::merge(move |file| merge(&function, file)))
        }
        OrDefault::Value(given, _) if !given.is_instance_of::<PyString>() => {
            Err(wrong_argument("on_conflict", "\"keep-both\", \"a\", \"b\" or a function", &given))
        }
        given => given.or("on_conflict", memdir::OnConflict::default(), Given::word),
    }
}

/// The text that the function makes of both. Its exception is the error.
fn merge(function: &Py<PyAny>, file: &SyncMerge) -> Result<Option<String>, MergeError> {
    let merged = attached(|py| {
        let returned = call(function.bind(py), (results::to_python(py, file)?,), None)?;
        if let Some(error) = unawaited("on_conflict", &returned) {
            return Err(error);
        }
        match returned.cast::<PyString>() {
            Ok(text) => text.extract().map(Some),
            Err(_) if returned.is_none() => Ok(None),
            Err(_) => {
                let kind = returned.get_type().name()?;
                let problem = format!("`on_conflict` must return a str or None, got {kind}");
                Err(PyTypeError::new_err(problem))
            }
        }
    });
    Ok(merged.ok_or("the interpreter is shutting down")??)
}

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
        (Err(SyncError::Merge { path, error }), None) => Err(match error.downcast::<PyErr>() {
            Ok(raised) => *raised,
            Err(error) => sync_error(py, &SyncError::Merge { path, error }),
        }),
        (Err(SyncError::Hook { error, .. }), None) => Err(to_python(py, &Error::Hook(error))),
        (Err(SyncError::Store { error, .. }), None) => Err(store_error(py, &error)),
        (Err(error), None) => Err(sync_error(py, &error)),
    }
}

//! Converts errors: the core's become Python's exceptions, and the exceptions of a store written in
//! Python become the core's conditions.

use std::error::Error as _;

use memdir::history::{HistoryError, HistoryErrorKind};
use memdir::sync::SyncErrorKind;
use memdir::{
    ConfigError, CopyError, Error, ErrorKind, HookError, MemoryPath, Refused, StoreError, SyncError,
};
use pyo3::PyTypeInfo;
use pyo3::exceptions::{
    PyException, PyFileExistsError, PyFileNotFoundError, PyIsADirectoryError, PyNotADirectoryError,
    PyOSError, PyPermissionError,
};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;

use crate::guarded::call;
use crate::results;

/// The exceptions of `memdir`, which are declared in Python.
mod class {
    use super::{Py, PyOnceLock, PyType};

    pub(super) static COMMAND: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    pub(super) static STORE: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    pub(super) static HOOK: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    pub(super) static COPY: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    pub(super) static SYNC: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    pub(super) static HISTORY: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    pub(super) static CONFIG: PyOnceLock<Py<PyType>> = PyOnceLock::new();
}

fn raised(py: Python<'_>, class: &PyOnceLock<Py<PyType>>, name: &str, text: &str) -> PyErr {
    match class.import(py, "memdir._errors", name).and_then(|class| call(class, (text,), None)) {
        Ok(exception) => PyErr::from_value(exception),
        Err(error) => error,
    }
}

/// A refused command.
pub(crate) fn refused_error(py: Python<'_>, refused: &Refused) -> PyErr {
    let raised = raised(py, &class::COMMAND, "RefusedError", refused.sentence());
    of_kind(py, raised, refused.kind())
}

/// The exception with its `kind`.
fn of_kind(py: Python<'_>, exception: PyErr, kind: ErrorKind) -> PyErr {
    match exception.value(py).setattr("kind", kind.as_str()) {
        Ok(()) => exception,
        Err(error) => error,
    }
}

/// A refused copy.
pub(crate) fn copy_error(py: Python<'_>, error: &CopyError) -> PyErr {
    let paths: Vec<&str> = error.paths().map(MemoryPath::as_str).collect();
    let exception = raised(py, &class::COPY, "CopyError", &error.to_string());
    match exception.value(py).setattr("paths", paths) {
        Ok(()) => exception,
        Err(error) => error,
    }
}

/// A sync that did not run to its end, although no store failed.
pub(crate) fn sync_error(py: Python<'_>, error: &SyncError) -> PyErr {
    let exception = raised(py, &class::SYNC, "SyncError", &error.to_string());
    match exception.value(py).setattr("kind", error.kind().map(SyncErrorKind::as_str)) {
        Ok(()) => exception,
        Err(error) => error,
    }
}

/// A wrong address or option.
fn config_error(py: Python<'_>, error: &ConfigError) -> PyErr {
    let exception = raised(py, &class::CONFIG, "ConfigError", &error.to_string());
    match exception.value(py).setattr("option", error.option()) {
        Ok(()) => exception,
        Err(error) => error,
    }
}

/// An exception of a store or a hook written in Python that is not an error, such as a
/// `KeyboardInterrupt` or a cancellation. It is not an answer to the command, so it is raised
/// unchanged.
pub(crate) fn interruption(py: Python<'_>, error: &Error) -> Option<PyErr> {
    let cause = match error {
        Error::Store(error) => python_cause(error),
        Error::Hook(error) => error.downcast_ref(),
        _ => None,
    };
    cause
        .filter(|cause: &&PyErr| !cause.is_instance_of::<PyException>(py))
        .map(|cause| cause.clone_ref(py))
}

/// A broken store. If a store written in Python broke, its own exception is the `__cause__`.
pub(crate) fn store_error(py: Python<'_>, error: &StoreError) -> PyErr {
    let cause = python_cause(error).map(|cause| cause.clone_ref(py));
    if let Some(cause) = cause.as_ref().filter(|cause| !cause.is_instance_of::<PyException>(py)) {
        return cause.clone_ref(py);
    }
    let raised = raised(py, &class::STORE, "StoreError", &error.to_string());
    raised.set_cause(py, cause);
    of_kind(py, raised, error.kind())
}

/// The history cannot answer a query or undo a change. If a store written in Python broke in the
/// middle, its own exception is the `__cause__`.
pub(crate) fn history_error(py: Python<'_>, error: &HistoryError) -> PyErr {
    let cause = match error {
        HistoryError::Store(error) => return store_error(py, error),
        HistoryError::Partly { source, .. } => python_cause(source),
        _ => None,
    };
    let cause = cause.map(|cause| cause.clone_ref(py));
    if let Some(cause) = cause.as_ref().filter(|cause| !cause.is_instance_of::<PyException>(py)) {
        return cause.clone_ref(py);
    }
    let exception = raised(py, &class::HISTORY, "HistoryError", &error.to_string());
    exception.set_cause(py, cause);
    let paths: Vec<&str> = error.paths().into_iter().map(MemoryPath::as_str).collect();
    let value = exception.value(py);
    let set = || {
        value.setattr("kind", error.kind().map(HistoryErrorKind::as_str))?;
        value.setattr("paths", paths)?;
        value.setattr("conflicts", results::to_python(py, error.conflicts())?)
    };
    match set() {
        Ok(()) => exception,
        Err(error) => error,
    }
}

/// A hook that failed. The exception of the hook is the `__cause__`.
fn hook_error(py: Python<'_>, error: &Error, source: &HookError) -> PyErr {
    let raised = raised(py, &class::HOOK, "HookError", &error.to_string());
    raised.set_cause(py, source.downcast_ref().map(|cause: &PyErr| cause.clone_ref(py)));
    raised
}

fn python_cause(error: &StoreError) -> Option<&PyErr> {
    error.source().and_then(|source| source.downcast_ref())
}

/// Any error of the core.
pub(crate) fn to_python(py: Python<'_>, error: &Error) -> PyErr {
    match error {
        Error::Refused(refused) => refused_error(py, refused),
        Error::Store(error) => store_error(py, error),
        Error::Hook(source) => {
            interruption(py, error).unwrap_or_else(|| hook_error(py, error, source))
        }
        Error::Config(error) => config_error(py, error),
    }
}

/// The exception of a store's method. A condition becomes the exception that Python's own file
/// functions raise for it, with the path as `filename`. A failure of a store written in Python
/// becomes that store's own exception.
pub(crate) fn raise_condition(py: Python<'_>, error: &StoreError, path: &str) -> PyErr {
    let condition = match error {
        StoreError::Source(condition) => condition,
        condition => condition,
    };
    let Some(errno) = condition.errno_name() else {
        return match python_cause(condition) {
            Some(cause) => cause.clone_ref(py),
            None => store_error(py, condition),
        };
    };
    match py.import("errno").and_then(|numbers| numbers.getattr(errno)?.extract::<i32>()) {
        // `OSError` itself selects the subclass for the number.
        Ok(errno) => {
            let error = PyOSError::new_err((errno, condition.to_string(), path.to_owned()));
            match error.value(py).setattr(RAISED_BY_MEMDIR, true) {
                Ok(()) => error,
                Err(error) => error,
            }
        }
        Err(error) => error,
    }
}

/// The attribute of an exception that a store of memdir raised. A store written in Python may pass it on.
const RAISED_BY_MEMDIR: &str = "_raised_by_memdir";

/// The numbers that mean a condition only if a store of memdir raised them. From anywhere else, such as a socket or a file of
/// the store, they say nothing about the memory: `EAGAIN` would read as "nothing was changed".
const ONLY_OF_MEMDIR: [&str; 5] = ["EAGAIN", "EBUSY", "ECANCELED", "ELOOP", "ENXIO"];

/// Converts an exception of a store written in Python. It becomes a condition of the tree if
/// Python's own file functions raise it for one. Otherwise the store failed in `operation`.
pub(crate) fn condition_from_python(py: Python<'_>, operation: String, error: PyErr) -> StoreError {
    let is = |class: Bound<'_, PyType>| error.is_instance(py, &class);
    if is(PyFileNotFoundError::type_object(py)) {
        StoreError::NotFound
    } else if is(PyFileExistsError::type_object(py)) {
        StoreError::AlreadyExists
    } else if is(PyIsADirectoryError::type_object(py)) {
        StoreError::IsADirectory
    } else if is(PyNotADirectoryError::type_object(py)) {
        StoreError::NotADirectory
    } else if is(PyPermissionError::type_object(py)) {
        StoreError::PermissionDenied
    } else {
        // `EINVAL` is a condition only for a rename, but every other call can raise it as well.
        let name = errno_name(py, &error).filter(|name| {
            let is_known = || error.value(py).hasattr(RAISED_BY_MEMDIR).unwrap_or(false);
            name != "EINVAL" && (!ONLY_OF_MEMDIR.contains(&name.as_str()) || is_known())
        });
        let condition = name.and_then(|name| StoreError::from_errno_name(&name));
        condition.unwrap_or_else(|| StoreError::failed(operation, error))
    }
}

/// Same as [`condition_from_python`], for a rename. Its exception may concern either path:
/// `filename` says which, as in Python's own exceptions. `EINVAL` means that a directory was to be
/// moved below itself, as with `os.rename`.
pub(crate) fn rename_condition_from_python(
    py: Python<'_>,
    from: &MemoryPath,
    error: PyErr,
) -> StoreError {
    if errno_name(py, &error).as_deref() == Some("EINVAL") {
        return StoreError::IntoItself;
    }
    let about = error.value(py).getattr("filename").and_then(|name| name.extract::<String>());
    let about_source = about.is_ok_and(|about| about == from.as_str());
    match condition_from_python(py, format!("renaming {from}"), error) {
        // These never concern the source, even if both paths are the same.
        condition @ (StoreError::NotFound | StoreError::AlreadyExists) => condition,
        failure if failure.is_failure() => failure,
        condition if about_source => StoreError::Source(Box::new(condition)),
        condition => condition,
    }
}

/// The symbolic name of an `OSError`'s number.
fn errno_name(py: Python<'_>, error: &PyErr) -> Option<String> {
    if !error.is_instance_of::<PyOSError>(py) {
        return None;
    }
    let number = error.value(py).getattr("errno").ok()?;
    let names = py.import("errno").ok()?.getattr("errorcode").ok()?;
    names.get_item(number).ok()?.extract().ok()
}

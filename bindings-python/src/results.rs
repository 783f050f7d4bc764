//! [`Shown`]: a result or an event of the core as the dataclass of the same name in `memdir._results`.
//!
//! Nothing here knows individual fields: `memdir_bindings_shared::plain` takes any value apart, and the dataclasses are generated from the
//! same definitions (`core/generate-results`).

use std::time::{SystemTime, UNIX_EPOCH};

use memdir_bindings_shared::plain::Plain;
use pyo3::inspect::PyStaticExpr;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDateTime, PyDict, PyList, PyModule, PyTuple, PyTzInfo};
use pyo3::{IntoPyObjectExt, type_hint_identifier, type_hint_subscript};
use serde::Serialize;

use crate::guarded::call;
use crate::hints::Hint;
use crate::shutdown::counted;
use crate::time::shown;

/// A result, or a list of results, to be converted to Python.
pub(crate) struct Shown<T>(pub(crate) T);

impl<'py, T: Serialize + Hint> IntoPyObject<'py> for Shown<T> {
    type Target = PyAny;
    type Output = Bound<'py, PyAny>;
    type Error = PyErr;

    const OUTPUT_TYPE: PyStaticExpr = T::HINT;

    fn into_pyobject(self, py: Python<'py>) -> PyResult<Self::Output> {
        to_python(py, &self.0)
    }
}

/// The dataclasses that methods return and that callbacks get.
macro_rules! classes {
    ($($name:ident = $type:ty),* $(,)?) => {
        $(impl Hint for $type {
            const HINT: PyStaticExpr = type_hint_identifier!("memdir._results", stringify!($name));
        })*
    };
}

classes! {
    BlamedLine = memdir::history::BlamedLine,
    Change = memdir::Change,
    Checked = memdir_bindings_shared::check::Checked,
    Copied = memdir::copy::Copied,
    CopyProgress = memdir::copy::Progress<'_>,
    Entry = memdir::store::Entry,
    Erased = memdir::history::Erased,
    Event = memdir::Event,
    Expired = memdir::Expired,
    ExpiryProgress = memdir::policy::expiry::Progress,
    GrepMatch = memdir::GrepMatch,
    HistoryMatch = memdir::HistoryMatch,
    Namespace = memdir::store::Namespace,
    PastFile = memdir::history::PastFile,
    RedactedText = memdir::history::RedactedText,
    Restored = memdir::history::Restored,
    SearchResults = memdir::SearchResults,
    SensitiveMatch = memdir::SensitiveMatch,
    Stats = memdir::Stats,
    SyncMerge = memdir::sync::SyncMerge,
    SyncProgress = memdir::sync::SyncProgress<'_>,
    Synced = memdir::Synced,
    Version = memdir::history::Version,
}

impl<T: Hint> Hint for Vec<T> {
    const HINT: PyStaticExpr =
        type_hint_subscript!(type_hint_identifier!("builtins", "list"), T::HINT);
}

/// Makes the Python value. A list is a `list` if it is the whole result, and a `tuple` within a dataclass, which is
/// immutable and can be hashed.
///
/// # Errors
/// Memory has run out.
pub(crate) fn to_python<'py>(
    py: Python<'py>,
    value: &(impl Serialize + ?Sized),
) -> PyResult<Bound<'py, PyAny>> {
    // Python code constructs a dataclass.
    counted(|| match Plain::of(value) {
        Plain::List(items) => PyList::new(py, made(py, items)?)?.into_bound_py_any(py),
        other => make(py, other),
    })
}

fn make(py: Python<'_>, value: Plain) -> PyResult<Bound<'_, PyAny>> {
    match value {
        Plain::Nothing => Ok(py.None().into_bound(py)),
        Plain::Flag(flag) => flag.into_bound_py_any(py),
        Plain::Count(count) => count.into_bound_py_any(py),
        Plain::Text(text) => text.into_bound_py_any(py),
        Plain::Time(time) => nearest(py, time)?.into_bound_py_any(py),
        Plain::Seconds(number) | Plain::Number(number) => number.into_bound_py_any(py),
        Plain::List(items) => PyTuple::new(py, made(py, items)?)?.into_bound_py_any(py),
        Plain::Record(name, fields) => {
            let values = made(py, fields.into_iter().map(|(_, value)| value))?;
            call(&class(py, name)?, PyTuple::new(py, values)?, None)
        }
    }
}

fn made<'py>(
    py: Python<'py>,
    values: impl IntoIterator<Item = Plain>,
) -> PyResult<Vec<Bound<'py, PyAny>>> {
    values.into_iter().map(|value| make(py, value)).collect()
}

fn class<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
    static CLASSES: PyOnceLock<Py<PyDict>> = PyOnceLock::new();
    let classes = CLASSES.get_or_try_init(py, || {
        PyModule::import(py, "memdir._results").map(|module| module.dict().unbind())
    })?;
    classes.bind(py).as_any().get_item(name)
}

/// A time as a `datetime`. A clock may be wrong: a year outside the range of `datetime` becomes the nearest valid one.
fn nearest(py: Python<'_>, time: SystemTime) -> PyResult<Bound<'_, PyDateTime>> {
    if let Some(time) = shown(py, time) {
        return Ok(time);
    }
    let utc = PyTzInfo::utc(py)?;
    if time < UNIX_EPOCH {
        PyDateTime::new(py, 1, 1, 1, 0, 0, 0, 0, Some(&*utc))
    } else {
        PyDateTime::new(py, 9999, 12, 31, 23, 59, 59, 999_999, Some(&*utc))
    }
}

//! [`Time`]: when a file was last written, as Python's `datetime`.
//!
//! pyo3's own conversion is not used, because it rejects times before 1970.

use std::time::SystemTime;

use memdir::store::micros;
use pyo3::Borrowed;
use pyo3::exceptions::PyOverflowError;
use pyo3::inspect::PyStaticExpr;
use pyo3::prelude::*;
use pyo3::type_object::PyTypeInfo;
use pyo3::types::{PyDateTime, PyDelta, PyDeltaAccess, PyTzInfo};

const SECOND: i64 = 1_000_000;
const DAY: i64 = 24 * 60 * 60 * SECOND;

/// A `datetime` with a time zone, exact to the microsecond.
#[derive(Clone, Copy)]
pub(crate) struct Time(pub(crate) SystemTime);

fn epoch(py: Python<'_>) -> PyResult<Bound<'_, PyDateTime>> {
    PyDateTime::new(py, 1970, 1, 1, 0, 0, 0, 0, Some(&*PyTzInfo::utc(py)?))
}

/// `None` for times that a `datetime` cannot represent: the years before 1 and after 9999.
pub(crate) fn shown(py: Python<'_>, time: SystemTime) -> Option<Bound<'_, PyDateTime>> {
    Time(time).into_pyobject(py).ok()
}

impl FromPyObject<'_, '_> for Time {
    type Error = PyErr;

    const INPUT_TYPE: PyStaticExpr = PyDateTime::TYPE_HINT;

    /// A `datetime` without a time zone is a `TypeError`, as in Python's own arithmetic.
    fn extract(given: Borrowed<'_, '_, PyAny>) -> PyResult<Self> {
        let since = given.cast::<PyDateTime>()?.sub(epoch(given.py())?)?;
        let since = since.cast::<PyDelta>()?;
        let micros = i64::from(since.get_days()) * DAY
            + i64::from(since.get_seconds()) * SECOND
            + i64::from(since.get_microseconds());
        let time = micros::time(micros);
        time.map(Time).ok_or_else(|| PyOverflowError::new_err("no clock shows this time"))
    }
}

impl<'py> IntoPyObject<'py> for Time {
    type Target = PyDateTime;
    type Output = Bound<'py, PyDateTime>;
    type Error = PyErr;

    const OUTPUT_TYPE: PyStaticExpr = PyDateTime::TYPE_HINT;

    fn into_pyobject(self, py: Python<'py>) -> PyResult<Self::Output> {
        let micros = micros::of(self.0);
        let (days, rest) = (micros.div_euclid(DAY), micros.rem_euclid(DAY));
        let (seconds, micros) = (rest / SECOND, rest % SECOND);
        let since =
            PyDelta::new(py, days.try_into()?, seconds.try_into()?, micros.try_into()?, false)?;
        Ok(epoch(py)?.add(since)?.cast_into()?)
    }
}

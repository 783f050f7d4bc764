//! [`Moment`]: the `datetime` of an argument. It is separate from [`Time`], because its error is memdir's own and names the argument.

use std::time::SystemTime;

use memdir::ConfigError;
use pyo3::Borrowed;
use pyo3::inspect::PyStaticExpr;
use pyo3::prelude::*;
use pyo3::type_object::PyTypeInfo;
use pyo3::types::PyDateTime;

use crate::errors::to_python;
use crate::fields::python_value;
use crate::time::Time;

/// The `datetime` of an argument, which must have a time zone.
pub(crate) struct Moment<'py>(Bound<'py, PyAny>);

impl<'py> FromPyObject<'_, 'py> for Moment<'py> {
    type Error = PyErr;

    const INPUT_TYPE: PyStaticExpr = PyDateTime::TYPE_HINT;

    fn extract(given: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        Ok(Self(given.to_owned()))
    }
}

impl Moment<'_> {
    /// # Errors
    /// A `ConfigError` that names the argument, if it is not a `datetime` or has no time zone.
    pub(crate) fn time(self, name: &str) -> PyResult<SystemTime> {
        let wrong = ConfigError::of_option(name).and(" must be a datetime with a time zone");
        let Ok(time) = self.0.cast::<PyDateTime>() else {
            return Err(to_python(self.0.py(), &wrong.got(python_value(&self.0)).into()));
        };
        if time.call_method0("utcoffset")?.is_none() {
            return Err(to_python(self.0.py(), &wrong.got(time.repr()?).into()));
        }
        self.0.extract().map(|Time(time)| time)
    }
}

//! The options of a memory from Python's keyword arguments, and other arguments that are read like them.
//!
//! A wrong value is a `ConfigError` that names the option. A name that is not an option is a `TypeError`, as for any
//! function.

use std::borrow::Cow;
use std::marker::PhantomData;
use std::time::Duration;

use memdir::options::{Given, OptionValue, Words};
use memdir::value::Value;
use memdir::{ConfigError, EncryptionKey, Error, MemoryOptions, NameCase};
use pyo3::Borrowed;
use pyo3::exceptions::PyTypeError;
use pyo3::inspect::PyStaticExpr;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBool, PyBytes, PyDelta, PyDict, PyInt, PyMapping, PySequence, PyString};

use crate::errors::to_python;
use crate::fields::{owned_value, python_value, text_value};
use crate::hints::{self, Hint, Hinted, STR};

/// An argument that may be omitted, for a function that does not take the options.
pub(crate) enum OrDefault<'py, H> {
    /// The argument is omitted.
    Default,
    /// The given value. In a stub its type is `H`.
    Value(Bound<'py, PyAny>, PhantomData<H>),
}

impl<'py, H: Hint> FromPyObject<'_, 'py> for OrDefault<'py, H> {
    type Error = PyErr;

    const INPUT_TYPE: PyStaticExpr = H::HINT;

    fn extract(given: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        Ok(Self::Value(given.to_owned(), PhantomData))
    }
}

impl<'py, H> OrDefault<'py, H> {
    /// The given value of the argument `name`, or else the default.
    pub(crate) fn or<'a, T>(
        self,
        name: &'a str,
        default: T,
        reads: impl FnOnce(&Given<'a, Any<'py>>) -> Result<T, Error>,
    ) -> PyResult<T> {
        match self {
            Self::Default => Ok(default),
            Self::Value(given, _) => read(name, &given, reads),
        }
    }
}

/// An argument that is a text.
pub(crate) enum Text<'py> {
    Given(Bound<'py, PyAny>),
    Default(&'static str),
}

impl<'py> FromPyObject<'_, 'py> for Text<'py> {
    type Error = PyErr;

    const INPUT_TYPE: PyStaticExpr = STR;

    fn extract(given: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        Ok(Self::Given(given.to_owned()))
    }
}

impl<'py> Text<'py> {
    /// The argument as a field of a command. The command itself reports what is wrong with it.
    pub(crate) fn field(&self) -> Value<'_> {
        match self {
            Self::Default(text) => Value::Text(Cow::Borrowed(text)),
            Self::Given(given) => match given.cast::<PyString>() {
                Ok(text) => text_value(text),
                Err(_) => owned_value(given),
            },
        }
    }

    /// The text, which is borrowed from the `str`.
    ///
    /// # Errors
    /// A `ConfigError` that names the argument.
    pub(crate) fn read(&self, name: &str) -> PyResult<&str> {
        self.read_or(|given| read(name, given, Given::text))
    }

    /// The text of an argument that may be `None`.
    ///
    /// # Errors
    /// A `ConfigError` that names the argument.
    pub(crate) fn optional<'a>(text: &'a Option<Self>, name: &str) -> PyResult<Option<&'a str>> {
        let Some(text) = text else { return Ok(None) };
        text.read_or(|given| read(name, given, Given::optional_text)).map(Some)
    }

    /// Calls `reads` for a value that is not a text. It fails with the error.
    fn read_or<T>(&self, reads: impl FnOnce(&Bound<'py, PyAny>) -> PyResult<T>) -> PyResult<&str> {
        let given = match self {
            Self::Default(text) => return Ok(text),
            Self::Given(given) => given,
        };
        match given.cast::<PyString>().ok().and_then(|text| text.to_str().ok()) {
            Some(text) => Ok(text),
            None => Err(reads(given).err().unwrap_or_else(|| PyTypeError::new_err("no str"))),
        }
    }
}

/// The keyword arguments of an entry point.
pub(crate) struct Keywords<'py> {
    pub(crate) options: MemoryOptions,
    pub(crate) before: Option<Bound<'py, PyAny>>,
    pub(crate) after: Option<Bound<'py, PyAny>>,
    pub(crate) embedder: Option<Bound<'py, PyAny>>,
}

impl<'py> Keywords<'py> {
    /// The keyword arguments of `Memory`.
    pub(crate) fn of_memory(py: Python<'py>, given: Option<&Bound<'py, PyDict>>) -> PyResult<Self> {
        Self::read(py, given, "Memory", &["store"], &of_memory())
    }

    /// The keyword arguments of `open_store`.
    pub(crate) fn of_store(py: Python<'py>, given: Option<&Bound<'py, PyDict>>) -> PyResult<Self> {
        Self::read(py, given, "open_store", &["store"], MemoryOptions::NAMES_OF_STORE)
    }

    fn read(
        py: Python<'py>,
        given: Option<&Bound<'py, PyDict>>,
        function: &str,
        others: &[&str],
        names: &[&str],
    ) -> PyResult<Self> {
        let mut options = MemoryOptions::default();
        // The SDK has a block for images.
        options.max_image_bytes = Some(MemoryOptions::CLAUDE_IMAGE_BYTES);
        let mut keywords = Self { options, before: None, after: None, embedder: None };
        for (name, value) in given.into_iter().flatten() {
            let name = name.extract::<String>()?;
            match name.as_str() {
                unknown if !names.contains(&unknown) => {
                    return Err(unexpected(py, function, unknown, &[others, names].concat())?);
                }
                "before" => keywords.before = Some(value).filter(|hook| !hook.is_none()),
                "after" => keywords.after = Some(value).filter(|hook| !hook.is_none()),
                "embedder" => keywords.embedder = Some(value).filter(|hook| !hook.is_none()),
                name => {
                    keywords
                        .options
                        .set(name, Any(value))
                        .map_err(|error| to_python(py, &error))?;
                }
            }
        }
        Ok(keywords)
    }
}

/// The names of the keyword arguments of `Memory`.
fn of_memory() -> Vec<&'static str> {
    MemoryOptions::NAMES.iter().chain(&["before", "after", "embedder"]).copied().collect()
}

/// Fails for a name in `options` that is not an option of `Memory`, in the name of `function`, which has the parameters
/// `others` as well.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "pyo3 hands over what it has made")]
pub(crate) fn check_names(
    function: &str,
    others: Vec<String>,
    options: Hinted<'_, hints::FieldMapping>,
) -> PyResult<()> {
    let (options, names) = (options.into_inner(), of_memory());
    for name in options.try_iter()? {
        let name = name?.extract::<String>()?;
        if !names.contains(&name.as_str()) {
            let others: Vec<_> = others.iter().map(String::as_str).collect();
            return Err(unexpected(options.py(), function, &name, &[others, names].concat())?);
        }
    }
    Ok(())
}

/// The exception that Python itself raises for an unknown argument, with the name that was probably meant.
fn unexpected(py: Python<'_>, function: &str, name: &str, names: &[&str]) -> PyResult<PyErr> {
    let near =
        py.import("difflib")?.call_method1("get_close_matches", (name, names.to_vec(), 1))?;
    let hint = match near.extract::<Vec<String>>()?.first() {
        Some(near) => format!(". Did you mean '{near}'?"),
        None => String::new(),
    };
    let problem = format!("{function}() got an unexpected keyword argument '{name}'{hint}");
    Ok(PyTypeError::new_err(problem))
}

/// Reads the argument `name`, as `Given::duration` reads an option of that type.
pub(crate) fn read<'a, 'py, T>(
    name: &'a str,
    given: &Bound<'py, PyAny>,
    reads: impl FnOnce(&Given<'a, Any<'py>>) -> Result<T, Error>,
) -> PyResult<T> {
    reads(&Given::new(name, Any(given.clone()))).map_err(|error| to_python(given.py(), &error))
}

/// The error for an argument of another type.
pub(crate) fn wrong_argument(name: &str, expected: &str, given: &Bound<'_, PyAny>) -> PyErr {
    wrong_part(name, "", expected, given)
}

/// The error for a part of an argument, such as an item of a dict.
pub(crate) fn wrong_part(
    name: &str,
    part: &str,
    expected: &str,
    given: &Bound<'_, PyAny>,
) -> PyErr {
    let error = ConfigError::of_option(name).and(format!("{part} must be {expected}"));
    to_python(given.py(), &error.got(python_value(given)).into())
}

/// The content of a file in the argument `name`.
pub(crate) fn bytes(name: &str, given: &Bound<'_, PyAny>) -> PyResult<PyBackedBytes> {
    given.extract().map_err(|_| wrong_argument(name, "bytes", given))
}

/// The function in the argument `name`, checked before anything is done.
pub(crate) fn callback(name: &str, given: Option<Bound<'_, PyAny>>) -> PyResult<Option<Py<PyAny>>> {
    match given {
        Some(given) if !given.is_callable() => {
            Err(wrong_argument(name, "a function, or None", &given))
        }
        given => Ok(given.map(Bound::unbind)),
    }
}

/// Any value, read by the core's rules for options.
pub(crate) struct Any<'py>(Bound<'py, PyAny>);

impl OptionValue for Any<'_> {
    const WORDS: &'static Words = &Words {
        case: NameCase::Snake,
        none: "None",
        flag: "True or False",
        duration: "0 seconds or more, or a timedelta",
        text: "a str",
        texts: "a sequence of str",
        texts_by_name: "a dict of str",
        key: "bytes or a str of valid Unicode",
    };

    fn shown(&self) -> Value<'_> {
        python_value(&self.0)
    }

    fn is_none(&self) -> bool {
        self.0.is_none()
    }

    fn flag(&self) -> Option<bool> {
        self.0.cast::<PyBool>().ok().map(PyBoolMethods::is_true)
    }

    fn whole_number(&self) -> Option<u64> {
        // To Python a boolean is an integer, but it is not valid as a number here.
        if self.0.is_instance_of::<PyBool>() {
            return None;
        }
        // Python's integers have no largest one. Beyond 64 bits they all mean the same.
        let is_huge = || {
            let integer = self.0.cast::<PyInt>().ok()?;
            integer.gt(u64::MAX).ok()?.then_some(u64::MAX)
        };
        self.0.extract().ok().or_else(is_huge)
    }

    fn duration(&self) -> Option<Duration> {
        let seconds: f64 = match self.0.cast::<PyDelta>() {
            Ok(delta) => delta.call_method0("total_seconds").ok()?.extract().ok()?,
            Err(_) if self.0.is_instance_of::<PyBool>() => return None,
            Err(_) => self.0.extract().ok()?,
        };
        Duration::try_from_secs_f64(seconds).ok()
    }

    fn text(&self) -> Option<String> {
        self.0.extract().ok()
    }

    fn items(&self) -> Option<Vec<Self>> {
        // A str is a sequence of str, too.
        if self.0.is_instance_of::<PyString>() || self.0.is_instance_of::<PyBytes>() {
            return None;
        }
        let items = self.0.cast::<PySequence>().ok()?.to_tuple().ok()?;
        Some(items.iter().map(Any).collect())
    }

    fn entries(&self) -> Option<Vec<(String, Self)>> {
        let items = self.0.cast::<PyMapping>().ok()?.items().ok()?;
        items
            .iter()
            .map(|item| item.extract().ok().map(|(name, value)| (name, Any(value))))
            .collect()
    }

    fn key(&self) -> Option<Result<EncryptionKey, Error>> {
        if let Ok(bytes) = self.0.cast::<PyBytes>() {
            return Some(EncryptionKey::from_slice(bytes.as_bytes()));
        }
        let text = self.0.cast::<PyString>().ok()?;
        text.to_str().ok().map(str::parse)
    }
}

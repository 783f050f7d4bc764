//! The options of a memory, as Python's keyword arguments give them. The defaults are the core's.
//!
//! They come as a dict, as Python collects them, and one list says which there are. Whatever is wrong with a value
//! is a `ConfigError` that names the option; a name that no option has is a `TypeError`, as of any function.

use std::collections::BTreeMap;
use std::marker::PhantomData;
use std::str::FromStr;
use std::time::Duration;

use memdir::policy::sensitive::{SensitiveRule, SensitiveText, custom_rules};
use memdir::policy::{PathPattern, StaleGuard};
use memdir::{ConfigError, Durability, EncryptionKey, Error, MemoryOptions, OnExisting};
use pyo3::Borrowed;
use pyo3::exceptions::PyTypeError;
use pyo3::inspect::PyStaticExpr;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDelta, PyDict, PyString};

use crate::errors::to_python;
use crate::fields::owned_value;
use crate::hints::Hint;

/// An argument that may be left out, of a function that does not take the options.
pub(crate) enum Given<'py, H> {
    /// It is left out.
    Default,
    /// This is given; in a stub its type is `H`.
    Value(Bound<'py, PyAny>, PhantomData<H>),
}

impl<'py, H: Hint> FromPyObject<'_, 'py> for Given<'py, H> {
    type Error = PyErr;

    const INPUT_TYPE: PyStaticExpr = H::HINT;

    fn extract(given: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        Ok(Self::Value(given.to_owned(), PhantomData))
    }
}

impl<H> Given<'_, H> {
    /// What is given for the argument `name`, or else the default.
    pub(crate) fn or<K: Kind>(self, name: &str, default: K::Value) -> PyResult<K::Value> {
        match self {
            Self::Default => Ok(default),
            Self::Value(given, _) => read::<K>(name, &given),
        }
    }
}

/// The keyword arguments of an entry point.
pub(crate) struct Keywords<'py> {
    pub(crate) options: MemoryOptions,
    pub(crate) before: Option<Bound<'py, PyAny>>,
    pub(crate) after: Option<Bound<'py, PyAny>>,
}

/// Declares the options: the name of each, and the kind of its values.
macro_rules! options {
    ($($name:ident: $kind:ty,)*) => {
        /// The options of a memory.
        const OF_MEMORY: &[&str] = &[$(stringify!($name),)* "before", "after"];

        /// Puts a value in the place of the default.
        fn put(options: &mut MemoryOptions, name: &str, given: &Bound<'_, PyAny>) -> Result<(), Error> {
            $(if name == stringify!($name) {
                options.$name = <$kind>::read(name, given)?;
            })*
            Ok(())
        }
    };
}

options! {
    max_view_chars: Limit<usize>,
    max_file_bytes: Limit<u64>,
    max_total_bytes: Limit<u64>,
    max_files: Limit<u64>,
    max_image_bytes: Limit<u64>,
    on_existing: Word<OnExisting>,
    read_only: Flag,
    read_only_paths: Paths,
    writable_paths: Maybe<Paths>,
    stale_guard: Word<StaleGuard>,
    sensitive_text: Word<SensitiveText>,
    sensitive_rules: Rules,
    sensitive_on_view: Flag,
    expire_after: Maybe<Span>,
    record_access: Flag,
    never_expire: Paths,
    history: Flag,
    history_max_age: Maybe<Span>,
    history_max_versions: Limit<usize>,
    history_max_bytes: Limit<u64>,
    actor: Text,
    event_content: Flag,
    durability: Word<Durability>,
    lock_timeout: Maybe<Span>,
    namespace: Text,
    encryption_key: Maybe<Key>,
    encrypt_names: Flag,
}

/// Those of an open store.
const OF_STORE: &[&str] =
    &["read_only", "durability", "lock_timeout", "namespace", "encryption_key", "encrypt_names"];

impl<'py> Keywords<'py> {
    /// The keyword arguments of `Memory`.
    pub(crate) fn of_memory(py: Python<'py>, given: Option<&Bound<'py, PyDict>>) -> PyResult<Self> {
        Self::read(py, given, "Memory", OF_MEMORY)
    }

    /// The keyword arguments of `open_store`.
    pub(crate) fn of_store(py: Python<'py>, given: Option<&Bound<'py, PyDict>>) -> PyResult<Self> {
        Self::read(py, given, "open_store", OF_STORE)
    }

    fn read(
        py: Python<'py>,
        given: Option<&Bound<'py, PyDict>>,
        function: &str,
        names: &[&str],
    ) -> PyResult<Self> {
        let mut options = MemoryOptions::default();
        // The SDK has a block for them.
        options.max_image_bytes = Some(MemoryOptions::CLAUDE_IMAGE_BYTES);
        let mut keywords = Self { options, before: None, after: None };
        for (name, value) in given.into_iter().flatten() {
            let name = name.extract::<String>()?;
            match name.as_str() {
                unknown if !names.contains(&unknown) => {
                    return Err(unexpected(py, function, unknown, names)?);
                }
                "before" => keywords.before = Some(value).filter(|hook| !hook.is_none()),
                "after" => keywords.after = Some(value).filter(|hook| !hook.is_none()),
                name => put(&mut keywords.options, name, &value)
                    .map_err(|error| to_python(py, &error))?,
            }
        }
        Ok(keywords)
    }
}

/// The exception that Python itself raises for an unknown argument, with the name that is probably
/// meant.
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

/// Reads the option `name`.
pub(crate) fn read<K: Kind>(name: &str, given: &Bound<'_, PyAny>) -> PyResult<K::Value> {
    K::read(name, given).map_err(|error| {
        to_python(
            given.py(),
            &match error {
                Error::Config(error) => error.renamed(name).into(),
                other => other,
            },
        )
    })
}

/// What kind of values an option takes.
pub(crate) trait Kind {
    type Value;

    fn read(name: &str, given: &Bound<'_, PyAny>) -> Result<Self::Value, Error>;
}

/// The error for a value that the option does not take.
pub(crate) fn wrong(name: &str, expected: &str, given: &Bound<'_, PyAny>) -> Error {
    ConfigError::of_option(name).and(format!(" must be {expected}")).got(owned_value(given)).into()
}

/// A whole number from 0 on; `None` sets no limit.
pub(crate) struct Limit<N>(PhantomData<N>);

impl<N: for<'a, 'py> FromPyObject<'a, 'py>> Kind for Limit<N> {
    type Value = Option<N>;

    fn read(name: &str, given: &Bound<'_, PyAny>) -> Result<Option<N>, Error> {
        if given.is_none() {
            return Ok(None);
        }
        let number = whole(given).map(Some);
        number.ok_or_else(|| wrong(name, "a whole number from 0 on, or None", given))
    }
}

/// A whole number from 0 on.
pub(crate) struct Count<N>(PhantomData<N>);

impl<N: for<'a, 'py> FromPyObject<'a, 'py>> Kind for Count<N> {
    type Value = N;

    fn read(name: &str, given: &Bound<'_, PyAny>) -> Result<N, Error> {
        whole(given).ok_or_else(|| wrong(name, "a whole number from 0 on", given))
    }
}

/// A boolean is an integer to Python, and not what anybody means by a number.
fn whole<N: for<'a, 'py> FromPyObject<'a, 'py>>(given: &Bound<'_, PyAny>) -> Option<N> {
    (!given.is_instance_of::<PyBool>()).then(|| given.extract().ok()).flatten()
}

/// `True` or `False`.
pub(crate) struct Flag;

impl Kind for Flag {
    type Value = bool;

    fn read(name: &str, given: &Bound<'_, PyAny>) -> Result<bool, Error> {
        given.extract().map_err(|_| wrong(name, "True or False", given))
    }
}

/// A text, or `None`.
pub(crate) struct Text;

impl Kind for Text {
    type Value = Option<String>;

    fn read(name: &str, given: &Bound<'_, PyAny>) -> Result<Option<String>, Error> {
        given.extract().map_err(|_| wrong(name, "a str, or None", given))
    }
}

/// One of the words that the core knows.
pub(crate) struct Word<W>(PhantomData<W>);

impl<W: FromStr<Err = Error>> Kind for Word<W> {
    type Value = W;

    fn read(name: &str, given: &Bound<'_, PyAny>) -> Result<W, Error> {
        match given.extract::<String>() {
            Ok(word) => word.parse(),
            Err(_) => Err(wrong(name, "a str", given)),
        }
    }
}

/// Rules for sensitive text: patterns by their ids.
pub(crate) struct Rules;

impl Kind for Rules {
    type Value = Vec<SensitiveRule>;

    fn read(name: &str, given: &Bound<'_, PyAny>) -> Result<Vec<SensitiveRule>, Error> {
        match given.extract::<BTreeMap<String, String>>() {
            Ok(patterns) => custom_rules(patterns),
            Err(_) => Err(wrong(name, "a dict of str", given)),
        }
    }
}

/// Patterns of paths.
pub(crate) struct Paths;

impl Kind for Paths {
    type Value = Vec<PathPattern>;

    fn read(name: &str, given: &Bound<'_, PyAny>) -> Result<Vec<PathPattern>, Error> {
        match given.extract::<Vec<String>>() {
            Ok(patterns) => PathPattern::all(name, patterns),
            Err(_) => Err(wrong(name, "a sequence of str", given)),
        }
    }
}

/// A value of the kind `K`, or `None`.
pub(crate) struct Maybe<K>(PhantomData<K>);

impl<K: Kind> Kind for Maybe<K> {
    type Value = Option<K::Value>;

    fn read(name: &str, given: &Bound<'_, PyAny>) -> Result<Option<K::Value>, Error> {
        if given.is_none() { Ok(None) } else { K::read(name, given).map(Some) }
    }
}

/// A key: bytes, or a text that the core parses. No error shows it.
pub(crate) struct Key;

impl Kind for Key {
    type Value = EncryptionKey;

    fn read(name: &str, given: &Bound<'_, PyAny>) -> Result<EncryptionKey, Error> {
        if let Ok(bytes) = given.cast::<PyBytes>() {
            return EncryptionKey::from_slice(bytes.as_bytes());
        }
        match given.cast::<PyString>().ok().and_then(|text| text.to_str().ok()) {
            Some(text) => text.parse(),
            None => Err(ConfigError::of_option(name)
                .and(" must be bytes or a str of valid Unicode")
                .into()),
        }
    }
}

/// A number of seconds, or a `timedelta`.
pub(crate) struct Span;

impl Kind for Span {
    type Value = Duration;

    fn read(name: &str, given: &Bound<'_, PyAny>) -> Result<Duration, Error> {
        let expected = "0 seconds or more, or a timedelta";
        let seconds = match given.cast::<PyDelta>() {
            Ok(delta) => delta.call_method0("total_seconds").and_then(|seconds| seconds.extract()),
            Err(_) if given.is_instance_of::<PyBool>() => return Err(wrong(name, expected, given)),
            Err(_) => given.extract::<f64>(),
        };
        let span = seconds.ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        span.ok_or_else(|| wrong(name, expected, given))
    }
}

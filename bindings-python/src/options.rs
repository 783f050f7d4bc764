//! The options of a memory, as Python's keyword arguments give them. The defaults are the core's.

use std::collections::BTreeMap;
use std::str::FromStr;
use std::time::Duration;

use memdir::policy::sensitive::{Sensitive, SensitiveRule};
use memdir::policy::{PathPattern, StaleGuard};
use memdir::{Durability, EncryptionKey, Error, OnExisting, Options};
use pyo3::Borrowed;
use pyo3::exceptions::PyTypeError;
use pyo3::inspect::PyStaticExpr;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDelta, PyString};

use crate::errors::config_error;
use crate::hints::{self, Hint};

/// An option that is one of some words.
#[derive(Clone, Copy)]
pub(crate) struct Word<T>(pub(crate) T);

impl<T: FromStr<Err = Error> + Worded> FromPyObject<'_, '_> for Word<T> {
    type Error = PyErr;

    const INPUT_TYPE: PyStaticExpr = T::Hint::HINT;

    fn extract(word: Borrowed<'_, '_, PyAny>) -> PyResult<Self> {
        let parsed = word.extract::<String>()?.parse().map(Self);
        parsed.map_err(|error| config_error(word.py(), &error))
    }
}

/// Which words an option's values have, for the stubs.
pub(crate) trait Worded {
    type Hint: Hint;
}

impl Worded for OnExisting {
    type Hint = hints::OnExisting;
}

impl Worded for Durability {
    type Hint = hints::Durability;
}

impl Worded for Sensitive {
    type Hint = hints::Sensitive;
}

impl Worded for StaleGuard {
    type Hint = hints::StaleGuard;
}

/// Rules for sensitive text: patterns by their ids.
#[derive(Clone, Default)]
pub(crate) struct Rules(pub(crate) Vec<SensitiveRule>);

impl FromPyObject<'_, '_> for Rules {
    type Error = PyErr;

    const INPUT_TYPE: PyStaticExpr = hints::Patterns::HINT;

    fn extract(rules: Borrowed<'_, '_, PyAny>) -> PyResult<Self> {
        let made = SensitiveRule::all(rules.extract::<BTreeMap<String, String>>()?);
        made.map(Self).map_err(|error| config_error(rules.py(), &error))
    }
}

/// Patterns of paths; which option they are of is not known here.
#[derive(Clone, Default)]
pub(crate) struct Paths(pub(crate) Vec<String>);

impl FromPyObject<'_, '_> for Paths {
    type Error = PyErr;

    const INPUT_TYPE: PyStaticExpr = hints::Strings::HINT;

    fn extract(patterns: Borrowed<'_, '_, PyAny>) -> PyResult<Self> {
        patterns.extract().map(Self)
    }
}

/// A key: bytes, or a text of which the core says what it means.
pub(crate) struct Key(pub(crate) EncryptionKey);

impl FromPyObject<'_, '_> for Key {
    type Error = PyErr;

    const INPUT_TYPE: PyStaticExpr = hints::Key::HINT;

    fn extract(given: Borrowed<'_, '_, PyAny>) -> PyResult<Self> {
        let py = given.py();
        let key = if let Ok(bytes) = given.cast::<PyBytes>() {
            EncryptionKey::from_slice(bytes.as_bytes())
        } else if let Ok(text) = given.cast::<PyString>() {
            text.to_str()?.parse()
        } else {
            let kind = given.get_type().name()?;
            let problem = format!("encryption_key must be bytes or a str, not {kind}");
            return Err(PyTypeError::new_err(problem));
        };
        key.map(Self).map_err(|error| config_error(py, &error))
    }
}

/// A number of seconds, or a `timedelta`.
#[derive(Clone, Copy)]
pub(crate) struct Span(pub(crate) Duration);

impl FromPyObject<'_, '_> for Span {
    type Error = PyErr;

    const INPUT_TYPE: PyStaticExpr = hints::Span::HINT;

    fn extract(given: Borrowed<'_, '_, PyAny>) -> PyResult<Self> {
        let seconds: f64 = match given.cast::<PyDelta>() {
            Ok(delta) => delta.call_method0("total_seconds")?.extract()?,
            Err(_) => given.extract()?,
        };
        Duration::try_from_secs_f64(seconds).map(Self).map_err(|_| {
            let problem = format!("a time span must be 0 seconds or more, got {seconds}");
            config_error(given.py(), &Error::Config(problem))
        })
    }
}

/// Puts the arguments together.
#[allow(clippy::too_many_arguments, reason = "each is an argument in Python, too")]
pub(crate) fn options(
    py: Python<'_>,
    max_view_chars: Option<usize>,
    max_file_bytes: Option<u64>,
    max_image_bytes: Option<u64>,
    max_total_bytes: Option<u64>,
    max_files: Option<u64>,
    on_existing: Word<OnExisting>,
    durability: Word<Durability>,
    encryption_key: Option<Key>,
    encrypt_names: bool,
    read_only: bool,
    read_only_paths: Paths,
    writable_paths: Option<Paths>,
    stale_guard: Word<StaleGuard>,
    sensitive: Word<Sensitive>,
    sensitive_rules: Rules,
    sensitive_on_view: bool,
    expire_after: Option<Span>,
    record_access: bool,
    pins: Paths,
    after_content: bool,
) -> PyResult<Options> {
    let patterns = |name: &str, given: Paths| {
        PathPattern::all(name, given.0).map_err(|error| config_error(py, &error))
    };
    let mut options = Options::default();
    options.max_view_chars = max_view_chars;
    options.max_file_bytes = max_file_bytes;
    options.max_image_bytes = max_image_bytes;
    options.max_total_bytes = max_total_bytes;
    options.max_files = max_files;
    options.on_existing = on_existing.0;
    options.durability = durability.0;
    options.encryption_key = encryption_key.map(|key| key.0);
    options.encrypt_names = encrypt_names;
    options.read_only = read_only;
    options.read_only_paths = patterns("read_only_paths", read_only_paths)?;
    let writable = writable_paths.map(|given| patterns("writable_paths", given));
    options.writable_paths = writable.transpose()?;
    options.stale_guard = stale_guard.0;
    options.sensitive = sensitive.0;
    options.sensitive_rules = sensitive_rules.0;
    options.sensitive_on_view = sensitive_on_view;
    options.expire_after = expire_after.map(|span| span.0);
    options.record_access = record_access;
    options.pins = patterns("pins", pins)?;
    options.after_content = after_content;
    Ok(options)
}

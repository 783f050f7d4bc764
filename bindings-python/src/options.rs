//! The options of a memory, as Python's keyword arguments give them. The defaults are the core's.
//!
//! An argument is taken as it came, and looked at under its name: whatever is wrong with it is a
//! `ConfigError` that says which option it is.

use std::collections::BTreeMap;
use std::marker::PhantomData;
use std::str::FromStr;
use std::time::Duration;

use memdir::policy::sensitive::{Sensitive, SensitiveRule};
use memdir::policy::{PathPattern, StaleGuard};
use memdir::{Durability, EncryptionKey, Error, OnExisting, Options};
use pyo3::Borrowed;
use pyo3::inspect::PyStaticExpr;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDelta, PyString};

use crate::errors::config_error;
use crate::fields::owned_value;
use crate::hints::{self, Hint};

/// What was given for an option of the kind `K`.
pub(crate) enum Given<'py, K> {
    /// Nothing: the default counts.
    Default,
    /// This.
    Value(Bound<'py, PyAny>, PhantomData<K>),
}

impl<'py, K: Kind> FromPyObject<'_, 'py> for Given<'py, K> {
    type Error = PyErr;

    const INPUT_TYPE: PyStaticExpr = <K::Hint as Hint>::HINT;

    fn extract(given: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        Ok(Self::Value(given.to_owned(), PhantomData))
    }
}

impl<K: Kind> Given<'_, K> {
    /// Puts it in the place of the default.
    pub(crate) fn put(self, name: &str, place: &mut K::Value) -> PyResult<()> {
        if let Self::Value(given, _) = self {
            *place = read::<K>(name, &given)?;
        }
        Ok(())
    }
}

/// Reads the option `name`.
pub(crate) fn read<K: Kind>(name: &str, given: &Bound<'_, PyAny>) -> PyResult<K::Value> {
    K::read(name, given).map_err(|error| config_error(given.py(), &error))
}

/// What kind of values an option takes.
pub(crate) trait Kind {
    type Value;
    type Hint: Hint;

    fn read(name: &str, given: &Bound<'_, PyAny>) -> Result<Self::Value, Error>;
}

fn wrong(name: &str, expected: &str, given: &Bound<'_, PyAny>) -> Error {
    Error::Config(format!("{name} must be {expected}, got {}", owned_value(given)))
}

/// A whole number from 0 on; `None` sets no limit.
pub(crate) struct Limit<N>(PhantomData<N>);

impl<N: for<'a, 'py> FromPyObject<'a, 'py>> Kind for Limit<N> {
    type Value = Option<N>;
    type Hint = hints::Limit;

    fn read(name: &str, given: &Bound<'_, PyAny>) -> Result<Option<N>, Error> {
        if given.is_none() {
            return Ok(None);
        }
        // A boolean is an integer to Python, and not what anybody means here.
        let number = (!given.is_instance_of::<PyBool>()).then(|| given.extract().ok()).flatten();
        number.map(Some).ok_or_else(|| wrong(name, "a whole number from 0 on, or None", given))
    }
}

/// `True` or `False`.
pub(crate) struct Flag;

impl Kind for Flag {
    type Value = bool;
    type Hint = hints::Flag;

    fn read(name: &str, given: &Bound<'_, PyAny>) -> Result<bool, Error> {
        given.extract().map_err(|_| wrong(name, "True or False", given))
    }
}

/// A text, or `None`.
pub(crate) struct Text;

impl Kind for Text {
    type Value = Option<String>;
    type Hint = hints::Text;

    fn read(name: &str, given: &Bound<'_, PyAny>) -> Result<Option<String>, Error> {
        given.extract().map_err(|_| wrong(name, "a str, or None", given))
    }
}

/// One of some words, which the core knows.
pub(crate) struct Word<W>(PhantomData<W>);

impl<W: FromStr<Err = Error> + Worded> Kind for Word<W> {
    type Value = W;
    type Hint = W::Hint;

    fn read(name: &str, given: &Bound<'_, PyAny>) -> Result<W, Error> {
        match given.extract::<String>() {
            Ok(word) => word.parse(),
            Err(_) => Err(wrong(name, "a str", given)),
        }
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
pub(crate) struct Rules;

impl Kind for Rules {
    type Value = Vec<SensitiveRule>;
    type Hint = hints::Patterns;

    fn read(name: &str, given: &Bound<'_, PyAny>) -> Result<Vec<SensitiveRule>, Error> {
        match given.extract::<BTreeMap<String, String>>() {
            Ok(patterns) => SensitiveRule::all(patterns),
            Err(_) => Err(wrong(name, "a dict of str", given)),
        }
    }
}

/// Patterns of paths.
pub(crate) struct Paths;

impl Kind for Paths {
    type Value = Vec<PathPattern>;
    type Hint = hints::Strings;

    fn read(name: &str, given: &Bound<'_, PyAny>) -> Result<Vec<PathPattern>, Error> {
        match given.extract::<Vec<String>>() {
            Ok(patterns) => PathPattern::all(name, patterns),
            Err(_) => Err(wrong(name, "a sequence of str", given)),
        }
    }
}

/// What of the kind `K` may be left out, as `None`.
pub(crate) struct Maybe<K>(PhantomData<K>);

impl<K: Kind> Kind for Maybe<K> {
    type Value = Option<K::Value>;
    type Hint = hints::Maybe<K::Hint>;

    fn read(name: &str, given: &Bound<'_, PyAny>) -> Result<Option<K::Value>, Error> {
        if given.is_none() { Ok(None) } else { K::read(name, given).map(Some) }
    }
}

/// A key: bytes, or a text of which the core says what it means. No sentence shows it.
pub(crate) struct Key;

impl Kind for Key {
    type Value = EncryptionKey;
    type Hint = hints::Key;

    fn read(name: &str, given: &Bound<'_, PyAny>) -> Result<EncryptionKey, Error> {
        if let Ok(bytes) = given.cast::<PyBytes>() {
            return EncryptionKey::from_slice(bytes.as_bytes());
        }
        match given.cast::<PyString>().ok().and_then(|text| text.to_str().ok()) {
            Some(text) => text.parse(),
            None => Err(Error::Config(format!("{name} must be bytes or a str of valid Unicode"))),
        }
    }
}

/// A number of seconds, or a `timedelta`.
pub(crate) struct Span;

impl Kind for Span {
    type Value = Duration;
    type Hint = hints::Span;

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

/// Puts the arguments together.
#[allow(clippy::too_many_arguments, reason = "each is an argument in Python, too")]
pub(crate) fn options(
    max_view_chars: Given<'_, Limit<usize>>,
    max_file_bytes: Given<'_, Limit<u64>>,
    max_image_bytes: Given<'_, Limit<u64>>,
    max_total_bytes: Given<'_, Limit<u64>>,
    max_files: Given<'_, Limit<u64>>,
    on_existing: Given<'_, Word<OnExisting>>,
    durability: Given<'_, Word<Durability>>,
    lock_timeout: Given<'_, Maybe<Span>>,
    namespace: Given<'_, Text>,
    encryption_key: Given<'_, Maybe<Key>>,
    encrypt_names: Given<'_, Flag>,
    read_only: Given<'_, Flag>,
    read_only_paths: Given<'_, Paths>,
    writable_paths: Given<'_, Maybe<Paths>>,
    stale_guard: Given<'_, Word<StaleGuard>>,
    sensitive: Given<'_, Word<Sensitive>>,
    sensitive_rules: Given<'_, Rules>,
    sensitive_on_view: Given<'_, Flag>,
    expire_after: Given<'_, Maybe<Span>>,
    record_access: Given<'_, Flag>,
    pins: Given<'_, Paths>,
    after_content: Given<'_, Flag>,
) -> PyResult<Options> {
    let mut options = Options::default();
    // The SDK has a block for them.
    options.max_image_bytes = Some(Options::CLAUDE_IMAGE_BYTES);
    max_view_chars.put("max_view_chars", &mut options.max_view_chars)?;
    max_file_bytes.put("max_file_bytes", &mut options.max_file_bytes)?;
    max_image_bytes.put("max_image_bytes", &mut options.max_image_bytes)?;
    max_total_bytes.put("max_total_bytes", &mut options.max_total_bytes)?;
    max_files.put("max_files", &mut options.max_files)?;
    on_existing.put("on_existing", &mut options.on_existing)?;
    durability.put("durability", &mut options.durability)?;
    lock_timeout.put("lock_timeout", &mut options.lock_timeout)?;
    namespace.put("namespace", &mut options.namespace)?;
    encryption_key.put("encryption_key", &mut options.encryption_key)?;
    encrypt_names.put("encrypt_names", &mut options.encrypt_names)?;
    read_only.put("read_only", &mut options.read_only)?;
    read_only_paths.put("read_only_paths", &mut options.read_only_paths)?;
    writable_paths.put("writable_paths", &mut options.writable_paths)?;
    stale_guard.put("stale_guard", &mut options.stale_guard)?;
    sensitive.put("sensitive", &mut options.sensitive)?;
    sensitive_rules.put("sensitive_rules", &mut options.sensitive_rules)?;
    sensitive_on_view.put("sensitive_on_view", &mut options.sensitive_on_view)?;
    expire_after.put("expire_after", &mut options.expire_after)?;
    record_access.put("record_access", &mut options.record_access)?;
    pins.put("pins", &mut options.pins)?;
    after_content.put("after_content", &mut options.after_content)?;
    Ok(options)
}

//! The options of a memory, as Python's keyword arguments give them. The defaults are the core's.

use std::str::FromStr;

use memdir::{Durability, Error, OnExisting, Options};
use pyo3::Borrowed;
use pyo3::inspect::PyStaticExpr;
use pyo3::prelude::*;

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

/// Puts the arguments together.
pub(crate) fn options(
    max_view_chars: Option<usize>,
    max_file_bytes: Option<u64>,
    on_existing: Word<OnExisting>,
    durability: Word<Durability>,
    read_only: bool,
) -> Options {
    let mut options = Options::default();
    options.max_view_chars = max_view_chars;
    options.max_file_bytes = max_file_bytes;
    options.on_existing = on_existing.0;
    options.durability = durability.0;
    options.read_only = read_only;
    options
}

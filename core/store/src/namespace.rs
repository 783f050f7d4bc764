//! [`Namespace`]: one of several memories in a database or bucket.

use serde::Serialize;

/// One of several memories in a database or bucket, and how much it holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Namespace {
    /// Its name, as the option `namespace` takes it.
    pub name: String,
    /// The number of its files, hidden ones included.
    pub files: u64,
    /// The bytes of all files together.
    pub bytes: u64,
    /// The bytes of the records of its history.
    pub history_bytes: u64,
}

impl Namespace {
    /// A namespace that holds nothing.
    #[must_use]
    pub fn new(name: String) -> Self {
        Self { name, files: 0, bytes: 0, history_bytes: 0 }
    }
}

//! [`Namespace`]: one of the memories in a database or bucket.

use serde::Serialize;

/// One of the memories in a database or bucket, and its size.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Namespace {
    /// The name, as the option `namespace` takes it.
    pub name: String,
    /// The number of its files, hidden ones included.
    pub files: u64,
    /// The total size of all files, in bytes.
    pub bytes: u64,
    /// The total size of its history's records, in bytes.
    pub history_bytes: u64,
}

impl Namespace {
    /// An empty namespace.
    #[must_use]
    pub fn new(name: String) -> Self {
        Self { name, files: 0, bytes: 0, history_bytes: 0 }
    }
}

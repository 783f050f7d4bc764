//! The errors of an index.

use std::error::Error;
use std::fmt;

/// A text that does not fit in the index.
///
/// The index has no entry for the path afterwards, also if it had one before.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct IndexFull {
    /// The limit of the index, in bytes.
    pub max_bytes: usize,
}

impl fmt::Display for IndexFull {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "the index has reached its limit of {} bytes", self.max_bytes)
    }
}

impl Error for IndexFull {}

/// Bytes from which no index can be read. Build the index again from the texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum InvalidIndex {
    /// The bytes are not an index, or were changed.
    Damaged,
    /// Another version of this crate wrote the bytes.
    OtherVersion,
    /// The index was built for another language.
    OtherLanguage,
    /// The index is larger than the limit in the options.
    TooLarge,
}

impl fmt::Display for InvalidIndex {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Damaged => "the bytes are not a search index, or were changed",
            Self::OtherVersion => "the search index has the format of another version",
            Self::OtherLanguage => "the search index was built for another language",
            Self::TooLarge => "the search index is larger than its limit",
        })
    }
}

impl Error for InvalidIndex {}

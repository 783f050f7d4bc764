//! [`Repair`]: a correction that the decoder made, under a stable name.
//!
//! Repairs show which model departs from the tool's schema, and how.

use std::fmt;

use serde::Serialize;

use crate::value::Value;

/// A correction of malformed input that has only one possible meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub enum Repair {
    /// `insert` came with `new_str` and without `insert_text`.
    InsertTextFromNewStr,
    /// `rename` came with `path` and without `old_path`.
    OldPathFromPath,
    /// An integer came as text, such as `"2"`.
    IntegerFromText,
    /// An integer came as `2.0`. This does not occur in JavaScript, where `2.0` is `2`.
    IntegerFromFloat,
    /// `view_range` was null, which counts as absent.
    ViewRangeFromNull,
    /// `new_str` was null, which counts as the empty text.
    NewStrFromNull,
}

impl Repair {
    /// Returns its id, such as `insert_text_from_new_str`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::InsertTextFromNewStr => "insert_text_from_new_str",
            Self::OldPathFromPath => "old_path_from_path",
            Self::IntegerFromText => "integer_from_text",
            Self::IntegerFromFloat => "integer_from_float",
            Self::ViewRangeFromNull => "view_range_from_null",
            Self::NewStrFromNull => "new_str_from_null",
        }
    }

    /// Returns the repair that was needed to read this value as an integer, if any.
    pub(crate) fn of_integer(value: &Value<'_>) -> Option<Self> {
        match value {
            Value::Text(_) => Some(Self::IntegerFromText),
            Value::Number(_) => Some(Self::IntegerFromFloat),
            _ => None,
        }
    }
}

impl fmt::Display for Repair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

//! [`Repair`]: what the decoder put right, under names that stay.
//!
//! A developer who watches them sees which model drifts from the tool's schema, and how.

use std::fmt;

use crate::value::Value;

/// Something in a command's input that has only one meaning, and was taken for that.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Repair {
    /// `insert` came with `new_str` and without `insert_text`.
    InsertTextFromNewStr,
    /// `rename` came with `path` and without `old_path`.
    OldPathFromPath,
    /// An integer came as text, such as `"2"`.
    IntegerFromText,
    /// An integer came as `2.0`. JavaScript does not keep the two apart.
    IntegerFromFloat,
    /// `view_range` was null, which is as if it were absent.
    ViewRangeFromNull,
    /// `new_str` was null, which is the empty text.
    NewStrFromNull,
}

impl Repair {
    /// Its id, such as `insert_text_from_new_str`.
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

    /// What was repaired in a value that was taken for an integer.
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

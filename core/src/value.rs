//! The values of a command's input, as the decoder reads them.
//!
//! A binding implements [`Fields`] for its dict or object type. The decoder then reads the language's own
//! values directly, and every language gets the same error sentences.

use std::borrow::Cow;
use std::fmt::{self, Write as _};

/// One value of a command's input.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Value<'a> {
    /// JSON's `null`, Python's `None`, JavaScript's `undefined` if it was set explicitly.
    Null,
    /// A boolean. It never counts as a number.
    Bool(bool),
    /// An integer that fits 64 bits.
    Integer(i64),
    /// Any other number, including an integer that does not fit.
    Number(f64),
    /// Text, borrowed from the host if possible.
    Text(Cow<'a, str>),
    /// A list, array or tuple.
    List(Vec<Value<'a>>),
    /// An object or dict.
    Object,
    /// A value that no field can have, described with an article: "a function", "text that is not valid
    /// Unicode".
    Other(Cow<'a, str>),
}

/// A command's input: named values.
///
/// Implement it for the dict or object type of a language. Return only the input's *own* fields, never
/// inherited ones.
pub trait Fields {
    /// Returns the value under `name`, or `None` if it is absent.
    fn get<'a>(&'a self, name: &str) -> Option<Value<'a>>;
}

impl Fields for serde_json::Map<String, serde_json::Value> {
    fn get<'a>(&'a self, name: &str) -> Option<Value<'a>> {
        self.get(name).map(Value::from)
    }
}

impl<'a> From<&'a serde_json::Value> for Value<'a> {
    fn from(value: &'a serde_json::Value) -> Self {
        use serde_json::Value as Json;
        match value {
            Json::Null => Value::Null,
            Json::Bool(flag) => Value::Bool(*flag),
            Json::Number(number) => match number.as_i64() {
                Some(integer) => Value::Integer(integer),
                None => Value::Number(number.as_f64().unwrap_or(f64::NAN)),
            },
            Json::String(text) => Value::Text(Cow::Borrowed(text)),
            Json::Array(items) => Value::List(items.iter().map(Value::from).collect()),
            Json::Object(_) => Value::Object,
        }
    }
}

impl Value<'_> {
    /// Returns the integer that this value represents: an integer, a number without a fraction (`2.0`), or the
    /// decimal text of an integer (`"2"`, but not `"+2"` or `"02"`). Never a boolean.
    #[must_use]
    pub fn as_integer(&self) -> Option<i64> {
        /// Floats represent every integer up to here exactly: 2^53.
        const EXACT: f64 = 9_007_199_254_740_992.0;
        match self {
            Value::Integer(integer) => Some(*integer),
            #[expect(clippy::cast_possible_truncation, reason = "whole and within ±2^53")]
            Value::Number(number) if number.fract() == 0.0 && number.abs() <= EXACT => {
                Some(*number as i64)
            }
            // Only the usual notation of an integer. `+2` or `02` may have another meaning.
            Value::Text(text) => {
                text.parse::<i64>().ok().filter(|integer| integer.to_string() == **text)
            }
            _ => None,
        }
    }
}

/// The longest value that a reply shows in full, in characters.
const MAX_SHOWN_CHARS: usize = 100;

/// Writes the value as a reply shows it: in JSON's notation with `, ` between the items of a list, shortened if
/// it is long.
impl fmt::Display for Value<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = String::new();
        self.show(&mut shown);
        match shown.char_indices().nth(MAX_SHOWN_CHARS) {
            None => f.write_str(&shown),
            Some((cut, _)) => write!(f, "{}…", &shown[..cut]),
        }
    }
}

impl Value<'_> {
    fn show(&self, out: &mut String) {
        // The result is cut to `MAX_SHOWN_CHARS`, so no more is needed.
        if out.len() > 4 * MAX_SHOWN_CHARS {
            return;
        }
        match self {
            Value::Null => out.push_str("null"),
            Value::Bool(flag) => out.push_str(if *flag { "true" } else { "false" }),
            Value::Integer(integer) => {
                let _ = write!(out, "{integer}");
            }
            Value::Number(number) => {
                let _ = write!(out, "{number:?}");
            }
            Value::Text(text) => {
                let start: String = text.chars().take(MAX_SHOWN_CHARS + 1).collect();
                let _ = write!(out, "{}", serde_json::Value::String(start));
            }
            Value::List(items) => {
                out.push('[');
                for (at, item) in items.iter().enumerate().take(MAX_SHOWN_CHARS) {
                    if at > 0 {
                        out.push_str(", ");
                    }
                    item.show(out);
                }
                out.push(']');
            }
            Value::Object => out.push_str("an object"),
            Value::Other(words) => out.push_str(words),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_may_come_in_three_dresses_and_no_other() {
        let text = |text| Value::Text(Cow::Borrowed(text));
        for (value, integer) in [
            (Value::Integer(-3), Some(-3)),
            (Value::Number(2.0), Some(2)),
            (text("2"), Some(2)),
            (text("-1"), Some(-1)),
            (Value::Number(2.5), None),
            (Value::Number(1e300), None),
            (Value::Number(f64::NAN), None),
            (text("2.0"), None),
            (text(" 2"), None),
            (text("+2"), None),
            (text("02"), None),
            (text("-0"), None),
            (text("-03"), None),
            (text("0"), Some(0)),
            (text("9223372036854775807"), Some(i64::MAX)),
            (text("-9223372036854775808"), Some(i64::MIN)),
            (text("9223372036854775808"), None),
            (text("٢"), None),
            (text(""), None),
            (Value::Bool(true), None),
            (Value::Null, None),
        ] {
            assert_eq!(value.as_integer(), integer, "{value:?}");
        }
    }

    #[test]
    fn values_are_shown_in_json_and_shortened() {
        let list = Value::List(vec![Value::Integer(1), Value::Text("x\"".into()), Value::Null]);
        assert_eq!(list.to_string(), r#"[1, "x\"", null]"#);
        assert_eq!(Value::Number(2.5).to_string(), "2.5");
        let long = Value::Text("é".repeat(1_000_000).into());
        assert_eq!(long.to_string().chars().count(), MAX_SHOWN_CHARS + 1);
        let deep = Value::List(vec![Value::List(vec![Value::Integer(7); 100_000]); 3]);
        assert!(deep.to_string().ends_with('…'));
    }
}

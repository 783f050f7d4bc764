//! Texts that a case describes instead of spelling them out.
//!
//! Instead of any text, a case may have an object that describes a long one: `$text`, `$repeat` or
//! `$count`. `README.md` describes the format.

use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

/// A text, spelled out or described.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(from = "Form")]
pub struct Text(pub String);

#[derive(Deserialize)]
#[serde(untagged, deny_unknown_fields, expecting = "neither a text nor the description of one")]
enum Form {
    Plain(String),
    Pieces {
        #[serde(rename = "$text")]
        pieces: Vec<Text>,
    },
    Repeated {
        #[serde(rename = "$repeat")]
        piece: String,
        #[serde(rename = "$times")]
        times: usize,
    },
    Counted {
        #[serde(rename = "$count")]
        numbers: (u64, u64),
        #[serde(rename = "$each")]
        each: String,
    },
}

impl From<Form> for Text {
    fn from(form: Form) -> Self {
        Self(match form {
            Form::Plain(text) => text,
            Form::Pieces { pieces } => pieces.into_iter().map(|Text(piece)| piece).collect(),
            Form::Repeated { piece, times } => piece.repeat(times),
            Form::Counted { numbers: (first, last), each } => {
                let numbered = |n: u64| {
                    each.replace("{n}", &n.to_string()).replace("{n:6}", &format!("{n:>6}"))
                };
                (first..=last).map(numbered).collect()
            }
        })
    }
}

/// For `deserialize_with`: deserializes any type, after replacing every description of a text with the text.
///
/// # Errors
/// An object that starts with `$` and is not a valid description, or a value that is not a `T`.
pub fn expanded<'de, T: DeserializeOwned, D: Deserializer<'de>>(from: D) -> Result<T, D::Error> {
    let value = expand(Value::deserialize(from)?).map_err(D::Error::custom)?;
    serde_json::from_value(value).map_err(D::Error::custom)
}

fn expand(value: Value) -> serde_json::Result<Value> {
    Ok(match value {
        Value::Array(items) => items.into_iter().map(expand).collect::<Result<_, _>>()?,
        Value::Object(form) if form.keys().any(|key| key.starts_with('$')) => {
            serde_json::from_value::<Text>(Value::Object(form))?.0.into()
        }
        Value::Object(fields) => Value::Object(
            fields
                .into_iter()
                .map(|(name, value)| Ok((name, expand(value)?)))
                .collect::<serde_json::Result<_>>()?,
        ),
        plain => plain,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_form_makes_its_text() {
        for (value, made) in [
            (json!("{n}"), "{n}"),
            (json!({ "$repeat": "ab", "$times": 3 }), "ababab"),
            (json!({ "$count": [9, 10], "$each": "{n:6}:{n}\n" }), "     9:9\n    10:10\n"),
            (json!({ "$text": ["a", { "$repeat": "b", "$times": 2 }, "c"] }), "abbc"),
        ] {
            assert_eq!(Text::deserialize(&value).unwrap().0, made, "{value}");
            assert_eq!(expand(json!([{ "x": value }])).unwrap(), json!([{ "x": made }]));
        }
    }

    #[test]
    fn anything_else_is_refused() {
        for value in [
            json!(null),
            json!(3),
            json!({ "$repeat": "a" }),
            json!({ "$repeat": "a", "$times": -1 }),
            json!({ "$text": "a" }),
            json!({ "$text": ["a"], "more": 1 }),
            json!({ "$count": [1], "$each": "a" }),
            json!({ "$other": "a" }),
        ] {
            assert!(Text::deserialize(&value).is_err(), "{value}");
        }
    }
}

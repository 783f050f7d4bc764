//! Results, as JSON.

use data_encoding::BASE64;
use memdir::text::rfc3339;
use memdir_bindings_shared::operations::Returned;
use memdir_bindings_shared::plain::Plain;
use serde::Serialize;
use serde_json::{Value, json};

/// Converts the result of an operation.
pub(crate) fn returned(returned: Returned) -> Value {
    match returned {
        Returned::Value(value) => into_json(value),
        Returned::Content(bytes) => match String::from_utf8(bytes) {
            Ok(text) => json!({ "text": text }),
            Err(binary) => json!({ "base64": BASE64.encode(binary.as_bytes()) }),
        },
    }
}

/// Converts a result. A field without a value is null.
pub(crate) fn shown(result: &impl Serialize) -> Value {
    into_json(Plain::of(result))
}

fn into_json(value: Plain) -> Value {
    match value {
        Plain::Nothing => Value::Null,
        Plain::Flag(flag) => flag.into(),
        Plain::Count(count) => count.into(),
        Plain::Text(text) => text.into(),
        Plain::Time(time) => rfc3339(time).into(),
        Plain::Seconds(number) | Plain::Number(number) => number.into(),
        Plain::List(items) => items.into_iter().map(into_json).collect(),
        Plain::Record(_, fields) => {
            fields.into_iter().map(|(name, value)| (name.to_owned(), into_json(value))).collect()
        }
    }
}

//! Texts that a case describes instead of spelling them out.
//!
//! Wherever a text stands in a case there may be an object that says how to make a long one:
//! `$text`, `$repeat` or `$count`. The format is described in `README.md`.

use serde_json::{Map, Value};

/// The text that `value` is or describes.
///
/// # Errors
/// Says what is wrong with the description.
pub fn text(value: &Value) -> Result<String, String> {
    match value {
        Value::String(text) => Ok(text.clone()),
        Value::Object(form) => made(form),
        other => Err(format!("{other} is not a text")),
    }
}

/// `value` with every description of a text in it replaced by the text.
///
/// # Errors
/// As [`text`].
pub fn expanded(value: &Value) -> Result<Value, String> {
    Ok(match value {
        Value::Array(items) => Value::Array(items.iter().map(expanded).collect::<Result<_, _>>()?),
        Value::Object(form) if form.keys().any(|key| key.starts_with('$')) => {
            Value::String(made(form)?)
        }
        Value::Object(fields) => Value::Object(
            fields
                .iter()
                .map(|(name, value)| Ok((name.clone(), expanded(value)?)))
                .collect::<Result<_, String>>()?,
        ),
        plain => plain.clone(),
    })
}

fn made(form: &Map<String, Value>) -> Result<String, String> {
    let mut keys: Vec<&str> = form.keys().map(String::as_str).collect();
    keys.sort_unstable();
    match keys.as_slice() {
        ["$text"] => pieces(&form["$text"]),
        ["$repeat", "$times"] => repeated(&form["$repeat"], &form["$times"]),
        ["$count", "$each"] => counted(&form["$count"], &form["$each"]),
        _ => Err(format!("an object with the keys {keys:?} describes no text")),
    }
}

fn pieces(pieces: &Value) -> Result<String, String> {
    let pieces = pieces.as_array().ok_or("$text must be a list")?;
    pieces.iter().map(text).collect()
}

fn repeated(piece: &Value, times: &Value) -> Result<String, String> {
    let piece = piece.as_str().ok_or("$repeat must be a string")?;
    let times = times.as_u64().and_then(|times| usize::try_from(times).ok());
    Ok(piece.repeat(times.ok_or("$times must be a number")?))
}

fn counted(numbers: &Value, each: &Value) -> Result<String, String> {
    let each = each.as_str().ok_or("$each must be a string")?;
    let bounds: Option<Vec<u64>> =
        numbers.as_array().and_then(|bounds| bounds.iter().map(Value::as_u64).collect());
    let Some(&[first, last]) = bounds.as_deref() else {
        return Err("$count must be two numbers".to_owned());
    };
    let numbered =
        |n: u64| each.replace("{n}", &n.to_string()).replace("{n:6}", &format!("{n:>6}"));
    Ok((first..=last).map(numbered).collect())
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
            assert_eq!(text(&value).as_deref(), Ok(made), "{value}");
            assert_eq!(expanded(&json!([{ "x": value }])), Ok(json!([{ "x": made }])));
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
            assert!(text(&value).is_err(), "{value}");
        }
    }
}

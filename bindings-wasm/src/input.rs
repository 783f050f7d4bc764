//! Decodes a command's input from JavaScript's values, as `bindings-node/src/input.rs` does.

use std::borrow::Cow;

use memdir::command::{Decoded, SearchCall};
use memdir::value::{Fields, Value};
use memdir_bindings_shared::input::is_tool_use_block;
use serde_json::{Value as Json, json};

use crate::border::asked;

/// Decodes the input of this kind, as the command `name` if there is one. It requests an object's fields from
/// JavaScript.
pub(crate) fn decode(input: &Json, name: Option<&str>) -> Decoded<'static> {
    match (value(input), name) {
        (Value::Object, Some(name)) => Decoded::named(name, &OwnFields("input")).into_owned(),
        (Value::Object, None) if is_block() => {
            Decoded::of(&OwnFields("block")).within(&OwnFields("input")).into_owned()
        }
        (Value::Object, None) => Decoded::of(&OwnFields("input")).into_owned(),
        (Value::Text(json), None) => Decoded::parse(&*json),
        (other, Some(name)) => Decoded::not_fields(name, &other),
        (other, None) => Decoded::not_an_object(&other),
    }
}

/// Decodes the input of a search, in the same way.
pub(crate) fn decode_search(input: &Json) -> SearchCall {
    match value(input) {
        Value::Object if is_block() => SearchCall::of(&OwnFields("block")),
        Value::Object => SearchCall::of(&OwnFields("input")),
        Value::Text(json) => SearchCall::parse(&*json),
        other => SearchCall::not_an_object(&other),
    }
}

/// Returns whether the input is a whole `tool_use` block. JavaScript then keeps the block's input, because a getter may
/// return something else each time.
fn is_block() -> bool {
    is_tool_use_block(&OwnFields("input")) && asked(&json!({ "block": "input" })) == true
}

/// The own properties of a JavaScript object: the input, the input in a block, or the value that a hook returned.
pub(crate) struct OwnFields(pub(crate) &'static str);

impl Fields for OwnFields {
    fn get<'a>(&'a self, name: &str) -> Option<Value<'a>> {
        match asked(&json!({ "field": name, "of": self.0 })) {
            Json::Object(found) => found.get("value").map(|found| owned(&value(found))),
            _ => None,
        }
    }
}

/// A value as `ts/wasm.ts` encodes it. JSON's own values are themselves, and an object represents values that JSON
/// lacks.
pub(crate) fn value(json: &Json) -> Value<'_> {
    let Json::Object(special) = json else {
        return match json {
            Json::Array(items) => Value::List(items.iter().map(value).collect()),
            plain => Value::from(plain),
        };
    };
    let text = |name: &str| special.get(name).and_then(Json::as_str);
    if let Some(words) = text("other") {
        Value::Other(Cow::Borrowed(words))
    } else if let Some(digits) = text("number") {
        Value::Number(digits.parse().unwrap_or(f64::NAN))
    } else if let Some(digits) = text("integer") {
        match digits.parse() {
            Ok(integer) => Value::Integer(integer),
            Err(_) => Value::Number(digits.parse().unwrap_or(f64::NAN)),
        }
    } else {
        Value::Object
    }
}

fn owned(value: &Value<'_>) -> Value<'static> {
    match value {
        Value::Null => Value::Null,
        Value::Bool(flag) => Value::Bool(*flag),
        Value::Integer(integer) => Value::Integer(*integer),
        Value::Number(number) => Value::Number(*number),
        Value::Text(text) => Value::Text(Cow::Owned(text.clone().into_owned())),
        Value::List(items) => Value::List(items.iter().map(owned).collect()),
        Value::Other(words) => Value::Other(Cow::Owned(words.clone().into_owned())),
        _ => Value::Object,
    }
}

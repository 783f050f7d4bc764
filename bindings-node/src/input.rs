//! Decodes a command's input from JavaScript's values.
//!
//! JavaScript's values cannot leave their thread. So a command is decoded on that thread, directly
//! from the live object, and then owns its texts.

use std::borrow::Cow;

use memdir::command::{Decoded, SearchCall};
use memdir::value::{Fields, Value};
use memdir_bindings_shared::input::is_tool_use_block;
use napi::bindgen_prelude::{JsObjectValue, JsValue, Object, Unknown};
use napi::{Result, ValueType};

/// The limits for list items and nesting. A list may be sparse and have a length of four thousand
/// million, or contain itself. No command, and no error message about one, needs more. Only lists of
/// texts, such as patterns of paths, are read whole.
const MAX_ITEMS: u32 = 128;
const MAX_DEPTH: usize = 4;

/// Decodes the object, or the JSON text of one: an input, or a whole `tool_use` block.
pub(crate) fn decode(input: Unknown<'_>) -> Result<Decoded<'static>> {
    Ok(match value(&input)? {
        Value::Object => {
            let fields = OwnFields(input.coerce_to_object()?);
            match fields.input_of_block() {
                Some(input) => Decoded::of(&input).within(&fields).into_owned(),
                None => Decoded::of(&fields).into_owned(),
            }
        }
        Value::Text(json) => Decoded::parse(&*json),
        other => Decoded::not_an_object(&other),
    })
}

/// Decodes the input of a search: the object, or the JSON text of one, or a whole `tool_use` block.
pub(crate) fn decode_search(input: Unknown<'_>) -> Result<SearchCall> {
    Ok(match value(&input)? {
        Value::Object => {
            let fields = OwnFields(input.coerce_to_object()?);
            match fields.input_of_block() {
                Some(input) => SearchCall::of(&input),
                None => SearchCall::of(&fields),
            }
        }
        Value::Text(json) => SearchCall::parse(&*json),
        other => SearchCall::not_an_object(&other),
    })
}

/// Decodes the object that holds the fields of the command `name`.
pub(crate) fn decode_as(name: &str, input: Unknown<'_>) -> Result<Decoded<'static>> {
    Ok(match value(&input)? {
        Value::Object => Decoded::named(name, &OwnFields(input.coerce_to_object()?)).into_owned(),
        other => Decoded::not_fields(name, &other),
    })
}

/// The own properties of an object. Inherited properties are not part of the input.
pub(crate) struct OwnFields<'env>(pub(crate) Object<'env>);

impl<'env> OwnFields<'env> {
    /// The input of a whole `tool_use` block, under the same rule as in the core for JSON:
    /// `Decoded::of_json`.
    fn input_of_block(&self) -> Option<OwnFields<'env>> {
        if !is_tool_use_block(self) {
            return None;
        }
        let input: Unknown<'env> = self.0.get_named_property_unchecked("input").ok()?;
        // A getter may return a different value each time, so the type is checked again.
        let input = matches!(value(&input), Ok(Value::Object)).then_some(input)?;
        input.coerce_to_object().ok().map(OwnFields)
    }
}

impl Fields for OwnFields<'_> {
    fn get<'a>(&'a self, name: &str) -> Option<Value<'a>> {
        let read = || -> Result<Option<Value<'static>>> {
            if !self.0.has_own_property(name)? {
                return Ok(None);
            }
            value(&self.0.get_named_property_unchecked(name)?).map(Some)
        };
        // If this fails, a getter or a proxy threw. Its exception is thrown in JavaScript.
        read().unwrap_or(Some(Value::Other(Cow::Borrowed("a value that cannot be read"))))
    }
}

/// Converts a value for the decoder.
pub(crate) fn value(js: &Unknown<'_>) -> Result<Value<'static>> {
    at_depth(js, 0)
}

/// Coerces a value that already has the type, so no JavaScript code runs.
fn at_depth(js: &Unknown<'_>, depth: usize) -> Result<Value<'static>> {
    Ok(match js.get_type()? {
        ValueType::Undefined | ValueType::Null => Value::Null,
        ValueType::Boolean => Value::Bool(js.coerce_to_bool()?),
        ValueType::Number => number(js.coerce_to_number()?.get_double()?),
        ValueType::BigInt => big(&js.coerce_to_string()?.into_utf8()?.into_owned()?),
        ValueType::String => match js.coerce_to_string()?.into_utf16()?.as_str() {
            Ok(text) => Value::Text(Cow::Owned(text)),
            Err(_) => other("text that is not valid Unicode"),
        },
        ValueType::Object if js.is_array()? => list(&js.coerce_to_object()?, depth)?,
        ValueType::Object => Value::Object,
        ValueType::Function => other("a function"),
        ValueType::Symbol => other("a symbol"),
        _ => other("a value of another kind"),
    })
}

fn other(words: &'static str) -> Value<'static> {
    Value::Other(Cow::Borrowed(words))
}

/// JavaScript has one number type: `2` and `2.0` are equal.
fn number(double: f64) -> Value<'static> {
    // No field and no argument can be infinite, and JavaScript has its own name for it.
    if double.is_infinite() {
        return other(if double > 0.0 { "Infinity" } else { "-Infinity" });
    }
    let double = Value::Number(double);
    double.as_integer().map_or(double, Value::Integer)
}

fn big(digits: &str) -> Value<'static> {
    match digits.parse() {
        Ok(integer) => Value::Integer(integer),
        Err(_) => Value::Number(digits.parse().unwrap_or(f64::NAN)),
    }
}

fn list(array: &Object<'_>, depth: usize) -> Result<Value<'static>> {
    if depth == MAX_DEPTH {
        return Ok(other("a list"));
    }
    let mut items = Vec::new();
    let mut are_texts = depth == 0;
    for at in 0..array.get_array_length()? {
        if at >= MAX_ITEMS && !are_texts {
            break;
        }
        let item = at_depth(&array.get_element(at)?, depth + 1)?;
        are_texts &= matches!(item, Value::Text(_));
        items.push(item);
    }
    Ok(Value::List(items))
}

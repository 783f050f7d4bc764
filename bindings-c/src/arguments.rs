//! The arguments of an operation: a JSON object.

use std::time::{Duration, SystemTime};

use memdir::Error;
use memdir::value::Value;
use memdir_bindings_shared::arguments::{Arguments, Times, wrong};
use serde_json::{Map, Value as Json};

use crate::failure::Failure;

/// Times are texts.
const TIMES: Times = Times { read: time, rest: Duration::ZERO };

/// Parses an object, or nothing.
pub(crate) fn parse(json: &str) -> Result<Map<String, Json>, Failure> {
    match serde_json::from_str(json) {
        Ok(Json::Object(fields)) => Ok(fields),
        Ok(Json::Null) => Ok(Map::new()),
        _ => Err(Failure::usage("the arguments of an operation are a JSON object")),
    }
}

/// Removes the fields that are null.
pub(crate) fn without_nulls(mut fields: Map<String, Json>) -> Map<String, Json> {
    fields.retain(|_, given| !given.is_null());
    fields
}

/// The arguments, of which these names were given.
pub(crate) fn named<'a>(fields: &'a Map<String, Json>, names: &'a [String]) -> Arguments<'a> {
    Arguments::new(fields, names.iter().map(String::as_str).collect(), TIMES)
}

fn time(given: &Value<'_>) -> Result<SystemTime, &'static str> {
    let time = if let Value::Text(text) = given { memdir::text::parse_rfc3339(text) } else { None };
    time.ok_or(" must be a time as text, such as \"2026-03-14T15:09:26.535897Z\"")
}

pub(crate) const NO_SPAN: &str = " must be a number of seconds from 0 on";

/// A number of seconds that may be null; `None` if it is omitted.
pub(crate) fn optional_span(given: &Arguments<'_>, name: &str) -> Result<Option<Duration>, Error> {
    span(given, name).map_err(|_| {
        wrong(name, format!("{NO_SPAN}, or null"), given.get(name).unwrap_or(Value::Null))
    })
}

/// A number of seconds; `None` if it is omitted.
pub(crate) fn span(given: &Arguments<'_>, name: &str) -> Result<Option<Duration>, Error> {
    let Some(given) = given.get(name) else { return Ok(None) };
    #[expect(clippy::cast_precision_loss, reason = "exact for 285 million years")]
    let seconds = match given {
        Value::Integer(seconds) => seconds as f64,
        Value::Number(seconds) => seconds,
        _ => f64::NAN,
    };
    Duration::try_from_secs_f64(seconds).map(Some).map_err(|_| wrong(name, NO_SPAN, given))
}

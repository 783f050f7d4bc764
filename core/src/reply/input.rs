//! The sentences about malformed input and invalid paths.

use memdir_store::path::{
    MAX_LEVELS, MAX_NAME_BYTES, MAX_PATH_BYTES, MemoryPath, PathError, RESERVED_PREFIX,
};
use memdir_store::{Error, ErrorKind};

use super::refused;
use crate::value::Value;

pub(crate) fn bad_path(raw: &str, error: PathError) -> Error {
    let path = echoed(raw);
    refused(
        ErrorKind::Invalid,
        match error {
            PathError::Outside => format!("Path must start with /memories, got: {path}"),
            PathError::Escapes => format!("Path {path} would escape /memories directory"),
            PathError::PathTooLong => format!(
                "Error: The path {} is too long: it has {} bytes, and a path may have {MAX_PATH_BYTES} \
             at most",
                shortened(raw),
                raw.len()
            ),
            PathError::NameTooLong => format!(
                "Error: The path {} is too long: a file's or directory's name may have \
             {MAX_NAME_BYTES} bytes at most",
                shortened(raw)
            ),
            PathError::TooDeep => format!(
                "Error: The path {} is too deep: it may have {MAX_LEVELS} levels below /memories at \
             most",
                shortened(raw)
            ),
        },
    )
}

pub(crate) fn reserved_path(path: &MemoryPath) -> Error {
    refused(
        ErrorKind::Invalid,
        format!(
            "Error: The path {path} is reserved: names that start with {RESERVED_PREFIX} are memdir's own"
        ),
    )
}

/// Returns a refused path as the model sent it, shortened if it is longer than any valid path.
fn echoed(raw: &str) -> String {
    if raw.len() > MAX_PATH_BYTES { shortened(raw) } else { raw.to_owned() }
}

pub(super) fn shortened(raw: &str) -> String {
    const SHOWN_CHARS: usize = 80;
    match raw.char_indices().nth(SHOWN_CHARS) {
        None => raw.to_owned(),
        Some((cut, _)) => format!("{}…", &raw[..cut]),
    }
}

/// Lists the `known` commands in words.
fn commands(known: &[&str]) -> String {
    match known {
        [most @ .., last] => format!("{} or {last}", most.join(", ")),
        [] => String::new(),
    }
}

pub(crate) fn not_json(problem: &str) -> String {
    format!("Error: The input is not valid JSON: {problem}")
}

pub(crate) fn not_an_object(came: &Value<'_>) -> String {
    format!("Error: The input should be an object with a `command`, got {}", described(came))
}

pub(crate) fn not_fields(needed: &[&str], came: &Value<'_>) -> String {
    let needed: Vec<String> = needed.iter().map(|field| format!("`{field}`")).collect();
    let needed = match &*needed {
        [most @ .., last] if !most.is_empty() => format!("{} and {last}", most.join(", ")),
        one => one.concat(),
    };
    format!("Error: The input should be an object with {needed}, got {}", described(came))
}

pub(crate) fn missing_command(known: &[&str]) -> String {
    format!("Error: Missing `command` parameter: expected {}", commands(known))
}

pub(crate) fn unknown_command(known: &[&str], came: &Value<'_>) -> String {
    let (known, came) = (commands(known), described(came));
    format!("Error: Invalid `command` parameter: expected {known}, got {came}")
}

pub(crate) fn missing_field(command: &str, field: &str, expected: &str) -> String {
    format!("Error: Missing `{field}` parameter for the `{command}` command: expected {expected}")
}

pub(crate) fn wrong_type(field: &str, expected: &str, came: &Value<'_>) -> String {
    format!("Error: Invalid `{field}` parameter: expected {expected}, got {}", described(came))
}

/// Describes a value: its type, and the value itself if that adds information.
fn described(value: &Value<'_>) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(_) => format!("the boolean {value}"),
        Value::Integer(_) | Value::Number(_) => format!("the number {value}"),
        Value::Text(_) => format!("the string {value}"),
        Value::List(_) => format!("the list {value}"),
        Value::Object | Value::Other(_) => value.to_string(),
    }
}

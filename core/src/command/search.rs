//! The search as a tool beside the memory tool: its definition for a model, and its input.

use memdir_store::{Error, ErrorKind, Refused};
use serde_json::Value as Json;

use super::decode::input_of_block;
use super::fields::{Field, Kind, MOST_FILES, SEARCH};
use super::schema::{Dialect, define};
use crate::reply;
use crate::value::{Fields, Value};

/// The files in an answer, if the model does not ask for another number.
const FILES: usize = 5;

/// Returns the definition of the search, a tool named `prefix` followed by `search`. To execute its calls, use
/// [`Memory::execute_search`](crate::Memory::execute_search).
///
/// ```
/// use memdir::command::{Dialect, search_tool_definition};
///
/// let tool = search_tool_definition(Dialect::AnthropicCustom, "memory_")?;
/// assert_eq!(tool["name"], "memory_search");
/// assert_eq!(tool["input_schema"]["required"][0], "query");
/// # Ok::<(), memdir::Error>(())
/// ```
///
/// # Errors
/// Same as [`tool_definitions`](super::tool_definitions).
pub fn search_tool_definition(dialect: Dialect, prefix: &str) -> Result<Json, Error> {
    define(dialect, prefix, &SEARCH, SEARCH.about)
}

/// The decoded input of one call of the search.
#[derive(Debug)]
pub struct SearchCall(Result<SearchInput, Refused>);

/// The question of a model.
#[derive(Debug)]
pub(crate) struct SearchInput {
    pub(crate) query: String,
    pub(crate) path: Option<String>,
    pub(crate) limit: usize,
}

impl SearchCall {
    /// Decodes the fields `query`, `path` and `limit`. Without a `path`, or with null, everything is searched. `limit` is 1 to 20 files, 5 without it or
    /// with null, and may come as `2.0` or `"2"`. Other fields are ignored.
    #[must_use]
    pub fn of(fields: &dyn Fields) -> Self {
        Self(read(fields).map_err(invalid))
    }

    /// Decodes parsed JSON: the input, or a whole `tool_use` block.
    #[must_use]
    pub fn of_json(input: &Json) -> Self {
        match input {
            Json::Object(fields) => Self::of(input_of_block(fields).unwrap_or(fields)),
            other => Self::not_an_object(&Value::from(other)),
        }
    }

    /// Decodes the JSON text of an input.
    #[must_use]
    pub fn parse(json: impl AsRef<[u8]>) -> Self {
        match serde_json::from_slice(json.as_ref()) {
            Ok(input) => Self::of_json(&input),
            Err(error) => Self(Err(invalid(reply::not_json(&error.to_string())))),
        }
    }

    /// Returns the result for input that is not an object, for a front end that implements [`Fields`] for its own objects.
    #[must_use]
    pub fn not_an_object(input: &Value<'_>) -> Self {
        Self(Err(invalid(reply::not_fields(&["query"], input))))
    }

    pub(crate) fn into_input(self) -> Result<SearchInput, Error> {
        self.0.map_err(Error::Refused)
    }
}

fn invalid(sentence: String) -> Refused {
    Refused::new(ErrorKind::Invalid, sentence)
}

fn read(fields: &dyn Fields) -> Result<SearchInput, String> {
    let [query, path, limit] = SEARCH.fields else { return Err(String::new()) };
    let words = text(fields, query)?
        .ok_or_else(|| reply::missing_field(SEARCH.name, query.name, "a string"))?;
    if words.trim().is_empty() {
        let words = Value::Text(words.into());
        return Err(reply::wrong_type(query.name, "words to search for", &words));
    }
    Ok(SearchInput { query: words, path: text(fields, path)?, limit: files(fields, limit)? })
}

/// Returns the text of a field, or `None` if it is absent, or null and optional.
fn text(fields: &dyn Fields, field: &Field) -> Result<Option<String>, String> {
    debug_assert!(matches!(field.kind, Kind::Text));
    match fields.get(field.name) {
        None => Ok(None),
        Some(Value::Null) if field.is_optional => Ok(None),
        Some(Value::Text(text)) => Ok(Some(text.into_owned())),
        Some(other) => Err(reply::wrong_type(field.name, "a string", &other)),
    }
}

/// Returns the number of files of a field, which is optional.
fn files(fields: &dyn Fields, field: &Field) -> Result<usize, String> {
    debug_assert!(matches!(field.kind, Kind::Files));
    let value = match fields.get(field.name) {
        None | Some(Value::Null) => return Ok(FILES),
        Some(value) => value,
    };
    let files = value.as_integer().and_then(|files| usize::try_from(files).ok());
    files.filter(|files| (1..=MOST_FILES).contains(files)).ok_or_else(|| {
        let expected = format!("an integer from 1 to {MOST_FILES}");
        reply::wrong_type(field.name, &expected, &value)
    })
}

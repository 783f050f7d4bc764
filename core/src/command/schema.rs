//! The tool's definition for other model hosts: a name, a description and a JSON Schema.
//!
//! Anthropic's API knows the tool by its type and needs no definition. The schema is built from the same table
//! that the decoder reads ([`fields`](super::fields)).

use memdir_store::{ConfigError, Error};
use serde_json::{Map, Value, json};

use super::fields::{ENTRIES, Entry, Field, Kind};

/// The largest whole number that every host's JSON reader keeps exactly: 2^53 - 1.
const LARGEST: u64 = 9_007_199_254_740_991;

/// The host that a definition is for. Hosts differ in the names of the keys, and in the parts of JSON Schema
/// that they support.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Dialect {
    /// `name`, `description`, and `parameters` in JSON Schema 2020-12.
    JsonSchema,
    /// A function tool of OpenAI's Responses API, strict.
    OpenAi,
    /// A function tool of OpenAI's Chat Completions API, strict. Many other hosts understand it.
    OpenAiChat,
    /// A custom tool of Anthropic's Messages API, for cases where the memory tool itself is not available. The
    /// schema uses only what strict tool use allows.
    AnthropicCustom,
    /// A function declaration of the Gemini API.
    Gemini,
}

impl std::str::FromStr for Dialect {
    type Err = Error;

    /// Parses `"json-schema"`, `"openai"`, `"openai-chat"`, `"anthropic-custom"` or `"gemini"`.
    fn from_str(word: &str) -> Result<Self, Error> {
        let words = [
            ("json-schema", Self::JsonSchema),
            ("openai", Self::OpenAi),
            ("openai-chat", Self::OpenAiChat),
            ("anthropic-custom", Self::AnthropicCustom),
            ("gemini", Self::Gemini),
        ];
        ConfigError::parse_word("dialect", &words, word)
    }
}

/// Returns one tool named `memory`, whose field `command` selects the command. To execute its calls, you only
/// need [`Memory::execute`](crate::Memory::execute).
///
/// No host's schema language can express which fields belong to which command, so this schema also allows calls
/// that lack a field. Such a call is refused with an explanation. [`tool_definitions`] is exact.
///
/// ```
/// use memdir::command::{Dialect, tool_definition};
///
/// let tool = tool_definition(Dialect::OpenAi, false);
/// assert_eq!(tool["name"], "memory");
/// assert_eq!(tool["parameters"]["properties"]["command"]["enum"][0], "view");
/// ```
#[must_use]
pub fn tool_definition(dialect: Dialect, read_only: bool) -> Value {
    let entries = entries(read_only);
    let names: Vec<_> = entries.iter().map(|entry| entry.name).collect();
    let mut schema = Schema::new(dialect);
    let about: Vec<_> =
        entries.iter().map(|entry| format!("{}: {}", entry.name, entry.about)).collect();
    schema.push(
        "command",
        json!({"type": "string", "enum": names, "description": about.join(". ")}),
        true,
    );
    for field in entries.iter().flat_map(|entry| entry.fields) {
        if !schema.properties.contains_key(field.name) {
            schema.push_field(field, false);
        }
    }
    let about = if read_only {
        format!("{MEMORY} {VIEW_FIRST}")
    } else {
        format!("{MEMORY} {VIEW_FIRST} {KEEP_NOTES}")
    };
    declare(dialect, "memory", &about, schema)
}

/// Returns one tool for each command, named `prefix` followed by the command's name. A call of `memory_view` is
/// `{"command": "view", …its fields}` for [`Memory::execute`](crate::Memory::execute), or
/// [`Decoded::named`](super::Decoded::named).
///
/// The schemas are exact: they allow only input that the decoder accepts without repairs.
///
/// # Errors
/// [`Error::Config`] if the prefix is longer than 32 bytes, or contains other characters than ASCII letters,
/// digits, `_` and `-`.
pub fn tool_definitions(
    dialect: Dialect,
    prefix: &str,
    read_only: bool,
) -> Result<Vec<Value>, Error> {
    let define =
        |entry: &Entry| define(dialect, prefix, entry, &format!("{}. {MEMORY}", entry.about));
    entries(read_only).iter().map(define).collect()
}

/// Returns the tool of one entry, with an exact schema.
pub(super) fn define(
    dialect: Dialect,
    prefix: &str,
    entry: &Entry,
    about: &str,
) -> Result<Value, Error> {
    check_prefix(prefix)?;
    let mut schema = Schema::new(dialect);
    for field in entry.fields {
        schema.push_field(field, !field.is_optional);
    }
    Ok(declare(dialect, &format!("{prefix}{}", entry.name), about, schema))
}

/// The description of the memory for a model.
const MEMORY: &str =
    "The memory is a directory of text files under /memories that lasts between conversations.";

/// The instruction to view the memory first, for a system prompt or the instructions of a server. Anthropic's
/// API adds such a sentence for its own tool, and [`tool_definition`] includes this one.
pub const VIEW_FIRST: &str = "Before you begin, view /memories to see what was noted earlier.";
/// The instructions to keep notes, for a memory that the model may change; see [`VIEW_FIRST`].
pub const KEEP_NOTES: &str = "Note what is worth keeping as you go, since your context may end at any time. Keep the \
    files up to date and well organised, and delete what is no longer true.";

/// Returns the commands that a memory offers. A read-only memory offers only `view`.
fn entries(read_only: bool) -> &'static [Entry] {
    if read_only { &ENTRIES[..1] } else { ENTRIES }
}

fn check_prefix(prefix: &str) -> Result<(), Error> {
    let may = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    if prefix.len() <= 32 && prefix.bytes().all(may) {
        return Ok(());
    }
    Err(ConfigError::of_option("prefix")
        .and(" must be at most 32 ASCII letters, digits, _ and -")
        .got(format_args!("{prefix:?}"))
        .into())
}

/// Builds the schema of one tool's input.
struct Schema {
    dialect: Dialect,
    properties: Map<String, Value>,
    required: Vec<&'static str>,
}

impl Schema {
    fn new(dialect: Dialect) -> Self {
        Self { dialect, properties: Map::new(), required: Vec::new() }
    }

    fn push_field(&mut self, field: &Field, required: bool) {
        let bounded =
            matches!(self.dialect, Dialect::JsonSchema | Dialect::OpenAi | Dialect::OpenAiChat);
        let mut schema = match field.kind {
            Kind::Text => json!({"type": "string"}),
            Kind::Line if bounded => json!({"type": "integer", "minimum": 0, "maximum": LARGEST}),
            Kind::Line => json!({"type": "integer"}),
            #[cfg(feature = "search")]
            Kind::Files if bounded => {
                json!({"type": "integer", "minimum": 1, "maximum": super::fields::MOST_FILES})
            }
            #[cfg(feature = "search")]
            Kind::Files => json!({"type": "integer"}),
            Kind::Range if bounded => {
                json!({"type": "array", "items": {"type": "integer"}, "minItems": 2, "maxItems": 2})
            }
            Kind::Range => json!({"type": "array", "items": {"type": "integer"}}),
        };
        schema["description"] = field.about.into();
        self.push(field.name, schema, required);
    }

    fn push(&mut self, name: &'static str, mut schema: Value, required: bool) {
        // Strict functions require every field, so optional ones are nullable.
        let nullable = !required && matches!(self.dialect, Dialect::OpenAi | Dialect::OpenAiChat);
        if nullable {
            schema["type"] = json!([schema["type"], "null"]);
        }
        if required || nullable {
            self.required.push(name);
        }
        self.properties.insert(name.to_owned(), schema);
    }

    fn finish(self) -> Value {
        let mut schema = json!({
            "type": "object",
            "properties": self.properties,
            "required": self.required,
        });
        if self.dialect != Dialect::Gemini {
            schema["additionalProperties"] = false.into();
        }
        schema
    }
}

fn declare(dialect: Dialect, name: &str, about: &str, schema: Schema) -> Value {
    let schema = schema.finish();
    match dialect {
        Dialect::JsonSchema | Dialect::Gemini => {
            json!({"name": name, "description": about, "parameters": schema})
        }
        Dialect::AnthropicCustom => {
            json!({"name": name, "description": about, "input_schema": schema})
        }
        Dialect::OpenAi => json!({
            "type": "function", "name": name, "description": about, "parameters": schema,
            "strict": true,
        }),
        Dialect::OpenAiChat => json!({
            "type": "function",
            "function": {
                "name": name, "description": about, "parameters": schema, "strict": true,
            },
        }),
    }
}

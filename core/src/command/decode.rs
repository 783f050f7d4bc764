//! Turns input into a [`Command`], or into a sentence that says what is wrong.
//!
//! [`fields`](super::fields) has the table of fields, for the decoder and for the schema. Models confuse
//! similar argument schemas, so input with only one possible meaning is repaired (see [`Decoded::of`]). Nothing
//! else is guessed. Fields that a command does not have are ignored.

use std::borrow::Cow;

use memdir_store::{ErrorKind, Refused};

use super::fields::{
    ENTRIES, FILE_TEXT, Field, INSERT_LINE, INSERT_TEXT, NEW_PATH, NEW_STR, OLD_PATH, OLD_STR,
    PATH, VIEW_RANGE,
};
use super::{COMMANDS, Command, Repair, ViewRange};
use crate::reply;
use crate::value::{Fields, Value};

/// The result of decoding an input.
#[derive(Debug)]
#[non_exhaustive]
pub struct Decoded<'a> {
    /// The command that the input names, if it is one of the six.
    pub name: Option<&'static str>,
    /// The command, or the refusal that says what is wrong with the input.
    pub command: Result<Command<'a>, Refused>,
    /// The repairs, in the order in which they were made.
    pub repairs: Vec<Repair>,
    /// The `id` of the `tool_use` block, if the input was a whole block. Set it if you decode the input of a
    /// block and know its id: [hooks](crate::HookCall::tool_use_id) receive it.
    pub tool_use_id: Option<Cow<'a, str>>,
}

impl<'a> Decoded<'a> {
    /// Decodes the input of one tool call.
    ///
    /// Input with only one meaning is repaired. `insert` accepts `new_str` if `insert_text` is absent. `rename`
    /// accepts `path` if `old_path` is absent. Integers may come as `2.0` or `"2"`. `view_range` and `new_str`
    /// may be null.
    #[must_use]
    pub fn of(fields: &'a dyn Fields) -> Self {
        match fields.get("command") {
            None => Self::refused(reply::missing_command(&COMMANDS)),
            Some(Value::Text(name)) => Self::named(&name, fields),
            Some(other) => Self::refused(reply::unknown_command(&COMMANDS, &other)),
        }
    }

    /// Decodes the input of one tool call from parsed JSON.
    #[must_use]
    pub fn of_json(input: &'a serde_json::Value) -> Self {
        match input {
            serde_json::Value::Object(fields) => match input_of_block(fields) {
                Some(input) => {
                    let id = fields.get("id").and_then(serde_json::Value::as_str);
                    Self { tool_use_id: id.map(Cow::Borrowed), ..Self::of(input) }
                }
                None => Self::of(fields),
            },
            other => Self::not_an_object(&Value::from(other)),
        }
    }

    /// Decodes the JSON text of one tool call's input.
    #[must_use]
    pub fn parse(json: impl AsRef<[u8]>) -> Decoded<'static> {
        let Ok(json) = str::from_utf8(json.as_ref()) else {
            return Decoded::refused(reply::not_json("it is not valid Unicode"));
        };
        match serde_json::from_str(json) {
            Ok(input) => Decoded::of_json(&input).into_owned(),
            Err(error) => Decoded::refused(reply::not_json(&error.to_string())),
        }
    }

    /// Decodes the fields of the command `name`. The field `command` is ignored.
    #[must_use]
    pub fn named(name: &str, fields: &'a dyn Fields) -> Self {
        let mut input = Input { command: name, fields, repairs: Vec::new() };
        let command = read(name, &mut input).map_err(invalid);
        let name = COMMANDS.into_iter().find(|known| *known == name);
        Self { name, command, repairs: input.repairs, tool_use_id: None }
    }

    /// Adds the `id` of the `tool_use` block that contained the input, for hooks. For a front end that extracts
    /// the input from the block itself. [`of_json`](Self::of_json) does both.
    #[must_use]
    pub fn within(self, block: &dyn Fields) -> Self {
        let id = match block.get("id") {
            Some(Value::Text(id)) => Some(Cow::Owned(id.into_owned())),
            _ => None,
        };
        Self { tool_use_id: id, ..self }
    }

    /// Returns the result for input that is not an object, for a front end that implements [`Fields`] for its
    /// own objects.
    ///
    /// ```
    /// use memdir::command::Decoded;
    /// use memdir::value::Value;
    ///
    /// let decoded = Decoded::not_an_object(&Value::List(vec![Value::Integer(1)]));
    /// assert!(decoded.command.is_err());
    /// ```
    #[must_use]
    pub fn not_an_object(input: &Value<'_>) -> Self {
        Self::refused(reply::not_an_object(input))
    }

    /// Returns the result for fields of the command `name` that are not an object, for a front end with a method
    /// for each command.
    ///
    /// ```
    /// use memdir::command::Decoded;
    /// use memdir::value::Value;
    ///
    /// let refused = Decoded::not_fields("create", &Value::Text("/memories/a".into())).command.unwrap_err();
    /// assert_eq!(
    ///     refused.to_string(),
    ///     "Error: The input should be an object with `path` and `file_text`, got the string \"/memories/a\""
    /// );
    /// ```
    #[must_use]
    pub fn not_fields(name: &str, input: &Value<'_>) -> Self {
        let Some(entry) = ENTRIES.iter().find(|entry| entry.name == name) else {
            return Self::not_an_object(input);
        };
        let needed = entry.fields.iter().filter(|field| !field.is_optional);
        let needed: Vec<&str> = needed.map(|field| field.name).collect();
        Self { name: Some(entry.name), ..Self::refused(reply::not_fields(&needed, input)) }
    }

    /// Returns the result for invalid input, with the error sentence.
    pub(crate) fn refused(sentence: String) -> Self {
        let command = Err(invalid(sentence));
        Self { name: None, command, repairs: Vec::new(), tool_use_id: None }
    }

    /// Returns the same result with owned texts, so it can be sent to another thread.
    #[must_use]
    pub fn into_owned(self) -> Decoded<'static> {
        let command = self.command.map(Command::into_owned);
        let tool_use_id = self.tool_use_id.map(|id| Cow::Owned(id.into_owned()));
        Decoded { name: self.name, command, repairs: self.repairs, tool_use_id }
    }
}

impl<'a> From<Command<'a>> for Decoded<'a> {
    fn from(command: Command<'a>) -> Self {
        let name = Some(command.name());
        Self { name, command: Ok(command), repairs: Vec::new(), tool_use_id: None }
    }
}

/// Returns the input of a whole `tool_use` block, which a program may pass instead of the input alone. No
/// command has a field `type`, and a block has no `command`.
pub(super) fn input_of_block(
    block: &serde_json::Map<String, serde_json::Value>,
) -> Option<&serde_json::Map<String, serde_json::Value>> {
    let is_block = block.get("type")?.as_str()? == TOOL_USE && !block.contains_key("command");
    if is_block { block.get("input")?.as_object() } else { None }
}

/// The `type` of a content block with a tool call. [`Decoded::of_json`] accepts such a block as well.
pub const TOOL_USE: &str = "tool_use";

fn invalid(sentence: String) -> Refused {
    Refused::new(ErrorKind::Invalid, sentence)
}

/// Reads the fields of the command with this name.
fn read<'a>(name: &str, input: &mut Input<'_, 'a>) -> Result<Command<'a>, String> {
    match name {
        "view" => Ok(Command::View { path: input.text(&PATH)?, view_range: input.view_range() }),
        "create" => {
            Ok(Command::Create { path: input.text(&PATH)?, file_text: input.text(&FILE_TEXT)? })
        }
        "str_replace" => Ok(Command::StrReplace {
            path: input.text(&PATH)?,
            old_str: input.text(&OLD_STR)?,
            new_str: input.text_or_null(&NEW_STR, Repair::NewStrFromNull)?,
        }),
        "insert" => Ok(Command::Insert {
            path: input.text(&PATH)?,
            insert_line: input.integer(&INSERT_LINE)?,
            insert_text: input.text_or_alias(
                &INSERT_TEXT,
                &NEW_STR,
                Repair::InsertTextFromNewStr,
            )?,
        }),
        "delete" => Ok(Command::Delete { path: input.text(&PATH)? }),
        "rename" => Ok(Command::Rename {
            old_path: input.text_or_alias(&OLD_PATH, &PATH, Repair::OldPathFromPath)?,
            new_path: input.text(&NEW_PATH)?,
        }),
        _ => Err(reply::unknown_command(&COMMANDS, &Value::Text(Cow::Borrowed(name)))),
    }
}

/// Reads the fields of one command.
struct Input<'i, 'a> {
    command: &'i str,
    fields: &'a dyn Fields,
    repairs: Vec<Repair>,
}

impl<'a> Input<'_, 'a> {
    fn text(&self, field: &Field) -> Result<Cow<'a, str>, String> {
        match self.fields.get(field.name) {
            Some(Value::Text(text)) => Ok(text),
            None => Err(reply::missing_field(self.command, field.name, "a string")),
            Some(other) => Err(reply::wrong_type(field.name, "a string", &other)),
        }
    }

    /// Reads a text that may be absent, and is then empty.
    fn text_or_null(&mut self, field: &Field, null: Repair) -> Result<Cow<'a, str>, String> {
        match self.fields.get(field.name) {
            None => Ok(Cow::Borrowed("")),
            Some(Value::Null) => {
                self.repairs.push(null);
                Ok(Cow::Borrowed(""))
            }
            Some(_) => self.text(field),
        }
    }

    /// Reads the text of `field`, or of `alias` if `field` is absent. Null counts as absent, because typed SDKs
    /// fill missing fields with null.
    fn text_or_alias(
        &mut self,
        field: &Field,
        alias: &Field,
        repair: Repair,
    ) -> Result<Cow<'a, str>, String> {
        match (self.fields.get(field.name), self.fields.get(alias.name)) {
            (None | Some(Value::Null), Some(Value::Text(text))) => {
                self.repairs.push(repair);
                Ok(text)
            }
            _ => self.text(field),
        }
    }

    fn integer(&mut self, field: &Field) -> Result<i64, String> {
        let value = self
            .fields
            .get(field.name)
            .ok_or_else(|| reply::missing_field(self.command, field.name, "an integer"))?;
        let integer = value
            .as_integer()
            .ok_or_else(|| reply::wrong_type(field.name, "an integer", &value))?;
        self.repairs.extend(Repair::of_integer(&value));
        Ok(integer)
    }

    fn view_range(&mut self) -> Option<ViewRange> {
        let value = match self.fields.get(VIEW_RANGE.name) {
            None => return None,
            Some(Value::Null) => {
                self.repairs.push(Repair::ViewRangeFromNull);
                return None;
            }
            Some(value) => value,
        };
        if let Value::List(items) = &value
            && let [first, last] = items.as_slice()
            && let (Some(start), Some(end)) = (first.as_integer(), last.as_integer())
        {
            let repairs = [first, last].into_iter().filter_map(Repair::of_integer);
            for repair in repairs {
                if !self.repairs.contains(&repair) {
                    self.repairs.push(repair);
                }
            }
            return Some(ViewRange::Lines(start, end));
        }
        Some(ViewRange::Malformed(value.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Some languages cannot tell `2.0` from `2`, so no conformance case covers this repair.
    #[test]
    fn an_integer_may_come_as_a_float_and_beside_other_repairs() {
        for (drifted, plain, repairs) in [
            (
                r#"{"command":"insert","path":"p","insert_line":2.0,"insert_text":null,"new_str":"t"}"#,
                r#"{"command":"insert","path":"p","insert_line":2,"insert_text":"t"}"#,
                &["integer_from_float", "insert_text_from_new_str"][..],
            ),
            (
                r#"{"command":"view","path":"a","view_range":["1",2.0],"extra":1}"#,
                r#"{"command":"view","path":"a","view_range":[1,2]}"#,
                &["integer_from_text", "integer_from_float"],
            ),
        ] {
            let [drifted, plain] = [drifted, plain]
                .map(|json| serde_json::from_str::<serde_json::Map<_, _>>(json).unwrap());
            let command = |fields| format!("{:?}", Decoded::of(fields).command.unwrap());
            assert_eq!(command(&drifted), command(&plain));
            let found: Vec<_> =
                Decoded::of(&drifted).repairs.into_iter().map(Repair::as_str).collect();
            assert_eq!(found, repairs);
        }
        let null = serde_json::Map::from_iter([("command".to_owned(), serde_json::Value::Null)]);
        assert!(Decoded::of(&null).command.is_err());
    }
}

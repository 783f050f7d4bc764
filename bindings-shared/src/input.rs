//! The input of a tool call, and the arguments of a typed method, before they are decoded.

use memdir::command::{Decoded, TOOL_USE};
use memdir::value::{Fields, Value};
use memdir::{Content, Error, Memory};

/// The arguments of a method that is named after a command, by the names of the command's fields.
#[derive(Debug, Clone, Copy)]
pub struct Arguments<'a>(pub &'a [(&'static str, Value<'a>)]);

impl Fields for Arguments<'_> {
    fn get<'a>(&'a self, name: &str) -> Option<Value<'a>> {
        self.0.iter().find(|(own, _)| *own == name).map(|(_, value)| value.clone())
    }
}

impl Arguments<'_> {
    /// Executes the command `name`. The command may not be able to hold a value of the host, such as text that is not valid
    /// Unicode or a number of 80 bits. It is then refused with the tool's own sentence, and the hook `after` is called.
    ///
    /// # Errors
    /// The same cases as for [`Memory::run`].
    pub fn execute(&self, memory: &Memory, name: &str) -> Result<Content, Error> {
        memory.run_decoded(Decoded::named(name, self))
    }
}

/// Returns whether these are the fields of a whole `tool_use` block, whose `input` is the input of the call. No command has a
/// field `type`, and a block has no `command`. [`Decoded::of_json`](memdir::command::Decoded::of_json) also accepts both.
#[must_use]
pub fn is_tool_use_block(fields: &dyn Fields) -> bool {
    matches!(fields.get("type"), Some(Value::Text(kind)) if kind == TOOL_USE)
        && fields.get("command").is_none()
        && fields.get("input") == Some(Value::Object)
}

#[cfg(test)]
mod tests {
    use memdir::MemoryOptions;

    use super::*;

    #[test]
    fn a_block_has_its_type_an_input_and_no_command() {
        let text = |text: &'static str| Value::Text(text.into());
        let block = [("type", text("tool_use")), ("input", Value::Object)];
        let is_block = |fields: &[_]| is_tool_use_block(&Arguments(fields));
        assert!(is_block(&block));
        assert!(!is_block(&block[..1]));
        assert!(!is_block(&block[1..]));
        assert!(!is_block(&[("type", text("text")), block[1].clone()]));
        assert!(!is_block(&[block[0].clone(), ("input", text("{}"))]));
        assert!(!is_block(&[block[0].clone(), block[1].clone(), ("command", text("view"))]));
    }

    #[test]
    fn arguments_are_executed_as_a_command_and_refused_in_its_words() {
        let memory = Memory::open("memory:", MemoryOptions::default()).unwrap();
        let path = ("path", Value::Text("/memories/a.md".into()));
        let create = [path.clone(), ("file_text", Value::Text("one\n".into()))];
        Arguments(&create).execute(&memory, "create").unwrap();
        assert_eq!(memory.read("/memories/a.md").unwrap(), "one\n");
        let wrong = [path, ("file_text", Value::Other("text that is not valid Unicode".into()))];
        match Arguments(&wrong).execute(&memory, "create") {
            Err(Error::Refused(refused)) => {
                let reply = memory.execute_decoded(Decoded::named("create", &Arguments(&wrong)));
                assert_eq!(reply.content.as_text(), Some(refused.sentence()));
                assert!(refused.sentence().contains("file_text"), "{refused}");
            }
            other => panic!("{other:?}"),
        }
    }
}

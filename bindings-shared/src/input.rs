//! The input of a tool call, before it is decoded.

use memdir::command::TOOL_USE;
use memdir::value::{Fields, Value};

/// Whether these are the fields of a whole `tool_use` block, whose `input` is that of the call. No command has a field `type`, and
/// a block has no `command`. [`Decoded::of_json`](memdir::command::Decoded::of_json) takes both as well.
#[must_use]
pub fn is_tool_use_block(fields: &dyn Fields) -> bool {
    matches!(fields.get("type"), Some(Value::Text(kind)) if kind == TOOL_USE)
        && fields.get("command").is_none()
        && fields.get("input") == Some(Value::Object)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    struct Given(BTreeMap<&'static str, Value<'static>>);

    impl Fields for Given {
        fn get<'a>(&'a self, name: &str) -> Option<Value<'a>> {
            self.0.get(name).cloned()
        }
    }

    #[test]
    fn a_block_has_its_type_an_input_and_no_command() {
        let text = |text: &'static str| Value::Text(text.into());
        let block = [("type", text("tool_use")), ("input", Value::Object)];
        let is_block = |fields: &[(&'static str, Value<'static>)]| {
            is_tool_use_block(&Given(fields.iter().cloned().collect()))
        };
        assert!(is_block(&block));
        assert!(!is_block(&block[..1]));
        assert!(!is_block(&block[1..]));
        assert!(!is_block(&[("type", text("text")), block[1].clone()]));
        assert!(!is_block(&[block[0].clone(), ("input", text("{}"))]));
        assert!(!is_block(&[block[0].clone(), block[1].clone(), ("command", text("view"))]));
    }
}

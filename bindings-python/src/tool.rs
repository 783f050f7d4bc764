//! What the SDK's tools, which are written in Python, ask of the engine.

use memdir::Command;
use memdir::command::ViewRange;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::command_error;
use crate::fields::{Input, owned_value};
use crate::hints::{self, Hinted};
use crate::memory::Memory;
use crate::reply;

/// The answer to `input`, which is never taken for JSON text, as
/// content, `is_error` and what broke. With `command`, the input's own `command` does not count.
#[pyfunction]
#[pyo3(signature = (memory, input, command = None))]
pub(crate) fn answer<'py>(
    memory: &Bound<'py, Memory>,
    input: &Bound<'py, PyAny>,
    command: Option<&str>,
) -> PyResult<Hinted<'py, hints::Answer>> {
    let py = memory.py();
    let reply = memory.get().run(input, command);
    let cause = reply::cause(py, &reply)?;
    let content = reply::content(py, &reply.content)?;
    let answer = (content, reply.is_error, cause).into_pyobject(py)?;
    Ok(Hinted::new(answer.into_any()))
}

/// The command in `input`, repaired, as a dict with the fields that the documentation names.
///
/// Raises:
///     CommandError: With the sentence for the model.
#[pyfunction]
pub(crate) fn decode<'py>(
    memory: &Bound<'py, Memory>,
    input: &Bound<'py, PyAny>,
) -> PyResult<Hinted<'py, hints::Fields>> {
    let py = input.py();
    let Some(fields) = Input::of_call(input) else {
        let refusal = memory.get().core().refuse_input(&owned_value(input));
        return Err(command_error(py, refusal.content.as_str()));
    };
    let command = Command::decode(&fields).map_err(|sentence| command_error(py, &sentence))?;
    let dict = PyDict::new(py);
    dict.set_item("command", command.name())?;
    match &command {
        Command::View { path, view_range } => {
            dict.set_item("path", path)?;
            match view_range {
                None => {}
                Some(ViewRange::Lines(first, last)) => {
                    dict.set_item("view_range", [*first, *last])?;
                }
                // Whether it matters depends on what is at the path: it goes along as it came.
                Some(_) => dict.set_item("view_range", fields.raw("view_range")?)?,
            }
        }
        Command::Create { path, file_text } => {
            dict.set_item("path", path)?;
            dict.set_item("file_text", file_text)?;
        }
        Command::StrReplace { path, old_str, new_str } => {
            dict.set_item("path", path)?;
            dict.set_item("old_str", old_str)?;
            dict.set_item("new_str", new_str)?;
        }
        Command::Insert { path, insert_line, insert_text } => {
            dict.set_item("path", path)?;
            dict.set_item("insert_line", insert_line)?;
            dict.set_item("insert_text", insert_text)?;
        }
        Command::Delete { path } => dict.set_item("path", path)?,
        Command::Rename { old_path, new_path } => {
            dict.set_item("old_path", old_path)?;
            dict.set_item("new_path", new_path)?;
        }
        _ => {}
    }
    Ok(Hinted::new(dict.into_any()))
}

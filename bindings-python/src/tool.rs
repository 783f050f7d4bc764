//! What the SDK's tools, which are written in Python, ask of the engine.

use memdir::command::{Decoded, ViewRange};
use memdir::{Command, Reply, StoreError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::cancel::Cancellation;
use crate::errors::refused_error;
use crate::fields::{Input, owned_value};
use crate::hints::{self, Hinted};
use crate::hooks::{pass_on, set};
use crate::memory::Memory;
use crate::reply;

/// The reply to `input` as content, `is_error` and cause. A text is not parsed as JSON. With
/// `command`, the input's own `command` is ignored.
#[pyfunction]
#[pyo3(signature = (memory, input, command = None, cancellation = None))]
pub(crate) fn answer<'py>(
    memory: &Bound<'py, Memory>,
    input: &Bound<'py, PyAny>,
    command: Option<&str>,
    cancellation: Option<&Bound<'py, Cancellation>>,
) -> PyResult<Hinted<'py, hints::Answer>> {
    let cancellation = cancellation.map(|cancellation| cancellation.get().core());
    let reply = memory.get().run(input, command, cancellation)?;
    pass_on()?;
    in_parts(memory.py(), &reply)
}

/// The reply to `input` if it cannot be executed because of an exception.
#[pyfunction]
#[pyo3(signature = (memory, input, command, raised))]
pub(crate) fn fail<'py>(
    memory: &Bound<'py, Memory>,
    input: &Bound<'py, PyAny>,
    command: Option<&str>,
    raised: Bound<'py, PyAny>,
) -> PyResult<Hinted<'py, hints::Answer>> {
    let error = StoreError::failed("carrying out a command", PyErr::from_value(raised));
    let reply = memory.get().fail(input, command, error);
    pass_on()?;
    in_parts(memory.py(), &reply)
}

fn in_parts<'py>(py: Python<'py>, reply: &Reply) -> PyResult<Hinted<'py, hints::Answer>> {
    let cause = reply::cause(py, reply)?;
    let content = reply::content(py, &reply.content)?;
    let answer = (content, reply.is_error, cause).into_pyobject(py)?;
    Ok(Hinted::new(answer.into_any()))
}

/// The command in `input`, repaired, as a dict with the field names of the documentation.
///
/// Raises:
///     RefusedError: With the sentence for the model.
#[pyfunction]
pub(crate) fn decode<'py>(
    memory: &Bound<'py, Memory>,
    input: &Bound<'py, PyAny>,
) -> PyResult<Hinted<'py, hints::Fields>> {
    let py = input.py();
    let core = memory.get().core();
    let refused = |decoded: Decoded<'_>| {
        // It is a call like any other, of which hooks are told.
        let refusal = py.detach(|| core.execute_decoded(decoded.into_owned()));
        pass_on()?;
        Err(refused_error(py, refusal.content.as_text().unwrap_or_default()))
    };
    let Some(fields) = Input::of_call(input) else {
        return refused(Decoded::not_an_object(&owned_value(input)));
    };
    let decoded = Decoded::of(&fields);
    let Ok(command) = &decoded.command else { return refused(decoded) };
    let dict = PyDict::new(py);
    for (name, value) in command.fields() {
        set(&dict, name, &value)?;
    }
    if let Command::View { view_range: Some(ViewRange::Malformed(_)), .. } = command {
        // Whether it matters depends on what is at the path: it goes along as it came.
        dict.set_item("view_range", fields.raw("view_range")?)?;
    }
    Ok(Hinted::new(dict.into_any()))
}

//! The parts of the engine that the SDK's tools, which are written in Python, use.

use memdir::command::{Decoded, ViewRange};
use memdir::{Command, Error, Reply, StoreError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::calls::{Lines, fields_of_view, json_text};
use crate::errors::refused_error;
use crate::fields::{Input, owned_value};
use crate::hints::{self, Hinted};
use crate::hooks::set;
use crate::interruption::pass_on;
use crate::memory::Memory;
use crate::options::Text;
use crate::reply;

/// The reply to `input` as content, `is_error` and cause. A text is not parsed as JSON. With
/// `command`, the input's own `command` is ignored.
#[pyfunction]
#[pyo3(signature = (memory, input, command = None))]
pub(crate) fn answer<'py>(
    memory: &Bound<'py, Memory>,
    input: &Bound<'py, PyAny>,
    command: Option<&str>,
) -> PyResult<Hinted<'py, hints::Answer>> {
    let reply = memory.get().opened().run(input, command)?;
    pass_on()?;
    in_parts(memory.py(), &reply)
}

/// The reply to a call of the search as content, `is_error` and cause.
#[pyfunction]
pub(crate) fn answer_search<'py>(
    memory: &Bound<'py, Memory>,
    input: &Bound<'py, PyAny>,
) -> PyResult<Hinted<'py, hints::Answer>> {
    let reply = memory.get().opened().run_search(input)?;
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
    let reply = memory.get().opened().fail(input, command, failure(raised))?;
    pass_on()?;
    in_parts(memory.py(), &reply)
}

/// Same as [`answer`], if the file is in memory.
#[pyfunction]
#[pyo3(signature = (memory, input, command = None))]
pub(crate) fn answer_nowait<'py>(
    memory: &Bound<'py, Memory>,
    input: &Bound<'py, PyAny>,
    command: Option<&str>,
) -> PyResult<Option<Hinted<'py, hints::Answer>>> {
    let reply = memory.get().opened().run_nowait(input, command)?;
    reply.map(|reply| in_parts(memory.py(), &reply)).transpose()
}

/// The return value of `Memory.execute`, if the file is in memory.
#[pyfunction]
pub(crate) fn execute_nowait<'py>(
    memory: &Bound<'py, Memory>,
    input: &Bound<'py, PyAny>,
) -> PyResult<Option<Hinted<'py, hints::Reply>>> {
    let reply = match json_text(input) {
        Some(json) => memory.get().opened().get()?.execute_nowait(Decoded::parse(json)).ok(),
        None => memory.get().opened().run_nowait(input, None)?,
    };
    reply.map(|reply| reply::to_python(memory.py(), &reply)).transpose()
}

/// The return value of `Memory.execute` if the call cannot be executed because of an exception.
#[pyfunction]
pub(crate) fn execute_failed<'py>(
    memory: &Bound<'py, Memory>,
    input: &Bound<'py, PyAny>,
    raised: Bound<'py, PyAny>,
) -> PyResult<Hinted<'py, hints::Reply>> {
    let error = failure(raised);
    let reply = match json_text(input) {
        Some(json) => memory.get().opened().get()?.fail(Decoded::parse(json), error),
        None => memory.get().opened().fail(input, None, error)?,
    };
    pass_on()?;
    reply::to_python(memory.py(), &reply)
}

/// The return value of `Memory.execute_search` if the call cannot be executed because of an exception.
#[pyfunction]
pub(crate) fn search_failed(raised: Bound<'_, PyAny>) -> PyResult<Hinted<'_, hints::Reply>> {
    let py = raised.py();
    reply::to_python(py, &Reply::from(Err(Error::Store(failure(raised)))))
}

pub(crate) fn failure(raised: Bound<'_, PyAny>) -> StoreError {
    StoreError::failed("carrying out a command", PyErr::from_value(raised))
}

/// The return value of `Memory.view`, if the file is in memory.
#[pyfunction]
#[pyo3(signature = (memory, path, view_range = None))]
#[expect(clippy::needless_pass_by_value, reason = "pyo3 hands over what it has made")]
pub(crate) fn view_nowait<'py>(
    memory: &Bound<'py, Memory>,
    path: Text<'py>,
    view_range: Option<Lines>,
) -> PyResult<Option<Hinted<'py, hints::Content>>> {
    let py = memory.py();
    let fields = fields_of_view(&path, view_range);
    let content = memory.get().opened().command_nowait(py, "view", &fields)?;
    content.map(|content| reply::content(py, &content)).transpose()
}

pub(crate) fn in_parts<'py>(
    py: Python<'py>,
    reply: &Reply,
) -> PyResult<Hinted<'py, hints::Answer>> {
    let refused = || reply.refused().map(|refused| refused_error(py, &refused));
    let cause = reply::cause(py, reply)?.or_else(refused);
    let content = reply::content(py, &reply.content)?;
    let answer = (content, reply.is_error, cause).into_pyobject(py)?;
    Ok(Hinted::new(answer.into_any()))
}

/// Decodes the command in `input`, repaired, as a dict with the field names of the documentation. Nothing is
/// executed, and no hook is called.
///
/// Raises:
///     RefusedError: The input is not a command.
#[pyfunction]
pub(crate) fn decode<'py>(input: &Bound<'py, PyAny>) -> PyResult<Hinted<'py, hints::Fields>> {
    let py = input.py();
    let fields = Input::of_call(input);
    let decoded = match &fields {
        Some(fields) => fields.decode(),
        None => Decoded::not_an_object(&owned_value(input)),
    };
    let command = decoded.command.as_ref().map_err(|refusal| refused_error(py, refusal))?;
    let dict = PyDict::new(py);
    for (name, value) in command.fields() {
        set(&dict, name, &value)?;
    }
    if let Command::View { view_range: Some(ViewRange::Malformed(_)), .. } = command {
        // The range matters only if the path is a file, so it is passed on unchanged.
        dict.set_item(
            "view_range",
            fields.as_ref().map(|fields| fields.raw("view_range")).transpose()?,
        )?;
    }
    Ok(Hinted::new(dict.into_any()))
}

//! How a call of `Memory` is executed: it is decoded from Python's values, runs while other threads of Python run, and
//! its outcome becomes a value or an exception.

use memdir::command::{Decoded, SearchCall};
use memdir::value::Value;
use memdir::{Call, Content, Error, Memory as Core, Reply, StoreError};
use memdir_bindings_shared::input::Arguments;
use pyo3::Borrowed;
use pyo3::exceptions::PyOverflowError;
use pyo3::inspect::PyStaticExpr;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyString};

use crate::cancel::interruptible;
use crate::errors::{refused_error, to_python};
use crate::fields::{Input, owned_value};
use crate::interruption::pass_on;
use crate::logging;
use crate::opened::Opened;
use crate::options::Text;
use crate::shutdown::released;

impl Opened {
    /// The reply to `input`, if the file is in memory. The interpreter stays acquired, because releasing it would take
    /// longer.
    pub(crate) fn run_nowait(
        &self,
        input: &Bound<'_, PyAny>,
        command: Option<&str>,
    ) -> PyResult<Option<Reply>> {
        let core = self.get()?;
        logging::refresh();
        Ok(decoded(input, command, |decoded| core.execute_nowait(decoded).ok()))
    }

    /// The content of a typed command, if the file is in memory.
    pub(crate) fn command_nowait(
        &self,
        py: Python<'_>,
        name: &str,
        fields: &[(&'static str, Value<'_>)],
    ) -> PyResult<Option<Content>> {
        let core = self.get()?;
        logging::refresh();
        let reply = core.execute_nowait(Decoded::named(name, &Arguments(fields))).ok();
        reply.map(|reply| exception(py, &reply).map_or(Ok(reply.content), Err)).transpose()
    }

    /// Decodes with the interpreter acquired, because the input is Python's, and executes with the interpreter
    /// released.
    pub(crate) fn run(&self, input: &Bound<'_, PyAny>, command: Option<&str>) -> PyResult<Reply> {
        let (py, core) = (input.py(), self.get()?);
        decoded(input, command, |decoded| {
            logging::refresh();
            interruptible(py, |cancellation| {
                core.cancelled_by(cancellation).execute_decoded(decoded)
            })
        })
    }

    /// The reply to a call of the search.
    pub(crate) fn run_search(&self, input: &Bound<'_, PyAny>) -> PyResult<Reply> {
        let call = match (json_text(input), Input::of_search(input)) {
            (Some(json), _) => SearchCall::parse(json),
            (None, Some(fields)) => SearchCall::of(&fields),
            (None, None) => SearchCall::not_an_object(&owned_value(input)),
        };
        let core = self.get()?;
        logging::refresh();
        interruptible(input.py(), |cancellation| {
            core.cancelled_by(cancellation).execute_search(call)
        })
    }

    /// Runs a typed command. Text and numbers that a command cannot hold are refused with the tool's own sentences.
    pub(crate) fn command(
        &self,
        py: Python<'_>,
        name: &str,
        fields: &[(&'static str, Value<'_>)],
    ) -> PyResult<Content> {
        done(py, |core| Arguments(fields).execute(core, name), self)
    }

    /// Runs a command that answers with text.
    pub(crate) fn text(
        &self,
        py: Python<'_>,
        name: &str,
        fields: &[(&'static str, Value<'_>)],
    ) -> PyResult<String> {
        self.command(py, name, fields).map(Content::into_text)
    }

    /// Begins a call whose hooks the caller calls.
    pub(crate) fn begin(
        &self,
        input: &Bound<'_, PyAny>,
        command: Option<&str>,
    ) -> PyResult<Call<'static>> {
        let core = self.get()?;
        Ok(decoded(input, command, |decoded| core.begin(decoded).into_owned()))
    }

    /// The answer to a call that cannot be executed because of `error`.
    pub(crate) fn fail(
        &self,
        input: &Bound<'_, PyAny>,
        command: Option<&str>,
        error: StoreError,
    ) -> PyResult<Reply> {
        let (py, core) = (input.py(), self.get()?);
        Ok(decoded(input, command, |decoded| {
            logging::refresh();
            released(py, || core.fail(decoded, error))
        }))
    }
}

/// The JSON text of a tool call, if `input` is one.
pub(crate) fn json_text<'i>(input: &'i Bound<'_, PyAny>) -> Option<&'i str> {
    input.cast::<PyString>().ok().and_then(|text| text.to_str().ok())
}

/// An integer of any size, as in Python.
#[derive(IntoPyObject)]
pub(crate) struct Whole<'py>(pub(crate) Bound<'py, PyAny>);

impl<'py> FromPyObject<'_, 'py> for Whole<'py> {
    type Error = PyErr;

    const INPUT_TYPE: PyStaticExpr = <i64 as FromPyObject<'_, '_>>::INPUT_TYPE;

    fn extract(given: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        match given.extract::<i64>() {
            // To Python a boolean is an integer. To a command it is not.
            Ok(_) if given.is_instance_of::<PyBool>() => Ok(Self(given.to_owned())),
            // The command's own sentence says what is wrong.
            Err(error) if !error.is_instance_of::<PyOverflowError>(given.py()) => {
                Ok(Self(given.to_owned()))
            }
            _ => given.call_method0("__index__").map(Self),
        }
    }
}

/// A range of lines, or any value that was passed as one.
pub(crate) struct Lines(Value<'static>);

impl<'py> FromPyObject<'_, 'py> for Lines {
    type Error = PyErr;

    const INPUT_TYPE: PyStaticExpr = <[Whole<'py>; 2] as FromPyObject<'_, '_>>::INPUT_TYPE;

    fn extract(given: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        Ok(Self(match given.extract::<[Whole<'py>; 2]>() {
            Ok(lines) => Value::List(lines.iter().map(|Whole(line)| owned_value(line)).collect()),
            Err(_) => owned_value(&given),
        }))
    }
}

/// The arguments of `view` as fields.
pub(crate) fn fields_of_view<'a>(
    path: &'a Text<'_>,
    view_range: Option<Lines>,
) -> Vec<(&'static str, Value<'a>)> {
    let mut fields = vec![("path", path.field())];
    fields.extend(view_range.map(|Lines(range)| ("view_range", range)));
    fields
}

/// Decodes the input as the command `command`, or as the command that it names, and calls `work` with the result.
fn decoded<T>(
    input: &Bound<'_, PyAny>,
    command: Option<&str>,
    work: impl FnOnce(Decoded<'_>) -> T,
) -> T {
    let found = match command {
        None => Input::of_call(input),
        Some(_) => Input::new(input),
    };
    work(match (&found, command) {
        (None, _) => Decoded::not_an_object(&owned_value(input)),
        (Some(fields), None) => fields.decode(),
        (Some(fields), Some(name)) => Decoded::named(name, fields),
    })
}

/// The exception of a typed command with this reply.
pub(crate) fn exception(py: Python<'_>, reply: &Reply) -> Option<PyErr> {
    match &reply.cause {
        Some(cause) => Some(to_python(py, cause)),
        None => reply.refused().map(|refused| refused_error(py, &refused)),
    }
}

/// Runs a typed command with the interpreter released.
pub(crate) fn done<T: Send>(
    py: Python<'_>,
    command: impl FnOnce(&Core) -> Result<T, Error> + Send,
    opened: &Opened,
) -> PyResult<T> {
    let core = opened.get()?;
    logging::refresh();
    let done = interruptible(py, |cancellation| command(&core.cancelled_by(cancellation)))?
        .map_err(|error| to_python(py, &error));
    pass_on()?;
    done
}

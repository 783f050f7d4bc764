//! Hooks written in Python, for the core.
//!
//! The core calls them from the thread that a command runs on, with the interpreter released.

use std::cell::RefCell;
use std::sync::{Arc, Mutex, PoisonError};

use memdir::value::Value;
use memdir::{
    Command, ConfigError, Event as CoreEvent, HookCall, HookDecision, HookError, MemoryHooks,
};
use pyo3::exceptions::{PyException, PyTypeError};
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyMapping, PyMappingProxy, PyType};

use crate::errors::to_python;
use crate::fields::Input;
use crate::logging;
use crate::options::wrong;
use crate::shutdown::attached;

/// What happened in one call.
///
/// Attributes:
///     command: The name of the command; `None` if the input named none of the six.
///     path: The canonical path; for a rename, the old one. `None` if the call was refused before
///         its paths were validated.
///     new_path: For a rename: the new path.
///     outcome: `"ok"`, `"refused"`, `"denied"` (by `before`), `"failed"` (the store or a hook) or
///         `"cancelled"` (by the caller, before it began to write).
///     bytes: If the outcome is ok: for `create`, `str_replace` and `insert` the bytes of the text
///         to write, as `before` left it; for `view` those of the reply. Otherwise 0.
///     lines: The lines of the same text.
///     duration: The time until the reply was ready, `before` included, in seconds.
///     repairs: The ids of the repairs in the input, such as `"insert_text_from_new_str"`.
///     content: The text of the reply, with `event_content=True`; else `None`.
///     change: The id of the change that the command made, if the memory has a history; else `None`.
#[pyclass(module = "memdir", frozen, get_all)]
pub(crate) struct Event {
    command: Option<&'static str>,
    path: Option<String>,
    new_path: Option<String>,
    outcome: &'static str,
    bytes: u64,
    lines: u64,
    duration: f64,
    repairs: Vec<&'static str>,
    content: Option<String>,
    change: Option<String>,
}

#[pymethods]
impl Event {
    fn __repr__(&self) -> String {
        let Self { command, path, outcome, bytes, .. } = self;
        let (command, path) = (command.unwrap_or("None"), path.as_deref().unwrap_or("None"));
        format!("Event(command={command}, path={path}, outcome={outcome}, bytes={bytes})")
    }
}

impl From<&CoreEvent> for Event {
    fn from(event: &CoreEvent) -> Self {
        Self {
            command: event.command,
            path: event.path.as_ref().map(ToString::to_string),
            new_path: event.new_path.as_ref().map(ToString::to_string),
            outcome: event.outcome.as_str(),
            bytes: event.bytes,
            lines: event.lines,
            duration: event.duration.as_secs_f64(),
            repairs: event.repairs.iter().map(|repair| repair.as_str()).collect(),
            content: event.content.clone(),
            change: event.change.as_ref().map(ToString::to_string),
        }
    }
}

/// Whether the caller awaits what the hooks of a memory return.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Awaited {
    No,
    /// `AsyncMemory` does, and so it may have coroutine functions.
    Yes,
}

/// Your two functions.
pub(crate) struct PythonHooks {
    before: Function,
    after: Function,
}

impl PythonHooks {
    /// `None` if neither is given.
    pub(crate) fn new(
        before: Option<&Bound<'_, PyAny>>,
        after: Option<&Bound<'_, PyAny>>,
        awaited: Awaited,
    ) -> PyResult<Option<Arc<Self>>> {
        if before.is_none() && after.is_none() {
            return Ok(None);
        }
        let before = Function::new("before", before, awaited)?;
        let after = Function::new("after", after, awaited)?;
        Ok(Some(Arc::new(Self { before, after })))
    }

    /// For the garbage collector, because a hook often refers to its own memory.
    pub(crate) fn traverse(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.before.traverse(visit)?;
        self.after.traverse(visit)
    }

    pub(crate) fn clear(&self) {
        self.before.take();
        self.after.take();
    }
}

impl MemoryHooks for PythonHooks {
    fn before(&self, command: &Command<'_>, _: &HookCall<'_>) -> Result<HookDecision, HookError> {
        let asked = attached(|py| match self.before.get(py) {
            Some(before) => decided(command, ask(before.bind(py), command)),
            None => Ok(HookDecision::Allow),
        });
        asked.unwrap_or_else(|| Err("the interpreter is shutting down".into()))
    }

    fn after(&self, event: &CoreEvent) {
        attached(|py| {
            let Some(after) = self.after.get(py) else { return };
            let told = after.bind(py).call1((Event::from(event),));
            let told = told.and_then(|returned| unawaited("after", &returned).map_or(Ok(()), Err));
            let Err(error) = told else { return };
            if error.is_instance_of::<PyException>(py) {
                logging::exception(py, "the hook `after` failed", error);
            } else {
                INTERRUPTED.with(|interrupted| interrupted.replace(Some(error)));
            }
        });
    }
}

fn ask<'py>(before: &Bound<'py, PyAny>, command: &Command<'_>) -> PyResult<Bound<'py, PyAny>> {
    before.call1((fields(before.py(), command)?,))
}

/// What `before` decided about the command, by what it returned or raised.
pub(crate) fn decided(
    command: &Command<'_>,
    answer: PyResult<Bound<'_, PyAny>>,
) -> Result<HookDecision, HookError> {
    let returned = match answer {
        Ok(returned) if returned.is_none() => return Ok(HookDecision::Allow),
        Ok(returned) => returned,
        Err(error) => return Python::attach(|py| refusal(py, error)),
    };
    if let Some(problem) = unawaited("before", &returned) {
        return Err(problem.into());
    }
    // Not any object that happens to have attributes.
    let input = returned.cast::<PyMapping>().ok().and_then(|mapping| Input::new(mapping));
    match input {
        Some(fields) => HookDecision::read(command, &fields),
        None => {
            let kind = returned.get_type().name().map(|name| name.to_string());
            let kind = kind.unwrap_or_else(|_| "something else".to_owned());
            let problem = format!("`before` must return None or a dict, not {kind}");
            Err(PyTypeError::new_err(problem).into())
        }
    }
}

/// The error for an awaitable on a path that awaits nothing: the hook has not run, so this is no answer of it. A coroutine is closed,
/// so that Python does not warn of it as well.
fn unawaited(name: &str, returned: &Bound<'_, PyAny>) -> Option<PyErr> {
    if !returned.get_type().hasattr("__await__").unwrap_or(false) {
        return None;
    }
    // Futures and tasks have no such method.
    let _ = returned.call_method0("close");
    Some(PyTypeError::new_err(format!(
        "`{name}` returned an awaitable, and only AsyncMemory and AsyncMemoryTool await one"
    )))
}

/// A `memdir.Deny` is a denial; every other exception is a failure.
fn refusal(py: Python<'_>, error: PyErr) -> Result<HookDecision, HookError> {
    static DENY: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    let class = DENY.import(py, "memdir._errors", "Deny")?;
    if !error.is_instance(py, class) {
        return Err(error.into());
    }
    let sentence = error.value(py).str()?;
    Ok(HookDecision::Deny(sentence.to_string_lossy().into_owned()))
}

/// The command as an immutable dict, because a change in place has no effect.
pub(crate) fn fields<'py>(
    py: Python<'py>,
    command: &Command<'_>,
) -> PyResult<Bound<'py, PyMappingProxy>> {
    let dict = PyDict::new(py);
    for (name, value) in command.fields() {
        set(&dict, name, &value)?;
    }
    Ok(PyMappingProxy::new(py, dict.as_mapping()))
}

/// Puts a command's field into a dict.
pub(crate) fn set(dict: &Bound<'_, PyDict>, name: &str, value: &Value<'_>) -> PyResult<()> {
    match value {
        Value::Text(text) => dict.set_item(name, text),
        Value::Integer(integer) => dict.set_item(name, integer),
        Value::List(items) => {
            let integers: Vec<Option<i64>> = items.iter().map(Value::as_integer).collect();
            dict.set_item(name, integers)
        }
        _ => Ok(()),
    }
}

thread_local! {
    /// An exception of `after` on this thread that is not an error, such as a `KeyboardInterrupt`.
    static INTERRUPTED: RefCell<Option<PyErr>> = const { RefCell::new(None) };
}

/// Raises the exception that interrupted the hook `after` of the last command on this thread.
pub(crate) fn pass_on() -> PyResult<()> {
    match INTERRUPTED.with(RefCell::take) {
        Some(interruption) => Err(interruption),
        None => Ok(()),
    }
}

/// Whether calling it gives a coroutine: an `async def`, or an object that is called by one.
#[pyfunction]
pub(crate) fn is_coroutine_function(function: &Bound<'_, PyAny>) -> PyResult<bool> {
    let inspect = function.py().import("inspect")?;
    for called in [function.clone(), function.getattr("__call__")?] {
        if inspect.call_method1("iscoroutinefunction", (called,))?.extract()? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// A function that the garbage collector can clear.
struct Function(Mutex<Option<Py<PyAny>>>);

impl Function {
    fn new(name: &str, function: Option<&Bound<'_, PyAny>>, awaited: Awaited) -> PyResult<Self> {
        let Some(function) = function else { return Ok(Self(Mutex::default())) };
        let py = function.py();
        if !function.is_callable() {
            return Err(to_python(py, &wrong(name, "a function, or None", function)));
        }
        if awaited == Awaited::No && is_coroutine_function(function)? {
            let problem = ConfigError::of_option(name).and(
                " must be a function that is called at once, not a coroutine function: AsyncMemory and \
                 AsyncMemoryTool take those",
            );
            return Err(to_python(py, &problem.into()));
        }
        Ok(Self(Mutex::new(Some(function.clone().unbind()))))
    }

    fn get(&self, py: Python<'_>) -> Option<Py<PyAny>> {
        let function = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        function.as_ref().map(|function| function.clone_ref(py))
    }

    fn take(&self) {
        let function = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        drop(function);
    }

    fn traverse(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        match self.0.try_lock() {
            Ok(function) => visit.call(&*function),
            // It is in use, so the memory is not garbage.
            Err(_) => Ok(()),
        }
    }
}

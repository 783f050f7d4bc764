//! Hooks written in Python, for the core.
//!
//! The core calls them from the thread on which a command runs, with the interpreter released.

use std::sync::{Arc, Mutex, PoisonError};

use memdir::value::Value;
use memdir::{
    Command, ConfigError, Event, HookCall as CoreCall, HookDecision, HookError, MemoryHooks,
};
use pyo3::exceptions::PyTypeError;
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyMapping, PyMappingProxy, PyType};

use crate::cancel::interruptible;
use crate::errors::to_python;
use crate::fields::Input;
use crate::guarded::call;
use crate::options::wrong_argument;
use crate::results;
use crate::shutdown::attached;
use crate::{interruption, logging};

/// Does the caller await the results of a memory's hooks?
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Awaited {
    No,
    /// `AsyncMemory` does, so its hooks may be coroutine functions.
    Yes,
}

/// The two functions of the application.
pub(crate) struct PythonHooks {
    before: Function,
    /// True if `before` also takes the call.
    takes_call: bool,
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
        let asked = Function::new("before", before, awaited)?;
        let takes_call = before.is_some_and(takes_call);
        let after = Function::new("after", after, awaited)?;
        Ok(Some(Arc::new(Self { before: asked, takes_call, after })))
    }

    /// Used by the garbage collector, because a hook often refers to its own memory.
    pub(crate) fn traverse(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.before.traverse(visit)?;
        self.after.traverse(visit)
    }

    fn ask<'py>(
        &self,
        before: &Bound<'py, PyAny>,
        command: &Command<'_>,
        call: &CoreCall<'_>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let call = self.takes_call.then(|| HookCall::of(call.clone()));
        ask(before, fields(before.py(), command)?, call)
    }

    pub(crate) fn clear(&self) {
        self.before.take();
        self.after.take();
    }
}

impl MemoryHooks for PythonHooks {
    fn before(
        &self,
        command: &Command<'_>,
        call: &CoreCall<'_>,
    ) -> Result<HookDecision, HookError> {
        let asked = attached(|py| match self.before.get(py) {
            Some(before) => decided(command, self.ask(before.bind(py), command, call)),
            None => Ok(HookDecision::Allow),
        });
        asked.unwrap_or_else(|| Err("the interpreter is shutting down".into()))
    }

    fn after(&self, event: &Event) {
        attached(|py| {
            let Some(after) = self.after.get(py) else { return };
            let told = results::to_python(py, event)
                .and_then(|event| call(after.bind(py), (event,), None));
            let told = told.and_then(|returned| unawaited("after", &returned).map_or(Ok(()), Err));
            if let Some(error) = told.err().and_then(|error| interruption::keep(py, error)) {
                logging::exception(py, "the hook `after` failed", error);
            }
        });
    }
}

/// Describes a call, beyond its command, to the hook `before`.
///
/// Attributes:
///     actor: The actor of `acting_as`, or else the option `actor`; `None` if neither is set.
///     session: The session. Each memory has its own, and so has each result of `acting_as`.
///     tool_use_id: The `id` of the `tool_use` block; `None` if the input was not a whole block.
#[pyclass(module = "memdir", frozen)]
pub(crate) struct HookCall(CoreCall<'static>);

#[pymethods]
impl HookCall {
    /// The actor of `acting_as`, or else the option `actor`; `None` if neither is set.
    #[getter]
    fn actor(&self) -> Option<&str> {
        self.0.actor()
    }

    /// The session. Each memory has its own, and so has each result of `acting_as`.
    #[getter]
    fn session(&self) -> &str {
        self.0.session()
    }

    /// The `id` of the `tool_use` block; `None` if the input was not a whole block.
    #[getter]
    fn tool_use_id(&self) -> Option<&str> {
        self.0.tool_use_id()
    }

    /// Shows what the command would change, as a unified diff of the texts as they would be stored.
    /// Empty for a view.
    ///
    /// An approval applies to this diff. If its basis has changed when the command is executed, nothing
    /// is changed, and the model reads that it has to view the file again. Calling this reads the file,
    /// or lists the directory, and is not recorded as a view or as use.
    ///
    /// Raises:
    ///     RefusedError: The command would be refused. If you let it pass, the command is refused with
    ///         the same sentence.
    ///     StoreError: The store failed.
    ///     HookError: The hook has already returned.
    fn diff(&self, py: Python<'_>) -> PyResult<String> {
        let diff = interruptible(py, |cancellation| self.0.cancelled_by(cancellation).diff())?;
        diff.map_err(|error| to_python(py, &error))
    }
}

impl HookCall {
    pub(crate) fn of(call: CoreCall<'_>) -> Self {
        Self(call.into_owned())
    }
}

/// Returns whether the hook `before` also takes the call, which it does if it has a parameter `call`.
#[pyfunction]
pub(crate) fn takes_call(before: &Bound<'_, PyAny>) -> bool {
    has_parameter(before, "call")
}

/// Returns whether a function has a parameter with this name. A function without a signature, such as some C functions,
/// has none.
pub(crate) fn has_parameter(function: &Bound<'_, PyAny>, name: &str) -> bool {
    let inspect = || function.py().import("inspect")?.call_method1("signature", (function,));
    let has = || inspect()?.getattr("parameters")?.contains(name);
    has().unwrap_or(false)
}

/// Calls `before`, with the call if it takes one.
pub(crate) fn ask<'py>(
    before: &Bound<'py, PyAny>,
    fields: Bound<'py, PyMappingProxy>,
    hook_call: Option<HookCall>,
) -> PyResult<Bound<'py, PyAny>> {
    let Some(hook_call) = hook_call else { return call(before, (fields,), None) };
    let named = PyDict::new(before.py());
    named.set_item("call", Py::new(before.py(), hook_call)?)?;
    call(before, (fields,), Some(&named))
}

/// The decision of `before` about the command, from its result or its exception.
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
    // Other objects with attributes do not count as a command.
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

/// The error for an awaitable where the caller awaits nothing: the hook has not run, so the awaitable
/// is not its answer. A coroutine is closed, because Python would otherwise also print a warning.
pub(crate) fn unawaited(name: &str, returned: &Bound<'_, PyAny>) -> Option<PyErr> {
    if !returned.get_type().hasattr("__await__").unwrap_or(false) {
        return None;
    }
    // Futures and tasks have no method `close`.
    let _ = returned.call_method0("close");
    Some(PyTypeError::new_err(format!(
        "`{name}` returned an awaitable, and only AsyncMemory and AsyncMemoryTool await one"
    )))
}

/// Converts an exception: a `memdir.Deny` is a denial, every other exception is a failure.
fn refusal(py: Python<'_>, error: PyErr) -> Result<HookDecision, HookError> {
    static DENY: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    let class = DENY.import(py, "memdir._errors", "Deny")?;
    if !error.is_instance(py, class) {
        return Err(error.into());
    }
    let sentence = error.value(py).str()?;
    Ok(HookDecision::Deny(sentence.to_string_lossy().into_owned()))
}

/// The command as an immutable dict, because changing it in place would have no effect.
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

/// Returns whether a call of the function gives a coroutine: it is an `async def`, or an object whose
/// `__call__` is one.
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

/// A function reference that the garbage collector can clear.
pub(crate) struct Function(Mutex<Option<Py<PyAny>>>);

impl Function {
    pub(crate) fn new(
        name: &str,
        function: Option<&Bound<'_, PyAny>>,
        awaited: Awaited,
    ) -> PyResult<Self> {
        let Some(function) = function else { return Ok(Self(Mutex::default())) };
        let py = function.py();
        if !function.is_callable() {
            return Err(wrong_argument(name, "a function, or None", function));
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

    pub(crate) fn get(&self, py: Python<'_>) -> Option<Py<PyAny>> {
        let function = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        function.as_ref().map(|function| function.clone_ref(py))
    }

    pub(crate) fn take(&self) {
        let function = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        drop(function);
    }

    pub(crate) fn traverse(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        match self.0.try_lock() {
            Ok(function) => visit.call(&*function),
            // The function is in use, so the memory is not garbage.
            Err(_) => Ok(()),
        }
    }
}

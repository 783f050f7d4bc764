//! [`PendingCall`]: a call of an `AsyncMemory` with hooks, which `python/memdir/_async_hooks.py` executes.
//!
//! A hook may be a coroutine function, so no thread waits for it: the call is begun and decoded, Python calls and awaits the
//! hooks, and a thread executes the command in between.

use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use memdir::command::Decoded;
use memdir::{
    Call, Cancellation, Command, Event, HookDecision, HookError, Memory as Core, Reply, StoreError,
};
use memdir_bindings_shared::input::Arguments;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyMappingProxy};

use crate::calls::{Lines, Whole, exception, fields_of_view, json_text};
use crate::fields::owned_value;
use crate::hints::{self, Hinted};
use crate::hooks::{Awaited, HookCall, ask, decided, fields};
use crate::memory::Memory;
use crate::options::Text;
use crate::pool::UnderWay;
use crate::shutdown::released;
use crate::stores::Argument;
use crate::tool::{failure, in_parts};
use crate::{cancel, logging, reply, results};

/// A `Memory` whose hooks may be coroutine functions, because `AsyncMemory` awaits them. Calls on this `Memory` itself fail with
/// such a hook.
///
/// Raises:
///     ConfigError: The address or an option is wrong.
///     StoreError: The store cannot be opened.
#[pyfunction]
pub(crate) fn open_async<'py>(
    py: Python<'py>,
    store: Argument<'py>,
    options: Hinted<'py, hints::FieldMapping>,
) -> PyResult<Memory> {
    Memory::open(py, store, Some(options.into_inner().cast::<PyDict>()?), Awaited::Yes)
}

/// A call that is decoded and validated. It is finished once, by `finish`, `cancel` or `fail`, and then has its reply. The memory
/// counts it as running until `end`.
#[pyclass(module = "memdir._memdir", frozen)]
pub(crate) struct PendingCall {
    core: Core,
    state: Mutex<State>,
    /// Cancels the command. Set when `before` is called on the thread that executes the command.
    cancellation: Mutex<Option<Cancellation>>,
    under_way: Mutex<Option<UnderWay>>,
}

enum State {
    Begun(Box<Call<'static>>),
    /// A thread is executing it.
    Taken,
    Finished(Arc<Reply>, Py<PyAny>),
}

#[pymethods]
impl PendingCall {
    /// The command for `before`; `None` if `before` is not called.
    #[getter]
    fn command<'py>(&self, py: Python<'py>) -> PyResult<Option<Hinted<'py, hints::FieldMapping>>> {
        Ok(self.fields(py)?.map(|fields| Hinted::new(fields.into_any())))
    }

    /// Returns whether the call changes nothing: it is a view, or is already refused.
    #[getter]
    fn is_view(&self) -> bool {
        match &*self.state() {
            State::Begun(call) => matches!(call.command(), None | Some(Command::View { .. })),
            State::Taken | State::Finished(..) => false,
        }
    }

    /// The result of `before`, called on the thread of this call; `None` if `before` is not called.
    fn ask<'py>(
        &self,
        py: Python<'py>,
        before: &Bound<'py, PyAny>,
        takes_call: bool,
    ) -> PyResult<Option<Hinted<'py, hints::Anything>>> {
        let Some(command) = self.fields(py)? else { return Ok(None) };
        let call = if takes_call { self.hook_call() } else { None };
        // Commands that the hook executes are separate calls.
        *self.cancellation() = cancel::of_call();
        ask(before, command, call).map(Hinted::new).map(Some)
    }

    /// The description of the call for `before`; `None` if `before` is not called.
    #[getter]
    fn hook_call(&self) -> Option<HookCall> {
        match &*self.state() {
            State::Begun(call) => self.core.hook_call(call).map(HookCall::of),
            State::Taken | State::Finished(..) => None,
        }
    }

    /// Executes the command, if the result or the exception of `before` allows it. Returns the event for `after`; `None` if the
    /// call was cancelled meanwhile.
    fn finish<'py>(
        &self,
        py: Python<'py>,
        returned: Hinted<'_, hints::Anything>,
        raised: Hinted<'_, hints::Anything>,
    ) -> PyResult<Option<Hinted<'py, Event>>> {
        let Some(call) = self.take() else { return Ok(None) };
        let cancellation = cancel::of_call().or_else(|| self.cancellation().take());
        let (returned, raised) = (returned.into_inner(), raised.into_inner());
        let answer = if raised.is_none() { Ok(returned) } else { Err(PyErr::from_value(raised)) };
        let decision = match call.command() {
            Some(command) => decided(&command, answer),
            None => Ok(HookDecision::Allow),
        };
        self.finished(py, call, decision, &cancellation.unwrap_or(Cancellation::never())).map(Some)
    }

    /// Gives the call up, unless a thread executes it: nothing is changed. Returns the event for `after`, or `None`.
    fn cancel<'py>(&self, py: Python<'py>) -> PyResult<Option<Hinted<'py, Event>>> {
        let Some(mut call) = self.take() else { return Ok(None) };
        // This is the thread of the event loop, so a hook's decision, which may wait for a diff, is not used.
        call.fail(StoreError::Cancelled);
        self.finished(py, call, Ok(HookDecision::Allow), &Cancellation::never()).map(Some)
    }

    /// Ends the call because of an exception outside the store, for example because no thread could be started. Returns the event
    /// for `after`, or `None`.
    fn fail<'py>(
        &self,
        py: Python<'py>,
        raised: Bound<'py, PyAny>,
    ) -> PyResult<Option<Hinted<'py, Event>>> {
        let Some(mut call) = self.take() else { return Ok(None) };
        call.fail(failure(raised));
        self.finished(py, call, Ok(HookDecision::Allow), &Cancellation::never()).map(Some)
    }

    /// The event for `after`, once the call is finished.
    #[getter]
    fn event<'py>(&self, py: Python<'py>) -> Option<Hinted<'py, Event>> {
        match &*self.state() {
            State::Finished(_, event) => Some(Hinted::new(event.bind(py).clone())),
            State::Begun(_) | State::Taken => None,
        }
    }

    /// Ends the call: the memory no longer counts it as running.
    fn end(&self) {
        let ended = self.under_way.lock().unwrap_or_else(PoisonError::into_inner).take();
        drop(ended);
    }

    /// The return value of `Memory.execute`.
    fn reply<'py>(&self, py: Python<'py>) -> PyResult<Hinted<'py, hints::Reply>> {
        let reply = self.answered()?;
        reply::to_python(py, &reply)
    }

    /// The reply as content, `is_error` and cause.
    fn answer<'py>(&self, py: Python<'py>) -> PyResult<Hinted<'py, hints::Answer>> {
        let reply = self.answered()?;
        in_parts(py, &reply)
    }

    /// The return value of the command's method.
    ///
    /// Raises:
    ///     RefusedError: The command was refused.
    ///     StoreError: The store failed.
    ///     HookError: The hook `before` failed.
    fn content<'py>(&self, py: Python<'py>) -> PyResult<Hinted<'py, hints::Content>> {
        let reply = self.answered()?;
        match exception(py, &reply) {
            Some(exception) => Err(exception),
            None => reply::content(py, &reply.content),
        }
    }
}

impl PendingCall {
    fn new(memory: &Memory, call: Call<'static>) -> PyResult<Self> {
        let opened = memory.opened();
        Ok(Self {
            core: opened.get()?,
            state: Mutex::new(State::Begun(Box::new(call))),
            cancellation: Mutex::default(),
            under_way: Mutex::new(Some(UnderWay::begin(&opened.calls))),
        })
    }

    fn fields<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyMappingProxy>>> {
        let state = self.state();
        let State::Begun(call) = &*state else { return Ok(None) };
        call.command().map(|command| fields(py, &command)).transpose()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn cancellation(&self) -> MutexGuard<'_, Option<Cancellation>> {
        self.cancellation.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the call, for the method that finishes it.
    fn take(&self) -> Option<Box<Call<'static>>> {
        let mut state = self.state();
        match mem::replace(&mut *state, State::Taken) {
            State::Begun(call) => Some(call),
            other => {
                *state = other;
                None
            }
        }
    }

    fn finished<'py>(
        &self,
        py: Python<'py>,
        call: Box<Call<'static>>,
        before: Result<HookDecision, HookError>,
        cancellation: &Cancellation,
    ) -> PyResult<Hinted<'py, Event>> {
        logging::refresh();
        let core = self.core.cancelled_by(cancellation);
        let (reply, event) = released(py, || core.finish(*call, before));
        let event = event.ok_or_else(|| PyRuntimeError::new_err("a call without an event"))?;
        let event = results::to_python(py, &event)?;
        *self.state() = State::Finished(Arc::new(reply), event.clone().unbind());
        Ok(Hinted::new(event))
    }

    fn answered(&self) -> PyResult<Arc<Reply>> {
        match &*self.state() {
            State::Finished(reply, _) => Ok(Arc::clone(reply)),
            State::Begun(_) | State::Taken => Err(PyRuntimeError::new_err("not finished")),
        }
    }
}

/// Begins a call of `Memory.execute`.
#[pyfunction]
pub(crate) fn begin_execute(
    memory: &Bound<'_, Memory>,
    input: &Bound<'_, PyAny>,
) -> PyResult<PendingCall> {
    let Some(json) = json_text(input) else { return begin(memory, input, None) };
    let call = memory.get().opened().get()?.begin(Decoded::parse(json)).into_owned();
    PendingCall::new(memory.get(), call)
}

/// Begins a call of `answer`.
#[pyfunction]
#[pyo3(signature = (memory, input, command = None))]
pub(crate) fn begin(
    memory: &Bound<'_, Memory>,
    input: &Bound<'_, PyAny>,
    command: Option<&str>,
) -> PyResult<PendingCall> {
    PendingCall::new(memory.get(), memory.get().opened().begin(input, command)?)
}

/// Begins a call of the method of `Memory` with the name `command`, with its arguments.
#[pyfunction]
#[pyo3(signature = (
    memory, command, *, path = None, view_range = None, file_text = None, old_str = None, new_str = None,
    insert_line = None, insert_text = None, old_path = None, new_path = None
))]
#[allow(clippy::too_many_arguments, reason = "keyword arguments")]
#[expect(clippy::needless_pass_by_value, reason = "pyo3 hands over what it has made")]
pub(crate) fn begin_command<'py>(
    memory: &Bound<'py, Memory>,
    command: &str,
    path: Option<Text<'py>>,
    view_range: Option<Lines>,
    file_text: Option<Text<'py>>,
    old_str: Option<Text<'py>>,
    new_str: Option<Text<'py>>,
    insert_line: Option<Whole<'py>>,
    insert_text: Option<Text<'py>>,
    old_path: Option<Text<'py>>,
    new_path: Option<Text<'py>>,
) -> PyResult<PendingCall> {
    let mut fields = path.as_ref().map(|path| fields_of_view(path, view_range)).unwrap_or_default();
    let texts = [
        ("file_text", file_text),
        ("old_str", old_str),
        ("new_str", new_str),
        ("insert_text", insert_text),
        ("old_path", old_path),
        ("new_path", new_path),
    ];
    fields.extend(texts.iter().filter_map(|(name, text)| Some((*name, text.as_ref()?.field()))));
    fields.extend(insert_line.map(|Whole(line)| ("insert_line", owned_value(&line))));
    let core = memory.get().opened().get()?;
    let call = core.begin(Decoded::named(command, &Arguments(&fields))).into_owned();
    PendingCall::new(memory.get(), call)
}

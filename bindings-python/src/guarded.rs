//! Calls of Python code during which the interpreter may end.
//!
//! Before Python 3.14, the interpreter then ends each other thread that needs it, with `pthread_exit`. With glibc this
//! unwinds the stack of the thread, and a frame of Rust below Python's frames aborts the process or crashes it. The calls
//! of this file stop the unwinding before it reaches such a frame. The thread then waits until the process has ended, as
//! it does since Python 3.14. pyo3 does the same for a thread that acquires the interpreter.
#![expect(unsafe_code, reason = "pyo3 declares that calls of Python do not unwind")]

use std::hint::black_box;
use std::{mem, ptr, thread};

use pyo3::BoundObject;
use pyo3::ffi::{self, PyObject};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple};

/// The positional arguments of a call.
pub(crate) trait Arguments<'py>: IntoPyObject<'py, Target = PyTuple> {}

impl<'py, T: IntoPyObject<'py, Target = PyTuple>> Arguments<'py> for T {}

/// Calls a function.
pub(crate) fn call<'py>(
    function: &Bound<'py, PyAny>,
    arguments: impl Arguments<'py>,
    named: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = function.py();
    let arguments = arguments.into_pyobject(py).map_err(Into::into)?.into_bound();
    let returned = call_or_wait(function, &arguments, named);
    // SAFETY: it is a new reference, or null if an exception was raised.
    unsafe { Bound::from_owned_ptr_or_err(py, returned) }
}

/// Calls a method.
pub(crate) fn call_method<'py>(
    object: &Bound<'py, PyAny>,
    name: impl IntoPyObject<'py, Target = PyString>,
    arguments: impl Arguments<'py>,
) -> PyResult<Bound<'py, PyAny>> {
    call(&object.getattr(name)?, arguments, None)
}

/// The first items of an iterable, or all of them. Each may run Python code, such as that of a generator.
pub(crate) fn items<'py>(
    iterable: &Bound<'py, PyAny>,
    most: Option<usize>,
) -> PyResult<Bound<'py, PyTuple>> {
    let py = iterable.py();
    let slice = call(&py.import("itertools")?.getattr("islice")?, (iterable, most), None)?;
    let items = call(&py.get_type::<PyTuple>(), (slice,), None)?;
    Ok(items.cast_into::<PyTuple>()?)
}

type Call = unsafe extern "C" fn(*mut PyObject, *mut PyObject, *mut PyObject) -> *mut PyObject;
type UnwindingCall =
    unsafe extern "C-unwind" fn(*mut PyObject, *mut PyObject, *mut PyObject) -> *mut PyObject;

/// `PyObject_Call`. Nothing in this frame may have a destructor except the guard, which runs first.
fn call_or_wait(
    function: &Bound<'_, PyAny>,
    arguments: &Bound<'_, PyTuple>,
    named: Option<&Bound<'_, PyDict>>,
) -> *mut PyObject {
    let named = named.map_or(ptr::null_mut(), Bound::as_ptr);
    // SAFETY: the types differ only in the name of the ABI, and Rust declares these two compatible.
    let call = unsafe { mem::transmute::<Call, UnwindingCall>(ffi::PyObject_Call) };
    // Otherwise the optimizer would see the declaration by pyo3, and leave out the guard.
    let call = black_box(call);
    let guard = WaitForEnd;
    // SAFETY: a callable, a tuple, and a dict or null, all of them borrowed, by a thread that has the interpreter.
    let returned = unsafe { call(function.as_ptr(), arguments.as_ptr(), named) };
    mem::forget(guard);
    returned
}

/// Dropped only while the stack unwinds. Then the thread waits until the process has ended.
struct WaitForEnd;

impl Drop for WaitForEnd {
    fn drop(&mut self) {
        loop {
            thread::park();
        }
    }
}

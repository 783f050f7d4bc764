//! The core's reply as Python's `Reply`, which is declared in Python: a named pair that type
//! checkers can take apart.

use memdir::{Content, ErrorKind, Reply};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyString, PyType};

use crate::errors::{interruption, to_python as error_to_python};
use crate::guarded::{call, call_method};
use crate::hints::{self, Hinted};
use crate::shutdown::counted;

static REPLY: PyOnceLock<Py<PyType>> = PyOnceLock::new();

/// Converts text to a `str`, and an image to a list with its block.
///
/// # Errors
/// Memory has run out.
pub(crate) fn content<'py>(
    py: Python<'py>,
    content: &Content,
) -> PyResult<Hinted<'py, hints::Content>> {
    let made = match content {
        Content::Image { media_type, bytes } => counted(|| {
            let blocks = py.import("memdir._reply")?;
            call_method(&blocks, "image", (*media_type, PyBytes::new(py, bytes)))
        })?,
        text => PyString::new(py, text.as_text().unwrap_or_default()).into_any(),
    };
    Ok(Hinted::new(made))
}

/// Makes a `memdir.Reply`.
///
/// # Errors
/// An exception of a store or a hook written in Python that is not an error, such as a
/// `KeyboardInterrupt`.
pub(crate) fn to_python<'py>(
    py: Python<'py>,
    reply: &Reply,
) -> PyResult<Hinted<'py, hints::Reply>> {
    let class = REPLY.import(py, "memdir._reply", "Reply")?;
    let content = content(py, &reply.content)?;
    let cause = cause(py, reply)?;
    let kind = reply.kind.map(ErrorKind::as_str);
    let made = counted(|| match (cause, kind) {
        (None, None) => call(class, (content, reply.is_error), None),
        (cause, kind) => call(class, (content, reply.is_error, cause, kind), None),
    });
    made.map(Hinted::new)
}

/// The error as a `memdir.StoreError` or a `memdir.HookError`.
///
/// # Errors
/// Same as [`to_python`].
pub(crate) fn cause(py: Python<'_>, reply: &Reply) -> PyResult<Option<PyErr>> {
    let Some(cause) = &reply.cause else { return Ok(None) };
    match interruption(py, cause) {
        Some(interruption) => Err(interruption),
        None => Ok(Some(error_to_python(py, cause))),
    }
}

//! An embedder that is written in Python, for the core. It is called on a thread of the core, which makes no other calls.

use std::sync::Arc;

use memdir::{Embedder, EmbedderError};
use pyo3::exceptions::PyTypeError;
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyTuple};

use crate::guarded::{call, items};
use crate::hooks::{Awaited, Function, has_parameter};
use crate::shutdown::attached;

/// The function of the application.
pub(crate) struct PythonEmbedder {
    function: Function,
    takes_is_query: bool,
}

impl PythonEmbedder {
    pub(crate) fn new(given: Option<&Bound<'_, PyAny>>) -> PyResult<Option<Arc<Self>>> {
        let Some(given) = given else { return Ok(None) };
        // `AsyncMemory` passes a function that awaits the result itself.
        let function = Function::new("embedder", Some(given), Awaited::No)?;
        Ok(Some(Arc::new(Self { function, takes_is_query: takes_is_query(given) })))
    }

    /// Used by the garbage collector.
    pub(crate) fn traverse(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.function.traverse(visit)
    }

    pub(crate) fn clear(&self) {
        self.function.take();
    }

    fn call(&self, py: Python<'_>, texts: &[String], is_query: bool) -> PyResult<Vec<Vec<f32>>> {
        let Some(function) = self.function.get(py) else { return Ok(Vec::new()) };
        let named = PyDict::new(py);
        if self.takes_is_query {
            named.set_item("is_query", is_query)?;
        }
        let returned = call(function.bind(py), (PyList::new(py, texts)?,), Some(&named))?;
        vectors(&returned, texts.len())
    }
}

impl Embedder for PythonEmbedder {
    fn embed(&self, texts: &[String], is_query: bool) -> Result<Vec<Vec<f32>>, EmbedderError> {
        let called = attached(|py| self.call(py, texts, is_query));
        Ok(called.ok_or("the interpreter is shutting down")??)
    }
}

/// One number more than a vector may have, because an iterator may have no end.
const TOO_MANY: usize = 65_537;

/// Reads any sequence of sequences of numbers, such as lists or an array, for this many texts.
fn vectors(returned: &Bound<'_, PyAny>, texts: usize) -> PyResult<Vec<Vec<f32>>> {
    let number = |number: Bound<'_, PyAny>| -> PyResult<f32> {
        let number = number.extract::<f64>()?;
        #[expect(clippy::cast_possible_truncation, reason = "a vector needs no more digits")]
        Ok(number as f32)
    };
    let vector =
        |vector: Bound<'_, PyAny>| sequence(&vector, TOO_MANY)?.into_iter().map(number).collect();
    let vectors =
        sequence(returned, texts + 1).and_then(|vectors| vectors.into_iter().map(vector).collect());
    vectors.map_err(|error| {
        if !error.is_instance_of::<PyTypeError>(returned.py()) {
            return error;
        }
        let problem = "`embedder` must return a sequence of sequences of numbers";
        PyTypeError::new_err(format!("{problem}: {}", error.value(returned.py())))
    })
}

/// The first items of a value, unless they are something else: keys, or bytes.
fn sequence<'py>(value: &Bound<'py, PyAny>, most: usize) -> PyResult<Bound<'py, PyTuple>> {
    if value.is_instance_of::<PyDict>() || value.is_instance_of::<PyBytes>() {
        let kind = value.get_type().name()?;
        return Err(PyTypeError::new_err(format!("got {kind}")));
    }
    items(value, Some(most))
}

/// Returns whether the embedder is told if a text is a question, which it is if it has a parameter `is_query`.
#[pyfunction]
pub(crate) fn takes_is_query(embedder: &Bound<'_, PyAny>) -> bool {
    has_parameter(embedder, "is_query")
}

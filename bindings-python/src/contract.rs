//! The check of the contract, on stores written in Python.

use std::sync::{Arc, Mutex, PoisonError};

use memdir::Store;
use memdir::store::{InProcess, contract};
use pyo3::prelude::*;

use crate::guarded::call;
use crate::hints::{self, Hinted};
use crate::shutdown::released;
use crate::stores;

/// Returns the first rule of the contract that a store of `factory` breaks; `None` if no rule is
/// broken.
#[pyfunction]
pub(crate) fn check_contract(
    py: Python<'_>,
    factory: Hinted<'_, hints::Factory>,
) -> PyResult<Option<String>> {
    let factory = factory.into_inner().unbind();
    let raised = Mutex::new(None);
    let checked = released(py, || {
        contract::check_contract(&|| {
            let made = Python::attach(|py| {
                let store = call(factory.bind(py), (), None)?;
                stores::from_object(&store)
            });
            made.unwrap_or_else(|error| {
                // The check cannot stop here. Its later results are ignored.
                raised.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
                Arc::new(InProcess::new()) as Arc<dyn Store>
            })
        })
    });
    match raised.into_inner().unwrap_or_else(PoisonError::into_inner) {
        Some(error) => Err(error),
        None => Ok(checked.err().map(|violation| violation.to_string())),
    }
}

//! [`PythonStore`]: wraps a store written in Python for the core.
//!
//! The core calls it from any thread that runs a command, with the interpreter released. Every
//! method acquires the interpreter for as long as Python runs.

use std::time::SystemTime;

use memdir::store::{Context, Edit, Entry, Mutation, Node, StoreInfo, update_by_swap};
use memdir::{MemoryPath, OnExisting, Store, StoreError};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;

use crate::entry::entries;
use crate::errors::{condition_from_python, rename_condition_from_python};
use crate::guarded::{Arguments, call, call_method};
use crate::shutdown;
use crate::swap::Swap;
use crate::time::Time;

/// An object whose class extends `memdir.Store`.
pub(crate) struct PythonStore {
    object: Py<PyAny>,
}

impl PythonStore {
    pub(crate) fn new(object: &Bound<'_, PyAny>) -> Self {
        Self { object: object.clone().unbind() }
    }

    /// Calls a method of the object. An exception becomes a condition or a failure of `operation`.
    fn call<T>(
        &self,
        operation: &str,
        path: &MemoryPath,
        method: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<T>,
    ) -> Result<T, StoreError> {
        attached(|py| {
            let result = method(self.object.bind(py));
            result.map_err(|error| condition_from_python(py, format!("{operation} {path}"), error))
        })
    }
}

/// Acquires the interpreter, unless it is shutting down.
fn attached<T>(work: impl FnOnce(Python<'_>) -> Result<T, StoreError>) -> Result<T, StoreError> {
    shutdown::attached(work).unwrap_or_else(|| {
        Err(StoreError::failed("calling a Python store", "the interpreter is shutting down"))
    })
}

/// Calls a method of a store. A coroutine would never run, so it counts as a failure and not as an answer.
fn called<'py>(
    store: &Bound<'py, PyAny>,
    method: &str,
    arguments: impl Arguments<'py>,
) -> PyResult<Bound<'py, PyAny>> {
    let returned = call_method(store, method, arguments)?;
    let class = returned.get_type();
    if !class.hasattr("__await__")? && !class.hasattr("__aiter__")? {
        return Ok(returned);
    }
    // Otherwise Python would also print a warning. An asynchronous generator has no such method.
    let _ = returned.call_method0("close");
    Err(PyTypeError::new_err(format!(
        "the methods of a store must not be coroutine functions, but `{method}` returned a {}",
        class.name()?
    )))
}

impl PythonStore {
    /// Python gets a function that may outlive this call, but the borrowed `edit` must not.
    fn swap(
        &self,
        context: &Context,
        path: &MemoryPath,
        edit: &mut Edit<'_>,
    ) -> Result<(), StoreError> {
        update_by_swap(self, context, path, edit, |swap| {
            self.call("updating", path, |store| {
                let edit = Bound::new(store.py(), Swap::new(swap))?;
                called(store, "update", (path.as_str(), edit)).map(drop)
            })
        })
    }
}

impl Store for PythonStore {
    fn info(&self) -> StoreInfo {
        let root = MemoryPath::root();
        let tracks_access = self.call("asking about", &root, |store| {
            call_method(store, "tracks_access", ())?.extract::<bool>()
        });
        // A class that is registered as a `Store` may lack the method.
        let folds_case = self.call("asking about", &root, |store| {
            store
                .getattr_opt("folds_case")?
                .map_or(Ok(false), |folds_case| call(&folds_case, (), None)?.extract())
        });
        StoreInfo {
            // A failure here also occurs in the other methods, which report it.
            tracks_access: tracks_access.unwrap_or(false),
            // Without an answer names are compared by folded case, so no other spelling can bypass
            // a policy.
            folds_case: folds_case.unwrap_or(true),
            ..StoreInfo::default()
        }
    }

    fn read(&self, path: &MemoryPath) -> Result<Vec<u8>, StoreError> {
        self.call("reading", path, |store| {
            let content = called(store, "read", (path.as_str(),))?;
            Ok(content.extract::<PyBackedBytes>()?.to_vec())
        })
    }

    fn list(&self, path: &MemoryPath) -> Result<Vec<Entry>, StoreError> {
        self.call("listing", path, |store| entries(&called(store, "list", (path.as_str(),))?))
    }

    fn open(&self, path: &MemoryPath, depth: usize) -> Result<Node<'_>, StoreError> {
        self.call("opening", path, |store| {
            let opened = called(store, "open", (path.as_str(), depth))?;
            match opened.extract::<PyBackedBytes>() {
                Ok(content) => Ok(Node::file(content.to_vec())),
                Err(_) => entries(&opened).map(Node::Directory),
            }
        })
    }

    fn write(
        &self,
        path: &MemoryPath,
        content: &[u8],
        existing: OnExisting,
    ) -> Result<(), StoreError> {
        self.call("writing", path, |store| {
            let content = PyBytes::new(store.py(), content);
            let overwrite = existing == OnExisting::Overwrite;
            called(store, "write", (path.as_str(), content, overwrite)).map(drop)
        })
    }

    fn mutate(&self, context: &Context, mutation: Mutation<'_>) -> Result<bool, StoreError> {
        match mutation {
            Mutation::Update { path, edit } => self.swap(context, path, edit).map(|()| true),
            other => other.apply_to(self),
        }
    }

    fn update(&self, path: &MemoryPath, edit: &mut Edit<'_>) -> Result<(), StoreError> {
        self.swap(&Context::new(), path, edit)
    }

    fn delete(&self, path: &MemoryPath) -> Result<(), StoreError> {
        self.call("deleting", path, |store| called(store, "delete", (path.as_str(),)).map(drop))
    }

    fn rename(&self, from: &MemoryPath, to: &MemoryPath) -> Result<(), StoreError> {
        attached(|py| {
            let renamed = called(self.object.bind(py), "rename", (from.as_str(), to.as_str()));
            renamed.map(drop).map_err(|error| rename_condition_from_python(py, from, error))
        })
    }

    fn clear(&self) -> Result<(), StoreError> {
        let root = MemoryPath::root();
        self.call("clearing", &root, |store| called(store, "clear", ()).map(drop))
    }

    fn modified(&self, path: &MemoryPath) -> Result<Option<SystemTime>, StoreError> {
        self.call("asking for the time of", path, |store| {
            let time = called(store, "modified", (path.as_str(),))?;
            Ok(time.extract::<Option<Time>>()?.map(|Time(time)| time))
        })
    }

    fn set_modified(&self, path: &MemoryPath, time: SystemTime) -> Result<(), StoreError> {
        self.call("setting the time of", path, |store| {
            called(store, "set_modified", (path.as_str(), Time(time))).map(drop)
        })
    }

    fn record_access(&self, path: &MemoryPath, time: SystemTime) -> Result<(), StoreError> {
        self.call("noting the access of", path, |store| {
            called(store, "record_access", (path.as_str(), Time(time))).map(drop)
        })
    }

    fn delete_unused(&self, path: &MemoryPath, since: SystemTime) -> Result<bool, StoreError> {
        self.call("deleting", path, |store| {
            called(store, "delete_unused", (path.as_str(), Time(since)))?.extract()
        })
    }
}

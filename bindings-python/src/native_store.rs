//! [`NativeStore`]: a store of the core for Python.

use std::io::Read as _;
use std::sync::Arc;

use memdir::options::Given;
use memdir::store::{self, Context, Entry, InContext, Node, Splice};
use memdir::{MemoryPath, OnExisting, Store, StoreError};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyDateTime};

use crate::cancel::interruptible;
use crate::errors::raise_condition;
use crate::guarded::call;
use crate::hints::{self, Hinted};
use crate::options::{OrDefault, Text, bytes, read};
use crate::python_store::PythonStore;
use crate::results::to_python;
use crate::shutdown::{attached, released};
use crate::time::{Time, shown};

/// A store that comes with memdir, as `open_store` opens it. Its methods are those of `Store`.
#[pyclass(module = "memdir._memdir", frozen)]
pub struct NativeStore {
    core: Arc<dyn Store>,
}

impl From<Arc<dyn Store>> for NativeStore {
    fn from(core: Arc<dyn Store>) -> Self {
        Self { core }
    }
}

impl NativeStore {
    pub(crate) fn core(&self) -> &Arc<dyn Store> {
        &self.core
    }

    /// Runs `work` with the interpreter released, on the store in the context of the current call.
    fn in_context<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&dyn Store) -> T + Send,
    ) -> PyResult<T> {
        interruptible(py, |cancellation| {
            let context = Context::new().cancelled_by(cancellation);
            work(&InContext::new(&*self.core, &context))
        })
    }

    /// Runs an operation with the interpreter released. A condition is raised as Python's file functions
    /// would raise it.
    fn run<T: Send>(
        &self,
        py: Python<'_>,
        path: &str,
        operation: impl FnOnce(&dyn Store, &MemoryPath) -> Result<T, StoreError> + Send,
    ) -> PyResult<T> {
        let at = path_argument(path)?;
        let done = self.in_context(py, |store| operation(store, &at))?;
        done.map_err(|error| raise_condition(py, &error, path))
    }
}

#[pymethods]
#[expect(clippy::needless_pass_by_value, reason = "pyo3 hands over what it has made")]
impl NativeStore {
    /// Reads the whole content of a file.
    fn read<'py>(&self, py: Python<'py>, path: Text<'_>) -> PyResult<Bound<'py, PyBytes>> {
        let path = path.read("path")?;
        Ok(PyBytes::new(py, &self.run(py, path, |store, at| store.read(at))?))
    }

    /// Lists a directory, one level deep.
    fn list<'py>(&self, py: Python<'py>, path: Text<'_>) -> PyResult<Hinted<'py, hints::Entries>> {
        let path = path.read("path")?;
        let entries = self.run(py, path, |store, at| store.list(at))?;
        to_python(py, &entries).map(Hinted::new)
    }

    /// Reads a file, or lists a directory's visible entries `depth` levels deep.
    fn open<'py>(
        &self,
        py: Python<'py>,
        path: Text<'_>,
        depth: Hinted<'_, hints::Count>,
    ) -> PyResult<Hinted<'py, hints::Opened>> {
        let path = path.read("path")?;
        let depth = read("depth", &depth.into_inner(), Given::count)?;
        self.run(py, path, |store, at| Opened::new(store.open(at, depth)?))?.into_python(py)
    }

    /// Writes a whole file, and creates missing parents.
    #[pyo3(
        signature = (path, content, overwrite = OrDefault::Default),
        text_signature = "($self, path, content, overwrite=False)",
    )]
    fn write(
        &self,
        py: Python<'_>,
        path: Text<'_>,
        content: Hinted<'_, hints::Bytes>,
        overwrite: OrDefault<'_, hints::Flag>,
    ) -> PyResult<()> {
        let path = path.read("path")?;
        let content = bytes("content", &content.into_inner())?;
        let overwrite = overwrite.or("overwrite", false, Given::flag)?;
        let existing = if overwrite { OnExisting::Overwrite } else { OnExisting::Error };
        self.run(py, path, |store, at| store.write(at, &content, existing))
    }

    /// Changes a file. No other write can happen in between.
    fn update(
        &self,
        py: Python<'_>,
        path: Text<'_>,
        edit: Hinted<'_, hints::Edit>,
    ) -> PyResult<()> {
        let path = path.read("path")?;
        let (edit, mut raised) = (edit.into_inner().unbind(), None);
        self.run(py, path, |store, at| {
            store.update(at, &mut |old| {
                let edited = attached(|py| -> PyResult<_> {
                    let new = call(edit.bind(py), (PyBytes::new(py, old),), None)?;
                    Ok(new.extract::<Option<PyBackedBytes>>()?.map(|new| new.to_vec()))
                });
                match edited.transpose() {
                    Ok(new) => {
                        raised = None;
                        new.flatten().map(|text| Splice { range: 0..old.len(), text })
                    }
                    Err(error) => {
                        raised = Some(error);
                        None
                    }
                }
            })
        })?;
        raised.map_or(Ok(()), Err)
    }

    /// Deletes a file, or a directory with everything in it.
    fn delete(&self, py: Python<'_>, path: Text<'_>) -> PyResult<()> {
        let path = path.read("path")?;
        self.run(py, path, |store, at| {
            if at.is_root() { Err(StoreError::PermissionDenied) } else { store.delete(at) }
        })
    }

    /// Moves a file or directory, and creates missing parents. Never overwrites.
    fn rename(&self, py: Python<'_>, old: Text<'_>, new: Text<'_>) -> PyResult<()> {
        let old = old.read("old")?;
        let new = new.read("new")?;
        let to = path_argument(new)?;
        let from = path_argument(old)?;
        if from.is_root() {
            return Err(raise_condition(py, &StoreError::PermissionDenied, old));
        }
        self.in_context(py, |store| store.rename(&from, &to))?.map_err(|error| {
            let about_source = matches!(error, StoreError::NotFound | StoreError::Source(_));
            raise_condition(py, &error, if about_source { old } else { new })
        })
    }

    /// Deletes everything below the root.
    fn clear(&self, py: Python<'_>) -> PyResult<()> {
        self.run(py, memdir::path::ROOT, |store, _| store.clear())
    }

    /// Returns when a file was last written; `None` if the store keeps no times.
    fn modified<'py>(
        &self,
        py: Python<'py>,
        path: Text<'_>,
    ) -> PyResult<Option<Bound<'py, PyDateTime>>> {
        let path = path.read("path")?;
        let time = self.run(py, path, |store, at| store.modified(at))?;
        Ok(time.and_then(|time| shown(py, time)))
    }

    /// Sets when a file was last written.
    fn set_modified(&self, py: Python<'_>, path: Text<'_>, time: Time) -> PyResult<()> {
        let path = path.read("path")?;
        self.run(py, path, |store, at| store.set_modified(at, time.0))
    }

    /// Returns whether the store keeps access times.
    fn tracks_access(&self, py: Python<'_>) -> bool {
        released(py, || self.core.info().tracks_access)
    }

    /// Returns whether the store treats names as equal that differ only in case or in how letters are
    /// composed.
    fn folds_case(&self, py: Python<'_>) -> bool {
        released(py, || self.core.info().folds_case)
    }

    /// Records that a file was accessed at `time`.
    fn record_access(&self, py: Python<'_>, path: Text<'_>, time: Time) -> PyResult<()> {
        let path = path.read("path")?;
        self.run(py, path, |store, at| store.record_access(at, time.0))
    }

    /// Deletes a file if it was neither written nor accessed at `since` or later. Returns whether it was
    /// deleted.
    fn delete_unused(&self, py: Python<'_>, path: Text<'_>, since: Time) -> PyResult<bool> {
        let path = path.read("path")?;
        self.run(py, path, |store, at| store.delete_unused(at, since.0))
    }
}

/// The content of an opened [`Node`], read to its end.
enum Opened {
    File(Vec<u8>),
    Directory(Vec<Entry>),
}

impl Opened {
    fn new(node: Node<'_>) -> Result<Self, StoreError> {
        match node {
            Node::File(_, mut stream) => {
                let mut content = Vec::new();
                let read = stream.read_to_end(&mut content);
                read.map_err(|error| StoreError::failed("reading a file", error))?;
                Ok(Self::File(content))
            }
            Node::Directory(entries) => Ok(Self::Directory(entries)),
        }
    }

    fn into_python(self, py: Python<'_>) -> PyResult<Hinted<'_, hints::Opened>> {
        Ok(Hinted::new(match self {
            Self::File(content) => PyBytes::new(py, &content).into_any(),
            Self::Directory(entries) => to_python(py, &entries)?,
        }))
    }
}

/// A path as a method's argument.
fn path_argument(path: &str) -> PyResult<MemoryPath> {
    MemoryPath::parse(path).map_err(|error| PyValueError::new_err(format!("{path:?}: {error}")))
}

/// The default of `Store.open`: reads the whole content, or walks through the listings.
#[pyfunction]
pub(crate) fn open_whole<'py>(
    store: Hinted<'py, hints::Store>,
    path: &str,
    depth: usize,
) -> PyResult<Hinted<'py, hints::Opened>> {
    let store = store.into_inner();
    let (py, at) = (store.py(), path_argument(path)?);
    let store = PythonStore::new(&store);
    let opened = released(py, || store::open_whole(&store, &at, depth).and_then(Opened::new));
    opened.map_err(|error| raise_condition(py, &error, path))?.into_python(py)
}

/// The default of `Store.modified`: lists the file's directory.
#[pyfunction]
pub(crate) fn listed_time<'py>(
    store: Hinted<'py, hints::Store>,
    path: &str,
) -> PyResult<Option<Bound<'py, PyDateTime>>> {
    let store = store.into_inner();
    let (py, at) = (store.py(), path_argument(path)?);
    let store = PythonStore::new(&store);
    let time = released(py, || store::listed_time(&store, &at));
    Ok(time.map_err(|error| raise_condition(py, &error, path))?.and_then(|time| shown(py, time)))
}

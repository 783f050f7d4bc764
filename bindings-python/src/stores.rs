//! The accepted values for a store: an address, a path, an object, or several of them to be mounted.

use std::path::PathBuf;
use std::sync::Arc;

use memdir::store::{Mount, Place, open_mounts, open_place, open_raw_store, redact_address};
use memdir::{MemoryOptions, Store, open_store};
use pyo3::Borrowed;
use pyo3::inspect::PyStaticExpr;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyMapping, PyString, PyType};

use crate::errors::to_python;
use crate::hints::Hint;
use crate::native_store::NativeStore;
use crate::options::{wrong_argument, wrong_part};
use crate::python_store::PythonStore;
use crate::read_only::{self, ReadOnly};
use crate::shutdown::released;

const ONE_STORE: &str = "a str, an os.PathLike or a memdir.Store";

static STORE: PyOnceLock<Py<PyType>> = PyOnceLock::new();

/// The `store` argument of a class: the given one, or the default.
pub(crate) enum Argument<'py> {
    /// Nothing was given: use `./memory`.
    Default,
    /// The given value.
    Given(Bound<'py, PyAny>),
}

impl<'py> FromPyObject<'_, 'py> for Argument<'py> {
    type Error = PyErr;

    const INPUT_TYPE: PyStaticExpr = read_only::Places::HINT;

    fn extract(given: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        Ok(Self::Given(given.to_owned()))
    }
}

impl Argument<'_> {
    /// Returns whether a store written in Python is given, alone or among others.
    pub(crate) fn is_python(&self) -> PyResult<bool> {
        match self {
            Self::Default => Ok(false),
            Self::Given(store) => is_python(store),
        }
    }

    /// The argument for `repr`: addresses without secrets, objects by their types.
    pub(crate) fn shown(&self) -> PyResult<String> {
        match self {
            Self::Default => Ok("'./memory'".to_owned()),
            Self::Given(store) => shown(store),
        }
    }

    pub(crate) fn open(self, py: Python<'_>, options: &MemoryOptions) -> PyResult<Arc<dyn Store>> {
        match self {
            Self::Given(store) => open("store", &store, options),
            Self::Default => released(py, || open_store("./memory", options))
                .map_err(|error| to_python(py, &error)),
        }
    }
}

/// Opens the store that `store` is or names. If `store` is a mapping, opens all of its stores.
/// `name` is the argument that it is.
pub(crate) fn open(
    name: &str,
    store: &Bound<'_, PyAny>,
    options: &MemoryOptions,
) -> PyResult<Arc<dyn Store>> {
    open_as(name, "a str, an os.PathLike, a memdir.Store or a dict", store, options)
}

/// The same, for an argument that must be `expected`.
pub(crate) fn open_as(
    name: &str,
    expected: &str,
    store: &Bound<'_, PyAny>,
    options: &MemoryOptions,
) -> PyResult<Arc<dyn Store>> {
    let py = store.py();
    let opened = match store.cast::<PyMapping>() {
        // A store of the application may be a mapping, too.
        Ok(mapping) if object(store)?.is_none() => {
            let mounts = mounts(name, mapping)?;
            released(py, || open_mounts(mounts, options)).map(|mounts| Arc::new(mounts) as _)
        }
        _ => {
            let (place, read_only) = place(name, "", store, expected)?;
            let mut options = options.clone();
            options.read_only |= read_only;
            released(py, || open_place(place, &options))
        }
    };
    opened.map_err(|error| to_python(py, &error))
}

fn shown(store: &Bound<'_, PyAny>) -> PyResult<String> {
    let py = store.py();
    let address = match store.cast::<PyString>() {
        Ok(address) => Some(address.to_str()?.to_owned()),
        Err(_) if object(store)?.is_some() => None,
        Err(_) => store.extract::<PathBuf>().ok().map(|path| path.to_string_lossy().into_owned()),
    };
    if let Some(address) = address {
        return Ok(PyString::new(py, &redact_address(&address)).repr()?.to_string());
    }
    if let Ok(mapping) = store.cast::<PyMapping>()
        && object(store)?.is_none()
    {
        let mut mounts = Vec::new();
        for item in mapping.items()? {
            let (at, store) = item.extract::<(Bound<'_, PyAny>, Bound<'_, PyAny>)>()?;
            mounts.push(format!("{}: {}", at.repr()?, shown(&store)?));
        }
        return Ok(format!("{{{}}}", mounts.join(", ")));
    }
    Ok(format!("<{}>", store.get_type().name()?))
}

fn is_python(store: &Bound<'_, PyAny>) -> PyResult<bool> {
    let py = store.py();
    if let Ok(read_only) = store.cast::<ReadOnly>() {
        return is_python(read_only.get().store(py));
    }
    if store.is_instance_of::<PyString>() || store.is_instance_of::<NativeStore>() {
        return Ok(false);
    }
    if store.is_instance(STORE.import(py, "memdir._store", "Store")?)? {
        return Ok(true);
    }
    let Ok(mapping) = store.cast::<PyMapping>() else { return Ok(false) };
    for store in mapping.values()? {
        if is_python(&store)? {
            return Ok(true);
        }
    }
    Ok(false)
}

fn mounts(name: &str, mapping: &Bound<'_, PyMapping>) -> PyResult<Vec<Mount>> {
    let mut mounts = Vec::new();
    for item in mapping.items()? {
        let (at, store) = item.extract::<(Bound<'_, PyAny>, Bound<'_, PyAny>)>()?;
        let Ok(at) = at.extract::<String>() else {
            return Err(wrong_part(name, ": a mount point", "a str", &at));
        };
        let (place, read_only) = place(name, &format!("[{at:?}]"), &store, ONE_STORE)?;
        let mount = Mount::new(at, place);
        mounts.push(if read_only { mount.read_only() } else { mount });
    }
    Ok(mounts)
}

/// The place of a store, and true if it is read-only.
/// It is the argument `name`, or a part of it.
fn place(
    name: &str,
    part: &str,
    store: &Bound<'_, PyAny>,
    expected: &str,
) -> PyResult<(Place, bool)> {
    if let Ok(read_only) = store.cast::<ReadOnly>() {
        let (place, _) = place(name, part, read_only.get().store(store.py()), expected)?;
        return Ok((place, true));
    }
    if let Ok(address) = store.cast::<PyString>() {
        let Ok(address) = address.to_str() else {
            return Err(wrong_part(name, part, expected, store));
        };
        return Ok((Place::from(address), false));
    }
    if let Some(store) = object(store)? {
        return Ok((Place::from(store), false));
    }
    match store.extract::<PathBuf>() {
        // An object that is a path counts as a path, even if it has other attributes.
        Ok(path) => Ok((Place::from(path), false)),
        Err(_) => Err(wrong_part(name, part, expected, store)),
    }
}

/// Fails if the value is neither a store nor the address of one. Nothing is opened.
pub(crate) fn check_place(store: &Bound<'_, PyAny>) -> PyResult<()> {
    place("store", "", store, ONE_STORE).map(drop)
}

/// Opens the store that `store` is or names, without decrypting it.
pub(crate) fn open_raw(store: &Bound<'_, PyAny>) -> PyResult<Arc<dyn Store>> {
    let (py, options) = (store.py(), MemoryOptions::default());
    let address = match object(store)? {
        Some(store) => return Ok(store),
        None => match store.extract::<PathBuf>() {
            Ok(path) => path.to_string_lossy().into_owned(),
            Err(_) => return Err(wrong_argument("store", ONE_STORE, store)),
        },
    };
    released(py, || open_raw_store(&address, &options)).map_err(|error| to_python(py, &error))
}

/// The store behind the object `store`.
pub(crate) fn from_object(store: &Bound<'_, PyAny>) -> PyResult<Arc<dyn Store>> {
    object(store)?.ok_or_else(|| wrong_argument("store", "a memdir.Store", store))
}

fn object(store: &Bound<'_, PyAny>) -> PyResult<Option<Arc<dyn Store>>> {
    if let Ok(native) = store.cast::<NativeStore>() {
        return Ok(Some(Arc::clone(native.get().core())));
    }
    if store.is_instance(STORE.import(store.py(), "memdir._store", "Store")?)? {
        return Ok(Some(Arc::new(PythonStore::new(store))));
    }
    Ok(None)
}

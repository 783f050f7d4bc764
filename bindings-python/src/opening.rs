//! Opens a store for direct or read-only use, reads a key from a file, and changes the key of a store.

use std::path::PathBuf;

use memdir::EncryptionKey;
use memdir::options::Given;
use memdir::store::rekey as core_rekey;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::errors::to_python;
use crate::hints::{self, Hinted};
use crate::native_store::NativeStore;
use crate::options::{Keywords, read, wrong_argument};
use crate::read_only::{Place, Places, ReadOnly};
use crate::shutdown::released;
use crate::stores;

/// Opens a store by its address, for direct use or to share it among several memories.
///
/// Args:
///     store: A directory, created if it does not exist, `"sqlite:agent.db"` for an SQLite database,
///         `"memory:"` for a new store in this process, or anything else that `Memory` accepts.
///     read_only: The memory can be viewed but not changed. The directory or database must exist.
///         Nothing is created in a directory.
///     durability: The failures that an acknowledged command survives: `"full"` a loss of power,
///         `"relaxed"` only a crash of the process. Object storage is always durable.
///     lock_timeout: The time that a change waits for other writers of the same store (local
///         directory, SQLite, PostgreSQL). After that the command is refused, and nothing is
///         changed. `None` waits without limit. Seconds, or a `timedelta`.
///     namespace: Selects one of several memories in one PostgreSQL database or one bucket. Any
///         text, such as a user's name. `None` selects the one that the address names. Pass
///         untrusted values in this option, never in an address. On every other store this option
///         is an error.
///     encryption_key: Encrypts everything that the store keeps. A store is encrypted from its
///         creation or not at all. 32 bytes; as a str, `"hex:…"` or `"base64:…"` for those, or else
///         a passphrase.
///     encrypt_names: Also encrypts the names in a store that is created with a key. An existing
///         store keeps its setting.
///
/// Raises:
///     ConfigError: The address or an option is wrong.
///     StoreError: The store cannot be opened.
///
/// >>> from memdir import Memory, open_store
/// >>> store = open_store("memory:")
/// >>> Memory(store).create("/memories/a.md", "one")
/// 'File created successfully at: /memories/a.md'
/// >>> store.read("/memories/a.md")
/// b'one'
#[pyfunction]
#[pyo3(
    signature = (store, **options),
    text_signature = "(store, *, read_only=False, durability='full', lock_timeout=10.0, \
            namespace=None, encryption_key=None, encrypt_names=False)",
)]
pub(crate) fn open_store<'py>(
    store: Hinted<'py, Places>,
    options: Option<&Bound<'py, PyDict>>,
) -> PyResult<Hinted<'py, hints::Store>> {
    let address = store.into_inner();
    let options = Keywords::of_store(address.py(), options)?.options;
    let core = stores::open("store", &address, &options)?;
    Ok(Hinted::new(Bound::new(address.py(), NativeStore::from(core))?.into_any()))
}

/// Makes a store read-only.
///
/// Use the result instead of a store, usually as one of several mounted stores. A directory or a
/// database must exist; nothing is created or changed in it.
///
/// Args:
///     store: A directory, an address, or a `Store`.
///
/// >>> from memdir import Memory, read_only
/// >>> memory = Memory({"/memories": "memory:", "/memories/handbook": read_only("memory:")})
/// >>> memory.create("/memories/handbook/a.md", "one")
/// Traceback (most recent call last):
/// memdir.RefusedError: Error: /memories/handbook/a.md is read-only: it can be viewed but not changed
#[pyfunction]
pub(crate) fn read_only(store: Hinted<'_, Place>) -> PyResult<ReadOnly> {
    let store = store.into_inner();
    stores::check_place(&store)?;
    Ok(ReadOnly::new(store.unbind()))
}

/// Changes the key of an encrypted store: encrypts every file again, and then removes the old key.
///
/// The store can be used meanwhile: both keys open it until the end. If the change is interrupted, both
/// keys still open the store. Call this again to continue.
///
/// Args:
///     store: The store's address, or the `Store` that keeps the encrypted files, opened without a key.
///     old_key: The current key.
///     new_key: The new key.
///
/// Returns:
///     The number of files that were encrypted.
///
/// Raises:
///     ConfigError: The store is not encrypted, or the old key is wrong.
///     StoreError: The store itself failed, or a file in it is damaged.
///
/// >>> import secrets, tempfile
/// >>> from memdir import Memory, rekey
/// >>> directory, old, new = tempfile.mkdtemp(), secrets.token_bytes(32), secrets.token_bytes(32)
/// >>> _ = Memory(directory, encryption_key=old).create("/memories/a.md", "one")
/// >>> rekey(directory, old, new)
/// 1
/// >>> print(Memory(directory, encryption_key=new).view("/memories/a.md"))
/// Here's the content of /memories/a.md with line numbers:
///      1	one
#[pyfunction]
pub(crate) fn rekey(
    store: Hinted<'_, Place>,
    old_key: Hinted<'_, hints::Key>,
    new_key: Hinted<'_, hints::Key>,
) -> PyResult<u64> {
    let old_key = read("old_key", &old_key.into_inner(), Given::key)?;
    let new_key = read("new_key", &new_key.into_inner(), Given::key)?;
    let store = store.into_inner();
    let (py, core) = (store.py(), stores::open_raw(&store)?);
    released(py, || core_rekey(&core, &old_key, &new_key)).map_err(|error| to_python(py, &error))
}

/// Reads the key in a file: 32 bytes for `encryption_key`. If `path` does not exist, a random key is
/// generated and written to a new file, which only its owner may read.
///
/// If several threads or processes make the first call concurrently, all get the same key. The file is
/// never overwritten. Do not lose it: without it the memory cannot be read.
///
/// Args:
///     path: The file. Its directory must exist. `~` as its first component is the home directory.
///
/// Raises:
///     ConfigError: The file does not have exactly 32 bytes, or cannot be read or created.
///
/// >>> import tempfile
/// >>> from pathlib import Path
/// >>> from memdir import Memory, key_from_file
/// >>> place = Path(tempfile.mkdtemp())
/// >>> memory = Memory(place / "memory", encryption_key=key_from_file(place / "memory.key"))
/// >>> key_from_file(place / "memory.key") == key_from_file(place / "memory.key")
/// True
#[pyfunction]
pub(crate) fn key_from_file<'py>(
    py: Python<'py>,
    path: Hinted<'py, hints::Address>,
) -> PyResult<Bound<'py, PyBytes>> {
    let path = path.into_inner();
    let Ok(path) = path.extract::<PathBuf>() else {
        return Err(wrong_argument("path", "a str or an os.PathLike", &path));
    };
    let key = released(py, || EncryptionKey::bytes_from_file(path));
    key.map(|key| PyBytes::new(py, &*key)).map_err(|error| to_python(py, &error))
}

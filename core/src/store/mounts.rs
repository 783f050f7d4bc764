//! Opens mounts from addresses, directories and stores.

use std::path::PathBuf;
use std::sync::Arc;

use memdir_store::Mounts;
use memdir_store::path::MemoryPath;
use memdir_store::{ConfigError, Error};

use crate::store::address::{finished, is_path, refuse_names_without_key, refuse_namespace};
use crate::store::{Store, StoreOptions, open_bare_directory, open_directory, open_store};
use crate::store::{location_of, open_existing_store};

/// A store to mount, its mount point, and whether it is read-only.
///
/// See [`open_mounts`].
pub struct Mount {
    at: String,
    place: Place,
    read_only: bool,
}

/// A store to mount.
#[non_exhaustive]
pub enum Place {
    /// A store by its address. A path without a scheme is a directory. At the root it has the SDKs' layout, as
    /// in [`open_store`]. Below the root it contains the files directly: a file in `./docs` is a file in
    /// `/memories/handbook`.
    Address(String),
    /// A directory. It is never parsed as an address with a scheme. Its layout depends on the mount point, as
    /// for [`Address`](Place::Address).
    Directory(PathBuf),
    /// An open store.
    Store(Arc<dyn Store>),
}

impl From<&str> for Place {
    fn from(address: &str) -> Self {
        Self::Address(address.to_owned())
    }
}

impl From<String> for Place {
    fn from(address: String) -> Self {
        Self::Address(address)
    }
}

impl From<PathBuf> for Place {
    fn from(directory: PathBuf) -> Self {
        Self::Directory(directory)
    }
}

impl From<Arc<dyn Store>> for Place {
    fn from(store: Arc<dyn Store>) -> Self {
        Self::Store(store)
    }
}

impl Mount {
    /// Mounts `place` at the path `at`.
    pub fn new(at: impl Into<String>, place: impl Into<Place>) -> Self {
        Self { at: at.into(), place: place.into(), read_only: false }
    }

    /// Returns the same mount, read-only.
    #[must_use]
    pub fn read_only(mut self) -> Self {
        self.read_only = true;
        self
    }
}

impl std::fmt::Debug for Mount {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Without the place: an address may contain a password.
        f.debug_struct("Mount")
            .field("at", &self.at)
            .field("read_only", &self.read_only)
            .finish_non_exhaustive()
    }
}

/// Opens several stores and mounts them into one tree. One of them is at `/memories`.
///
/// ```
/// # let place = tempfile::tempdir().unwrap();
/// # let base = place.path().to_str().unwrap();
/// # let docs = format!("{base}/docs");
/// # std::fs::create_dir(&docs).unwrap();
/// # std::fs::write(format!("{docs}/style.md"), "Be brief.\n").unwrap();
/// use memdir::store::{Mount, open_mounts};
/// use memdir::{Memory, MemoryOptions};
/// use std::sync::Arc;
///
/// let options = MemoryOptions::default();
/// let stores = open_mounts(
///     [
///         Mount::new("/memories", "memory:"),
///         Mount::new("/memories/handbook", docs).read_only(),
///     ],
///     &options,
/// )?;
/// let memory = Memory::with_store(Arc::new(stores), options);
/// memory.view("/memories/handbook/style.md", None)?;
/// # Ok::<(), memdir::Error>(())
/// ```
///
/// # Errors
/// [`Error::Config`] if nothing is mounted at `/memories`, if two stores have the same path, if a path or an
/// address is wrong, or if the options have an `encryption_key` or a `namespace`. [`Error::Store`] if a store
/// cannot be opened.
pub fn open_mounts(
    mounts: impl IntoIterator<Item = Mount>,
    options: impl Into<StoreOptions>,
) -> Result<Mounts, Error> {
    let options = &options.into();
    #[cfg(feature = "encryption")]
    if options.encryption_key.is_some() {
        return Err(ConfigError::from(
            "an encryption key is for one store: open those that shall be ",
        )
        .and("encrypted before they are mounted, each with its key")
        .about("encryption_key")
        .into());
    }
    if options.namespace.is_some() {
        return Err(ConfigError::from(
            "the option \"namespace\" is for one store: open those that shall have ",
        )
        .and("one before they are mounted")
        .about("namespace")
        .into());
    }
    let mut valid = Vec::new();
    for mount in mounts {
        let at = MemoryPath::parse(&mount.at).map_err(|error| {
            Error::config(format!("a store cannot be mounted at {:?}: {error}", mount.at))
        })?;
        valid.push((at, mount));
    }
    // Sorted by path. Everything is checked before the first store is opened.
    valid.sort_by(|(a, _), (b, _)| a.cmp(b));
    if let Some(twice) = valid.windows(2).find(|two| two[0].0 == two[1].0) {
        return Err(Error::config(format!("two stores are to be mounted at {}", twice[0].0)));
    }
    let mut valid = valid.into_iter();
    let root = match valid.next() {
        Some((at, mount)) if at.is_root() => open(&at, mount, options)?,
        _ => {
            return Err(Error::config(
                "no store is mounted at \"/memories\": one has to be, for all that is in no other",
            ));
        }
    };
    valid.try_fold(Mounts::new(root), |mounts, (at, mount)| {
        let store = open(&at, mount, options)?;
        mounts.mount(at, store)
    })
}

/// Returns whether a store exists at an address, for the mount point `at`. If so, [`open_mounts`] opens it
/// instead of creating one. `"memory:"` counts as existing. So does a store on another machine, because this
/// function contacts none.
///
/// # Errors
/// Same as [`open_store`].
pub fn exists_at(
    at: &MemoryPath,
    address: &str,
    options: impl Into<StoreOptions>,
) -> Result<bool, Error> {
    if address == "memory:" || !location_of(address).is_none_or(|location| location.is_local()) {
        return Ok(true);
    }
    let bare = (!at.is_root() && is_path(address)).then(|| format!("dir:{address}"));
    let found = open_existing_store(bare.as_deref().unwrap_or(address), options)?;
    Ok(found.is_some())
}

/// Opens one store with the layout of the root. For addresses this is [`open_store`]. Use it if a user may give
/// an address, a directory or an open store: options such as `encryption_key` and `read_only` also apply to an
/// open store.
///
/// ```
/// use std::sync::Arc;
/// use memdir::store::{InProcess, Place, Store, open_place};
/// use memdir::{Memory, MemoryOptions};
///
/// let mut options = MemoryOptions::default();
/// options.read_only = true;
/// let store = open_place(Arc::new(InProcess::new()) as Arc<dyn Store>, &options)?;
/// let memory = Memory::with_store(store, options);
/// assert!(memory.create("/memories/tea.md", "green\n").is_err());
/// # Ok::<(), memdir::Error>(())
/// ```
///
/// # Errors
/// Same as [`open_store`].
pub fn open_place(
    place: impl Into<Place>,
    options: impl Into<StoreOptions>,
) -> Result<Arc<dyn Store>, Error> {
    open(&MemoryPath::root(), Mount::new("", place), &options.into())
}

fn open(at: &MemoryPath, mount: Mount, options: &StoreOptions) -> Result<Arc<dyn Store>, Error> {
    let mut options = options.clone();
    options.read_only |= mount.read_only;
    match mount.place {
        // The caller knows whether an open store is encrypted.
        Place::Store(store) => {
            refuse_namespace(&options)?;
            refuse_names_without_key(&options)?;
            finished(store, &options, true)
        }
        Place::Address(path) if !at.is_root() && is_path(&path) => {
            open_bare_directory(path, &options)
        }
        Place::Address(address) => open_store(&address, &options),
        Place::Directory(path) if at.is_root() => open_directory(path, &options),
        Place::Directory(path) => open_bare_directory(path, &options),
    }
}

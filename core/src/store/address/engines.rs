//! Opens each kind of store, or returns the error that it is not part of this build.

use std::path::Path;
#[cfg(feature = "sqlite")]
use std::path::PathBuf;
use std::sync::Arc;

use memdir_store::Error;
#[cfg(feature = "sqlite")]
use memdir_store::local_path::expand_home;
#[cfg(any(unix, windows, feature = "sqlite"))]
use memdir_store::local_path::{FILES, own_files_hint};

#[cfg(feature = "sqlite")]
use super::redact_address;
use crate::store::Namespace;
#[cfg(any(unix, windows))]
use crate::store::ReadOnly;
use crate::store::Store;
#[cfg(any(
    unix,
    windows,
    feature = "sqlite",
    feature = "postgres",
    feature = "object-storage"
))]
use crate::store::StoreError;
use crate::store::options::StoreOptions;

#[cfg(any(unix, windows, feature = "sqlite"))]
fn shared(store: impl Store + 'static) -> Arc<dyn Store> {
    Arc::new(store)
}

#[cfg(any(unix, windows, feature = "sqlite"))]
fn missing(place: &Path) -> Error {
    let base = place.parent().filter(|_| place.file_name() == Some(FILES.as_ref()));
    let hint = base.and_then(own_files_hint).unwrap_or_default();
    let place = place.display();
    not_opened(StoreError::failed("opening", format!("there is no memory at {place}{hint}")))
}

/// The error of a store that cannot be opened. Opening changes nothing in a memory.
#[cfg(any(unix, windows, feature = "sqlite", feature = "postgres", feature = "object-storage"))]
fn not_opened(error: StoreError) -> Error {
    Error::Store(error.unchanged())
}

#[cfg(any(unix, windows))]
pub(super) fn open_local(root: &Path, options: &StoreOptions) -> Result<Arc<dyn Store>, Error> {
    if options.read_only {
        let store = open_existing_local(root, options)?.ok_or_else(|| missing(root))?;
        return Ok(ReadOnly::where_asked(store, options.read_only));
    }
    let opened = crate::store::LocalDirectory::open_bare(root, options.durability);
    opened.map(|store| shared(with_limits(store, options))).map_err(not_opened)
}

#[cfg(any(unix, windows))]
fn with_limits(
    store: crate::store::LocalDirectory,
    options: &StoreOptions,
) -> crate::store::LocalDirectory {
    store.with_lock_timeout(options.lock_timeout).with_max_file_bytes(options.max_edited_bytes())
}

#[cfg(any(unix, windows))]
pub(super) fn open_existing_local(
    root: &Path,
    options: &StoreOptions,
) -> Result<Option<Arc<dyn Store>>, Error> {
    crate::store::LocalDirectory::existing(root, options.durability, options.read_only)
        .map(|found| found.map(|store| shared(with_limits(store, options))))
        .map_err(not_opened)
}

#[cfg(not(any(unix, windows)))]
pub(super) fn open_local(_: &Path, _: &StoreOptions) -> Result<Arc<dyn Store>, Error> {
    Err(Error::config(
        "local directories are not supported on this platform yet: use \"memory:\", or a store of \
         your own",
    ))
}

#[cfg(feature = "sqlite")]
pub(super) fn open_sqlite(path: &str, options: &StoreOptions) -> Result<Arc<dyn Store>, Error> {
    let path = sqlite_path(path)?;
    if options.read_only {
        return open_existing_sqlite(&path, options)?.ok_or_else(|| missing(&path));
    }
    let store = crate::store::SqliteDatabase::open(path, options.durability).map_err(not_opened)?;
    Ok(shared(sqlite_with_limits(store, options)))
}

#[cfg(feature = "sqlite")]
pub(super) fn open_existing_sqlite(
    path: &Path,
    options: &StoreOptions,
) -> Result<Option<Arc<dyn Store>>, Error> {
    let found = crate::store::SqliteDatabase::find(path, options.durability).map_err(not_opened)?;
    Ok(found.map(|store| shared(sqlite_with_limits(store, options))))
}

#[cfg(feature = "sqlite")]
fn sqlite_with_limits(
    store: crate::store::SqliteDatabase,
    options: &StoreOptions,
) -> crate::store::SqliteDatabase {
    store
        .with_lock_timeout(options.lock_timeout)
        .with_max_file_bytes(options.max_edited_bytes())
        .with_total_limits(options.total_limits())
}

/// Returns the path in an address of SQLite. It must be a plain path.
#[cfg(feature = "sqlite")]
pub(super) fn sqlite_path(path: &str) -> Result<PathBuf, Error> {
    // A verbatim path of Windows begins with `\\?\`, and that `?` does not start options.
    let options = if cfg!(windows) { path.strip_prefix(r"\\?\").unwrap_or(path) } else { path };
    let problem = match path {
        "" => "has no path",
        ":memory:" => "names a database in memory, for which there is \"memory:\"",
        // Other tools interpret two or three slashes differently, and accept options there.
        path if path.starts_with("//") => "has too many slashes",
        _ if options.contains('?') => "has options, of which SQLite takes none here",
        path => return expand_home(path.as_ref()),
    };
    let address = redact_address(&format!("sqlite:{path}"));
    Err(Error::config(format!(
        "the store address \"{address}\" {problem}: use a file such as \"sqlite:agent.db\" or \
         \"sqlite:/var/lib/agent.db\""
    )))
}

#[cfg(not(feature = "sqlite"))]
pub(super) fn open_sqlite(_: &str, _: &StoreOptions) -> Result<Arc<dyn Store>, Error> {
    Err(Error::config(
        "this build of memdir is without SQLite: build it with the cargo feature \"sqlite\", or use \
         a directory such as \"./memory\"",
    ))
}

#[cfg(feature = "postgres")]
fn postgres(
    address: &str,
    options: &StoreOptions,
) -> Result<crate::store::PostgresDatabase, Error> {
    let namespace = options.namespace.as_deref();
    crate::store::PostgresDatabase::open_namespace(address, namespace, options.durability)
}

#[cfg(feature = "postgres")]
pub(super) fn postgres_namespaces(
    address: &str,
    options: &StoreOptions,
) -> Result<Vec<Namespace>, Error> {
    postgres(address, options)?.namespaces().map_err(not_opened)
}

#[cfg(not(feature = "postgres"))]
pub(super) fn postgres_namespaces(
    address: &str,
    options: &StoreOptions,
) -> Result<Vec<Namespace>, Error> {
    open_postgres(address, options).map(|_| Vec::new())
}

#[cfg(feature = "object-storage")]
pub(super) fn object_namespaces(address: &str, _: &StoreOptions) -> Result<Vec<Namespace>, Error> {
    crate::store::ObjectStorage::open(address)?.namespaces().map_err(not_opened)
}

#[cfg(not(feature = "object-storage"))]
pub(super) fn object_namespaces(
    address: &str,
    options: &StoreOptions,
) -> Result<Vec<Namespace>, Error> {
    open_objects(address, options).map(|_| Vec::new())
}

#[cfg(feature = "postgres")]
pub(super) fn open_postgres(
    address: &str,
    options: &StoreOptions,
) -> Result<Arc<dyn Store>, Error> {
    let store = postgres(address, options)?;
    let store = store
        .with_lock_timeout(options.lock_timeout)
        .with_max_file_bytes(options.max_edited_bytes())
        .with_total_limits(options.total_limits());
    Ok(Arc::new(store))
}

#[cfg(not(feature = "postgres"))]
pub(super) fn open_postgres(_: &str, _: &StoreOptions) -> Result<Arc<dyn Store>, Error> {
    Err(Error::config(
        "this build of memdir is without PostgreSQL: build it with the cargo feature \"postgres\", \
         or use a directory such as \"./memory\"",
    ))
}

#[cfg(feature = "object-storage")]
pub(super) fn open_objects(address: &str, options: &StoreOptions) -> Result<Arc<dyn Store>, Error> {
    let store = crate::store::ObjectStorage::open_namespace(address, options.namespace.as_deref())?;
    Ok(Arc::new(store.with_max_file_bytes(options.max_edited_bytes())))
}

#[cfg(not(feature = "object-storage"))]
pub(super) fn open_objects(_: &str, _: &StoreOptions) -> Result<Arc<dyn Store>, Error> {
    Err(Error::config(
        "this build of memdir is without object storage: build it with the cargo feature \
         \"object-storage\", or use a directory such as \"./memory\"",
    ))
}

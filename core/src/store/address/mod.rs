//! Opens stores by their addresses, such as `./memory` or `sqlite:agent.db`.
//!
//! - `scheme` distinguishes addresses with a scheme from paths.
//! - `engines` opens each kind of store, or returns the error that it is not part of this build.
//! - `redact` removes secrets from an address for display.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use memdir_store::encryption_record::is_encrypted;
use memdir_store::local_path::{FILES, check_not_files, expand_home};
#[cfg(feature = "encryption")]
use memdir_store::path::MemoryPath;
use memdir_store::{ConfigError, Error};

use super::address_hint::unknown_scheme;
use super::options::StoreOptions;
use super::{InProcess, Location, Namespace, ReadOnly, Store};

mod engines;
mod redact;
mod scheme;

#[cfg(any(unix, windows))]
use engines::open_existing_local;
use engines::{
    object_namespaces, open_local, open_objects, open_postgres, open_sqlite, postgres_namespaces,
};
#[cfg(feature = "sqlite")]
use engines::{open_existing_sqlite, sqlite_path};
pub use redact::redact_address;
pub(super) use scheme::is_path;
use scheme::scheme;

/// Opens the store that `address` names:
///
/// - a path without a scheme: a local directory in the SDKs' layout
/// - `dir:` and a path: a local directory that contains the files directly
/// - `memory:`: a new store in this process
/// - `sqlite:` and a path: an SQLite database (feature `sqlite`)
/// - `postgres://…`: a namespace of a PostgreSQL database (feature `postgres`)
/// - `s3://…`, `gs://…`, `az://…`: a prefix of a bucket (feature `object-storage`)
///
/// `~` as the first component of a path on this machine is the home directory. With an `encryption_key` in the
/// options (feature `encryption`) the store is encrypted.
///
/// # Errors
/// [`Error::Config`] for an address that this build does not support, for a wrong key, or for an encrypted
/// store on this machine without a key. [`Error::Store`] if the store cannot be opened.
pub fn open_store(
    address: &str,
    options: impl Into<StoreOptions>,
) -> Result<Arc<dyn Store>, Error> {
    let options = &options.into();
    refuse_names_without_key(options)?;
    // A store on another machine is not contacted before the first command needs it.
    finished(open_any(address, options)?, options, is_elsewhere(address))
}

/// Wraps a store in the layer that the options require: encryption.
pub(in crate::store) fn finished(
    store: Arc<dyn Store>,
    options: &StoreOptions,
    elsewhere: bool,
) -> Result<Arc<dyn Store>, Error> {
    let store = ReadOnly::where_asked(store, options.read_only);
    #[cfg(feature = "encryption")]
    if options.encryption_key.is_some() {
        return encrypt(store, options);
    }
    // Without the key, the model would see files that it cannot read, and write files that are not encrypted.
    if !elsewhere && is_encrypted(&*store) {
        return Err(ConfigError::from("the store is encrypted: its key is needed")
            .about("encryption_key")
            .into());
    }
    Ok(store)
}

/// Wraps a store in encryption, if the options have an `encryption_key`. Use it for your own store, or for one
/// that was opened in another way.
///
/// # Errors
/// Same as [`Encrypted::open`](super::Encrypted::open).
#[cfg(feature = "encryption")]
pub fn encrypt(
    store: Arc<dyn Store>,
    options: impl Into<StoreOptions>,
) -> Result<Arc<dyn Store>, Error> {
    let options = &options.into();
    refuse_names_without_key(options)?;
    match &options.encryption_key {
        None => Ok(store),
        Some(key) => Ok(Arc::new(super::Encrypted::open(store, key, options.encrypt_names)?)),
    }
}

/// Like [`encrypt`], but calls no method of the store before the first command. Errors are then returned by
/// that command. For a store that cannot respond while it is being opened.
///
/// # Errors
/// [`Error::Config`] for the option `encrypt_names` without a key.
#[cfg(feature = "encryption")]
pub fn encrypt_lazily(
    store: Arc<dyn Store>,
    options: impl Into<StoreOptions>,
) -> Result<Arc<dyn Store>, Error> {
    let options = options.into();
    refuse_names_without_key(&options)?;
    Ok(match &options.encryption_key {
        None => store,
        Some(key) => Arc::new(super::Encrypted::lazy(store, key, options.encrypt_names)),
    })
}

/// Like [`open_store`], but does not decrypt an encrypted store, whatever the options say. Use it to change the
/// key with `rekey`, or to copy the store without the key.
///
/// # Errors
/// Same as [`open_store`].
pub fn open_raw_store(
    address: &str,
    options: impl Into<StoreOptions>,
) -> Result<Arc<dyn Store>, Error> {
    let options = &options.into();
    open_any(address, options).map(|store| ReadOnly::where_asked(store, options.read_only))
}

fn open_any(address: &str, options: &StoreOptions) -> Result<Arc<dyn Store>, Error> {
    if !is_elsewhere(address) {
        refuse_namespace(options)?;
    }
    match scheme(address) {
        Some("memory") if address.len() == "memory:".len() => Ok(Arc::new(InProcess::new())),
        Some("dir") if address.len() > "dir:".len() => {
            open_local(&expand_home(address["dir:".len()..].as_ref())?, options)
        }
        Some("sqlite") => open_sqlite(&address["sqlite:".len()..], options),
        Some("postgres" | "postgresql") => open_postgres(address, options),
        Some("s3" | "gs" | "az") => open_objects(address, options),
        Some("dir") => Err(Error::config(
            "the store address \"dir:\" has no path: use a directory such as \"dir:./notes\"",
        )),
        Some("memory") => Err(Error::config(
            "the store address \"memory:\" takes nothing after it: it is always a new store in \
             this process",
        )),
        Some(scheme) => Err(Error::config(unknown_scheme(scheme))),
        None if address.is_empty() => {
            Err(Error::config("the store address is empty: use a directory such as \"./memory\""))
        }
        None => open_local(&files_of(address.as_ref())?, options),
    }
}

/// Returns the namespaces in a PostgreSQL database, or below a prefix of object storage, with the size of each.
/// Empty ones are left out. They are sorted by name. To open one, use its name as
/// [`MemoryOptions::namespace`](crate::MemoryOptions::namespace).
///
/// In PostgreSQL, row-level security limits the result to the namespaces that the user may see. In object
/// storage, a memory at the prefix itself makes its directories look like namespaces. For an encrypted memory
/// with encrypted names, the history counts among the files.
///
/// ```
/// use memdir::{MemoryOptions, namespaces};
///
/// // A directory is one memory.
/// assert!(namespaces("./memory", &MemoryOptions::default()).is_err());
/// ```
///
/// # Errors
/// [`Error::Config`] for the address of a store without namespaces. Otherwise the same as [`open_store`].
pub fn namespaces(
    address: &str,
    options: impl Into<StoreOptions>,
) -> Result<Vec<Namespace>, Error> {
    let options = &options.into();
    match scheme(address) {
        Some("postgres" | "postgresql") => postgres_namespaces(address, options),
        Some("s3" | "gs" | "az") => object_namespaces(address, options),
        _ => Err(Error::config(
            "only PostgreSQL and object storage have namespaces: any other store is one memory",
        )),
    }
}

/// Returns whether a store at `address` is on another machine. Such a store supports the option `namespace`.
fn is_elsewhere(address: &str) -> bool {
    matches!(scheme(address), Some("postgres" | "postgresql" | "s3" | "gs" | "az"))
}

/// Refuses the option `namespace` for a store without namespaces. If the option were ignored, one user could
/// read another user's memory.
pub(in crate::store) fn refuse_namespace(options: &StoreOptions) -> Result<(), Error> {
    match options.namespace {
        None => Ok(()),
        Some(_) => Err(ConfigError::from(
            "the option \"namespace\" is for PostgreSQL and object storage: this ",
        )
        .and("store is one memory; give each namespace a store of its own")
        .about("namespace")
        .into()),
    }
}

/// Refuses the option `encrypt_names` without a key. If it were ignored, a memory without a key would be plain
/// files.
#[cfg_attr(
    not(feature = "encryption"),
    expect(unused_variables, reason = "there is no such option")
)]
pub(in crate::store) fn refuse_names_without_key(options: &StoreOptions) -> Result<(), Error> {
    #[cfg(feature = "encryption")]
    if options.encrypt_names && options.encryption_key.is_none() {
        let error = ConfigError::of_option("encrypt_names").and(" needs ");
        return Err(error.and_name("encryption_key").into());
    }
    Ok(())
}

/// Returns the directory of the files of the memory at `base`, in the SDKs' layout.
fn files_of(base: &Path) -> Result<PathBuf, Error> {
    let base = expand_home(base)?;
    check_not_files(&base)?;
    Ok(base.join(FILES))
}

/// Returns the location of the files of the store at `address`, even if the store does not exist yet. `None`
/// for a store that is not on this machine, and for a wrong address.
#[must_use]
pub fn location_of(address: &str) -> Option<Location> {
    let path = match scheme(address) {
        Some("dir") => expand_home(address["dir:".len()..].as_ref()),
        Some("sqlite") => expand_home(address["sqlite:".len()..].as_ref()),
        None => expand_home(address.as_ref()).map(|base| base.join(FILES)),
        Some(_) => return None,
    };
    path.ok().filter(|path| !path.as_os_str().is_empty()).map(Location::file)
}

/// Like [`open_store`], but never creates a store. Returns `None` if the local directory or database does not
/// exist, and for `memory:`, which is always new. A remote store is opened as by [`open_store`].
///
/// # Errors
/// Same as [`open_store`].
pub fn open_existing_store(
    address: &str,
    options: impl Into<StoreOptions>,
) -> Result<Option<Arc<dyn Store>>, Error> {
    let options = &options.into();
    refuse_names_without_key(options)?;
    let Some(store) = open_existing(address, options)? else { return Ok(None) };
    let elsewhere = is_elsewhere(address);
    // It does not create keys, either: an empty store is not encrypted yet.
    #[cfg(feature = "encryption")]
    if options.encryption_key.is_some()
        && !elsewhere
        && store
            .list(&MemoryPath::root())
            .map_err(|error| Error::Store(error.unchanged()))?
            .is_empty()
    {
        return Ok(None);
    }
    finished(store, options, elsewhere).map(Some)
}

fn open_existing(address: &str, options: &StoreOptions) -> Result<Option<Arc<dyn Store>>, Error> {
    if !is_elsewhere(address) {
        refuse_namespace(options)?;
    }
    match scheme(address) {
        Some("memory") if address.len() == "memory:".len() => Ok(None),
        #[cfg(feature = "sqlite")]
        Some("sqlite") => open_existing_sqlite(&sqlite_path(&address["sqlite:".len()..])?, options),
        #[cfg(any(unix, windows))]
        Some("dir") if address.len() > "dir:".len() => {
            open_existing_local(&expand_home(address["dir:".len()..].as_ref())?, options)
        }
        #[cfg(any(unix, windows))]
        None if !address.is_empty() => open_existing_local(&files_of(address.as_ref())?, options),
        _ => open_any(address, options).map(Some),
    }
}

/// Opens the local directory `path` in the SDKs' layout: the files are in its directory `memories`. The path is
/// never parsed as an address with a scheme. `~` as its first component is the home directory.
///
/// # Errors
/// [`Error::Store`] if it cannot be opened. [`Error::Config`] on a platform without local directories, or if
/// `path` is the directory of another memory's files. For an encrypted store, the same as [`open_store`].
pub fn open_directory(
    path: impl AsRef<Path>,
    options: impl Into<StoreOptions>,
) -> Result<Arc<dyn Store>, Error> {
    let options = &options.into();
    refuse_namespace(options)?;
    refuse_names_without_key(options)?;
    finished(open_local(&files_of(path.as_ref())?, options)?, options, false)
}

/// Opens the local directory `path`, which contains the files directly. The path is never parsed as an address
/// with a scheme. `~` as its first component is the home directory.
///
/// # Errors
/// Same as [`open_directory`].
pub fn open_bare_directory(
    path: impl AsRef<Path>,
    options: impl Into<StoreOptions>,
) -> Result<Arc<dyn Store>, Error> {
    let options = &options.into();
    refuse_namespace(options)?;
    refuse_names_without_key(options)?;
    finished(open_local(&expand_home(path.as_ref())?, options)?, options, false)
}

#[cfg(test)]
mod tests {
    use memdir_store::ErrorKind;

    use super::*;

    #[test]
    fn an_unknown_scheme_is_refused_without_its_secrets() {
        let error =
            open_store("redis://user:hunter2@host/0", StoreOptions::default()).err().unwrap();
        assert!(error.to_string().contains("\"redis:\""));
        assert!(!error.to_string().contains("hunter2"));
    }

    #[test]
    fn a_store_in_the_process_has_no_name() {
        for address in ["memory:notes", "memory://notes", "memory: "] {
            for opened in [
                open_store(address, StoreOptions::default()).map(drop),
                open_existing_store(address, StoreOptions::default()).map(drop),
            ] {
                let error = opened.unwrap_err();
                assert_eq!(error.kind(), ErrorKind::Config, "{address}");
                assert!(
                    error.to_string().contains("\"memory:\" takes nothing after it"),
                    "{error}"
                );
            }
        }
    }

    #[test]
    #[cfg(any(unix, windows))]
    fn a_store_that_cannot_be_opened_is_unavailable_and_unchanged() {
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join("file");
        std::fs::write(&file, "").unwrap();
        let read_only = StoreOptions { read_only: true, ..StoreOptions::default() };
        let missing = place.path().join("missing").display().to_string();
        let below_file = file.join("below").display().to_string();
        let mut wrong = vec![
            (missing.clone(), read_only.clone()),
            (format!("dir:{missing}"), read_only.clone()),
            (below_file.clone(), StoreOptions::default()),
            (format!("dir:{below_file}"), StoreOptions::default()),
        ];
        if cfg!(feature = "sqlite") {
            wrong.push((format!("sqlite:{missing}.db"), read_only));
            wrong.push((format!("sqlite:{below_file}.db"), StoreOptions::default()));
        }
        for (address, options) in wrong {
            let error = open_store(&address, options).err().unwrap();
            assert_eq!(error.kind(), ErrorKind::Unavailable, "{address}: {error}");
        }
    }

    #[test]
    fn a_namespace_is_refused_where_there_is_none_or_two() {
        use crate::store::{InProcess, Mount, open_mounts, open_place};

        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("a").display().to_string();
        let options = StoreOptions { namespace: Some("me".to_owned()), ..StoreOptions::default() };
        let refused = |opened: Result<(), Error>, what: &str| match opened {
            Err(Error::Config(problem)) => {
                assert!(problem.to_string().contains("namespace"), "{what}: {problem}");
            }
            other => panic!("{what}: {other:?}"),
        };
        let mut addresses = vec![
            "memory:".to_owned(),
            path.clone(),
            format!("dir:{path}"),
            format!("sqlite:{path}"),
        ];
        if cfg!(feature = "postgres") {
            // Refused before the server is contacted.
            addresses.push("postgres://127.0.0.1:1/d?namespace=mine".to_owned());
        }
        for address in &addresses {
            refused(open_store(address, &options).map(drop), address);
            refused(open_existing_store(address, &options).map(drop), address);
            refused(open_raw_store(address, &options).map(drop), address);
            refused(open_place(address.as_str(), &options).map(drop), address);
        }
        refused(open_directory(&path, &options).map(drop), "a directory");
        refused(open_bare_directory(&path, &options).map(drop), "a directory");
        let store: Arc<dyn Store> = Arc::new(InProcess::new());
        refused(open_place(store, &options).map(drop), "a store");
        let mounts = [Mount::new("/memories", "postgres://127.0.0.1:1/d")];
        refused(open_mounts(mounts, &options).map(drop), "mounts");
        assert!(!place.path().join("a").exists());
    }

    #[cfg(feature = "sqlite")]
    #[test]
    fn an_address_of_sqlite_is_a_plain_path() {
        for address in ["sqlite:", "sqlite::memory:", "sqlite:///a.db", "sqlite:a.db?mode=ro"] {
            let error = open_store(address, StoreOptions::default()).err().unwrap();
            assert!(matches!(error, Error::Config(_)), "{address}: {error}");
        }
    }

    #[cfg(not(feature = "postgres"))]
    #[test]
    fn without_postgresql_the_feature_is_named() {
        for address in ["postgres://me:hunter2@db/d", "postgresql://me:hunter2@db/d"] {
            let error = open_store(address, StoreOptions::default()).err().unwrap().to_string();
            assert!(error.contains("feature") && !error.contains("hunter2"), "{error}");
        }
    }

    #[cfg(not(feature = "sqlite"))]
    #[test]
    fn without_sqlite_the_feature_is_named() {
        let error = open_store("sqlite:a.db", StoreOptions::default()).err().unwrap();
        assert!(matches!(&error, Error::Config(_)) && error.to_string().contains("feature"));
    }

    #[cfg(not(feature = "object-storage"))]
    #[test]
    fn without_object_storage_the_feature_is_named() {
        let error = open_store("s3://bucket/p", StoreOptions::default()).err().unwrap();
        assert!(matches!(&error, Error::Config(_)) && error.to_string().contains("feature"));
    }
}

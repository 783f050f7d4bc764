//! Store addresses: which store a text such as `./memory` or `sqlite:agent.db` names.

use std::path::Path;
use std::sync::Arc;

use super::{InProcess, Store};
use crate::error::Error;
use crate::options::Options;
use crate::path::MemoryPath;

/// The file at the root of an encrypted store that holds what is needed to open it with the key.
pub(super) const ENCRYPTION_RECORD: &str = ".memdir-encryption";

/// Opens the store that `address` names: `memory:` is a new one in this process, `sqlite:` and a
/// path is a database (feature `sqlite`), anything else without a scheme is a local directory.
///
/// With an `encryption_key` in the options (feature `encryption`) what the store keeps is encrypted.
///
/// # Errors
/// [`Error::Config`] for an address that this build does not know, a key that is not the store's, or
/// an encrypted store on this machine and no key; [`Error::Store`] if the store cannot be opened.
pub fn open_store(address: &str, options: &Options) -> Result<Arc<dyn Store>, Error> {
    // Another machine's store is not asked anything before a command needs it.
    let elsewhere = address.contains("://");
    finished(open_store_beneath(address, options)?, options, elsewhere)
}

/// Gives a store the layer that the options ask for: encryption.
fn finished(
    store: Arc<dyn Store>,
    options: &Options,
    elsewhere: bool,
) -> Result<Arc<dyn Store>, Error> {
    #[cfg(feature = "encryption")]
    if options.encryption_key.is_some() {
        return encrypt(store, options);
    }
    #[cfg(not(feature = "encryption"))]
    let _ = options;
    // Without the key, a model would be shown what it cannot read, and write what the key does not
    // open.
    if !elsewhere
        && MemoryPath::root().join(ENCRYPTION_RECORD).is_ok_and(|at| store.read(&at).is_ok())
    {
        return Err(Error::Config("the store is encrypted: its key is needed".to_owned()));
    }
    Ok(store)
}

/// The store, encrypted if the options have an `encryption_key`: for a store of your own, or one
/// that was opened in another way.
///
/// # Errors
/// As [`Encrypted::open`](super::Encrypted::open).
#[cfg(feature = "encryption")]
pub fn encrypt(store: Arc<dyn Store>, options: &Options) -> Result<Arc<dyn Store>, Error> {
    match &options.encryption_key {
        None => Ok(store),
        Some(key) => Ok(Arc::new(super::Encrypted::open(store, key, options.encrypt_names)?)),
    }
}

/// As [`encrypt`], but the store is not asked before the first command, which then says what is
/// wrong: for a store that cannot answer before its caller goes on.
#[cfg(feature = "encryption")]
pub fn encrypt_lazily(store: Arc<dyn Store>, options: &Options) -> Arc<dyn Store> {
    match &options.encryption_key {
        None => store,
        Some(key) => Arc::new(super::Encrypted::lazy(store, key, options.encrypt_names)),
    }
}

/// As [`open_store`], but what is encrypted comes as it is kept, whatever the options say: to change
/// its key with `rekey`, or to copy it without having the key.
///
/// # Errors
/// As [`open_store`].
pub fn open_store_beneath(address: &str, options: &Options) -> Result<Arc<dyn Store>, Error> {
    match scheme(address) {
        Some("memory") if address.len() == "memory:".len() => Ok(Arc::new(InProcess::new())),
        Some("sqlite") => open_sqlite(&address["sqlite:".len()..], options),
        Some(scheme) => Err(Error::Config(format!(
            "a store address that starts with \"{scheme}:\" is not known to this build of memdir: \
             use a directory such as \"./memory\", or \"memory:\" for one in this process"
        ))),
        None if address.is_empty() => Err(Error::Config(
            "the store address is empty: use a directory such as \"./memory\"".to_owned(),
        )),
        None => open_plain_directory(address.as_ref(), options),
    }
}

/// Opens the local directory `path`, which is taken as it is: never for an address with a scheme.
///
/// # Errors
/// [`Error::Store`] if it cannot be opened; [`Error::Config`] on a platform without local
/// directories, and as [`open_store`] where it is encrypted.
pub fn open_directory(path: impl AsRef<Path>, options: &Options) -> Result<Arc<dyn Store>, Error> {
    finished(open_plain_directory(path.as_ref(), options)?, options, false)
}

#[cfg(unix)]
fn open_plain_directory(path: &Path, options: &Options) -> Result<Arc<dyn Store>, Error> {
    let store = super::LocalDirectory::open(path, options.durability).map_err(Error::Store)?;
    Ok(Arc::new(store))
}

#[cfg(not(unix))]
fn open_plain_directory(_: &Path, _: &Options) -> Result<Arc<dyn Store>, Error> {
    Err(Error::Config(
        "local directories are not supported on this platform yet: use \"memory:\", or a store of \
         your own"
            .to_owned(),
    ))
}

#[cfg(feature = "sqlite")]
fn open_sqlite(path: &str, options: &Options) -> Result<Arc<dyn Store>, Error> {
    let problem = match path {
        "" => "has no path",
        ":memory:" => "names a database in memory, for which there is \"memory:\"",
        // Other tools read two or three slashes each in their own way, and take options so.
        path if path.starts_with("//") => "has too many slashes",
        path if path.contains('?') => "has options, of which SQLite takes none here",
        path => {
            let store =
                super::SqliteDatabase::open(path, options.durability).map_err(Error::Store)?;
            return Ok(Arc::new(store));
        }
    };
    Err(Error::Config(format!(
        "the store address \"sqlite:{path}\" {problem}: use a file such as \"sqlite:agent.db\" or \
         \"sqlite:/var/lib/agent.db\""
    )))
}

#[cfg(not(feature = "sqlite"))]
fn open_sqlite(_: &str, _: &Options) -> Result<Arc<dyn Store>, Error> {
    Err(Error::Config(
        "this build of memdir is without SQLite: build it with the cargo feature \"sqlite\", or use \
         a directory such as \"./memory\""
            .to_owned(),
    ))
}

/// The scheme of an address such as `memory:` or `postgres://…`. One letter is a drive.
fn scheme(address: &str) -> Option<&str> {
    let (scheme, _) = address.split_once(':')?;
    let plain = scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c));
    (scheme.len() > 1 && plain && scheme.starts_with(|c: char| c.is_ascii_alphabetic()))
        .then_some(scheme)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schemes_are_told_from_paths() {
        assert_eq!(scheme("memory:"), Some("memory"));
        assert_eq!(scheme("postgres://u:p@h/db"), Some("postgres"));
        for path in ["./memory", "/var/memory", "memory", "C:\\memory", "./a:b", "../x:y"] {
            assert_eq!(scheme(path), None, "{path}");
        }
    }

    #[test]
    fn an_unknown_scheme_is_refused_without_its_secrets() {
        let error = open_store("redis://user:hunter2@host/0", &Options::default()).err().unwrap();
        assert!(error.to_string().contains("\"redis:\""));
        assert!(!error.to_string().contains("hunter2"));
    }

    #[cfg(feature = "sqlite")]
    #[test]
    fn an_address_of_sqlite_is_a_plain_path() {
        for address in ["sqlite:", "sqlite::memory:", "sqlite:///a.db", "sqlite:a.db?mode=ro"] {
            let error = open_store(address, &Options::default()).err().unwrap();
            assert!(matches!(error, Error::Config(_)), "{address}: {error}");
        }
    }

    #[cfg(not(feature = "sqlite"))]
    #[test]
    fn without_sqlite_the_feature_is_named() {
        let error = open_store("sqlite:a.db", &Options::default()).err().unwrap();
        assert!(matches!(&error, Error::Config(_)) && error.to_string().contains("feature"));
    }
}

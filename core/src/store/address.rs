//! Store addresses: which store a text such as `./memory` or `sqlite:agent.db` names.

use std::path::{Path, PathBuf};
use std::sync::Arc;

#[cfg(any(unix, feature = "sqlite"))]
use super::StoreError;
use super::address_hint::unknown_scheme;
use super::encryption_record::is_encrypted;
use super::local_path::{FILES, check_not_files, expand_home};
use super::options::StoreOptions;
use super::{InProcess, Location, ReadOnly, Store};
use crate::error::{ConfigError, Error};
#[cfg(feature = "encryption")]
use crate::path::MemoryPath;

/// Opens the store that `address` names: `memory:` is a new one in this process, `dir:` and a path
/// the files of that very directory, `sqlite:` and a path a database (feature `sqlite`),
/// `postgres://…` a namespace of one (feature `postgres`), `s3://`, `gs://` and `az://` with a bucket and
/// a prefix object storage (feature `object-storage`), anything else without a scheme a local
/// directory in the SDKs' layout. `~` as the first component of a path on this machine is the home
/// directory.
///
/// With an `encryption_key` in the options (feature `encryption`) what the store keeps is encrypted.
///
/// # Errors
/// [`Error::Config`] for an address that this build does not know, a key that is not the store's, or
/// an encrypted store on this machine and no key; [`Error::Store`] if the store cannot be opened.
pub fn open_store(
    address: &str,
    options: impl Into<StoreOptions>,
) -> Result<Arc<dyn Store>, Error> {
    let options = &options.into();
    // Another machine's store is not asked anything before a command needs it.
    let elsewhere = address.contains("://");
    finished(open_any(address, options)?, options, elsewhere)
}

/// Gives a store the layer that the options ask for: encryption.
pub(super) fn finished(
    store: Arc<dyn Store>,
    options: &StoreOptions,
    elsewhere: bool,
) -> Result<Arc<dyn Store>, Error> {
    let store = ReadOnly::where_asked(store, options.read_only);
    #[cfg(feature = "encryption")]
    if options.encryption_key.is_some() {
        return encrypt(store, options);
    }
    // Without the key, a model would be shown what it cannot read, and write what the key does not
    // open.
    if !elsewhere && is_encrypted(&*store) {
        return Err(Error::config(
            ConfigError::from("the store is encrypted: its key is needed").about("encryption_key"),
        ));
    }
    Ok(store)
}

/// The store, encrypted if the options have an `encryption_key`: for a store of your own, or one
/// that was opened in another way.
///
/// # Errors
/// As [`Encrypted::open`](super::Encrypted::open).
#[cfg(feature = "encryption")]
pub fn encrypt(
    store: Arc<dyn Store>,
    options: impl Into<StoreOptions>,
) -> Result<Arc<dyn Store>, Error> {
    let options = &options.into();
    match &options.encryption_key {
        None => Ok(store),
        Some(key) => Ok(Arc::new(super::Encrypted::open(store, key, options.encrypt_names)?)),
    }
}

/// As [`encrypt`], but the store is not asked before the first command, which then says what is
/// wrong: for a store that cannot answer before its caller goes on.
#[cfg(feature = "encryption")]
pub fn encrypt_lazily(store: Arc<dyn Store>, options: impl Into<StoreOptions>) -> Arc<dyn Store> {
    let options = options.into();
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
pub fn open_raw_store(
    address: &str,
    options: impl Into<StoreOptions>,
) -> Result<Arc<dyn Store>, Error> {
    let options = &options.into();
    open_any(address, options).map(|store| ReadOnly::where_asked(store, options.read_only))
}

fn open_any(address: &str, options: &StoreOptions) -> Result<Arc<dyn Store>, Error> {
    if !has_namespaces(address) {
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
        Some(scheme) => Err(Error::config(unknown_scheme(scheme))),
        None if address.is_empty() => {
            Err(Error::config("the store address is empty: use a directory such as \"./memory\""))
        }
        None => open_local(&files_of(address.as_ref())?, options),
    }
}

/// Whether the option `namespace` says which of several memories at `address` is meant.
fn has_namespaces(address: &str) -> bool {
    matches!(scheme(address), Some("postgres" | "postgresql" | "s3" | "gs" | "az"))
}

/// For a store that is one memory. That the option were not looked at, nobody would notice before one
/// user read what another wrote.
pub(super) fn refuse_namespace(options: &StoreOptions) -> Result<(), Error> {
    match options.namespace {
        None => Ok(()),
        Some(_) => Err(Error::config(ConfigError::from("the option \"namespace\" is for PostgreSQL and object storage: this store is one memory; \
             give each namespace a store of its own").about("namespace"))),
    }
}

/// The directory of the files of the memory at `base`, in the SDKs' layout.
fn files_of(base: &Path) -> Result<PathBuf, Error> {
    let base = expand_home(base)?;
    check_not_files(&base)?;
    Ok(base.join(FILES))
}

/// Where the store that `address` names keeps its files, also if it is not there yet. `None` for what is not on
/// this machine, and for addresses that are wrong.
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

/// As [`open_store`], but makes nothing: `None` if there is no local directory or database of that
/// name yet, and for `memory:`, which is always a new one. A remote store is as it is after
/// [`open_store`].
///
/// # Errors
/// As [`open_store`].
pub fn open_existing_store(
    address: &str,
    options: impl Into<StoreOptions>,
) -> Result<Option<Arc<dyn Store>>, Error> {
    let options = &options.into();
    let Some(store) = open_existing(address, options)? else { return Ok(None) };
    let elsewhere = address.contains("://");
    // Nor are the keys of an encrypted store made: an empty place is none yet.
    #[cfg(feature = "encryption")]
    if options.encryption_key.is_some()
        && !elsewhere
        && store.list(&MemoryPath::root()).map_err(Error::Store)?.is_empty()
    {
        return Ok(None);
    }
    finished(store, options, elsewhere).map(Some)
}

fn open_existing(address: &str, options: &StoreOptions) -> Result<Option<Arc<dyn Store>>, Error> {
    if !has_namespaces(address) {
        refuse_namespace(options)?;
    }
    match scheme(address) {
        Some("memory") if address.len() == "memory:".len() => Ok(None),
        #[cfg(feature = "sqlite")]
        Some("sqlite") => open_existing_sqlite(&sqlite_path(&address["sqlite:".len()..])?, options),
        #[cfg(unix)]
        Some("dir") if address.len() > "dir:".len() => {
            open_existing_local(&expand_home(address["dir:".len()..].as_ref())?, options)
        }
        #[cfg(unix)]
        None if !address.is_empty() => open_existing_local(&files_of(address.as_ref())?, options),
        _ => open_any(address, options).map(Some),
    }
}

#[cfg(any(unix, feature = "sqlite"))]
fn shared(store: impl Store + 'static) -> Arc<dyn Store> {
    Arc::new(store)
}

#[cfg(any(unix, feature = "sqlite"))]
fn missing(place: &Path) -> Error {
    let missing = std::io::Error::from(std::io::ErrorKind::NotFound);
    Error::Store(StoreError::failed(format!("opening {}", place.display()), missing))
}

/// An address as it may be shown: without user, password and parameters. Where it is not certain
/// what is a secret in it, all but the scheme is left out.
///
/// ```
/// use memdir::store::redact_address;
///
/// let address = "postgres://user:hunter2@db.example.com/agents?namespace=user-42";
/// assert_eq!(redact_address(address), "postgres://***@db.example.com/agents?***");
/// assert_eq!(redact_address("./memory"), "./memory");
/// ```
#[must_use]
pub fn redact_address(address: &str) -> String {
    const HIDDEN: &str = "***";
    let scheme = scheme(address);
    let rest = address.get(scheme.map_or(0, |scheme| scheme.len() + 1)..).unwrap_or("");
    let shown = match scheme {
        None | Some("dir" | "sqlite" | "memory") if !looks_secret(rest) => address.to_owned(),
        None => HIDDEN.to_owned(),
        Some(scheme) => format!("{scheme}:{}", redacted_place(rest).unwrap_or(HIDDEN.to_owned())),
    };
    shown.chars().map(|c| if c.is_control() { char::REPLACEMENT_CHARACTER } else { c }).collect()
}

/// What follows the scheme; `None` if it cannot be said where secrets in it begin and end.
fn redacted_place(rest: &str) -> Option<String> {
    let place = rest.trim_start_matches('/');
    let slashes = &rest[..rest.len() - place.len()];
    let (place, parameters) = match place.find(['?', '#']) {
        Some(end) => (&place[..end], &place[end..]),
        None => (place, ""),
    };
    // A password may hold any character, although it should not. One that is named may so hold what would be
    // taken for the end of a user.
    if parameters.contains('@')
        || parameters.contains("%40")
        || place.contains("%40")
        || names_secret(place)
    {
        return None;
    }
    let (user, place) = match place.rsplit_once('@') {
        Some((_, place)) => ("***@", place),
        None => ("", place),
    };
    let (host, below) = place.find('/').map_or((place, ""), |end| place.split_at(end));
    let plain = |host: &str| host.chars().all(|c| c.is_ascii_alphanumeric() || "-._".contains(c));
    let host = match host.split_once(':') {
        None if plain(host) => host.to_owned(),
        // Without a user, what looks like a port may be a password whose host was forgotten.
        Some((host, port)) if plain(host) && port.bytes().all(|c| c.is_ascii_digit()) => {
            format!("{host}:{}", if user.is_empty() { "***" } else { port })
        }
        _ => return None,
    };
    if looks_secret(place) {
        return None;
    }
    let parameters = if parameters.is_empty() { "" } else { "?***" };
    Some(format!("{slashes}{user}{host}{below}{parameters}"))
}

/// Whether a text that should be a path, or a host and one, may hold a secret.
fn looks_secret(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    let user = text.contains('@') || text.contains("%40");
    (user && (text.contains(':') || text.contains("%3a"))) || names_secret(&text)
}

/// Whether a text says of a part of it that it is a secret.
fn names_secret(text: &str) -> bool {
    const SECRETS: &[&str] = &[
        "password=",
        "passwd=",
        "pwd=",
        "pass=",
        "secret=",
        "token=",
        "key=",
        "signature=",
        "sig=",
        "credential=",
        "credentials=",
    ];
    let text = text.to_ascii_lowercase().replace("%3d", "=");
    SECRETS.iter().any(|secret| text.contains(secret))
}

/// Opens the local directory `path` in the SDKs' layout: the files are in its directory
/// `memories`. The path is never taken for an address with a scheme; `~` as its first component is the
/// home directory.
///
/// # Errors
/// [`Error::Store`] if it cannot be opened; [`Error::Config`] on a platform without local
/// directories, for the directory of the files of another memory, and as [`open_store`] where it is
/// encrypted.
pub fn open_directory(
    path: impl AsRef<Path>,
    options: impl Into<StoreOptions>,
) -> Result<Arc<dyn Store>, Error> {
    let options = &options.into();
    refuse_namespace(options)?;
    finished(open_local(&files_of(path.as_ref())?, options)?, options, false)
}

/// Opens the local directory `path`: the files are in that very directory. The path is never taken for
/// an address with a scheme; `~` as its first component is the home directory.
///
/// # Errors
/// As [`open_directory`].
pub fn open_bare_directory(
    path: impl AsRef<Path>,
    options: impl Into<StoreOptions>,
) -> Result<Arc<dyn Store>, Error> {
    let options = &options.into();
    refuse_namespace(options)?;
    finished(open_local(&expand_home(path.as_ref())?, options)?, options, false)
}

#[cfg(unix)]
fn open_local(root: &Path, options: &StoreOptions) -> Result<Arc<dyn Store>, Error> {
    if options.read_only {
        let store = open_existing_local(root, options)?.ok_or_else(|| missing(root))?;
        return Ok(ReadOnly::where_asked(store, options.read_only));
    }
    let opened = super::LocalDirectory::open_bare(root, options.durability);
    opened.map(|store| shared(with_limits(store, options))).map_err(Error::Store)
}

#[cfg(unix)]
fn with_limits(store: super::LocalDirectory, options: &StoreOptions) -> super::LocalDirectory {
    store.with_lock_timeout(options.lock_timeout).with_max_file_bytes(options.max_edited_bytes())
}

#[cfg(unix)]
fn open_existing_local(
    root: &Path,
    options: &StoreOptions,
) -> Result<Option<Arc<dyn Store>>, Error> {
    super::LocalDirectory::existing(root, options.durability, options.read_only)
        .map(|found| found.map(|store| shared(with_limits(store, options))))
        .map_err(Error::Store)
}

#[cfg(not(unix))]
fn open_local(_: &Path, _: &StoreOptions) -> Result<Arc<dyn Store>, Error> {
    Err(Error::config(
        "local directories are not supported on this platform yet: use \"memory:\", or a store of \
         your own",
    ))
}

#[cfg(feature = "sqlite")]
fn open_sqlite(path: &str, options: &StoreOptions) -> Result<Arc<dyn Store>, Error> {
    let path = sqlite_path(path)?;
    if options.read_only {
        return open_existing_sqlite(&path, options)?.ok_or_else(|| missing(&path));
    }
    let store = super::SqliteDatabase::open(path, options.durability).map_err(Error::Store)?;
    Ok(shared(sqlite_with_limits(store, options)))
}

#[cfg(feature = "sqlite")]
fn open_existing_sqlite(
    path: &Path,
    options: &StoreOptions,
) -> Result<Option<Arc<dyn Store>>, Error> {
    let found = super::SqliteDatabase::find(path, options.durability).map_err(Error::Store)?;
    Ok(found.map(|store| shared(sqlite_with_limits(store, options))))
}

#[cfg(feature = "sqlite")]
fn sqlite_with_limits(
    store: super::SqliteDatabase,
    options: &StoreOptions,
) -> super::SqliteDatabase {
    store
        .with_lock_timeout(options.lock_timeout)
        .with_max_file_bytes(options.max_edited_bytes())
        .with_total_limits(options.total_limits())
}

/// The part of an address of SQLite that has to be a plain path.
#[cfg(feature = "sqlite")]
fn sqlite_path(path: &str) -> Result<PathBuf, Error> {
    let problem = match path {
        "" => "has no path",
        ":memory:" => "names a database in memory, for which there is \"memory:\"",
        // Other tools read two or three slashes each in their own way, and take options so.
        path if path.starts_with("//") => "has too many slashes",
        path if path.contains('?') => "has options, of which SQLite takes none here",
        path => return expand_home(path.as_ref()),
    };
    let address = redact_address(&format!("sqlite:{path}"));
    Err(Error::config(format!(
        "the store address \"{address}\" {problem}: use a file such as \"sqlite:agent.db\" or \
         \"sqlite:/var/lib/agent.db\""
    )))
}

#[cfg(not(feature = "sqlite"))]
fn open_sqlite(_: &str, _: &StoreOptions) -> Result<Arc<dyn Store>, Error> {
    Err(Error::config(
        "this build of memdir is without SQLite: build it with the cargo feature \"sqlite\", or use \
         a directory such as \"./memory\"",
    ))
}

#[cfg(feature = "postgres")]
fn open_postgres(address: &str, options: &StoreOptions) -> Result<Arc<dyn Store>, Error> {
    let namespace = options.namespace.as_deref();
    let store = super::PostgresDatabase::open_namespace(address, namespace, options.durability)?;
    let store = store
        .with_lock_timeout(options.lock_timeout)
        .with_max_file_bytes(options.max_edited_bytes())
        .with_total_limits(options.total_limits());
    Ok(Arc::new(store))
}

#[cfg(not(feature = "postgres"))]
fn open_postgres(_: &str, _: &StoreOptions) -> Result<Arc<dyn Store>, Error> {
    Err(Error::config(
        "this build of memdir is without PostgreSQL: build it with the cargo feature \"postgres\", \
         or use a directory such as \"./memory\"",
    ))
}

#[cfg(feature = "object-storage")]
fn open_objects(address: &str, options: &StoreOptions) -> Result<Arc<dyn Store>, Error> {
    let store = super::ObjectStorage::open_namespace(address, options.namespace.as_deref())?;
    Ok(Arc::new(store.with_max_file_bytes(options.max_edited_bytes())))
}

#[cfg(not(feature = "object-storage"))]
fn open_objects(_: &str, _: &StoreOptions) -> Result<Arc<dyn Store>, Error> {
    Err(Error::config(
        "this build of memdir is without object storage: build it with the cargo feature \
         \"object-storage\", or use a directory such as \"./memory\"",
    ))
}

/// Whether an address is a path, without a scheme.
pub(super) fn is_path(address: &str) -> bool {
    !address.is_empty() && scheme(address).is_none()
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
        let error =
            open_store("redis://user:hunter2@host/0", StoreOptions::default()).err().unwrap();
        assert!(error.to_string().contains("\"redis:\""));
        assert!(!error.to_string().contains("hunter2"));
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
            // Known before the server is asked.
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

    #[test]
    fn what_is_shown_of_an_address_is_no_secret() {
        for (address, shown) in [
            ("./memory", "./memory"),
            ("/home/me@work/memory", "/home/me@work/memory"),
            ("C:\\memory", "C:\\memory"),
            ("sqlite:agent.db", "sqlite:agent.db"),
            ("memory:", "memory:"),
            ("s3://bucket/agents/42", "s3://bucket/agents/42"),
            ("postgres://db/agents", "postgres://db/agents"),
            ("postgres://db:5432/agents", "postgres://db:***/agents"),
            ("postgres://me:hunter2@db:5432/agents", "postgres://***@db:5432/agents"),
            ("postgres://hunter2@db/agents#x", "postgres://***@db/agents?***"),
            ("postgres://me:hun@ter2@db/agents", "postgres://***@db/agents"),
            ("postgres://me:hun/ter2@db/agents", "postgres://***@db/agents"),
            ("postgres:me:hunter2@db", "postgres:***@db"),
            ("POSTGRES://me:hunter2@[::1]:5432/a", "POSTGRES:***"),
            ("postgres://me:hun?ter2@db/agents", "postgres:***"),
            ("postgres://me:hun#ter2@db/agents", "postgres:***"),
            ("postgres://me:hunter2", "postgres:***"),
            ("postgres://me:123456", "postgres://me:***"),
            ("postgres://me%3Ahunter2%40db/agents", "postgres:***"),
            ("postgres://db/agents?password=hunter2", "postgres://db/agents?***"),
            ("postgres://db/a?options=x@hunter2", "postgres:***"),
            ("s3://bucket/x;secret=hunter2", "s3:***"),
            ("s3://AKIA:hunter2@bucket/x", "s3://***@bucket/x"),
            ("env:postgres://me:hunter2@db", "env:***@db"),
            // Slips of the hand that make a path of an address.
            ("postgres//me:hunter2@db", "***"),
            (" postgres://me:hunter2@db", "***"),
            ("//me:hunter2@db", "***"),
            ("host=db user=me password=hunter2", "***"),
            ("sqlite:me:hunter2@db", "sqlite:***@db"),
            ("postgres:host=db password=hu@nter2", "postgres:***"),
            ("dir:x password=hu@nter2", "dir:***"),
            ("dir:x?Password%3Dhunter2", "dir:x?***"),
            ("./mem\u{1b}[2Jory", "./mem\u{fffd}[2Jory"),
        ] {
            assert_eq!(redact_address(address), shown, "{address}");
        }
    }

    proptest::proptest! {
        #[test]
        fn no_part_of_a_password_is_shown(
            parts in proptest::collection::vec("[QXZ]{4,8}", 1..4),
            separators in proptest::collection::vec("[/@:?#%&;= \\\\]{1,2}", 4),
            before in "(postgres|s3|redis):/{0,3}(me)?:|(me)?:|postgres//me:|((postgres|dir):)?x?password=",
            after in "@db[.]example/agents([?]namespace=a)?|@db:5432|@\\[::1\\]/a|@db",
        ) {
            let secret: Vec<String> = parts
                .iter()
                .zip(&separators)
                .map(|(part, separator)| format!("{part}{separator}"))
                .collect();
            let address = format!("{before}{}{}{after}", secret.concat(), parts[0]);
            let shown = redact_address(&address);
            for part in &parts {
                proptest::prop_assert!(!shown.contains(part), "{address}: {shown}");
            }
        }
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

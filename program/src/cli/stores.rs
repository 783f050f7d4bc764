//! Opens the stores of a command, and turns their errors into messages without secrets.

use std::env::{self, VarError};
use std::path::Path;
use std::sync::Arc;

use super::{Failure, flags, similar};
use crate::with::with;
use memdir::path::MemoryPath;
#[cfg(feature = "encryption")]
use memdir::store::encrypt;
use memdir::store::{
    InProcess, Location, Store, StoreError, exists_at, location_of, open_existing_store,
    open_store, own_files_hint, redact_address,
};
use memdir::{Error, ErrorKind, Memory, MemoryOptions, Namespace, namespaces};

/// The environment variable with the key for a command with one store.
pub(super) const KEY: &str = "MEMDIR_ENCRYPTION_KEY";
/// The environment variables with the keys for a copy.
const FROM_KEY: &str = "MEMDIR_FROM_ENCRYPTION_KEY";
pub(super) const TO_KEY: &str = "MEMDIR_TO_ENCRYPTION_KEY";

/// The environment variables with the keys for a sync.
pub(super) const A_KEY: &str = "MEMDIR_A_ENCRYPTION_KEY";
pub(super) const B_KEY: &str = "MEMDIR_B_ENCRYPTION_KEY";

/// The advice if the arguments are in the wrong order.
const STORE_FIRST: &str =
    ": the store comes before the path, as in `memdir show ./memory /memories/notes.md`";

/// The store of a command with a single store.
pub(super) fn only(given: &str, options: MemoryOptions) -> Result<StoreArgument, Failure> {
    StoreArgument::new(given, with_key(options, KEY)?)
}

/// The store of a command that acts on a memory. It may be a new one in this process.
#[cfg(feature = "mcp")]
pub(super) fn any(given: &str, options: MemoryOptions) -> Result<StoreArgument, Failure> {
    let options = with_key(options, KEY)?;
    if given == "memory:" {
        let (address, shown) = (given.to_owned(), given.to_owned());
        return Ok(StoreArgument { address, shown, options });
    }
    StoreArgument::new(given, options)
}

/// The source and the destination of a copy.
pub(super) fn pair(
    from: &str,
    to: &str,
    options: &MemoryOptions,
) -> Result<(StoreArgument, StoreArgument), Failure> {
    with_keys([from, to], [FROM_KEY, TO_KEY], options)
}

/// The two memories of a sync.
pub(super) fn both(
    a: &str,
    b: &str,
    options: &MemoryOptions,
) -> Result<(StoreArgument, StoreArgument), Failure> {
    with_keys([a, b], [A_KEY, B_KEY], options)
}

/// A store named in a configuration file, and the environment variable with its key.
pub(super) fn configured(
    address: &str,
    key: Option<&str>,
    options: MemoryOptions,
) -> Result<StoreArgument, Failure> {
    let options = match key {
        Some(variable) => {
            if env::var_os(variable).is_none() {
                return Err(Failure::Usage(format!(
                    "the environment variable \"{variable}\" is not set: set it to the key of the store"
                )));
            }
            with_key(options, variable)?
        }
        None => options,
    };
    StoreArgument::new(address, options)
}

fn with_keys(
    given: [&str; 2],
    keys: [&str; 2],
    options: &MemoryOptions,
) -> Result<(StoreArgument, StoreArgument), Failure> {
    // Without this error the user might believe that both are encrypted.
    if env::var_os(KEY).is_some() {
        let [one, other] = keys;
        return Err(Failure::Usage(format!(
            "{KEY} does not say which of the two stores it is for: use {one} and {other}"
        )));
    }
    let argument =
        |number: usize| StoreArgument::new(given[number], with_key(options.clone(), keys[number])?);
    Ok((argument(0)?, argument(1)?))
}

#[cfg(feature = "encryption")]
fn with_key(mut options: MemoryOptions, variable: &str) -> Result<MemoryOptions, Failure> {
    options.encryption_key = match env::var(variable) {
        Ok(key) => Some(key.parse().map_err(|error: Error| {
            Failure::Usage(error.to_string().replace("encryption_key", variable))
        })?),
        Err(VarError::NotPresent) => None,
        Err(VarError::NotUnicode(_)) => {
            return Err(Failure::Usage(format!(
                "{variable} is not UTF-8 text: set it to a passphrase, or to hex:… or base64:… with 32 bytes"
            )));
        }
    };
    Ok(options)
}

#[cfg(not(feature = "encryption"))]
fn with_key(options: MemoryOptions, variable: &str) -> Result<MemoryOptions, Failure> {
    match env::var_os(variable) {
        None => Ok(options),
        Some(_) => Err(Failure::Usage(format!(
            "{variable} is set, but this build of memdir has no encryption: unset it, or install a build with the \
             feature `encryption`"
        ))),
    }
}

/// A store named by an argument. Its shown address and its error messages contain no secrets.
pub(super) struct StoreArgument {
    address: String,
    shown: String,
    options: MemoryOptions,
}

impl StoreArgument {
    /// Parses an argument: an address, or `env:` and the name of a variable with the address.
    fn new(given: &str, options: MemoryOptions) -> Result<Self, Failure> {
        let Some(name) = given.strip_prefix("env:") else {
            return Self::at(given.to_owned(), redact_address(given), options);
        };
        let problem = match env::var(name) {
            Ok(address) => {
                let shown = redact_address(&address);
                return Self::at(address, shown, options);
            }
            Err(VarError::NotPresent) => "is not set: set it to the address of the store",
            Err(VarError::NotUnicode(_)) => "is not UTF-8 text: set it to the address of the store",
        };
        let name = redact_address(name);
        Err(Failure::Usage(format!("the environment variable \"{name}\" {problem}")))
    }

    fn at(address: String, shown: String, options: MemoryOptions) -> Result<Self, Failure> {
        if address == "memory:" {
            return Err(Failure::Usage(
                "\"memory:\" is a new store in each process, and empty here: use the address of a store that is \
                 kept, such as ./memory or sqlite:agent.db"
                    .to_owned(),
            ));
        }
        Ok(Self { address, shown, options })
    }

    /// Whether a key is given. Without a key, no encrypted store can be opened.
    #[cfg(feature = "page")]
    pub(super) fn is_encrypted(&self) -> bool {
        #[cfg(feature = "encryption")]
        return self.options.encryption_key.is_some();
        #[cfg(not(feature = "encryption"))]
        false
    }

    /// Encrypts names as well, if the store is created. `key` is the environment variable that would contain the key.
    pub(super) fn encrypt_names(&mut self, wanted: bool, key: &str) -> Result<(), Failure> {
        #[cfg(feature = "encryption")]
        if self.options.encryption_key.is_some() {
            self.options.encrypt_names = wanted;
            return Ok(());
        }
        if wanted {
            return Err(Failure::Usage(format!(
                "--encrypt-names needs a key: set the environment variable {key} to it"
            )));
        }
        Ok(())
    }

    /// The store, which must exist.
    pub(super) fn existing(&self) -> Result<Arc<dyn Store>, Failure> {
        self.find()?.ok_or_else(|| self.missing())
    }

    /// The store, which must exist, for a command that only reads it. A store that is not writable is opened as read-only.
    pub(super) fn readable(&self) -> Result<Arc<dyn Store>, Failure> {
        let found = match open_existing_store(&self.address, &self.options) {
            Err(Error::Store(_)) => {
                let options = with(self.options.clone(), |options| options.read_only = true);
                open_existing_store(&self.address, &options)
            }
            found => found,
        };
        found.map_err(|error| self.not_opened(&error))?.ok_or_else(|| self.missing())
    }

    /// A memory that only reads the store, which must exist.
    pub(super) fn read_only(&self) -> Result<Memory, Failure> {
        let options = with(self.options.clone(), |options| options.read_only = true);
        let found = open_existing_store(&self.address, &options);
        let store = found.map_err(|error| self.not_opened(&error))?;
        Ok(Memory::with_store(store.ok_or_else(|| self.missing())?, options))
    }

    /// The failure for a store that does not exist.
    pub(super) fn missing(&self) -> Failure {
        let is_path = !self.address.contains(':');
        let own_files = || is_path.then(|| own_files_hint(Path::new(&self.address))).flatten();
        let hint = if self.address == "/memories" || self.address.starts_with("/memories/") {
            STORE_FIRST.to_owned()
        } else {
            similar::address_hint(&self.address).or_else(own_files).unwrap_or_else(|| {
                ": check the address, or create a memory there with `memdir put`".to_owned()
            })
        };
        Failure::Store(format!("there is no memory at {}{hint}", self.shown))
    }

    /// The address itself, which may contain a secret.
    #[cfg(any(feature = "mcp", feature = "page"))]
    pub(super) fn address(&self) -> &str {
        &self.address
    }

    /// The address without secrets.
    pub(super) fn shown(&self) -> &str {
        &self.shown
    }

    /// The store, if it exists.
    pub(super) fn find(&self) -> Result<Option<Arc<dyn Store>>, Failure> {
        open_existing_store(&self.address, &self.options).map_err(|error| self.not_opened(&error))
    }

    /// Whether the store exists. One on another machine counts as existing.
    pub(super) fn exists(&self) -> Result<bool, Failure> {
        exists_at(&MemoryPath::root(), &self.address, &self.options)
            .map_err(|error| self.not_opened(&error))
    }

    /// The memories in the database or below the prefix.
    pub(super) fn namespaces(&self) -> Result<Vec<Namespace>, Failure> {
        namespaces(&self.address, &self.options).map_err(|error| self.failure(&error))
    }

    /// The store. If it does not exist and may be written, it is created.
    pub(super) fn open(&self) -> Result<Arc<dyn Store>, Failure> {
        open_store(&self.address, &self.options).map_err(|error| {
            let absent = self.absent_at(&MemoryPath::root(), self.options.read_only, &error);
            absent.unwrap_or_else(|| self.not_opened(&error))
        })
    }

    /// The failure for a missing memory, if that is why the store could not be opened at the mount point `at`. A read-only store is not
    /// created.
    pub(super) fn absent_at(
        &self,
        at: &MemoryPath,
        is_read_only: bool,
        error: &Error,
    ) -> Option<Failure> {
        let is_asked = is_read_only && matches!(error, Error::Store(_));
        let is_absent =
            is_asked && matches!(exists_at(at, &self.address, &self.options), Ok(false));
        is_absent.then(|| self.missing())
    }

    /// Whether the store is on this machine or in this process.
    pub(super) fn is_local(&self) -> bool {
        location_of(&self.address).is_some_and(|location| location.is_local())
    }

    #[cfg(feature = "page")]
    pub(super) fn set_read_only(&mut self, is_read_only: bool) {
        self.options.read_only = is_read_only;
    }

    /// A temporary store with the same limits of names as a store that does not exist yet, to plan a copy.
    pub(super) fn stand_in(&self) -> Result<Arc<dyn Store>, Failure> {
        let nothing: Arc<dyn Store> = Arc::new(InProcess::new());
        #[cfg(feature = "encryption")]
        let nothing = encrypt(nothing, &self.options).map_err(|error| self.failure(&error))?;
        Ok(nothing)
    }

    /// Whether both stores are the same, or one is inside the other, according to their addresses.
    pub(super) fn overlaps(&self, other: &Self) -> bool {
        location_of(&self.address)
            .zip(location_of(&other.address))
            .is_some_and(|(a, b)| a.holds(&b) || b.holds(&a))
    }

    /// Whether the store is inside this local directory, or the directory is inside the store.
    pub(super) fn overlaps_directory(&self, directory: &Path) -> bool {
        let other = Location::file(directory);
        location_of(&self.address).is_some_and(|own| own.holds(&other) || other.holds(&own))
    }

    pub(super) fn options(&self) -> &MemoryOptions {
        &self.options
    }

    /// The failure for an error about the options or the store.
    pub(super) fn error(&self, error: &Error) -> Failure {
        self.failure(error)
    }

    fn failure(&self, error: &Error) -> Failure {
        let sentence = self.without_secrets(&error.to_string());
        match error {
            Error::Config(_) => Failure::Usage(self.without_secrets(&flags::sentence(error))),
            Error::Refused(_) => Failure::Refused(without_label(&sentence)),
            _ => Failure::Store(sentence),
        }
    }

    /// The failure for a store that cannot be opened.
    fn not_opened(&self, error: &Error) -> Failure {
        match self.failure(error) {
            Failure::Store(sentence) => {
                let hint = similar::scheme_hint(&self.address).unwrap_or_default();
                Failure::Store(sentence + &hint)
            }
            failure => failure,
        }
    }

    /// The failure for an error of the store.
    pub(super) fn failed(&self, error: &dyn std::error::Error) -> Failure {
        Failure::Store(self.without_secrets(&error.to_string()))
    }

    /// The failure for a store's error about a path.
    pub(super) fn condition(&self, path: &MemoryPath, error: StoreError) -> Failure {
        match error {
            StoreError::Failed { .. } | StoreError::Busy | StoreError::Cancelled => {
                self.failed(&Error::Store(error))
            }
            condition => Failure::Refused(format!("{path}: {condition}")),
        }
    }

    /// As [`condition`](Self::condition), with the path that was probably meant if nothing is at this one.
    pub(super) fn condition_in(
        &self,
        store: &dyn Store,
        path: &MemoryPath,
        error: StoreError,
    ) -> Failure {
        let advice = match &error {
            StoreError::NotFound => similar::path_hint(store, path)
                .unwrap_or_else(|| ": `memdir tree` lists the files".to_owned()),
            StoreError::IsADirectory => ": `memdir tree` lists its files".to_owned(),
            _ => String::new(),
        };
        match self.condition(path, error) {
            Failure::Refused(sentence) => Failure::Refused(sentence + &advice),
            failure => failure,
        }
    }

    /// The failure for an error of a command about a path, with the path that was probably meant if nothing is at this one.
    pub(super) fn error_in(&self, store: &dyn Store, path: &MemoryPath, error: &Error) -> Failure {
        let is_missing =
            matches!(error, Error::Refused(refused) if refused.kind() == ErrorKind::NotFound);
        match self.failure(error) {
            Failure::Refused(sentence) if is_missing => {
                let hint = similar::path_hint(store, path).unwrap_or_default();
                Failure::Refused(sentence.trim_end_matches('.').to_owned() + &hint)
            }
            failure => failure,
        }
    }

    /// Removes the address from a sentence. No store should put its address into an error, but one
    /// might.
    pub(super) fn without_secrets(&self, sentence: &str) -> String {
        sentence.replace(&self.address, &self.shown)
    }
}

/// A refusal worded for the model, without the `Error: ` that some of them start with.
fn without_label(sentence: &str) -> String {
    sentence.strip_prefix("Error: ").unwrap_or(sentence).to_owned()
}

/// Parses a path in a store. The error does not repeat it, because it may be an address.
pub(super) fn path(given: &str) -> Result<MemoryPath, Failure> {
    MemoryPath::parse(given).map_err(|error| {
        let hint = match Path::new(given).is_dir() && !given.starts_with("/memories") {
            true => Some(STORE_FIRST.to_owned()),
            false => similar::whole_path_hint(given),
        };
        Failure::Usage(format!("PATH is wrong: {error}{}", hint.unwrap_or_default()))
    })
}

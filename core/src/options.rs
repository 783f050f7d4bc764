//! The [`MemoryOptions`] of a memory, with the same names in every language. [`OptionValue`] is the interface
//! through which bindings read them.

use memdir_store::{ConfigError, Error, NameCase};

use crate::policy::PathPattern;
use crate::store::settings::max_edited_bytes;
use crate::store::{Store, StoreOptions};

mod json;
mod table;
mod value;

pub use table::MemoryOptions;
pub use value::{Given, OptionValue, Words};

impl MemoryOptions {
    /// The names of all options, in Rust's case.
    pub const NAMES: &[&str] = table::NAMES;

    /// The names of the options that also apply to a store that is opened without a memory.
    pub const NAMES_OF_STORE: &[&str] = table::OF_STORE;

    /// The largest image, in bytes, that Claude's API accepts: 5 MiB in base64, which encodes three bytes as
    /// four.
    pub const CLAUDE_IMAGE_BYTES: u64 = 5 * 1024 * 1024 / 4 * 3;

    /// Sets the option with this name in the language of `value`.
    ///
    /// # Errors
    /// [`Error::Config`] if the option does not exist, or the value is wrong.
    pub fn set<V: OptionValue>(&mut self, name: &str, value: V) -> Result<(), Error> {
        let case = V::WORDS.case;
        let known = Self::NAMES.iter().find(|option| case.of(option) == name);
        let Some(option) = known else { return Err(unknown(name, case)) };
        self.set_known(option, &Given::new(option, value))
    }

    /// The most bytes of a file that are read into memory to edit it.
    pub(crate) fn max_edited_bytes(&self) -> Option<u64> {
        max_edited_bytes(self.max_file_bytes)
    }

    /// Returns the same options with patterns adapted to the store. On a store that ignores case, patterns that
    /// protect match every spelling of a name, and patterns that allow writing only ignore upper and lower case.
    /// A pattern of `read_only_paths` for everything below a directory also protects the directory.
    pub(crate) fn for_store(self, store: &dyn Store) -> Self {
        let folds_case = store.info().folds_case;
        let folding = |patterns: Vec<PathPattern>| -> Vec<PathPattern> {
            patterns.into_iter().map(|pattern| pattern.folding_case(folds_case)).collect()
        };
        Self {
            read_only_paths: folding(self.read_only_paths)
                .into_iter()
                .map(PathPattern::with_directory)
                .collect(),
            writable_paths: self.writable_paths.map(|patterns| {
                patterns.into_iter().map(|pattern| pattern.ignoring_case(folds_case)).collect()
            }),
            never_expire: folding(self.never_expire),
            ..self
        }
    }
}

impl From<&MemoryOptions> for StoreOptions {
    fn from(options: &MemoryOptions) -> Self {
        Self {
            max_file_bytes: options.max_file_bytes,
            max_total_bytes: options.max_total_bytes,
            max_files: options.max_files,
            durability: options.durability,
            read_only: options.read_only,
            lock_timeout: options.lock_timeout,
            namespace: options.namespace.clone(),
            #[cfg(feature = "encryption")]
            encryption_key: options.encryption_key.clone(),
            #[cfg(feature = "encryption")]
            encrypt_names: options.encrypt_names,
        }
    }
}

fn unknown(name: &str, case: NameCase) -> Error {
    let names: Vec<_> = MemoryOptions::NAMES.iter().map(|option| case.of(option)).collect();
    let error =
        ConfigError::unknown_option(name, &names.iter().map(String::as_str).collect::<Vec<_>>());
    let encrypts = ["encryption_key", "encrypt_names"].iter().any(|option| case.of(option) == name);
    if encrypts && !cfg!(feature = "encryption") {
        return error.and(" in this build of memdir, which has no encryption").into();
    }
    error.into()
}

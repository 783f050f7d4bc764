//! [`MemoryOptions`] of a memory. They have the same names in every language.

use std::time::Duration;

use crate::policy::sensitive::{SensitiveRule, SensitiveText};
use crate::policy::{PathPattern, StaleGuard};
use crate::store::settings::{LOCK_TIMEOUT, MAX_FILE_BYTES, max_edited_bytes};
use crate::store::{Durability, OnExisting, Store, StoreOptions};

mod json;

/// How long versions are kept by default.
const HISTORY_MAX_AGE: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// How a [`Memory`](crate::Memory) behaves where the tool's documentation leaves a choice.
///
/// ```
/// use memdir::{Memory, OnExisting, MemoryOptions};
///
/// let mut options = MemoryOptions::default();
/// options.on_existing = OnExisting::Overwrite;
/// let memory = Memory::open("memory:", options).unwrap();
/// memory.create("/memories/a", "one").unwrap();
/// memory.create("/memories/a", "two").unwrap();
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct MemoryOptions {
    /// The most characters (Unicode scalar values) that one view shows. A longer view is cut, and
    /// its last line says how to go on. `None` lifts the limit. The default is the figure in
    /// Claude's own description of the tool. Default: 16,000.
    pub max_view_chars: Option<usize>,
    /// The most bytes that a command may make a file hold. A larger file that another program wrote
    /// can be viewed. It can be edited to be smaller if it has at most 16 MiB. `None` lifts the
    /// limit. Default: 16 MiB.
    pub max_file_bytes: Option<u64>,
    /// The most bytes that all files together may hold, hidden ones included. `None` sets no limit.
    /// Default: `None`.
    pub max_total_bytes: Option<u64>,
    /// The most files that the memory may hold, hidden ones included. `None` sets no limit.
    /// Default: `None`.
    pub max_files: Option<u64>,
    /// The most bytes of a `.png`, `.jpg` or `.jpeg` file that a view shows as an image. Claude
    /// accepts at most 3,932,160. `None` shows no images. The view of an image is a
    /// [`Content::Image`](crate::Content::Image), that of a larger one an error.
    /// [`CLAUDE_IMAGE_BYTES`](Self::CLAUDE_IMAGE_BYTES) is Claude's limit. Default: `None`.
    pub max_image_bytes: Option<u64>,
    /// What `create` does if the file already exists: `Error` refuses, `Overwrite` replaces the
    /// whole content atomically. Default: `Error`.
    pub on_existing: OnExisting,
    /// What an acknowledged command survives: `Full` a loss of power, `Relaxed` only a crash of the
    /// process. Object storage is always durable. Default: `Full`.
    pub durability: Durability,
    /// The memory can be viewed but not changed. The directory or database must exist. Nothing is
    /// made in a directory. Default: no.
    pub read_only: bool,
    /// How long a change waits for other writers of the same store (local directory, SQLite,
    /// PostgreSQL). After that the command is refused, and nothing was changed. `None` waits
    /// without limit. Default: 10 seconds.
    pub lock_timeout: Option<Duration>,
    /// Selects one of several memories in one PostgreSQL database or one bucket. Any text, such as
    /// a user's name. `None` selects the one that the address names. Never put a value that is not
    /// your own into an address. On every other store it is an error. Default: `None`.
    pub namespace: Option<String>,
    /// Patterns of paths that no command may change, such as `"/memories/handbook"`, with
    /// everything below them. They take precedence over [`writable_paths`](Self::writable_paths).
    /// Default: none.
    pub read_only_paths: Vec<PathPattern>,
    /// Patterns of the only paths that commands may change, with everything below them. An empty
    /// list allows no changes. `None` sets no limit. Default: `None`.
    pub writable_paths: Option<Vec<PathPattern>>,
    /// Refuses an edit that is based on an outdated view. `On` guards `insert` into files that this
    /// session of the memory has shown or written. `Strict` also guards `str_replace`, and requires
    /// a view first. Default: `Off`.
    pub stale_guard: StaleGuard,
    /// Encrypts everything that the store keeps. A store is encrypted from its creation or not at
    /// all. [`Memory::open`](crate::Memory::open), [`open_store`](crate::open_store) and
    /// [`encrypt`](crate::store::encrypt) use it. Default: `None`.
    #[cfg(feature = "encryption")]
    pub encryption_key: Option<crate::store::EncryptionKey>,
    /// Also encrypts the names in a store that is made with a key. An existing store stays as it
    /// was made. Default: no.
    #[cfg(feature = "encryption")]
    pub encrypt_names: bool,
    /// What happens to keys, tokens, passwords and payment cards in text that a command would
    /// write: `Off` does nothing, `Reject` refuses the command, `Redact` writes `[REDACTED:rule]`
    /// in their place. Default: `Off`.
    pub sensitive_text: SensitiveText,
    /// Your own rules, in addition to the built-in ones: patterns in the syntax of Rust's
    /// `regex-lite`, without look-around and back-references. Default: none.
    pub sensitive_rules: Vec<SensitiveRule>,
    /// Views show `[REDACTED:rule]` in the place of sensitive text. The file is not changed. Such a
    /// view reads the whole file into memory. Default: no.
    pub sensitive_on_view: bool,
    /// Before its first command, the memory removes files that nobody has used for this long. Must
    /// be more than 0. The store must keep times of access.
    /// [`Memory::expire`](crate::Memory::expire) does the same at any time. Default: `None`.
    pub expire_after: Option<Duration>,
    /// Records each view and each rename of a file as a use of it. That costs a write.
    /// [`expire_after`](Self::expire_after) turns it on. `expire()` needs it. Default: no.
    pub record_access: bool,
    /// Patterns of files that never expire, such as `"/memories/handbook"`, with everything below
    /// them. Default: none.
    pub never_expire: Vec<PathPattern>,
    /// The events that `after` gets contain the reply's text. Default: no.
    pub event_content: bool,
    /// Records every change before it is made, so that it can be seen and taken back. Default: no.
    pub history: bool,
    /// Versions that are older are removed, except the last ten of a file that is there. `None`
    /// keeps them however old they are. Default: 30 days.
    pub history_max_age: Option<Duration>,
    /// The most versions that are kept of a file, at least ten if it is there. `None` sets no
    /// limit. Default: `None`.
    pub history_max_versions: Option<usize>,
    /// About how many bytes the history may hold: beyond it the oldest versions are removed, except
    /// the last ten of a file that is there. `None` sets no limit. Default: `None`.
    pub history_max_bytes: Option<u64>,
    /// Who makes the changes of this memory, for its history: a session, a user, the id of a tool
    /// call. Any text of your program, never of a model. `acting_as` begins a session with another
    /// one. Default: `None`.
    pub actor: Option<String>,
}

impl MemoryOptions {
    /// The largest image, in bytes, that Claude's API accepts: 5 MiB, counted in base64, which
    /// makes four bytes of three.
    pub const CLAUDE_IMAGE_BYTES: u64 = 5 * 1024 * 1024 / 4 * 3;

    /// The most bytes of a file that are read into memory to edit it.
    pub(crate) fn max_edited_bytes(&self) -> Option<u64> {
        max_edited_bytes(self.max_file_bytes)
    }

    /// The same options with patterns that suit the store. If it ignores case, what is protected is protected by
    /// every spelling, and what is writable is so in upper and lower case. A pattern of `read_only_paths` for
    /// everything below a directory also protects the directory.
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

impl Default for MemoryOptions {
    fn default() -> Self {
        Self {
            max_view_chars: Some(16_000),
            max_file_bytes: Some(MAX_FILE_BYTES),
            max_total_bytes: None,
            max_files: None,
            max_image_bytes: None,
            on_existing: OnExisting::Error,
            durability: Durability::Full,
            read_only: false,
            lock_timeout: Some(LOCK_TIMEOUT),
            namespace: None,
            read_only_paths: Vec::new(),
            writable_paths: None,
            stale_guard: StaleGuard::Off,
            #[cfg(feature = "encryption")]
            encryption_key: None,
            #[cfg(feature = "encryption")]
            encrypt_names: false,
            sensitive_text: SensitiveText::Off,
            sensitive_rules: Vec::new(),
            sensitive_on_view: false,
            expire_after: None,
            record_access: false,
            never_expire: Vec::new(),
            event_content: false,
            history: false,
            history_max_age: Some(HISTORY_MAX_AGE),
            history_max_versions: None,
            history_max_bytes: None,
            actor: None,
        }
    }
}

//! Made from `core/options.json` by `core/generate-options`.

use std::time::Duration;

use memdir_store::Error;

use super::value::{Given, OptionValue};
use crate::policy::sensitive::{SensitiveRule, SensitiveText};
use crate::policy::{PathPattern, StaleGuard};
#[cfg(feature = "search")]
use crate::search::SearchLanguage;
#[cfg(feature = "encryption")]
use crate::store::EncryptionKey;
use crate::store::{Durability, OnExisting};

/// The options of a [`Memory`](crate::Memory): its behaviour where the tool's documentation leaves a choice.
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
    /// its last line says how to continue. `None` removes the limit. The default is the figure in
    /// Claude's own description of the tool. Default: 16,000.
    pub max_view_chars: Option<usize>,
    /// The most bytes that a file may have after a command. A larger file that another program
    /// wrote can be viewed. If it has at most 16 MiB, it can be edited to become smaller. `None`
    /// removes the limit. Default: 16 MiB.
    pub max_file_bytes: Option<u64>,
    /// The most bytes that all files together may have, including hidden ones. `None` sets no
    /// limit. Default: `None`.
    pub max_total_bytes: Option<u64>,
    /// The most files that the memory may have, including hidden ones. `None` sets no limit.
    /// Default: `None`.
    pub max_files: Option<u64>,
    /// The most bytes of a `.png`, `.jpg` or `.jpeg` file that a view shows as an image. Claude
    /// accepts at most 3,932,160. `None` turns images off. The view of an image is a
    /// [`Content::Image`](crate::Content::Image). The view of a larger image is an error.
    /// [`CLAUDE_IMAGE_BYTES`](Self::CLAUDE_IMAGE_BYTES) is Claude's limit. Default: `None`.
    pub max_image_bytes: Option<u64>,
    /// Selects how `create` treats an existing file: `Error` refuses, `Overwrite` replaces the
    /// whole content atomically. Default: `Error`.
    pub on_existing: OnExisting,
    /// The memory can be viewed but not changed. The directory or database must exist. Nothing is
    /// created in a directory. Default: no.
    pub read_only: bool,
    /// Patterns of paths that no command may change, such as `"/memories/handbook"`, including
    /// everything below them. They take precedence over [`writable_paths`](Self::writable_paths).
    /// Default: none.
    pub read_only_paths: Vec<PathPattern>,
    /// Patterns of the only paths that commands may change, including everything below them. An
    /// empty list allows no changes. `None` allows changes to all paths except
    /// [`read_only_paths`](Self::read_only_paths). Default: `None`.
    pub writable_paths: Option<Vec<PathPattern>>,
    /// Refuses an edit that is based on an outdated view. `On` guards `insert` into files that this
    /// session of the memory has shown or written. `Strict` also guards `str_replace`, and requires
    /// a view first. Default: `Off`.
    pub stale_guard: StaleGuard,
    /// Controls keys, tokens, passwords and payment cards in text that a command would write: `Off`
    /// does nothing, `Reject` refuses the command, `Redact` writes `[REDACTED:rule]` instead of
    /// them. Default: `Off`.
    pub sensitive_text: SensitiveText,
    /// Your own rules, in addition to the built-in ones: patterns in the syntax of Rust's
    /// `regex-lite`, which has no look-around and no back-references. Default: none.
    pub sensitive_rules: Vec<SensitiveRule>,
    /// Views show `[REDACTED:rule]` instead of sensitive text. The file is not changed. Such a view
    /// reads the whole file into memory. Default: no.
    pub sensitive_on_view: bool,
    /// Before its first command, the memory removes files that have not been used for this long.
    /// Must be more than 0. The store must keep times of access.
    /// [`Memory::expire`](crate::Memory::expire) does the same at any time. Default: `None`.
    pub expire_after: Option<Duration>,
    /// Records each view and each rename of a file as a use of the file. Each record costs a write.
    /// [`expire_after`](Self::expire_after) turns this on. `expire()` requires it. Default: no.
    pub record_access: bool,
    /// Patterns of files that never expire, such as `"/memories/handbook"`, including everything
    /// below them. Default: none.
    pub never_expire: Vec<PathPattern>,
    /// Records every change before it is made, so changes can be listed and undone. Default: no.
    pub history: bool,
    /// The history removes versions that are older than this, except the last ten of a file that
    /// exists. `None` keeps versions of any age. Default: 30 days.
    pub history_max_age: Option<Duration>,
    /// The maximum number of versions that are kept of each file; a file that exists keeps at least
    /// ten. `None` sets no limit. Default: `None`.
    pub history_max_versions: Option<usize>,
    /// The approximate maximum size of the history in bytes; beyond it the oldest versions are
    /// removed, except the last ten of a file that exists. `None` sets no limit. Default: `None`.
    pub history_max_bytes: Option<u64>,
    /// The actor of this memory's changes, for its history: a session, a user, the id of a tool
    /// call. Any text from your program, never from a model. `acting_as` starts a session with
    /// another actor. Default: `None`.
    pub actor: Option<String>,
    /// Selects the language of texts in Latin letters, whose endings `search` ignores: `Auto`
    /// detects it for each file, `None` ignores no endings. Default: `Auto`.
    #[cfg(feature = "search")]
    pub search_language: SearchLanguage,
    /// The most bytes of memory for the index of `search`, which holds the texts and takes about
    /// 1.7 times their size. If not all files fit, the first search takes the newest, and each
    /// result says how many are left out. `None` sets no limit. Default: 256 MiB.
    #[cfg(feature = "search")]
    pub search_max_bytes: Option<u64>,
    /// Keeps the index of `search` in hidden files of the store, so the first search of a process
    /// reads only the files that have changed. It has the texts of the files, and is encrypted if
    /// the store is. A store of several mounted stores keeps none. Default: no.
    #[cfg(feature = "search")]
    pub search_keep: bool,
    /// Makes `search` prefer files that were written recently: the score of the newest file is half
    /// as large again, and a file that is older by this duration gets half of that bonus. Must be
    /// more than 0. `None` gives time no influence. Default: `None`.
    #[cfg(feature = "search")]
    pub search_recency: Option<Duration>,
    /// The name of the model behind `embedder`, with its version. It is required with an embedder,
    /// because a vector is kept under this name and the SHA-256 of its text. A new model needs a
    /// new name. Default: `None`.
    #[cfg(feature = "search")]
    pub embedder_name: Option<String>,
    /// The time that one search waits for `embedder`. After that the answer is by words alone, and
    /// later searches embed the rest. `None` waits without limit, as a program that embeds many
    /// files does. Default: 10 seconds.
    #[cfg(feature = "search")]
    pub embedder_timeout: Option<Duration>,
    /// Includes the reply's text in the events for `after`. Default: no.
    pub event_content: bool,
    /// The failures that an acknowledged command survives: `Full` a loss of power, `Relaxed` only a
    /// crash of the process. Object storage is always durable. Default: `Full`.
    pub durability: Durability,
    /// The time that a change waits for other writers of the same store (local directory, SQLite,
    /// PostgreSQL). After that the command is refused, and nothing is changed. `None` waits without
    /// limit. Default: 10 seconds.
    pub lock_timeout: Option<Duration>,
    /// Selects one of several memories in one PostgreSQL database or one bucket. Any text, such as
    /// a user's name. `None` selects the one that the address names. Pass untrusted values in this
    /// option, never in an address. On every other store this option is an error. Default: `None`.
    pub namespace: Option<String>,
    /// Encrypts everything that the store keeps. A store is encrypted from its creation or not at
    /// all. [`Memory::open`](crate::Memory::open), [`open_store`](crate::open_store) and
    /// [`encrypt`](crate::store::encrypt) use it. Default: `None`.
    #[cfg(feature = "encryption")]
    pub encryption_key: Option<EncryptionKey>,
    /// Also encrypts the names in a store that is created with a key. An existing store keeps its
    /// setting. Default: no.
    #[cfg(feature = "encryption")]
    pub encrypt_names: bool,
}

impl Default for MemoryOptions {
    fn default() -> Self {
        Self {
            max_view_chars: Some(16_000),
            max_file_bytes: Some(16_777_216),
            max_total_bytes: None,
            max_files: None,
            max_image_bytes: None,
            on_existing: OnExisting::Error,
            read_only: false,
            read_only_paths: Vec::new(),
            writable_paths: None,
            stale_guard: StaleGuard::Off,
            sensitive_text: SensitiveText::Off,
            sensitive_rules: Vec::new(),
            sensitive_on_view: false,
            expire_after: None,
            record_access: false,
            never_expire: Vec::new(),
            history: false,
            history_max_age: Some(Duration::from_secs(2_592_000)),
            history_max_versions: None,
            history_max_bytes: None,
            actor: None,
            #[cfg(feature = "search")]
            search_language: SearchLanguage::Auto,
            #[cfg(feature = "search")]
            search_max_bytes: Some(268_435_456),
            #[cfg(feature = "search")]
            search_keep: false,
            #[cfg(feature = "search")]
            search_recency: None,
            #[cfg(feature = "search")]
            embedder_name: None,
            #[cfg(feature = "search")]
            embedder_timeout: Some(Duration::from_secs(10)),
            event_content: false,
            durability: Durability::Full,
            lock_timeout: Some(Duration::from_secs(10)),
            namespace: None,
            #[cfg(feature = "encryption")]
            encryption_key: None,
            #[cfg(feature = "encryption")]
            encrypt_names: false,
        }
    }
}

/// The names of the options.
pub(super) const NAMES: &[&str] = &[
    "max_view_chars",
    "max_file_bytes",
    "max_total_bytes",
    "max_files",
    "max_image_bytes",
    "on_existing",
    "read_only",
    "read_only_paths",
    "writable_paths",
    "stale_guard",
    "sensitive_text",
    "sensitive_rules",
    "sensitive_on_view",
    "expire_after",
    "record_access",
    "never_expire",
    "history",
    "history_max_age",
    "history_max_versions",
    "history_max_bytes",
    "actor",
    #[cfg(feature = "search")]
    "search_language",
    #[cfg(feature = "search")]
    "search_max_bytes",
    #[cfg(feature = "search")]
    "search_keep",
    #[cfg(feature = "search")]
    "search_recency",
    #[cfg(feature = "search")]
    "embedder_name",
    #[cfg(feature = "search")]
    "embedder_timeout",
    "event_content",
    "durability",
    "lock_timeout",
    "namespace",
    #[cfg(feature = "encryption")]
    "encryption_key",
    #[cfg(feature = "encryption")]
    "encrypt_names",
];

/// The names of the options that a store takes when it is opened without a memory.
pub(super) const OF_STORE: &[&str] = &[
    "read_only",
    "durability",
    "lock_timeout",
    "namespace",
    #[cfg(feature = "encryption")]
    "encryption_key",
    #[cfg(feature = "encryption")]
    "encrypt_names",
];

impl MemoryOptions {
    /// Sets an option whose name is one of [`NAMES`].
    pub(super) fn set_known<V: OptionValue>(
        &mut self,
        name: &str,
        given: &Given<'_, V>,
    ) -> Result<(), Error> {
        match name {
            "max_view_chars" => self.max_view_chars = given.limit()?,
            "max_file_bytes" => self.max_file_bytes = given.limit()?,
            "max_total_bytes" => self.max_total_bytes = given.limit()?,
            "max_files" => self.max_files = given.limit()?,
            "max_image_bytes" => self.max_image_bytes = given.limit()?,
            "on_existing" => self.on_existing = given.word()?,
            "read_only" => self.read_only = given.flag()?,
            "read_only_paths" => self.read_only_paths = given.patterns()?,
            "writable_paths" => self.writable_paths = given.optional_patterns()?,
            "stale_guard" => self.stale_guard = given.word()?,
            "sensitive_text" => self.sensitive_text = given.word()?,
            "sensitive_rules" => self.sensitive_rules = given.rules()?,
            "sensitive_on_view" => self.sensitive_on_view = given.flag()?,
            "expire_after" => self.expire_after = given.optional_duration()?,
            "record_access" => self.record_access = given.flag()?,
            "never_expire" => self.never_expire = given.patterns()?,
            "history" => self.history = given.flag()?,
            "history_max_age" => self.history_max_age = given.optional_duration()?,
            "history_max_versions" => self.history_max_versions = given.limit()?,
            "history_max_bytes" => self.history_max_bytes = given.limit()?,
            "actor" => self.actor = given.optional_text()?,
            #[cfg(feature = "search")]
            "search_language" => self.search_language = given.word()?,
            #[cfg(feature = "search")]
            "search_max_bytes" => self.search_max_bytes = given.limit()?,
            #[cfg(feature = "search")]
            "search_keep" => self.search_keep = given.flag()?,
            #[cfg(feature = "search")]
            "search_recency" => self.search_recency = given.optional_duration()?,
            #[cfg(feature = "search")]
            "embedder_name" => self.embedder_name = given.optional_text()?,
            #[cfg(feature = "search")]
            "embedder_timeout" => self.embedder_timeout = given.optional_duration()?,
            "event_content" => self.event_content = given.flag()?,
            "durability" => self.durability = given.word()?,
            "lock_timeout" => self.lock_timeout = given.optional_duration()?,
            "namespace" => self.namespace = given.optional_text()?,
            #[cfg(feature = "encryption")]
            "encryption_key" => self.encryption_key = given.optional_key()?,
            #[cfg(feature = "encryption")]
            "encrypt_names" => self.encrypt_names = given.flag()?,
            _ => unreachable!("{name} is not among the names"),
        }
        Ok(())
    }
}

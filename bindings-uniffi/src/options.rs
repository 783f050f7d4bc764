//! Made from `core/options.json` by `core/generate-options`.

use std::collections::HashMap;

use crate::border::{MemdirDuration, MemdirKey, MemdirText};
use crate::error::MemdirError;
use crate::option_values::Given;

/// The options of a memory.
#[derive(uniffi::Record, Debug, Clone, PartialEq)]
pub struct MemoryOptions {
    /// The most characters (Unicode scalar values) that one view shows. A longer view is cut, and
    /// its last line says how to continue. `null` removes the limit. Default: 16,000.
    #[uniffi(default = Some(16000))]
    pub max_view_chars: Option<i64>,
    /// The most bytes that a file may have after a command. A larger file that another program
    /// wrote can be viewed. If it has at most 16 MiB, it can be edited to become smaller. `null`
    /// removes the limit. Default: 16 MiB.
    #[uniffi(default = Some(16777216))]
    pub max_file_bytes: Option<i64>,
    /// The most bytes that all files together may have, including hidden ones. `null` sets no
    /// limit. Default: `null`.
    #[uniffi(default = None)]
    pub max_total_bytes: Option<i64>,
    /// The most files that the memory may have, including hidden ones. `null` sets no limit.
    /// Default: `null`.
    #[uniffi(default = None)]
    pub max_files: Option<i64>,
    /// The most bytes of a `.png`, `.jpg` or `.jpeg` file that a view shows as an image. Claude
    /// accepts at most 3,932,160. `null` turns images off. Default: `null`.
    #[uniffi(default = None)]
    pub max_image_bytes: Option<i64>,
    /// Selects how `create` treats an existing file: `error` refuses, `overwrite` replaces the
    /// whole content atomically. Default: `error`. `null` selects the default.
    #[uniffi(default = None)]
    pub on_existing: Option<OnExisting>,
    /// The memory can be viewed but not changed. The directory or database must exist. Nothing is
    /// created in a directory. Default: no.
    #[uniffi(default = false)]
    pub read_only: bool,
    /// Patterns of paths that no command may change, such as `"/memories/handbook"`, including
    /// everything below them. They take precedence over `writablePaths`. Default: none. `null`
    /// selects the default.
    #[uniffi(default = None)]
    pub read_only_paths: Option<Vec<MemdirText>>,
    /// Patterns of the only paths that commands may change, including everything below them. An
    /// empty list allows no changes. `null` allows changes to all paths except `readOnlyPaths`.
    /// Default: `null`.
    #[uniffi(default = None)]
    pub writable_paths: Option<Vec<MemdirText>>,
    /// Refuses an edit that is based on an outdated view. `on` guards `insert` into files that this
    /// session of the memory has shown or written. `strict` also guards `str_replace`, and requires
    /// a view first. Default: `off`. `null` selects the default.
    #[uniffi(default = None)]
    pub stale_guard: Option<StaleGuard>,
    /// Controls keys, tokens, passwords and payment cards in text that a command would write: `off`
    /// does nothing, `reject` refuses the command, `redact` writes `[REDACTED:rule]` instead of
    /// them. Default: `off`. `null` selects the default.
    #[uniffi(default = None)]
    pub sensitive_text: Option<SensitiveText>,
    /// Your own rules, in addition to the built-in ones: patterns in the syntax of Rust's
    /// `regex-lite`, which has no look-around and no back-references. Default: none. `null` selects
    /// the default.
    #[uniffi(default = None)]
    pub sensitive_rules: Option<HashMap<MemdirText, MemdirText>>,
    /// Views show `[REDACTED:rule]` instead of sensitive text. The file is not changed. Such a view
    /// reads the whole file into memory. Default: no.
    #[uniffi(default = false)]
    pub sensitive_on_view: bool,
    /// Before its first command, the memory removes files that have not been used for this long.
    /// Must be more than 0. The store must keep times of access. Default: `null`.
    #[uniffi(default = None)]
    pub expire_after: Option<MemdirDuration>,
    /// Records each view and each rename of a file as a use of the file. Each record costs a write.
    /// `expireAfter` turns this on. `expire()` requires it. Default: no.
    #[uniffi(default = false)]
    pub record_access: bool,
    /// Patterns of files that never expire, such as `"/memories/handbook"`, including everything
    /// below them. Default: none. `null` selects the default.
    #[uniffi(default = None)]
    pub never_expire: Option<Vec<MemdirText>>,
    /// Records every change before it is made, so changes can be listed and undone. Default: no.
    #[uniffi(default = false)]
    pub history: bool,
    /// The history removes versions that are older than this, except the last ten of a file that
    /// exists. `null` keeps versions of any age. Default: 30 days.
    // `scripts/generate` writes the default, which UniFFI cannot express.
    #[uniffi(default = None)]
    pub history_max_age: Option<MemdirDuration>,
    /// The maximum number of versions that are kept of each file; a file that exists keeps at least
    /// ten. `null` sets no limit. Default: `null`.
    #[uniffi(default = None)]
    pub history_max_versions: Option<i64>,
    /// The approximate maximum size of the history in bytes; beyond it the oldest versions are
    /// removed, except the last ten of a file that exists. `null` sets no limit. Default: `null`.
    #[uniffi(default = None)]
    pub history_max_bytes: Option<i64>,
    /// The actor of this memory's changes, for its history: a session, a user, the id of a tool
    /// call. Any text from your program, never from a model. `acting_as` starts a session with
    /// another actor. Default: `null`.
    #[uniffi(default = None)]
    pub actor: Option<MemdirText>,
    /// Selects the language of texts in Latin letters, whose endings `search` ignores: `auto`
    /// detects it for each file, `none` ignores no endings. Default: `auto`. `null` selects the
    /// default.
    #[uniffi(default = None)]
    pub search_language: Option<SearchLanguage>,
    /// The most bytes of memory for the index of `search`, which holds the texts and takes about
    /// 1.7 times their size. If not all files fit, the first search takes the newest, and each
    /// result says how many are left out. `null` sets no limit. Default: 256 MiB.
    #[uniffi(default = Some(268435456))]
    pub search_max_bytes: Option<i64>,
    /// Keeps the index of `search` in hidden files of the store, so the first search of a process
    /// reads only the files that have changed. It has the texts of the files, and is encrypted if
    /// the store is. A store of several mounted stores keeps none. Default: no.
    #[uniffi(default = false)]
    pub search_keep: bool,
    /// Makes `search` prefer files that were written recently: the score of the newest file is half
    /// as large again, and a file that is older by this duration gets half of that bonus. Must be
    /// more than 0. `null` gives time no influence. Default: `null`.
    #[uniffi(default = None)]
    pub search_recency: Option<MemdirDuration>,
    /// The name of the model behind `embedder`, with its version. It is required with an embedder,
    /// because a vector is kept under this name and the SHA-256 of its text. A new model needs a
    /// new name. Default: `null`.
    #[uniffi(default = None)]
    pub embedder_name: Option<MemdirText>,
    /// The time that one search waits for `embedder`. After that the answer is by words alone, and
    /// later searches embed the rest. `null` waits without limit, as a program that embeds many
    /// files does. Default: 10 seconds.
    // `scripts/generate` writes the default, which UniFFI cannot express.
    #[uniffi(default = None)]
    pub embedder_timeout: Option<MemdirDuration>,
    /// Includes the reply's text in the events for `after`. Default: no.
    #[uniffi(default = false)]
    pub event_content: bool,
    /// The failures that an acknowledged command survives: `full` a loss of power, `relaxed` only a
    /// crash of the process. Object storage is always durable. Default: `full`. `null` selects the
    /// default.
    #[uniffi(default = None)]
    pub durability: Option<Durability>,
    /// The time that a change waits for other writers of the same store (local directory, SQLite,
    /// PostgreSQL). After that the command is refused, and nothing is changed. `null` waits without
    /// limit. Default: 10 seconds.
    // `scripts/generate` writes the default, which UniFFI cannot express.
    #[uniffi(default = None)]
    pub lock_timeout: Option<MemdirDuration>,
    /// Selects one of several memories in one PostgreSQL database or one bucket. Any text, such as
    /// a user's name. `null` selects the one that the address names. Pass untrusted values in this
    /// option, never in an address. On every other store this option is an error. Default: `null`.
    #[uniffi(default = None)]
    pub namespace: Option<MemdirText>,
    /// Encrypts everything that the store keeps. A store is encrypted from its creation or not at
    /// all. Default: `null`.
    #[uniffi(default = None)]
    pub encryption_key: Option<MemdirKey>,
    /// Also encrypts the names in a store that is created with a key. An existing store keeps its
    /// setting. Default: no.
    #[uniffi(default = false)]
    pub encrypt_names: bool,
}

impl TryFrom<MemoryOptions> for memdir::MemoryOptions {
    type Error = MemdirError;

    fn try_from(given: MemoryOptions) -> Result<Self, MemdirError> {
        let mut options = Self::default();
        options.set("max_view_chars", given.max_view_chars.map_or(Given::None, Given::Number))?;
        options.set("max_file_bytes", given.max_file_bytes.map_or(Given::None, Given::Number))?;
        if let Some(value) = given.max_total_bytes {
            options.set("max_total_bytes", Given::Number(value))?;
        }
        if let Some(value) = given.max_files {
            options.set("max_files", Given::Number(value))?;
        }
        if let Some(value) = given.max_image_bytes {
            options.set("max_image_bytes", Given::Number(value))?;
        }
        if let Some(value) = given.on_existing {
            options.set("on_existing", Given::Word(value.word()))?;
        }
        if given.read_only {
            options.set("read_only", Given::Flag(true))?;
        }
        if let Some(value) = given.read_only_paths {
            options.set("read_only_paths", Given::Patterns(value))?;
        }
        if let Some(value) = given.writable_paths {
            options.set("writable_paths", Given::Patterns(value))?;
        }
        if let Some(value) = given.stale_guard {
            options.set("stale_guard", Given::Word(value.word()))?;
        }
        if let Some(value) = given.sensitive_text {
            options.set("sensitive_text", Given::Word(value.word()))?;
        }
        if let Some(value) = given.sensitive_rules {
            options.set("sensitive_rules", Given::Rules(value))?;
        }
        if given.sensitive_on_view {
            options.set("sensitive_on_view", Given::Flag(true))?;
        }
        if let Some(value) = given.expire_after {
            options.set("expire_after", Given::Duration(value))?;
        }
        if given.record_access {
            options.set("record_access", Given::Flag(true))?;
        }
        if let Some(value) = given.never_expire {
            options.set("never_expire", Given::Patterns(value))?;
        }
        if given.history {
            options.set("history", Given::Flag(true))?;
        }
        options
            .set("history_max_age", given.history_max_age.map_or(Given::None, Given::Duration))?;
        if let Some(value) = given.history_max_versions {
            options.set("history_max_versions", Given::Number(value))?;
        }
        if let Some(value) = given.history_max_bytes {
            options.set("history_max_bytes", Given::Number(value))?;
        }
        if let Some(value) = given.actor {
            options.set("actor", Given::Text(value))?;
        }
        if let Some(value) = given.search_language {
            options.set("search_language", Given::Word(value.word()))?;
        }
        options
            .set("search_max_bytes", given.search_max_bytes.map_or(Given::None, Given::Number))?;
        if given.search_keep {
            options.set("search_keep", Given::Flag(true))?;
        }
        if let Some(value) = given.search_recency {
            options.set("search_recency", Given::Duration(value))?;
        }
        if let Some(value) = given.embedder_name {
            options.set("embedder_name", Given::Text(value))?;
        }
        options
            .set("embedder_timeout", given.embedder_timeout.map_or(Given::None, Given::Duration))?;
        if given.event_content {
            options.set("event_content", Given::Flag(true))?;
        }
        if let Some(value) = given.durability {
            options.set("durability", Given::Word(value.word()))?;
        }
        options.set("lock_timeout", given.lock_timeout.map_or(Given::None, Given::Duration))?;
        if let Some(value) = given.namespace {
            options.set("namespace", Given::Text(value))?;
        }
        if let Some(value) = given.encryption_key {
            options.set("encryption_key", Given::Key(value))?;
        }
        if given.encrypt_names {
            options.set("encrypt_names", Given::Flag(true))?;
        }
        Ok(options)
    }
}

/// Selects how `create` treats an existing file.
#[derive(uniffi::Enum, Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnExisting {
    /// Refuses with the documented error.
    Error,
    /// Replaces the whole content atomically.
    Overwrite,
}

impl OnExisting {
    fn word(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Overwrite => "overwrite",
        }
    }
}

/// Selects which edits that are based on an outdated view are refused.
#[derive(uniffi::Enum, Debug, Clone, Copy, PartialEq, Eq)]
pub enum StaleGuard {
    /// Edits are never refused.
    Off,
    /// Refuses an `insert` into a file that has changed since this session of the memory last
    /// showed or wrote it.
    On,
    /// Also refuses such a `str_replace`, and both commands for a file that it has never shown or
    /// written.
    Strict,
}

impl StaleGuard {
    fn word(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::On => "on",
            Self::Strict => "strict",
        }
    }
}

/// Selects the treatment of a command that would write sensitive text.
#[derive(uniffi::Enum, Debug, Clone, Copy, PartialEq, Eq)]
pub enum SensitiveText {
    /// The text is written unchanged.
    Off,
    /// The command is refused.
    Reject,
    /// `[REDACTED:rule]` is written instead of the text.
    Redact,
}

impl SensitiveText {
    fn word(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Reject => "reject",
            Self::Redact => "redact",
        }
    }
}

/// Selects the language of texts in Latin letters, whose endings `search` ignores.
#[derive(uniffi::Enum, Debug, Clone, Copy, PartialEq, Eq)]
pub enum SearchLanguage {
    /// The language of each file is detected.
    Auto,
    /// No language: a word is found only in the form of the query.
    None,
    /// Danish.
    Danish,
    /// Dutch.
    Dutch,
    /// English.
    English,
    /// Finnish.
    Finnish,
    /// French.
    French,
    /// German.
    German,
    /// Italian.
    Italian,
    /// Norwegian.
    Norwegian,
    /// Polish.
    Polish,
    /// Portuguese.
    Portuguese,
    /// Spanish.
    Spanish,
    /// Swedish.
    Swedish,
    /// Turkish.
    Turkish,
}

impl SearchLanguage {
    fn word(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::None => "none",
            Self::Danish => "danish",
            Self::Dutch => "dutch",
            Self::English => "english",
            Self::Finnish => "finnish",
            Self::French => "french",
            Self::German => "german",
            Self::Italian => "italian",
            Self::Norwegian => "norwegian",
            Self::Polish => "polish",
            Self::Portuguese => "portuguese",
            Self::Spanish => "spanish",
            Self::Swedish => "swedish",
            Self::Turkish => "turkish",
        }
    }
}

/// The failures that an acknowledged command survives.
#[derive(uniffi::Enum, Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// A loss of power: data and directory are flushed before the command is acknowledged.
    Full,
    /// A crash of the process. The operating system decides when to write to the disk.
    Relaxed,
}

impl Durability {
    fn word(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Relaxed => "relaxed",
        }
    }
}

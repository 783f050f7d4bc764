//! What a developer can set. Every language offers these under the same names.

use std::time::Duration;

use crate::policy::sensitive::{SensitiveRule, SensitiveText};
use crate::policy::{PathPattern, StaleGuard};
use crate::store::settings::{LOCK_TIMEOUT, MAX_FILE_BYTES, max_edited_bytes};
use crate::store::{Durability, OnExisting, Store, StoreOptions};

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
    /// The most characters (Unicode scalar values) that one view returns before it is cut and
    /// says how to go on; `None` lifts the limit. Default 16,000, the figure in Claude's own
    /// description of the tool.
    pub max_view_chars: Option<usize>,
    /// The most bytes that one file may come to hold by a create, str_replace or insert; `None`
    /// lifts the limit. Default 16 MiB. Larger files made by somebody else can still be viewed, and
    /// made smaller if they have no more than 16 MiB.
    pub max_file_bytes: Option<u64>,
    /// The most bytes that all files together may come to hold, hidden ones included; a command that
    /// would make them more is refused. `None`, the default, sets no limit.
    pub max_total_bytes: Option<u64>,
    /// The most files that there may come to be, hidden ones included; a command that would make more
    /// is refused. `None`, the default, sets no limit.
    pub max_files: Option<u64>,
    /// The most bytes that an image (a file named `.png`, `.jpg` or `.jpeg`) may have to be shown, as
    /// a [`Content::Image`](crate::Content::Image). A larger one is an error. `None`, the default,
    /// shows no images: each is an error. [`CLAUDE_IMAGE_BYTES`](Self::CLAUDE_IMAGE_BYTES) is as
    /// much as Claude takes.
    pub max_image_bytes: Option<u64>,
    /// What `create` does about a file that is already there. Default: an error.
    pub on_existing: OnExisting,
    /// What an acknowledged command survives. Default: power loss.
    pub durability: Durability,
    /// Whether the whole memory can be viewed but not changed. A directory or database then has
    /// to be there; nothing is made or removed in a directory. Default: no.
    pub read_only: bool,
    /// How long a change waits for other writers of the same store, in a local directory, SQLite and
    /// PostgreSQL; then it is refused, and nothing was changed. `None` waits for as long as it takes.
    /// Default 10 seconds.
    pub lock_timeout: Option<Duration>,
    /// Which of several memories in one PostgreSQL database or one bucket this is: any text, such as a
    /// user's name as it is; it is encoded where the store needs that. An address may name one as well,
    /// but never put a value that is not your own into an address. `None`, the default, is the one
    /// that the address says.
    pub namespace: Option<String>,
    /// What no command may change: what one of these patterns matches, and all that is below. Default:
    /// nothing.
    pub read_only_paths: Vec<PathPattern>,
    /// What commands may change: only what one of these patterns matches, and all that is below; of an
    /// empty list, nothing. `None`, the default, sets no such limit. Where a path is in both,
    /// `read_only_paths` counts.
    pub writable_paths: Option<Vec<PathPattern>>,
    /// Whether an edit is refused that was meant for an older content of its file. Default: no.
    pub stale_guard: StaleGuard,
    /// The key under which a store keeps its files; `None`, the default, keeps them as they are.
    /// It is for what opens a store: [`Memory::open`](crate::Memory::open),
    /// [`open_store`](crate::open_store) and [`encrypt`](crate::store::encrypt).
    #[cfg(feature = "encryption")]
    pub encryption_key: Option<crate::store::EncryptionKey>,
    /// Whether a store that is made with an `encryption_key` encrypts names, too. Default: no. A
    /// store that is there already does as it was made, whatever this says.
    #[cfg(feature = "encryption")]
    pub encrypt_names: bool,
    /// What is done about keys, passwords and the like in text that a command would write.
    /// Default: nothing.
    pub sensitive_text: SensitiveText,
    /// Rules of your own, beside the built-in ones; of several that find the same text the first
    /// gives its name. Default: none.
    pub sensitive_rules: Vec<SensitiveRule>,
    /// Whether a view shows `[REDACTED:rule]` in the place of sensitive text that a file holds; the
    /// file is not changed. Such a view reads the whole file into memory. Default: no.
    pub sensitive_on_view: bool,
    /// Before the first command files are removed that were not used for so long, as by
    /// [`Memory::expire`](crate::Memory::expire); needs a store that keeps when files were last
    /// accessed. `None`, the default, removes nothing.
    pub expire_after: Option<Duration>,
    /// Whether a view of a file, and a rename of one, is noted as a use of it, which costs a write.
    /// Always where `expire_after` is set; else the default is no.
    pub record_access: bool,
    /// Which files never expire. Default: none are kept.
    pub never_expire: Vec<PathPattern>,
    /// Whether the events that [`MemoryHooks::after`](crate::MemoryHooks::after) gets hold the reply's text.
    /// Default: no.
    pub event_content: bool,
}

impl MemoryOptions {
    /// The largest image that Claude's API takes: 5 MiB, counted in base64, which makes four bytes
    /// of three.
    pub const CLAUDE_IMAGE_BYTES: u64 = 5 * 1024 * 1024 / 4 * 3;

    /// The most bytes of a file that are read into memory to edit it.
    pub(crate) fn max_edited_bytes(&self) -> Option<u64> {
        max_edited_bytes(self.max_file_bytes)
    }

    /// The same options, whose patterns of paths hold as the store tells names apart, and those that
    /// protect what is below a directory protect the directory.
    pub(crate) fn for_store(self, store: &dyn Store) -> Self {
        let folds_case = store.folds_case();
        let folding = |patterns: Vec<PathPattern>| -> Vec<PathPattern> {
            patterns.into_iter().map(|pattern| pattern.folding_case(folds_case)).collect()
        };
        Self {
            read_only_paths: folding(self.read_only_paths)
                .into_iter()
                .map(PathPattern::with_directory)
                .collect(),
            writable_paths: self.writable_paths.map(folding),
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
        }
    }
}

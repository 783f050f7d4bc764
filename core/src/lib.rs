//! The memory directory for agents that use Claude's memory tool (`memory_20250818`).
//!
//! The tool is client-side: the model sends the commands `view`, `create`, `str_replace`, `insert`, `delete`
//! and `rename` for paths under `/memories`, and your program executes them. [`Memory`] does that for you. It
//! answers in the words of the tool's documentation, refuses unsafe paths, and works on any [`Store`].
//!
//! ```
//! use memdir::{Memory, MemoryOptions};
//!
//! let memory = Memory::open("memory:", MemoryOptions::default())?;
//! let reply = memory.execute(r#"{"command": "view", "path": "/memories/../etc/passwd"}"#);
//! assert!(reply.is_error);
//! assert_eq!(
//!     reply.content.as_text(),
//!     Some("Path /memories/../etc/passwd would escape /memories directory"),
//! );
//! # Ok::<(), memdir::Error>(())
//! ```
//!
//! [`Memory::execute`] never fails: it returns a model's mistake or a store's failure as a reply. The typed
//! methods, such as [`Memory::view`], return a `Result` instead.
//!
//! # Choosing a store
//!
//! | your case | address or function | cargo feature |
//! |---|---|---|
//! | one machine, and files that you want to read | `"./memory"` | |
//! | an existing directory of your own files | `"dir:./notes"` | |
//! | a test, or a memory that may be lost when the process ends | `"memory:"` | |
//! | one machine and many small memories, or one file to ship | `"sqlite:agent.db"` | `sqlite` |
//! | many machines and many tenants | `"postgres://…"`, with [`MemoryOptions::namespace`] | `postgres` |
//! | many machines, without a database | `"s3://…"`, `"gs://…"`, `"az://…"` | `object-storage` |
//! | a store that you implement | [`Memory::with_store`] | |
//! | several stores in one tree | [`store::Mounts`], then [`Memory::with_store`] | |
//!
//! # Cargo features
//!
//! All features are off by default.
//!
//! | feature | provides |
//! |---|---|
//! | `sqlite` | the store in an SQLite database; SQLite itself is compiled in |
//! | `postgres` | the store in a PostgreSQL database |
//! | `object-storage` | the stores in S3, Google Cloud Storage and Azure Blob Storage |
//! | `encryption` | encryption of any store: `encryption_key` of [`MemoryOptions`] |
//! | `tracing` | a span for each call |
//! | `fast-regex` | a faster regular-expression engine for searches and for rules for sensitive text |
//! | `search` | a search that ranks: [`Memory::search`] |
//! | `schema` | a JSON Schema of each result and event (the trait `JsonSchema` of schemars 1) |
//! | `testing` | `store::contract`, which checks your own store |
//!
//! The command-line program `memdir` is in the crate `memdir-cli`. It uses only the public API of this crate.
//!
//! # Modules
//!
//! [`command`] decodes a call, [`path`] validates its paths, [`hooks`] run your code before and after it,
//! [`policy`] has the rules that [`MemoryOptions`] turn on, [`store`] keeps the files, [`text`] formats them, and
//! [`reply`] has every sentence that the model reads. `ARCHITECTURE.md` shows how they depend on each other.
#![deny(unsafe_code)]

pub mod command;
pub mod copy;
pub mod history;
pub mod hooks;
pub mod import;
pub mod policy;
pub mod reply;
pub mod store;
pub mod sync;
pub mod text;
pub mod value;

mod asked_change;
mod call;
mod changes;
mod check;
mod context_management;
#[cfg(feature = "search")]
mod embedder;
mod files;
mod handlers;
mod hook_call;
mod image;
mod memory;
pub mod options;
mod pin;
mod policies;
mod preview;
mod reader;
mod repair;
#[cfg(feature = "search")]
mod search;
mod session;
mod trace;
mod trust;
mod unit_of_work;

pub use call::Call;
pub use changes::{Change, ChangeKind, Subscription};
pub use check::{Checked, check, check_unless};
pub use command::{Command, Dialect};
pub use context_management::{COMPACTION_BETA, CONTEXT_MANAGEMENT_BETA, ContextManagement};
pub use copy::{CopyError, CopyOptions, copy};
#[cfg(feature = "search")]
pub use embedder::{Embedder, EmbedderError};
pub use files::{
    GrepMatch, GrepQuery, HistoryMatch, Project, SensitiveMatch, SharedWatch, SizedPath, Stats,
    TimedPath, Watch,
};
pub use hook_call::HookCall;
pub use hooks::{Event, HookDecision, MemoryHooks, Outcome};
pub use image::Image;
pub use memdir_store::{
    Cancellation, ConfigError, Error, ErrorKind, HookError, MemoryPath, NameCase, Refused, path,
};
pub use memory::{CallHandler, Memory};
pub use options::MemoryOptions;
pub use policy::expiry::Expired;
pub use reply::{Content, Reply};
#[cfg(feature = "search")]
pub use search::{SearchHit, SearchLanguage, SearchMatch, SearchPassage, SearchResults};
#[cfg(feature = "encryption")]
pub use store::EncryptionKey;
pub use store::{
    Durability, Namespace, OnExisting, Store, StoreError, namespaces, open_existing_store,
    open_store,
};
pub use sync::{OnConflict, SyncError, SyncOptions, Synced, sync};

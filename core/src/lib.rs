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
//! [`Memory::execute`] never fails: a model's mistake and a broken store are replies. The typed methods, such as
//! [`Memory::view`], return a `Result` instead.
//!
//! # Which store do I want?
//!
//! | you have | open | cargo feature |
//! |---|---|---|
//! | one machine, and files that you want to read | `"./memory"` | |
//! | a directory with files of your own | `"dir:./notes"` | |
//! | a test, or a memory that may be lost at the end of the process | `"memory:"` | |
//! | one machine and many small memories, or one file to ship | `"sqlite:agent.db"` | `sqlite` |
//! | many machines and many tenants | `"postgres://…"`, with [`MemoryOptions::namespace`] | `postgres` |
//! | many machines, and no database | `"s3://…"`, `"gs://…"`, `"az://…"` | `object-storage` |
//! | your own store | [`Memory::with_store`] | |
//! | several stores in one tree | [`store::Mounts`], then [`Memory::with_store`] | |
//!
//! # Cargo features
//!
//! None is on by default.
//!
//! | feature | brings |
//! |---|---|
//! | `sqlite` | the store in an SQLite database; SQLite itself is compiled in |
//! | `postgres` | the store in a PostgreSQL database |
//! | `object-storage` | the stores in S3, Google's and Azure's object storage |
//! | `encryption` | encryption of any store: `encryption_key` of [`MemoryOptions`] |
//! | `tracing` | a span for each call |
//! | `fast-regex` | regular expressions of searches and of rules for sensitive text in a fraction of the time |
//! | `schema` | a JSON Schema of each result and event (the trait `JsonSchema` of schemars 1) |
//! | `testing` | `store::contract`, which checks your own store |
//!
//! The program `memdir` is the crate `memdir-cli`. It uses this crate as any other front end can.
//!
//! # Where is what?
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
pub mod text;
pub mod value;

mod call;
mod changes;
mod check;
mod context_management;
mod files;
mod handlers;
mod hook_call;
mod image;
mod memory;
pub mod options;
mod pin;
mod policies;
mod preview;
mod repair;
mod session;
mod trace;
mod unit_of_work;

pub use call::Call;
pub use changes::{Change, ChangeKind, Subscription};
pub use check::{Checked, check, check_unless};
pub use command::{Command, Dialect};
pub use context_management::{COMPACTION_BETA, CONTEXT_MANAGEMENT_BETA, ContextManagement};
pub use copy::{CopyError, copy};
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
pub use memory::Memory;
pub use options::MemoryOptions;
pub use policy::expiry::Expired;
pub use reply::{Content, Reply};
#[cfg(feature = "encryption")]
pub use store::EncryptionKey;
pub use store::{
    Durability, Namespace, OnExisting, Store, StoreError, namespaces, open_existing_store,
    open_store,
};

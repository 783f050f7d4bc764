//! The memory directory for agents that use Claude's memory tool (`memory_20250818`).
//!
//! The tool is client-side: the model asks for `view`, `create`, `str_replace`, `insert`, `delete`
//! and `rename` on paths under `/memories`, and the developer's own program carries them out.
//! [`Memory`] does that exactly: in the words of the tool's documentation, safely whatever the
//! paths are, and on any [`Store`].
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
//! | files that are there already, in a directory of their own | `"dir:./notes"` | |
//! | a test, or a memory that may be forgotten | `"memory:"` | |
//! | one machine and many small memories, or one file to ship | `"sqlite:agent.db"` | `sqlite` |
//! | many machines and many tenants | `"postgres://…"`, with [`MemoryOptions::namespace`] | `postgres` |
//! | many machines, and no database | `"s3://…"`, `"gs://…"`, `"az://…"` | `object-storage` |
//! | a store of your own | [`Memory::with_store`] | |
//! | several of these in one tree | [`store::Mounts`], then [`Memory::with_store`] | |
//!
//! # Cargo features
//!
//! None is on by default; what a feature brings is not compiled without it.
//!
//! | feature | brings |
//! |---|---|
//! | `sqlite` | the store in an SQLite database; SQLite itself is compiled in |
//! | `postgres` | the store in a PostgreSQL database |
//! | `object-storage` | the stores in S3, Google's and Azure's object storage |
//! | `encryption` | encryption over any store: `encryption_key` of [`MemoryOptions`] |
//! | `tracing` | a span for each call |
//! | `cli` | the program `memdir` |
//! | `testing` | `store::contract`, which checks a store of your own |
//!
//! # Where is what?
//!
//! [`command`] decodes a call, [`path`] validates its paths, [`hooks`] are your code before and after it, [`policy`] is
//! what [`MemoryOptions`] switch on, a [`store`] keeps the files, [`text`] formats them, and [`reply`] has every sentence that
//! the model reads. Imports go downward only.
#![deny(unsafe_code)]

#[cfg(feature = "cli")]
pub mod cli;
pub mod command;
pub mod copy;
pub mod hooks;
pub mod path;
pub mod policy;
pub mod reply;
pub mod store;
pub mod text;
pub mod value;

mod call;
mod cancel;
mod check;
mod error;
mod handlers;
mod image;
mod memory;
mod options;
mod policies;
mod repair;
mod trace;

pub use call::Call;
pub use cancel::Cancellation;
pub use check::{Checked, check};
pub use command::Command;
pub use copy::{CopyError, copy};
pub use error::{ConfigError, Error, HookError, NameCase};
pub use hooks::{Event, HookDecision, MemoryHooks, Outcome};
pub use memory::Memory;
pub use options::MemoryOptions;
pub use path::MemoryPath;
pub use policy::expiry::Expired;
pub use reply::{Content, Reply};
#[cfg(feature = "encryption")]
pub use store::EncryptionKey;
pub use store::{Durability, OnExisting, Store, StoreError, open_existing_store, open_store};
